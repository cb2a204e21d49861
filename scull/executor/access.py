"""What each operator touches: places of a frame, memory, and the world outside a Program."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from scull.executor.alias import shape_readers, shared, written
from scull.ir.operator import Operator
from scull.ir.variable import Variable

# What an effect touches and whether it changes that. Draws are numbered ahead, and random needs
# none, unless a block draws: then all of them come as they do in the Program.
EFFECTS = {
    "reads": (("outside", False),),
    "writes": (("outside", True),),
    "python": (("outside", True), ("network", True)),
    "communicates": (("network", True),),
}


class Touch(NamedTuple):
    """One access: two that meet, of which one writes, must keep their order."""

    what: Any  # a place of the frame, a memory, the world outside
    part: Any  # which part of a memory; all of it when None
    writes: bool
    name: str
    stored: bool = False  # whether it is the elements of a value, and not its place alone


class Memory(NamedTuple):
    """The memory of a value: whose it was first, and which part of that."""

    owner: tuple[Variable, int]
    part: Variable | None = None


class Touches:
    """What the operators of a run touch, one after the other.

    With `draws_in_order` those that draw follow one another.
    """

    def __init__(self, draws_in_order: bool = False) -> None:
        self.memory: dict[Variable, Memory] = {}
        self.effects = EFFECTS | {"random": (("draws", True),)} if draws_in_order else EFFECTS

    def memory_of(self, v: Variable) -> Memory:
        """The memory `v` lies in now; its own when the run began with it."""
        return self.memory.setdefault(v, Memory((v, -1)))

    def of(self, i: int, operator: Operator, copied: bool) -> tuple[Touch, ...]:
        """What the operator at `i` touches, its reads first; `copied`: its views are copies."""
        found: dict[Touch, None] = {}  # each once, in order
        shapes, over = shape_readers(operator), written(operator)
        for v in operator.operands():
            found[Touch(v, None, False, v.name)] = None
            if v not in shapes:
                found[Touch(*self.memory_of(v), False, v.name, True)] = None
        for v in operator.operands():
            if v in over:
                found[Touch(*self.memory_of(v), True, v.name, True)] = None
        before = {v: self.memory_of(v) for v in operator.operands()}
        self.place(i, operator, copied)
        for v in operator.results():
            if v not in over:
                found[Touch(v, None, True, v.name)] = None
                if self.memory[v].owner[1] == i or before.get(v) == self.memory[v]:
                    found[Touch(*self.memory[v], True, v.name, True)] = None
        for effect in sorted(operator.op.effects):
            for what, writes in self.effects.get(effect, ()):
                found[Touch(what, None, writes, what)] = None
        return tuple(found)

    def place(self, i: int, operator: Operator, copied: bool) -> None:
        """Say where the results of the operator at `i` lie."""
        over, own = written(operator), set(operator.results())
        lies = {r: x for r, x, writes in shared(operator) if not writes}
        inside = {r: self.memory_of(x) for r, x in lies.items() if x not in own}
        for r in operator.results():
            if r in over:
                continue
            if lies.get(r) in own:
                self.memory[r] = Memory((lies[r], i), r)
            elif r in inside and not copied:
                self.memory[r] = inside[r]
            else:
                self.memory[r] = Memory((r, i))


def touches_text(touches: Iterable[Touch]) -> str:
    """What one operator touches: elements that it reads and writes, and the world outside."""
    found = [t for t in touches if t.stored or isinstance(t.what, str)]
    kinds = {"reads": False, "writes": True}
    parts = (
        f"{kind} {', '.join(dict.fromkeys(t.name for t in found if t.writes is writes))}"
        for kind, writes in kinds.items()
        if any(t.writes is writes for t in found)
    )
    return "; ".join(parts) or "touches nothing"


def touched(
    operators: tuple[Operator, ...], copies: set[Operator], draws_in_order: bool = False
) -> tuple[tuple[Touch, ...], ...]:
    """What every operator touches; the views that those in `copies` make are copies."""
    touches = Touches(draws_in_order)
    return tuple(touches.of(i, o, o in copies) for i, o in enumerate(operators))
