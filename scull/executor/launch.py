"""A run on a device: what its tasks launch, on which stream, and in whose memory results lie.

The host launches and goes on. It waits where a copy to the host needs the end of what was
launched, where a size is known only then, and at the end of the run.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from scull.core.meta import Meta
from scull.core.op import meta_of
from scull.core.place import Place
from scull.core.random import Draw, Generator
from scull.core.refusal import situation
from scull.core.tensor import stub
from scull.errors import UnknownSizeError, is_located, located
from scull.executor.alias import written
from scull.executor.binding import Bound, remembered
from scull.executor.crew import run_crew, run_ordered
from scull.executor.instruction import DRAW, Instruction
from scull.executor.made import Made, Results, results_by
from scull.executor.memory import Peak, nbytes, operand_metas, said
from scull.executor.plan import Plan
from scull.executor.run import Frame, examine, explained
from scull.executor.schedule import Schedule, device_schedule
from scull.executor.stream import DIRECT, SYNCHRONIZE, Streams, Wait, streams_of
from scull.executor.transfer import COMPUTE, COPY_IN, COPY_OUT, HOST, Spot, Task
from scull.flags import PADDLE, flag
from scull.ir.depth import room_for
from scull.ir.operator import effects
from scull.runtime.device import Buffer, Device, Event, Part, Stream
from scull.runtime.resident import (
    Cell,
    Held,
    Lease,
    Resident,
    aligned,
    memory,
    nbytes_of,
    stored,
    taken_in,
    taken_out,
)

Found = dict[int, Any]  # the results of an instruction, by slot


class Launches:
    """A plan on a device, for what stands in a frame when a run starts."""

    def __init__(self, plan: Plan, streams: Streams, results: tuple[Results, ...]) -> None:
        self.streams, self.results = streams, results
        self.schedule: Schedule = device_schedule(plan, streams)
        self.waits: tuple[tuple[Wait, ...], ...] = waits_into(streams)
        self.recorded = frozenset(w.before for w in streams.waits if w.kind != DIRECT)
        slots = {v: i for i, v in enumerate(plan.variables)}
        over = [written(step.operator) for step in plan.instructions]
        self.overwritten = tuple(tuple(slots[v] for v in found) for found in over)
        self.resident = begun(streams)
        self.inner: dict[Any, dict[Any, Launches]] = {}  # of blocks, by their plans
        self.peaks: dict[Any, Peak] = {}  # by what a run copies there first


def launches_of(plan: Plan, place: Place, count: int, given: Mapping[int, Meta]) -> Launches:
    """A plan on a device that computes on `count` streams, where `given` starts in some slots."""
    with room_for(plan.depth):
        results = results_by(plan, given)
    copies = {i for i, found in enumerate(results) if found.viewed is None}
    return Launches(plan, streams_of(plan, place, count, copies), results)


def launches_for(known: dict[Any, Launches], plan: Plan, device: Device, frame: Frame) -> Launches:
    """What a run of `plan` that starts with `frame` launches; the last ones are in `known`."""
    given, count = given_in(frame), flag("DEVICE_STREAMS")
    key = (count, *given.items())
    return remembered(known, key, lambda: launches_of(plan, device.place, count, given))


def given_in(frame: Frame) -> dict[int, Meta]:
    """What stands in a frame, by slots."""
    values = enumerate(frame)
    return {slot: meta_of(v) for slot, v in values if isinstance(v, ndarray | Resident)}


def begun(streams: Streams) -> tuple[int, ...]:
    """The slots that a run finds filled on the device."""
    made, found = set[Spot](), dict[Spot, None]()
    for task in streams.tasks:
        found.update((s, None) for s in task.reads if s[0] == streams.place and s not in made)
        made.update(task.writes)
    return tuple(slot for _, slot in found)


def waits_into(streams: Streams) -> tuple[tuple[Wait, ...], ...]:
    """For every task those of its waits that are by event."""
    found: list[list[Wait]] = [[] for _ in streams.tasks]
    for wait in streams.waits:
        if wait.kind != DIRECT:
            found[wait.after].append(wait)
    return tuple(map(tuple, found))


class DeviceWork:
    """The tasks of a plan on a device, over a frame of the host and one of the device."""

    def __init__(self, whole: Launches, plan: Plan, device: Device, frame: Frame) -> None:
        self.whole, self.device, self.host = whole, device, frame
        self.steps = plan.instructions
        self.looked = plan if PADDLE["FLAGS_check_nan_inf"] else None
        self.frame: list[Held | None] = [None] * len(frame)
        self.events: dict[int, Event] = {}
        for slot in whole.resident:
            value = frame[slot]
            if isinstance(value, Resident) and value.device is self.device:
                self.frame[slot] = value.held
            elif value is not None:
                self.frame[slot] = self.sent(value, COPY_IN)
        self.wait_for(self.device.stream(COPY_IN))

    def operands(self, task: Task) -> dict[int, Cell]:
        """The cells of what an instruction reads; the shape where it looks at nothing else."""
        draw = self.host[DRAW]
        if isinstance(draw, Generator) and "random" in effects(
            self.steps[task.instruction or 0].operator
        ):
            draw = Taken(draw.reserve(1))
        found = {DRAW: ready(draw)}
        for spot in task.reads:
            side, slot = spot
            if spot not in task.shapes:
                held = self.frame[slot]  # none of a branch that did not run
                found[slot] = ready(None) if held is None else held.cell
            else:
                at = self.host[slot] if side == HOST else shaped(self.frame[slot])
                found[slot] = ready(stub(at))
        return found

    def touched(self, slots: Iterable[int], stream: Stream) -> tuple[Buffer | Part, ...]:
        """The memory in which the values of these slots lie, which `stream` uses now."""
        values = [held for held in (self.frame[slot] for slot in slots) if held is not None]
        for lease in (lease for held in values for lease in held.leases):
            if lease.buffer.stream is not stream:
                self.device.allocator.uses(lease.buffer, stream)
        return tuple({id(m): m for held in values for m in held.touched()}.values())

    def leased(self, size: int, stream: Stream) -> Lease:
        """Memory of the device."""
        return Lease(self.device.allocator, self.device.allocator.allocate(size, stream))

    def sent(self, value: Any, name: str) -> Held:
        """A copy of a value of the host on the device."""
        stream = self.device.stream(name)
        value = value.host() if isinstance(value, Resident) else value
        held = Held(meta_of(value), (self.leased(nbytes_of(value), stream),))
        taken_in(self.device, value, held, stream)
        return held

    def perform(self, i: int) -> None:
        task = self.whole.streams.tasks[i]
        stream = self.device.stream(self.whole.streams.streams[i])
        for wait in self.whole.waits[i]:
            if wait.kind == SYNCHRONIZE:
                self.events[wait.before].synchronize()
            else:
                stream.wait(self.events[wait.before])
        if task.queue == COMPUTE:
            self.compute(task, stream)
        elif task.queue == COPY_IN:
            self.frame[task.writes[0][1]] = self.sent(self.host[task.reads[0][1]], stream.name)
        elif task.queue == COPY_OUT:
            self.bring(task, stream)
        else:
            self.on_host(task)
        if i in self.whole.recorded:
            self.events[i] = event = self.device.event()
            stream.record(event)

    def bring(self, task: Task, stream: Stream) -> None:
        """Copy a value to the host and wait for it; there is none of a branch that did not run."""
        held = self.frame[task.reads[0][1]]
        if held is None:
            return
        for lease in held.leases:
            self.device.allocator.uses(lease.buffer, stream)
        found = taken_out(self.device, held, stream)
        self.wait_for(stream)
        self.host[task.writes[0][1]] = found

    def held(self, slot: int) -> Held:
        """The value in a slot of the device."""
        found = self.frame[slot]
        assert found is not None
        return found

    def on_host(self, task: Task) -> None:
        """Run an instruction on the host; of what is on the device it sees the shape."""
        step = self.steps[task.instruction or 0]
        if step.nested:
            self.run_block(task, step)
            return
        frame = list(self.host)
        for side, slot in task.shapes:
            if side != HOST:
                frame[slot] = shaped(self.frame[slot])
        called(step, frame, self.looked)
        for slot in step.writes:
            self.host[slot] = frame[slot]

    def run_block(self, task: Task, step: Instruction) -> None:
        """Run an instruction with a block: its tasks run on the device, the host asks how often."""
        frame = list(self.host)
        for side, slot in task.reads:
            if side != HOST:
                held = self.frame[slot]  # none of a branch that did not run
                frame[slot] = None if held is None else Resident(self.device, held)
        step.call(frame, self.starts)
        for side, slot in task.writes:
            value = frame[slot]
            if side == HOST:  # a list, of values that stay where they are
                self.host[slot] = value
            elif isinstance(value, Resident) and not step.copies:
                self.frame[slot] = value.held
            else:
                self.frame[slot] = None if value is None else self.sent(value, COPY_IN)
        self.wait_for(self.device.stream(COPY_IN))

    def starts(self, plan: Plan, frame: Frame) -> Callable[[], None]:
        """Run a plan within this one over `frame` as often as the result is called."""
        known = self.whole.inner.setdefault(id(plan), {})

        def again() -> None:
            whole = launches_for(known, plan, self.device, frame)
            work = DeviceWork(whole, plan, self.device, frame)
            run_ordered(whole.schedule, work, range(len(whole.streams.tasks)))
            for name in dict.fromkeys(whole.streams.streams):
                self.wait_for(self.device.stream(name))
            work.settle()

        return again

    def compute(self, task: Task, stream: Stream) -> None:
        """Launch an instruction, unless it makes a view: whoever reads that makes it first."""
        number = task.instruction or 0
        step, results = self.steps[number], self.whole.results[number]
        operands, size = self.operands(task), len(self.host)
        if results.viewed is None:
            looked = self.looked
            self.launch(task, stream, lambda: computed(step, operands, size, looked))
            return
        together = Cell(lambda: computed(step, operands, size))
        viewed = self.held(results.viewed)
        for m in results.made:
            cell = Cell(partial(picked, together, m.slot))
            self.frame[m.slot] = Held(m.meta, viewed.leases, cell, viewed.part)

    def launch(self, task: Task, stream: Stream, compute: Callable[[], Found]) -> None:
        """Launch an instruction; wait for it where only that tells the sizes of its results."""
        number = task.instruction or 0
        step, made = self.steps[number], self.whole.results[number].made
        values = (spot for spot in task.reads if spot not in task.shapes)
        read = self.touched([slot for _, slot in values], stream)
        over = self.touched(self.whole.overwritten[number], stream)
        found: Found = {}
        known = all(m.meta is not None for m in made)
        if not known:
            stream.launch(lambda: found.update(compute()), read, over, step.operator.type)
            self.wait_for(stream)
            if not found:
                where = f"`{self.device.place.name}`, which runs nothing"
                raise UnknownSizeError(f"{said(step.operator)} on {where}")
        results: dict[int, Held] = {}
        slots = [m.slot for m in made]
        made = tuple(m for m in made if known or found[m.slot] is not None)
        for m in made:
            results[m.slot] = self.result(m, stream, found.get(m.slot), results)
        spaces = tuple(space(m, results[m.slot]) for m in made)
        write = tuple(results[m.slot].leases[0].buffer for m in made if m.whole is None)

        def work() -> None:
            settled(compute() if known else found, spaces)

        stream.launch(work, read, (*over, *write), step.operator.type)
        for slot in slots:
            self.frame[slot] = results.get(slot)

    def result(self, m: Made, stream: Stream, value: Any, others: dict[int, Held]) -> Held:
        """A place for a result; `value` is the result where its size was not known."""
        meta = meta_of(value) if m.meta is None else m.meta
        if m.whole is not None:
            return Held(meta, others[m.whole].leases, part=m.slot)
        size = nbytes_of(value) if m.meta is None else aligned(nbytes(m.meta))
        return Held(meta, (self.leased(size, stream),))

    def release(self, n: int) -> None:
        (side, slot), keeps_shape, _ = self.whole.schedule.lives[n]
        if side == HOST:
            self.host[slot] = stub(self.host[slot]) if keeps_shape else None
        else:
            held = self.frame[slot]
            self.frame[slot] = Held(held.meta, ()) if keeps_shape and held else None

    def explained(self, error: Exception, i: int) -> Exception:
        number = self.whole.streams.tasks[i].instruction
        if number is not None and not is_located(error):
            operator = self.steps[number].operator
            line = str(operator.line or "a loaded file")
            located(error, situation(operator.op, operand_metas(operator, {}), line))
        return error

    def wait_for(self, stream: Stream) -> None:
        """Wait for what was launched on `stream`, and raise the first error there.

        The stream stays failed until the run ends: else another thread could launch there what
        needs the results that are missing, and its error be told as the first.
        """
        event = self.device.event()
        stream.record(event)
        event.synchronize()

    def settle(self) -> None:
        """All that was launched is done: what stays on the device is its own from now on."""
        for slot, home in self.whole.streams.homes.items():
            held = self.frame[slot]
            if home != HOST and held is not None:
                self.host[slot] = Resident(self.device, held)

    def drain(self) -> None:
        """Wait for what was launched before an error; the first error is the one to tell."""
        with suppress(Exception):
            self.device.synchronize()


class Taken(NamedTuple):
    """The draw of one operator, taken when that was launched."""

    draw: Draw

    def reserve(self, count: int) -> Draw:
        """The draw."""
        return self.draw


class Space(NamedTuple):
    """Where a result goes: its cell, and memory of its own or that of which it is a part."""

    slot: int
    cell: Cell
    memory: Any
    whole: int | None


def space(m: Made, held: Held) -> Space:
    """Where a result goes."""
    return Space(m.slot, held.cell, memory(held.leases[0].buffer), m.whole)


def settled(found: Found, spaces: tuple[Space, ...]) -> None:
    """Put results where they go; of what is a part of another the part of that."""
    moved: dict[int, tuple[Any, Any]] = {}
    for s in spaces:
        value = found[s.slot]
        if s.whole is None:
            assert nbytes_of(value) <= s.memory.size, "a result is larger than was said"
            moved[s.slot] = value, stored(value, s.memory)
            s.cell.put(moved[s.slot][1])
        else:
            s.cell.put(part_of(value, *moved[s.whole]))


def ready(value: Any) -> Cell:
    """A cell with a value in it."""
    cell = Cell()
    cell.put(value)
    return cell


def picked(together: Cell, slot: int) -> Any:
    """One of several results."""
    return together.get()[slot]


def part_of(value: Any, whole: Any, moved: Any) -> Any:
    """What `value`, a stretch of `whole`, is in the array that took its place."""
    start = value.ctypes.data - whole.ctypes.data
    data = moved.reshape(-1).view(np.uint8)[start : start + value.nbytes]
    return data.view(value.dtype).reshape(value.shape)


def computed(
    step: Instruction, operands: dict[int, Cell], size: int, looked: Plan | None = None
) -> Found:
    """The results of an instruction on the device, by the slots it fills."""
    frame: Frame = [None] * size
    for slot, cell in operands.items():
        frame[slot] = cell.get()
    called(step, frame, looked)
    return {slot: frame[slot] for slot in step.writes}


def called(step: Instruction, frame: Frame, looked: Plan | None) -> None:
    """Run an instruction over `frame`, and look at the numbers it made for a plan."""
    try:
        frame[step.put] = step.call(*step.get(frame))
        if looked is not None:
            examine(looked, step, frame)
    except Exception as error:
        raise explained(error, step, frame) from None


def shaped(held: Held | None) -> Any:
    """The shape and element type of a value on the device, if there is one."""
    return held and stub(np.broadcast_to(np.zeros((), held.meta.dtype.array), held.meta.shape))


def run_device(bound: Bound, frame: Frame, in_order: bool = False) -> None:
    """Run once on the device of `bound`: at first in the order of tasks, then by counts.

    Or always `in_order`; what waits for something outside needs threads of its own at once.
    """
    whole = launches_for(bound.launches, bound.plan, bound.device, frame)
    work = DeviceWork(whole, bound.plan, bound.device, frame)
    for cell, slot in bound.cells:
        if slot in whole.resident and work.frame[slot] is not None:
            cell.value = Resident(work.device, work.held(slot))
    try:
        if bound.waits or (bound.ran and not in_order):
            run_crew(whole.schedule, work, bound.threads)
        else:
            run_ordered(whole.schedule, work, range(len(whole.streams.tasks)))
        bound.device.synchronize()
        work.settle()
    except BaseException:
        work.drain()
        raise
    bound.ran = True
    fed = ((f.cell, f.slot) for f in bound.begun if f.copies and f.cell is not None)
    for cell, slot in (*bound.cells, *fed):
        if slot in whole.streams.homes and frame[slot] is not None:
            cell.value = frame[slot]
