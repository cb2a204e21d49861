"""What runs where on a place: its tasks, with the copies between the host and the device."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scull.core.meta import Kind
from scull.core.place import Place
from scull.executor.access import Memory, Touch, Touches
from scull.executor.alias import shape_readers, written
from scull.executor.instruction import Instruction
from scull.ir.operator import Operator
from scull.ir.variable import Variable

HOST, BLOCKING, COMPUTE, COPY_IN, COPY_OUT = "host", "blocking", "compute", "copy-in", "copy-out"
OUTSIDE = frozenset({"python", "reads", "writes"})  # effects of what only the host can do
WAITING = frozenset({"blocks", "communicates"})

LISTS = frozenset({Kind.ARRAY, Kind.SCOPES})
NOWHERE: Mapping[Any, str] = {}
Spot = tuple[str, int]  # the host or the device, a slot of the frame there


@dataclass(frozen=True)
class Task:
    """One piece of work: an instruction, or a copy between the host and the device."""

    text: str
    queue: str
    touches: tuple[Touch, ...]
    instruction: int | None = None
    reads: tuple[Spot, ...] = ()
    writes: tuple[Spot, ...] = ()
    shapes: tuple[Spot, ...] = ()  # those of `reads` of which it looks at the shape only


class Placement:
    """Where the values of a run are, while its tasks are laid out."""

    def __init__(
        self,
        place: Place,
        slots: Mapping[Variable, int],
        copies: Collection[int] = (),
        draws_in_order: bool = False,
    ) -> None:
        self.device = HOST if place.is_cpu_place() else place.name
        self.slots, self.copies = slots, copies
        self.touches = Touches(draws_in_order)
        self.homes: dict[Variable, set[str]] = {}

    def home(self, v: Variable) -> set[str]:
        """Where the value of `v` is; what a run begins with is where Programs keep it."""
        return self.homes.setdefault(v, {place_of(v, self.device)})

    def queue(self, operator: Operator) -> str:
        """The queue of an operator."""
        effects = operator.op.effects
        if effects & WAITING:
            return BLOCKING
        lists = any(v.kind in LISTS for v in (*operator.operands(), *operator.results()))
        on_host = effects & OUTSIDE or operator.device.startswith("cpu") or lists
        return HOST if on_host or self.device == HOST else COMPUTE

    def run(self, i: int, step: Instruction) -> Iterator[Task]:
        """The task of an instruction, after the copies it needs."""
        o = step.operator
        queue = HOST if step.nested and not o.op.effects & WAITING else self.queue(o)
        where = self.device if queue == COMPUTE or step.nested else HOST
        shapes = shape_readers(o)
        for v in dict.fromkeys(o.operands()):
            if v not in shapes:
                yield from self.moved(v, place_of(v, where))
        copied = step.copies or (i in self.copies and where != HOST)
        touches = self.touches.of(i, o, copied)
        reads = {v: (self.side(v, where), self.slots[v]) for v in o.operands()}
        for v in written(o):
            self.overwritten(self.touches.memory_of(v), where)
        for v in o.results():
            self.homes[v] = {place_of(v, where)}
        writes = tuple(
            (place_of(v, where), self.slots[v])
            for v in dict.fromkeys(o.results())
            if self.slots[v] in step.writes
        )
        looks = tuple(reads[v] for v in shapes)
        names = ", ".join(v.name for v in o.results() if v not in written(o)) or "in place"
        over = ", ".join(dict.fromkeys(v.name for v in o.operands()))
        spots = (tuple(reads.values()), writes, looks)
        sides = {v: reads[v][0] for v in shapes}
        yield Task(f"{names} = {o.type}({over})", queue, placed(touches, where, sides), i, *spots)

    def side(self, v: Variable, where: str) -> str:
        """Where to look at `v`: there if it is there, too."""
        return where if where in self.home(v) else next(iter(self.home(v)))

    def overwritten(self, memory: Memory, where: str) -> None:
        """Forget the copies elsewhere of what lies in memory that changes."""
        changed, number = memory.owner
        for v, other in self.touches.memory.items():
            if other.owner[0] is changed and other.owner[1] == number:
                self.homes[v] = {where}

    def moved(self, v: Variable, where: str) -> Iterator[Task]:
        """The copy that brings `v` there, unless it is there."""
        if where in self.home(v):
            return
        (source,) = self.home(v)
        self.homes[v].add(where)
        memory = self.touches.memory_of(v)
        reads = (Touch(v, None, False, v.name), Touch(*memory, False, v.name, True))
        writes = (Touch(v, None, True, v.name), Touch(*memory, True, v.name, True))
        touches = (*placed(reads, source), *placed(writes, where))
        kind, queue = ("memcpy_d2h", COPY_OUT) if where == HOST else ("memcpy_h2d", COPY_IN)
        slot = self.slots[v]
        text = f"{v.name}@{where} = {kind}({v.name}@{source})"
        yield Task(text, queue, touches, None, ((source, slot),), ((where, slot),))


def placed(
    touches: tuple[Touch, ...], where: str, sides: Mapping[Any, str] = NOWHERE
) -> tuple[Touch, ...]:
    """What is touched on one side, but for lists and for what `sides` says.

    The world outside is the same for both.
    """

    def side(what: Any) -> str:
        v = what[0] if isinstance(what, tuple) else what
        return sides.get(what, place_of(v, where))

    return tuple(
        t if isinstance(t.what, str) else t._replace(what=(side(t.what), t.what)) for t in touches
    )


def place_of(v: Variable, where: str) -> str:
    """Where a value of `v` is that belongs there: lists of values are on the host."""
    return HOST if v.kind in LISTS else where


@dataclass(frozen=True)
class Placed:
    """The tasks of a plan on a place, and where values are when they are done."""

    tasks: tuple[Task, ...]
    kept: frozenset[Spot]  # what is never dropped
    homes: Mapping[int, str]  # of what goes to the scope: the device, unless only the host has it

    def __str__(self) -> str:
        return "\n".join(f"{i:>4}  {t.queue:<8}  {t.text}" for i, t in enumerate(self.tasks))


def tasks_of(plan: Any, place: Place, copies: Collection[int] = ()) -> Placed:
    """The tasks of a plan on `place`; what is fed is on the host, what is fetched goes there.

    On the device the instructions `copies` make no views.
    """
    slots = {v: i for i, v in enumerate(plan.variables)}
    placement = Placement(place, slots, copies, plan.draws < 0)
    placement.homes.update((v, {HOST}) for v, _, _ in plan.feeds)
    tasks: list[Task] = []
    for i, step in enumerate(plan.instructions):
        tasks.extend(placement.run(i, step))
    fetched = dict.fromkeys(slot for slot, _ in plan.fetches)
    for slot in fetched:
        tasks.extend(placement.moved(plan.variables[slot], HOST))
    device = placement.device
    lasting = [s for s in plan.kept if s not in fetched or plan.variables[s].persistable]
    homes = {s: placement.side(plan.variables[s], device) for s in lasting}
    kept = {(side, s) for s in lasting for side in (HOST, device)}
    return Placed(tuple(tasks), frozenset(kept | {(HOST, s) for s in fetched}), homes)
