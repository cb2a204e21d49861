"""What runs where on a place: its tasks, with the copies between the host and the device."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scull.core.place import Place
from scull.executor.access import Memory, Touch, Touches
from scull.executor.alias import shape_readers, written
from scull.executor.instruction import Instruction
from scull.ir.operator import Operator
from scull.ir.variable import Variable

HOST, BLOCKING, COMPUTE, COPY_IN, COPY_OUT = "host", "blocking", "compute", "copy-in", "copy-out"
OUTSIDE = frozenset({"python", "reads", "writes"})  # effects of what only the host can do
WAITING = frozenset({"blocks", "communicates"})


@dataclass(frozen=True)
class Task:
    """One piece of work: an instruction, or a copy between the host and the device."""

    text: str
    queue: str
    touches: tuple[Touch, ...]
    instruction: int | None = None


class Placement:
    """Where the values of a run are, while its tasks are laid out."""

    def __init__(self, place: Place) -> None:
        self.device = HOST if place.is_cpu_place() else str(place)
        self.touches = Touches()
        self.homes: dict[Variable, set[str]] = {}

    def home(self, v: Variable) -> set[str]:
        """Where the value of `v` is; what a run begins with is where Programs keep it."""
        return self.homes.setdefault(v, {self.device})

    def queue(self, operator: Operator) -> str:
        """The queue of an operator."""
        effects = operator.op.effects
        if effects & WAITING:
            return BLOCKING
        on_host = effects & OUTSIDE or operator.device.startswith("cpu")
        return HOST if on_host or self.device == HOST else COMPUTE

    def run(self, i: int, step: Instruction) -> Iterator[Task]:
        """The task of an instruction, after the copies it needs."""
        o = step.operator
        queue = self.queue(o)
        where = self.device if queue == COMPUTE else HOST
        shapes = shape_readers(o)
        for v in dict.fromkeys(o.operands()):
            if v not in shapes:
                yield from self.moved(v, where)
        touches = self.touches.of(i, o, step.copies)
        for v in written(o):
            self.overwritten(self.touches.memory_of(v), where)
        for v in o.results():
            self.homes[v] = {where}
        names = ", ".join(v.name for v in o.results() if v not in written(o)) or "in place"
        over = ", ".join(dict.fromkeys(v.name for v in o.operands()))
        yield Task(f"{names} = {o.type}({over})", queue, placed(touches, where), i)

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
        yield Task(f"{v.name}@{where} = {kind}({v.name}@{source})", queue, touches)


def placed(touches: tuple[Touch, ...], where: str) -> tuple[Touch, ...]:
    """What is touched on one side; the world outside is the same for both."""
    return tuple(
        t if isinstance(t.what, str) else t._replace(what=(where, t.what)) for t in touches
    )


def tasks_of(plan: Any, place: Place) -> tuple[Task, ...]:
    """The tasks of a plan on `place`; what is fed is on the host, what is fetched goes there."""
    placement = Placement(place)
    placement.homes.update((v, {HOST}) for v, _, _ in plan.feeds)
    tasks: list[Task] = []
    for i, step in enumerate(plan.instructions):
        tasks.extend(placement.run(i, step))
    for slot in dict.fromkeys(slot for slot, _ in plan.fetches):
        tasks.extend(placement.moved(plan.variables[slot], HOST))
    return tuple(tasks)
