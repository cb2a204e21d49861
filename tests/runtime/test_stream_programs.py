"""Random programs on streams: with every wait they need they give the bits of a plain run."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull.errors import DeviceFault
from scull.runtime.sim import Sim

NAMES = "abcd"  # of streams
VALUES = 5
SIZE = 8


@dataclass(frozen=True)
class Step:
    """One work: it writes a value, computed from others and perhaps from what it was."""

    stream: str
    reads: tuple[int, ...]
    writes: int
    adds: bool  # to what it was

    def touched(self):
        """What it reads, what it writes."""
        return {*self.reads, *([self.writes] if self.adds else [])}, {self.writes}


@st.composite
def programs(draw):
    """Steps that read what was written before."""
    steps, written = [], set()
    for _ in range(draw(st.integers(2, 14))):
        known = st.lists(st.sampled_from(sorted(written)), max_size=3) if written else st.just([])
        value = draw(st.integers(0, VALUES - 1))
        adds = value in written and draw(st.booleans())
        step = Step(draw(st.sampled_from(NAMES)), tuple(draw(known)), value, adds)
        steps.append(step)
        written.add(value)
    return steps


def compute(step, values):
    """What a step leaves in the value it writes."""
    found = values[step.writes] * np.uint64(7) if step.adds else np.full(SIZE, 1, np.uint64)
    for n, i in enumerate(step.reads):
        found = found * np.uint64(31) + values[i] * np.uint64(n + 3)
    return found + np.arange(SIZE, dtype=np.uint64)


def plain(steps):
    """The values after the steps, one by one."""
    values = {}
    for step in steps:
        values[step.writes] = compute(step, values)
    return {i: value.tolist() for i, value in values.items()}


def ordered(steps):
    """For each step the waits it needs, none of which follows from others, and all before it."""
    before, waits = [], []
    for i, step in enumerate(steps):
        reads, writes = step.touched()
        same = [j for j in range(i) if steps[j].stream == step.stream]
        done = set().union(*({j, *before[j]} for j in same))
        found = []
        for j in reversed(range(i)):
            theirs = steps[j].touched()
            meet = writes & (theirs[0] | theirs[1]) or reads & theirs[1]
            if meet and j not in done:
                found.append(j)
                done |= {j, *before[j]}
        before.append(done)
        waits.append(found)
    return waits, before


def needed_waits(steps):
    """For each step those on other streams that it must wait for."""
    return ordered(steps)[0]


def forgets(steps):
    """Whether a value goes on its home stream while another one may use it."""
    before, homes = ordered(steps)[1], {}
    for step in steps:
        homes.setdefault(step.writes, step.stream)
    for value, home in homes.items():
        users = [i for i, step in enumerate(steps) if value in set().union(*step.touched())]
        known = {users[-1], *before[users[-1]]} if steps[users[-1]].stream == home else set()
        if not known.issuperset(users):
            return True
    return False


def run(steps, waits, seed, *, told=True, declared=True):
    """The values after a run on a simulated device; memory goes after the last use of a value."""
    device = Sim(seed=seed)
    allocator, buffers, events, found = device.allocator, {}, [], {}
    last = {value: i for i, step in enumerate(steps) for value in set().union(*step.touched())}
    for i, step in enumerate(steps):
        stream, event = device.stream(step.stream), device.event()
        for j in waits[i]:
            stream.wait(events[j])
        if step.writes not in buffers:
            buffers[step.writes] = allocator.allocate(8 * SIZE, stream)
        used = {value: buffers[value] for value in set().union(*step.touched())}
        arrays = {value: buffer.array((SIZE,), "uint64") for value, buffer in used.items()}

        def work(step=step, arrays=arrays):
            arrays[step.writes][...] = compute(step, arrays)

        reads, writes = ([used[value] for value in group] for group in step.touched())
        stream.launch(work, reads if declared else (), writes if declared else (), f"step {i}")
        for value, buffer in used.items():
            if told and buffer.stream is not stream:
                allocator.uses(buffer, stream)
            if last[value] == i:
                found[value] = np.zeros(SIZE, np.uint64)
                if declared:
                    device.copy_out(arrays[value], found[value], stream)
                else:
                    stream.launch(partial(np.copyto, found[value], arrays[value]))
                allocator.free(buffers.pop(value))
        stream.record(event)
        events.append(event)
    device.synchronize()
    assert allocator.statistics().live == 0
    return {value: array.tolist() for value, array in found.items()}


def final(steps):
    """What `run` finds: every value after the step that uses it last."""
    values, found = {}, {}
    last = {value: i for i, step in enumerate(steps) for value in set().union(*step.touched())}
    for i, step in enumerate(steps):
        values[step.writes] = compute(step, values)
        found |= {v: values[v].tolist() for v in set().union(*step.touched()) if last[v] == i}
    return found


@settings(max_examples=300, deadline=None)
@given(programs(), st.integers(0, 1000))
def test_with_every_wait_a_program_gives_the_bits_of_a_plain_run(steps, seed):
    assert run(steps, needed_waits(steps), seed) == final(steps) == plain(steps)


@settings(max_examples=150, deadline=None)
@given(programs(), st.integers(0, 1000))
def test_without_any_one_wait_it_is_a_fault(steps, seed):
    waits = needed_waits(steps)
    for i, group in enumerate(waits):
        for j in group:
            fewer = [[k for k in group if (n, k) != (i, j)] for n, group in enumerate(waits)]
            with pytest.raises(DeviceFault, match=r"is not ordered after|which nothing wrote"):
                run(steps, fewer, seed)


@settings(max_examples=150, deadline=None)
@given(programs(), st.integers(0, 1000))
def test_what_only_the_allocator_knows_of_is_a_fault_when_it_is_not_told(steps, seed):
    try:
        found = run(steps, needed_waits(steps), seed, told=False)
    except DeviceFault as fault:
        assert forgets(steps) and "the allocator was not told of that use" in str(fault)
    else:
        assert not forgets(steps) and found == final(steps)


def test_a_missing_wait_changes_values_by_many_seeds_where_accesses_are_not_declared():
    steps = [
        Step("a", (), 0, False),
        Step("b", (0,), 1, False),
        Step("a", (0,), 0, True),
        Step("c", (0, 1), 2, False),
    ]
    waits = needed_waits(steps)
    assert waits == [[], [0], [1], [2]]
    for i in (1, 2, 3):
        fewer = [[] if n == i else group for n, group in enumerate(waits)]
        runs = [run(steps, fewer, seed, declared=False) for seed in range(60)]
        assert 6 <= sum(found != final(steps) for found in runs) < 60
    assert all(run(steps, waits, seed, declared=False) == final(steps) for seed in range(60))
