"""What is computed at the same positions: a stage, the body of one of a kernel's loops."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from scull.compiler.affine import Positions
from scull.compiler.fuse import loads_of, words_of
from scull.compiler.trace import Strip
from scull.lang.body import Body, Scatter
from scull.lang.dtype import element
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
)
from scull.lang.operation import PRODUCTS
from scull.lang.walk import ordered

REUSE = 2  # a reduction that reads each element more often than this is a contraction
NEAR = 1 << 18  # bytes of an operand that stays in a cache of a core's own
OFTEN = 64  # times that rows read what stays there


def nbytes(array: Array) -> int:
    """The bytes of the elements of an array."""
    return array.size * element(array.dtype).itemsize


@dataclass
class Stage:
    """Arrays computed at the positions of `axes`, or one array accumulated."""

    axes: tuple[Axis, ...]
    arrays: list[Array]
    bodies: list[Body]
    origins: list[str]
    strip: Strip | None = None

    @cached_property
    def loads(self) -> list[Load]:
        """What it reads."""
        return [load for body in self.bodies for load in loads_of(body)]

    @cached_property
    def reads(self) -> frozenset[Array]:
        """The arrays that it reads."""
        return frozenset(load.array for load in self.loads)

    @cached_property
    def is_contraction(self) -> bool:
        """Whether it has a reduction that reads the same elements many times."""
        return any(contracts(body) for body in self.bodies)

    def joined_by(self, other: "Stage", body: Body) -> "Stage":
        """It and another stage of one array, whose body at these positions is `body`."""
        arrays, bodies = [*self.arrays, *other.arrays], [*self.bodies, body]
        found = replace(self, arrays=arrays, bodies=bodies, origins=self.origins + other.origins)
        alone = replace(other, bodies=[body])  # a stage of many is not looked through again
        found.loads = self.loads + alone.loads
        found.words = self.words | alone.words
        found.is_contraction = self.is_contraction or alone.is_contraction
        return found

    @cached_property
    def plain(self) -> int:
        """How many of its first axes no guard asks for single places of."""
        told = told_apart([root for body in self.bodies for root in body.roots])
        return next((n for n, x in enumerate(self.axes) if x in told), len(self.axes))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many positions its axes have."""
        return tuple(axis.size for axis in self.axes)

    @cached_property
    def words(self) -> set[Expression]:
        """The random words that it takes."""
        return words_of(self.bodies)


def contracts(body: Body) -> bool:
    """Whether a body has a reduction that reads the same elements many times."""
    if isinstance(body, Scatter):
        return False
    around = prod(axis.size for axis in body.axes)
    for node in ordered(body.roots):
        if isinstance(node, Reduce):
            term = node.operands[0]
            sizes = {x: x.array.size for x in ordered([term]) if isinstance(x, Load)}
            times = around * prod(axis.size for axis in node.axes)
            if len(sizes) > 1 and _multiplies(term) and times > REUSE * sum(sizes.values()):
                return True
    return False


def _multiplies(term: Expression) -> bool:
    """Whether a term is a product, however it is converted."""
    while isinstance(term, Apply) and term.operation == "cast":
        term = term.operands[0]
    return isinstance(term, Apply) and term.operation in PRODUCTS


def told_apart(roots: Sequence[Expression]) -> set[Expression]:
    """The axes that guards ask whether they, or remainders of theirs, are some number."""
    found = set[Expression]()
    for node in ordered(roots):
        match node:
            case Guard(operands=(Apply(operation="equal", operands=(place, Constant())), *_)):
                rests = isinstance(place, Apply) and place.operation == "remainder"
                found.add(place.operands[0] if rests else place)
    return {x for x in found if isinstance(x, Axis)}


def reduces(value: Expression) -> bool:
    return any(isinstance(x, Reduce) for x in ordered([value]))


def folds(stage: Stage) -> bool:
    """Whether lanes lie along its reductions, so that one position alone is work for them."""
    loads, positions = [x for b in stage.bodies for x in inner_loads(b)], Positions()
    places = [positions.offset(x.array, x.operands) for x in loads if x.free]
    return bool(places and stage.axes) and all(p.step(stage.axes[-1]) != 1 for p in places)


def inner_loads(body: Body) -> list[Load]:
    """What the terms of reductions read."""
    terms = [n for x in ordered(body.roots) if isinstance(x, Reduce) for n in x.operands]
    return [x for x in ordered(terms) if isinstance(x, Load)]


def rows_deep(stage: Stage, *, alone: bool = False) -> int:
    """Along how many of its first axes a contraction may run row by row.

    What it multiplies varies with all of them, so that row by row nothing is read more often than
    at once. Or, unless each row is to be `alone`, it stays in a near cache, and each row reads it
    often.
    """
    sums = [x for body in stage.bodies for x in ordered(body.roots) if isinstance(x, Reduce)]
    loads = [(x, r.axes) for r in sums for x in ordered(r.operands) if isinstance(x, Load)]
    for depth in range(len(stage.axes)):
        rows, left = frozenset(stage.axes[: depth + 1]), stage.axes[depth + 1 :]
        for load, over in loads:
            if rows <= load.free:
                continue
            size = prod(axis.size for axis in load.free - rows)
            reads = prod(axis.size for axis in (*left, *over))
            near = size * element(load.dtype).itemsize <= NEAR and reads >= OFTEN * size
            if alone or not near:
                return depth
    return len(stage.axes)
