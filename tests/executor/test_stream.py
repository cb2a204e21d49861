"""Streams on a device that only plans: where tasks run, how they wait, and that it is enough."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull.core.place import CPU, Place
from scull.executor.dependency import graph_of
from scull.executor.plan import make_plan
from scull.executor.stream import EVENT, SYNCHRONIZE, kind_of, streams_of
from scull.executor.transfer import BLOCKING, COMPUTE, COPY_IN, COPY_OUT, HOST, Placement
from tests.executor.random_program import KINDS, actions, build

SIM = Place("sim")
SHAPE = [2, 2]


def parameter():
    block = paddle.static.default_main_program().global_block()
    return block.create_var("w", shape=SHAPE, dtype="float32", persistable=True)


def on_host(x, name):
    made = x.block.create_var(name, shape=SHAPE, dtype="float32")
    paddle.static.py_func(np.asarray, x, made)
    return made


def device_then_device():
    return paddle.exp(paddle.exp(parameter())), 1


def device_then_another_stream():
    w = parameter()
    return paddle.exp(w) + paddle.tanh(w), 2


def host_then_host():
    return on_host(on_host(paddle.static.data("x", SHAPE), "first"), "second"), 1


def host_then_copy_in():
    return paddle.exp(on_host(paddle.static.data("x", SHAPE), "made")), 1


def copy_in_then_device():
    return paddle.exp(paddle.static.data("x", SHAPE)), 1


def device_then_copy_out():
    return paddle.exp(parameter()), 1


def copy_out_then_host():
    return on_host(parameter(), "made"), 1


CASES = (
    device_then_device,
    device_then_another_stream,
    host_then_host,
    host_then_copy_in,
    copy_in_then_device,
    device_then_copy_out,
    copy_out_then_host,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_streams_of(case, main, golden):
    out, count = case()
    feeds = tuple(v.name for v in main.list_vars() if v.is_data)
    plan = make_plan(main.global_block(), feeds, (out.name,))
    assert str(streams_of(plan, SIM, count)) == golden(f"the_streams_of_{case.__name__}")


def test_how_each_queue_waits_for_each_other():
    queues = (HOST, BLOCKING, COMPUTE, COPY_IN, COPY_OUT)
    kinds = {(a, b): kind_of(a, b, together=False) for a in queues for b in queues}
    assert {pair for pair, kind in kinds.items() if kind == EVENT} == {
        (a, b) for a in (COMPUTE, COPY_IN) for b in (COMPUTE, COPY_IN)
    }
    assert {pair for pair, kind in kinds.items() if kind == SYNCHRONIZE} == {
        (a, b) for a in (COMPUTE, COPY_IN) for b in (HOST, BLOCKING, COPY_OUT)
    }


def test_on_the_host_there_is_one_queue_and_nothing_is_copied():
    loss = paddle.mean(paddle.exp(paddle.static.data("x", SHAPE)))
    plan = make_plan(loss.block, ("x",), (loss.name,))
    streams = streams_of(plan, CPU)
    assert set(streams.streams) == {HOST}
    assert [task.instruction for task in streams.tasks] == [0, 1]
    assert not streams.events


def test_a_value_is_copied_once_and_again_when_its_memory_changed():
    x = paddle.static.data("x", SHAPE)
    first, second = paddle.exp(x), paddle.tanh(x)
    inputs = {"Param": [first], "Grad": [second], "LearningRate": [paddle.full([1], 1.0)]}
    before = on_host(first, "before")
    x.block.append_op("sgd", inputs, {"ParamOut": [first]})
    after, again = on_host(first, "after"), on_host(first, "again")
    plan = make_plan(x.block, ("x",), (before.name, after.name, again.name))
    texts = [task.text for task in streams_of(plan, SIM).tasks]
    assert sum("memcpy_h2d(x@host)" in text for text in texts) == 1
    assert sum(f"memcpy_d2h({first.name}@sim:0)" in text for text in texts) == 2


def test_an_operator_of_which_only_the_shape_is_read_needs_no_copy():
    x = paddle.static.data("x", SHAPE)
    like = paddle.full_like(x, 1.0)
    plan = make_plan(x.block, ("x",), (like.name,))
    assert not any("h2d" in task.text for task in streams_of(plan, SIM).tasks)


def test_an_operator_kept_on_the_host_runs_there():
    with paddle.static.device_guard("cpu"):
        out = paddle.exp(parameter())
    plan = make_plan(out.block, (), (out.name,))
    assert [task.queue for task in streams_of(plan, SIM).tasks] == [COPY_OUT, HOST]


def test_what_blocks_or_communicates_has_a_queue_of_its_own(monkeypatch):
    out = paddle.exp(parameter())
    for effect in ("blocks", "communicates"):
        monkeypatch.setattr(out.op.op, "effects", frozenset({effect}))
        assert Placement(SIM, {}).queue(out.op) == BLOCKING
        assert Placement(CPU, {}).queue(out.op) == BLOCKING


def timed(streams, chance):
    """When each task starts and ends in a run with random orders and durations."""
    waiting = {i: [] for i in range(len(streams.tasks))}
    for wait in streams.waits:
        waiting[wait.after].append(wait)
    launch, start, end, free = {}, {}, {}, {}
    while len(launch) < len(streams.tasks):
        ready = [
            i
            for i, waits in waiting.items()
            if i not in launch and all(w.before in launch for w in waits)
        ]
        i = chance.choice(ready)
        queue, stream = streams.tasks[i].queue, streams.streams[i]
        device, duration = queue in (COMPUTE, COPY_IN), chance.choice((1, 10, 100))
        held = [0]
        for w in waiting[i]:
            finished = w.kind == SYNCHRONIZE or streams.tasks[w.before].queue not in (
                COMPUTE,
                COPY_IN,
            )
            held.append(end[w.before] if finished else launch[w.before])
        launch[i] = max(held) + 0.001
        events = [end[w.before] for w in waiting[i] if w.kind == EVENT]
        start[i] = max([launch[i], *events, *([free.get(stream, 0)] if device else [])])
        end[i] = start[i] + duration
        free[stream] = max(end[i], free.get(stream, 0))
    return start, end


def broken(streams, conflicts, chance):
    """The conflicts that some run of the streams does not keep in order."""
    start, end = timed(streams, chance)
    return [e for e in conflicts if start[e.after] < end[e.before]]


def stored_conflicts(streams):
    """The pairs of tasks that meet in the elements of a value."""
    graph = graph_of([task.touches for task in streams.tasks])
    return [e for e in graph.conflicts if any(reason.stored for reason in e.reasons)]


@given(choices=actions, count=st.integers(1, 3), seed=st.integers(0, 2**31))
@settings(max_examples=60)
def test_whatever_the_streams_do_values_are_finished_when_they_are_needed(choices, count, seed):
    streams = streams_of(build(choices).plan(), SIM, count)
    conflicts, chance = stored_conflicts(streams), random.Random(seed)
    for _ in range(5):
        assert broken(streams, conflicts, chance) == []


def without(streams, wait):
    """The same streams with one wait less."""
    rest = tuple(w for w in streams.waits if w is not wait)
    return replace(streams, waits=rest)


def test_streams_without_any_one_of_their_waits_are_noticed():
    chance, noticed = random.Random(0), []
    for _ in range(30):
        picks = range(chance.randrange(2, 12))
        choices = [(chance.choice(KINDS), *chance.choices(range(41), k=2)) for _ in picks]
        streams = streams_of(build(choices).plan(), SIM, 2)
        conflicts = stored_conflicts(streams)
        for wait in streams.waits:
            edge = next(
                (e for e in conflicts if (e.before, e.after) == (wait.before, wait.after)), None
            )
            if edge is not None:
                fewer = without(streams, wait)
                noticed.append(any(broken(fewer, conflicts, chance) for _ in range(40)))
    assert len(noticed) > 100
    assert sum(noticed) / len(noticed) >= 0.95
