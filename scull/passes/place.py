"""Where operators of a block of dataflow stand, and what variables are there."""

from dataclasses import dataclass

from scull.core.meta import Kind
from scull.ir.variable import Variable


@dataclass(frozen=True, eq=False)
class Guard:
    """A truth value, and which it must be."""

    pred: Variable
    holds: bool

    def __eq__(self, other: object) -> bool:  # `==` of two variables is an operator
        return isinstance(other, Guard) and (self.pred is other.pred and self.holds == other.holds)

    def __hash__(self) -> int:
        return hash((self.pred, self.holds))


def denied(guard: Guard) -> Guard:
    """That what a guard asks does not hold."""
    return Guard(guard.pred, not guard.holds)


class Place:
    """Where operators stand: outside all blocks, in a branch or in a loop."""

    def __init__(self, around: "Place | None" = None) -> None:
        self.around = around
        self.values: dict[Variable, Variable] = {}  # what variables of the source are here now
        self.written: dict[Variable, None] = {}
        self.recalls: dict[Variable, tuple[Variable, Place]] = {}  # values a forward block had
        self.switches: dict[tuple[Variable, Variable], tuple[Variable, Variable]] = {}

    def set(self, v: Variable, value: Variable) -> None:
        """Let `v` be `value` from now on."""
        self.values[v] = value
        self.written[v] = None

    def has(self, v: Variable) -> bool:
        """Whether `v` has a value here or around."""
        at: Place | None = self
        while at is not None and v not in at.values and v not in at.recalls:
            at = at.around
        return at is not None or v.kind is Kind.ARRAY  # lists begin empty


class Side(Place):
    """A branch: values are alive where a truth value is as it must be."""

    def __init__(self, around: Place, guard: Guard) -> None:
        super().__init__(around)
        self.guard = guard
        self.home: Place = around.home if isinstance(around, Side) else around


class Frame(Place):
    """The body of a loop: values are alive where it goes on."""

    def __init__(self, around: Place, name: str) -> None:
        super().__init__(around)
        self.name = name
        self.goes_on: Variable | None = None
        self.entered: dict[Variable, Variable] = {}  # what values from around it are in it
        self.first: dict[Variable, Variable] = {}  # what its variables are when a round begins
        self.stacks: dict[Variable, Variable] = {}  # by value a list of what it was in each round
        self.counter: tuple[Variable, Variable] | None = None  # in a round, and behind the loop
        self.forward: Frame | None = None  # whose rounds this goes back over
        self.position: Variable | None = None  # of the round it goes back over
        self.is_last: Variable | None = None  # whether that was the last one
        self.reads: dict[tuple[Variable, Place], Variable] = {}  # what values of that round were


def holder(place: Place, v: Variable) -> Place:
    """The place from which `v` is led into `place`: around branches that do not know it."""
    at = place.around
    assert at is not None
    if isinstance(place, Side):
        while isinstance(at, Side) and v not in at.values and v not in at.recalls:
            assert at.around is not None
            at = at.around
    return at


def frames(place: Place | None) -> list[Frame]:
    """The loops around a place."""
    if place is None:
        return []
    return [*frames(place.around), *([place] if isinstance(place, Frame) else [])]
