"""What a Program computes: values that are written once, branches and loops as wholes.

What only hands values around is gone: copies into variables of other rounds and blocks, the denial
of a condition, the choice between the results of two branches. So are values nobody needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scull.core.meta import Meta
from scull.ir.operator import Operator
from scull.ir.variable import Variable

ORDERED = frozenset({"random", "python", "writes", "communicates"})


class Value:
    """What one variable holds from one operator on; without a maker what it holds at first."""

    def __init__(self, variable: Variable, maker: Any = None) -> None:
        self.variable, self.maker = variable, maker

    @property
    def meta(self) -> Meta:
        return self.variable.meta

    def __repr__(self) -> str:
        return f"<value of {self.variable.name}>"


Slot = Value | list[Value | None] | None


@dataclass(eq=False)
class Call:
    """An operator without blocks; `told` are the values that hold its attributes."""

    operator: Operator
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    told: dict[str, Slot]
    region: "Region"

    @property
    def type(self) -> str:
        return self.operator.type

    def operands(self) -> list[Value]:
        """The values it reads."""
        return [v for s in (*self.inputs, *self.told.values()) for v in each(s)]

    def results(self) -> list[Value]:
        """The values it makes."""
        return [v for s in self.outputs for v in each(s)]


@dataclass(eq=False)
class Result:
    """A value behind two branches, and what it is in each; None where that has none."""

    out: Value
    sides: list[Value | None]  # where the condition holds, where not


@dataclass(eq=False)
class Branch:
    """Of two regions one runs, as `condition` says."""

    condition: Value
    region: "Region"
    sides: tuple["Region", "Region"] = field(init=False)
    results: list[Result] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sides = Region(self), Region(self)


@dataclass(eq=False)
class Carried:
    """A value that goes from round to round: before, at the head of a round, at its end, behind."""

    before: Value | None
    inside: Value
    after: Value
    out: Value


@dataclass(eq=False)
class Loop:
    """A region that runs while a truth value holds: `first` before all rounds, `last` after one."""

    first: Value
    region: "Region"
    body: "Region" = field(init=False)
    last: Value = field(init=False)
    carried: list[Carried] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.body = Region(self)


Node = Call | Branch | Loop


class Region:
    """What runs one after the other; `owner` is the branch or the loop it belongs to."""

    def __init__(self, owner: Branch | Loop | None = None) -> None:
        self.owner, self.nodes = owner, list[Node]()

    def calls(self) -> Iterator[Call]:
        """Every call, those of inner regions included."""
        for node in self.nodes:
            if isinstance(node, Call):
                yield node
            for inner in regions_of(node):
                yield from inner.calls()


@dataclass(eq=False)
class Structure:
    """A whole Program: its inputs, its results, and the values it keeps from run to run."""

    entries: list[Value]
    exits: list[Value]
    kept: dict[Variable, Value]
    region: Region
    rewritten: set[Value]  # those of `kept` that calls change

    def is_ordered(self, call: Call) -> bool:
        """Whether it matters when `call` runs: it draws, acts, or reads what changes."""
        if call.operator.op.effects & ORDERED:
            return True
        touched = self.rewritten and self.rewritten.intersection([*call.operands(), *writes(call)])
        return bool(touched)


def each(slot: Slot) -> list[Value]:
    """The values in one slot."""
    return [v for v in (slot if isinstance(slot, list) else [slot]) if v is not None]


def writes(call: Call) -> list[Value]:
    """The kept values it changes."""
    return [v for v in call.results() if v.maker is None]


def overwritten(call: Call) -> list[Value]:
    """The values that it reads and writes over, as its operator does with their variables."""
    over, found = set(call.operator.results()), list[Value]()
    for slot, given in zip(call.operator.inputs, call.inputs, strict=False):
        variables = slot if isinstance(slot, list | tuple) else [slot]
        values = given if isinstance(given, list) else [given]
        pairs = zip(variables, values, strict=True)
        found += [value for v, value in pairs if value is not None and v in over]
    return found


def regions_of(node: Node) -> tuple[Region, ...]:
    """The regions within a node."""
    if isinstance(node, Branch):
        return node.sides
    return (node.body,) if isinstance(node, Loop) else ()
