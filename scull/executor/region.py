"""What a block of dataflow is when it runs: regions of frames, and tokens that move between them.

A region is a run of operators that need the same values and are alive together. What each of its
values brings to others, and to whom, is known ahead.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from scull.executor.instruction import Instruction
from scull.executor.schedule import is_large
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ir.verify_dataflow import Path

FIRST = 2  # the first slot of a round that belongs to a variable
FAR = 1 << 40  # how many tokens a region waits for that does not run
Pairs = tuple[tuple[int, int], ...]  # from one slot to another


class Dead:
    """What stands for a value that nobody computes."""

    def __repr__(self) -> str:
        return "dead"


DEAD = Dead()


class Decision(NamedTuple):
    """A truth value: which regions wait for it, and on which side."""

    slot: int
    sides: tuple[tuple[int, ...], tuple[int, ...]]  # the regions for false, and for true
    operator: Operator  # the first that asks
    repeats: bool  # it says whether a loop goes on


class Token(NamedTuple):
    """What values bring when they come: to regions so many things less to wait for, decisions."""

    takers: tuple[tuple[int, int], ...]
    decisions: tuple[Decision, ...]


class Entry(NamedTuple):
    """A value on its way into a frame: from a slot to places there."""

    slot: int
    frame: "FramePlan"
    places: tuple[int, ...]
    fixed: Pairs
    token: Token
    is_constant: bool


class Arm(NamedTuple):
    """Values on their way to a `merge`."""

    merge: int
    pairs: Pairs


class Onward(NamedTuple):
    """Values on their way to the next round."""

    pairs: Pairs
    token: Token


@dataclass(eq=False)
class Region:
    """Operators that run together, and what they send."""

    number: int
    operators: tuple[Operator, ...]
    instructions: tuple[Instruction, ...]
    waits: int
    first_only: bool  # it runs in the first round alone
    item: int  # which of the effects that keep their order it has; -1: none
    token: Token | None
    onward: Onward | None
    arms: tuple[Arm, ...]
    entries: tuple[Entry, ...]
    exits: tuple[tuple[int, int], ...]  # from a slot, the number of the exit
    results: tuple[tuple[int, Variable], ...]

    @cached_property
    def steps(self) -> tuple[Any, ...]:
        """The instructions as the loop takes them."""
        return tuple((i.call, i.get, i.put, i.frees) for i in self.instructions)

    @cached_property
    def sends(self) -> bool:
        """Whether something goes elsewhere than on in this round and to the next."""
        return bool(self.arms or self.entries or self.exits or self.results or self.item >= 0)

    @cached_property
    def is_missed(self) -> bool:
        """Whether somebody must know when it does not run."""
        return bool(self.token or self.arms or self.entries or self.item >= 0)

    @cached_property
    def is_large(self) -> bool:
        """Whether it is worth another thread."""
        return any(map(is_large, self.instructions))

    @cached_property
    def calls_python(self) -> bool:
        """Whether it is for the thread that asked for the run."""
        return any("python" in step.operator.op.effects for step in self.instructions)


@dataclass(eq=False)
class FramePlan:
    """A frame: what each of its rounds does."""

    path: Path
    limit: int  # of rounds at once
    operators: list[Operator] = field(default_factory=list)
    size: int = FIRST  # the places of a round
    constants: dict[int, Any] = field(default_factory=dict)  # by slot
    regions: tuple[Region, ...] = ()
    merges: tuple[tuple[Token, int], ...] = ()  # what each brings, how many values may come
    exits: tuple[tuple[int, Token], ...] = ()  # to a slot around it
    enters: int = 0
    items: tuple[Any, ...] = ()  # whose effects keep their order: regions' numbers, frames' names
    start: Token | None = None  # what stands in its places when the run begins

    @property
    def name(self) -> str:
        """What it is called; nothing outside all frames."""
        return self.path[-1] if self.path else ""

    @cached_property
    def merging(self) -> list[int]:
        """How many values may come to each merge."""
        return [count for _, count in self.merges]

    @cached_property
    def counts(self) -> tuple[tuple[list[int], int, list[int]], ...]:
        """Of the first round and of others: what regions wait for, how many run, which at once."""
        found = []
        for number in (0, 1):
            waits = [FAR if r.first_only and number else r.waits for r in self.regions]
            begun = [i for i, n in enumerate(waits) if not n]
            found.append((waits, sum(n < FAR for n in waits), begun))
        return tuple(found)


@dataclass(frozen=True)
class Graph:
    """A block of dataflow, ready to run."""

    root: FramePlan
    outside: dict[Variable, int]  # the places of what comes from around it
    pays: bool  # to be run on several threads
