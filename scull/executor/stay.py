"""The most bytes of a run on a device, and of one on the host whose instructions wait for others.

On a device what is copied there counts, in the sizes that buffers have, and what comes back, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scull.core.meta import Meta
from scull.errors import UnknownSizeError
from scull.executor.binding import Bound, remembered
from scull.executor.dependency import graph_of
from scull.executor.launch import Launches, launches_for
from scull.executor.memory import Buffer, Metas, Peak, Sizes, nbytes, said
from scull.executor.plan import Plan
from scull.executor.transfer import COPY_OUT, HOST, Spot, Task
from scull.ir.operator import Operator
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


class Tasks:
    """The tasks of a run on a device, and the bytes they take."""

    def __init__(self, bound: Bound, whole: Launches, frame: list[Any]) -> None:
        self.whole, self.plan, self.frame = whole, bound.plan, frame
        self.place, self.tasks = whole.streams.place, whole.streams.tasks
        self.bound, self.stays = bound, Stays(whole.streams.kept)
        self.metas: dict[Spot, Meta] = {}
        self.doubt = ""

    def peak(self, sent: Iterable[int]) -> Peak:
        """The peak, when the values in the slots `sent` are copied there first."""
        for entry in self.bound.begun:
            self.stays.hold(entry, Buffer(self.frame[entry.slot].nbytes))
        for slot in sent:  # the scope holds it, also when another takes its place
            buffer = Buffer(self.begun(slot))
            self.stays.hold(slot, buffer)
            self.stays.put(START, (self.place, slot), [buffer])
        try:
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
        meta = self.metas.get(source)
        if meta is not None:
            size = self.known(meta, task.text)
        elif self.frame[source[1]] is None:  # of a branch that does not run
            return
        else:
            size = self.begun(source[1])
        self.metas.update({target: meta} if meta is not None else {})
        self.stays.put(i, target, [Buffer(size if task.queue == COPY_OUT else aligned(size))])

    def known(self, meta: Meta, what: str) -> int:
        """The bytes of a value."""
        size = nbytes(meta)
        if size < 0:
            raise UnknownSizeError(what)
        return size

    def made(self, i: int, task: Task, number: int) -> None:
        """Task `i` runs an instruction."""
        step, results = self.plan.instructions[number], self.whole.results[number]
        o: Operator = step.operator
        if step.nested or o.op.has_blocks:
            raise UnknownSizeError(f"{said(o)}, whose block runs on a device")
        sides = {slot: side for side, slot in task.writes}
        on_host = HOST in sides.values()
        for m in results.made:
            spot = sides[m.slot], m.slot
            if m.meta is None:
                raise UnknownSizeError(said(o))
            self.metas[spot] = m.meta
            if on_host:
                if o.op.views:
                    self.doubt = self.doubt or f"{said(o)}, whose view may be a copy"
                buffers: Sequence[Buffer] = [Buffer(self.known(m.meta, said(o)))]
            elif results.viewed is not None:
                buffers = self.stays.buffers((self.place, results.viewed))
            elif m.whole is not None:
                buffers = self.stays.buffers((self.place, m.whole))
            else:
                buffers = [Buffer(aligned(self.known(m.meta, said(o))))]
            self.stays.put(i, spot, buffers)
