"""The most bytes of a run on a device, and of one on the host whose instructions wait for others.

On a device what is copied there counts, in the sizes that buffers have, and what comes back, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scull.core.meta import Meta
from scull.core.place import Place
from scull.errors import UnknownSizeError
from scull.executor.alias import written
from scull.executor.binding import Bound, remembered
from scull.executor.dependency import graph_of
from scull.executor.instruction import Instruction
from scull.executor.launch import Launches, begun, given_in, launches_for
from scull.executor.made import changed_in, unsized
from scull.executor.memory import Buffer, Metas, Peak, Sizes, nbytes, said
from scull.executor.plan import Plan
from scull.executor.stream import Streams, streams_of
from scull.executor.transfer import COPY_OUT, HOST, LISTS, Spot, Task
from scull.flags import flag
from scull.ir.depth import room_for
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.runtime.resident import Resident, aligned, nbytes_of

START = -1  # of what a run takes before its first task
ANY_ORDER = "some of it waits for others, and the rest goes on in any order"


@dataclass(eq=False)
class Value:
    """What stands in a place for a while: the tasks that make and use it."""

    users: list[int]
    kept: bool  # when they are done, too
    buffers: Sequence[Buffer]


@dataclass(eq=False)
class Stay:
    """Memory that one task takes; it goes when the last of those that use it are done."""

    size: int
    begin: int
    values: list[Value] = field(default_factory=list)  # what lies in it

    @property
    def end(self) -> int | None:
        """The tasks after which it goes, in bits; None when it is kept."""
        if any(value.kept for value in self.values):
            return None
        return sum(1 << i for i in {i for value in self.values for i in value.users})


class Stays:
    """The memory of a run, while its tasks are looked at in the order of the plan."""

    def __init__(self, kept: Iterable[Any]) -> None:
        self.kept = set(kept)
        self.found: dict[Buffer, Stay] = {}
        self.now: dict[Any, Value] = {}  # what stands in each place
        self.within: dict[int, int] = {}  # what tasks take besides while they run

    def use(self, i: int, places: Iterable[Any]) -> None:
        """Task `i` uses what stands there."""
        for place in places:
            if place in self.now:
                self.now[place].users.append(i)

    def hold(self, place: Any, buffer: Buffer) -> None:
        """Something takes a buffer before the first task, until the end of the run."""
        self.put(START, place, [buffer])
        self.now[place].kept = True

    def put(self, i: int, place: Any, buffers: Sequence[Buffer]) -> None:
        """Task `i` makes what stands there from now on, in these buffers."""
        old = self.now.get(place)
        if old is not None and old.kept:  # until something takes its place
            old.kept = False
            old.users.append(i)
        users = [] if i == START else [i]
        value = self.now[place] = Value(users, place in self.kept, buffers)
        for buffer in buffers:
            self.found.setdefault(buffer, Stay(buffer.size, i)).values.append(value)

    def buffers(self, place: Any) -> Sequence[Buffer]:
        """Where the value that stands there lies; nowhere when it is from outside the run."""
        return self.now[place].buffers if place in self.now else ()

    def in_order(self, count: int) -> int:
        """The most bytes at once when each task begins after the end of the one before it."""
        taken, given = [0] * (count + 2), [0] * (count + 2)
        for stay in self.found.values():
            end = stay.end
            taken[stay.begin + 1] += stay.size
            if end is not None:
                given[max(end.bit_length(), stay.begin + 1)] += stay.size
        live = peak = 0
        for i in range(count + 1):
            live += taken[i]
            peak = max(peak, live + self.within.get(i - 1, 0))
            live -= given[i]
        return peak

    def in_any_order(self, before: Sequence[int]) -> int:
        """A bound of it for every order in which `before` each task all those are done."""
        stays = [(stay.size, stay.begin, stay.end) for stay in self.found.values()]
        peak = sum(size for size, begin, _ in stays if begin == START)
        for i, earlier in enumerate(before):
            live = 0
            for size, begin, end in stays:
                begun = begin == START or not before[begin] >> i & 1
                gone = end is not None and not end & ~earlier
                live += size if begun and not gone else 0
            for j, size in self.within.items():
                live += 0 if earlier >> j & 1 or before[j] >> i & 1 else size
            peak = max(peak, live)
        return peak


def peak_in_any_order(plan: Plan, given: Metas, strided: Iterable[Any]) -> Peak:
    """The peak of a run on the host, in any order that its dependencies allow."""
    sizes, stays = Sizes(given), Stays(plan.kept)
    sizes.strided.update(strided)
    try:
        with room_for(plan.depth):
            for i, step in enumerate(plan.instructions):
                stays.use(i, (slot for slot in step.reads if slot not in step.shapes))
                sizes.run(step)
                stays.within[i] = sizes.within
                for slot in step.writes:
                    stays.put(i, slot, sizes.buffers.get(plan.variables[slot], []))
    except UnknownSizeError as unknown:
        return Peak(None, str(unknown))
    return Peak(stays.in_any_order(plan.graph.before), sizes.doubt or ANY_ORDER)


def peak_on_device(bound: Bound, frame: list[Any]) -> Peak:
    """The peak of a run on its device that begins with `frame`; nothing is launched yet."""
    whole = launches_for(bound.launches, bound.plan, bound.device, frame)
    sent = tuple(slot for slot in whole.resident if is_elsewhere(frame[slot], bound.device))
    key = (sent, bound.waits, *(nbytes_of(frame[slot]) for slot in sent))
    return remembered(whole.peaks, key, lambda: Tasks(bound, whole, frame).peak(sent))


def is_elsewhere(value: Any, device: Any) -> bool:
    """Whether a value must be copied to `device`."""
    return value is not None and not (isinstance(value, Resident) and value.device is device)


class OnDevice(Sizes):
    """The bytes of a run whose tasks run on a device, and of its blocks there.

    In a block every result has a buffer of its own, for nobody knows its size before it is there.
    What a round of a loop hands on lies beside what the next one makes until that is over.
    """

    def __init__(self, metas: Metas, place: Place, count: int) -> None:
        super().__init__(metas)
        self.place, self.count = place, count
        self.stays, self.clock = Stays(()), 0
        self.known_streams: dict[int, Streams] = {}  # of plans of blocks, by their ids

    def bytes_of(self, meta: Meta) -> int:
        size = nbytes(meta)
        return size if size == -1 else aligned(size)

    def inside(self, metas: Metas) -> "OnDevice":
        found = OnDevice(metas, self.place, self.count)
        found.known_streams = self.known_streams
        return found

    def streams(self, plan: Plan) -> Streams:
        """The tasks of the plan of a block."""
        if id(plan) not in self.known_streams:
            found = streams_of(plan, self.place, self.count, range(len(plan.instructions)))
            self.known_streams[id(plan)] = found
        return self.known_streams[id(plan)]

    def follow(self, step: Instruction) -> None:
        plan, stays = step.nested, self.stays
        streams = self.streams(plan)
        stays.kept |= streams.kept
        handed = [value for value in stays.now.values() if value.kept]
        sent = [("sent", slot) for slot in begun(streams) if self.is_sent(step, slot, streams)]
        for place in sent:
            stays.put(self.clock, place, [Buffer(self.sized(plan.variables[place[1]]))])
        for task in streams.tasks:
            self.clock += 1
            stays.use(self.clock, (spot for spot in task.reads if spot not in task.shapes))
            if task.instruction is None:
                self.copy(task, plan)
            else:
                self.make(task, plan.instructions[task.instruction], plan)
        stays.use(self.clock, sent)
        for value in handed:
            value.kept = False
            value.users.append(self.clock)
        self.clock += 1
        self.peak = stays.in_order(self.clock)

    def is_sent(self, step: Instruction, slot: int, streams: Streams) -> bool:
        """Whether a round may find on the host what its tasks read on the device."""
        v, op = step.nested.variables[slot], step.operator.op
        restored = op.backward and any(v is save.variable for save in op.saves)
        return restored or v in op.body.private or streams.homes.get(slot) == HOST

    def sized(self, v: Variable) -> int:
        """The bytes of a value of `v`."""
        size = self.bytes_of(self.meta(v))
        if size == -1:
            raise UnknownSizeError(f"`{v.name}`")
        return size

    def copy(self, task: Task, plan: Plan) -> None:
        """Take what a copy from one side to the other takes."""
        (target,) = task.writes
        self.stays.put(self.clock, target, [Buffer(self.sized(plan.variables[target[1]]))])

    def make(self, task: Task, step: Instruction, plan: Plan) -> None:
        """Take what an instruction makes in a block."""
        self.run(step)
        over, made = written(step.operator), 0
        for spot in task.writes:
            v = plan.variables[spot[1]]
            if v not in over:
                size = self.size(step.operator, v)
                self.stays.put(self.clock, spot, [Buffer(size)])
                made += size
        self.stays.within[self.clock] = self.besides(step, made)

    def besides(self, step: Instruction, made: int) -> int:
        """What a step takes while it runs beside its results, which are `made` bytes."""
        if step.nested is None:
            return 0
        apart = step.copies or step.operator.op.backward
        return self.within if apart else max(self.within - made, 0)


class Tasks:
    """The tasks of a run on a device, and the bytes they take."""

    def __init__(self, bound: Bound, whole: Launches, frame: list[Any]) -> None:
        self.whole, self.plan, self.frame = whole, bound.plan, frame
        self.place, self.tasks = whole.streams.place, whole.streams.tasks
        self.bound, self.stays = bound, Stays(whole.streams.kept)
        self.metas: dict[Spot, Meta] = {}
        self.sizes = OnDevice(self.found(), bound.device.place, flag("DEVICE_STREAMS"))
        self.doubt = ""

    def found(self) -> Metas:
        """What is known of the variables when the run begins."""
        given = given_in(self.frame)
        changed, variables = changed_in(self.plan, given), self.plan.variables
        metas = {v: unsized(v.meta) for v in variables if v is not None and v.name in changed}
        return metas | {variables[slot]: meta for slot, meta in given.items()}

    def peak(self, sent: Iterable[int]) -> Peak:
        """The peak, when the values in the slots `sent` are copied there first."""
        for entry in self.bound.begun:
            self.stays.hold(entry, Buffer(self.frame[entry.slot].nbytes))
        for slot in sent:  # the scope holds it, also when another takes its place
            buffer = Buffer(self.begun(slot))
            self.stays.hold(slot, buffer)
            self.stays.put(START, (self.place, slot), [buffer])
        try:
            with room_for(self.plan.depth):
                for i, task in enumerate(self.tasks):
                    self.stays.use(i, (spot for spot in task.reads if spot not in task.shapes))
                    if task.instruction is None:
                        self.copied(i, task)
                    else:
                        self.made(i, task, task.instruction)
        except UnknownSizeError as unknown:
            return Peak(None, str(unknown))
        if not self.bound.waits:
            return Peak(self.stays.in_order(len(self.tasks)), self.doubt)
        graph = graph_of([task.touches for task in self.tasks], self.plan.sequential)
        return Peak(self.stays.in_any_order(graph.before), self.doubt or ANY_ORDER)

    def begun(self, slot: int) -> int:
        """The bytes on a device of what the frame begins with."""
        value = self.frame[slot]
        if isinstance(value, Resident):
            return aligned(nbytes(value.meta))
        return nbytes_of(value)

    def copied(self, i: int, task: Task) -> None:
        """Task `i` copies a value from one side to the other."""
        (source,), (target,) = task.reads, task.writes
        if source in self.metas:
            self.metas[target] = self.metas[source]
            size = self.size(target)
        elif self.frame[source[1]] is None:  # of a branch that does not run
            return
        else:
            size = self.begun(source[1])
        self.stays.put(i, target, [Buffer(size if task.queue == COPY_OUT else aligned(size))])

    def size(self, spot: Spot) -> int:
        """The bytes of what is made or copied there."""
        meta = self.metas[spot]
        return nbytes(meta) if spot[0] == HOST else aligned(nbytes(meta))

    def made(self, i: int, task: Task, number: int) -> None:
        """Task `i` runs an instruction."""
        step, results = self.plan.instructions[number], self.whole.results[number]
        o: Operator = step.operator
        self.sizes.run(step)
        sides = {slot: side for side, slot in task.writes}
        for m in results.made:
            v = self.plan.variables[m.slot]
            spot = sides[m.slot], m.slot
            self.metas[spot] = self.sizes.meta(v) if m.meta is None else m.meta
            if results.viewed is not None and spot[0] != HOST:
                buffers = self.stays.buffers((self.place, results.viewed))
            elif m.whole is not None and spot[0] != HOST:
                buffers = self.stays.buffers((self.place, m.whole))
            else:
                buffers = [Buffer(self.sizes.size(o, v) if v.kind in LISTS else self.size(spot))]
            self.stays.put(i, spot, buffers)
            if o.op.views and spot[0] == HOST:
                self.doubt = self.doubt or f"{said(o)}, whose view may be a copy"
        if step.nested is not None:
            self.doubt = self.doubt or f"{said(o)}, whose block may not run"
            made = (self.stays.buffers((sides[m.slot], m.slot)) for m in results.made)
            total = sum(buffer.size for buffers in made for buffer in buffers)
            self.stays.within[i] = self.sizes.besides(step, total)
