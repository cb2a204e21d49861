"""Sums that have fewer terms near the edges of what they read: their loops run over these alone.

The same holds of what is greatest or least, where other terms are the worst there is.

A border of zeros costs as much as what lies inside. The gradient of a convolution without padding
has more terms in the border than inside, where images are small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeGuard

from scull.compiler.affine import Affine, Positions
from scull.errors import RangeError
from scull.lang.arithmetic import of_nothing
from scull.lang.bounds import check_loads
from scull.lang.expression import Apply, Axis, Constant, Expression, Guard, Reduce
from scull.lang.walk import ordered, rewritten

POSITIONS = 1 << 12  # at which terms are counted


@dataclass(frozen=True)
class Edges:
    """The terms of a sum where its guards hold, and what that says of its axes.

    An axis stands at each of the `first` or behind, and before each of `ends`.
    """

    term: Expression
    first: dict[Axis, list[Affine]]
    ends: dict[Axis, list[Affine]]

    @property
    def axes(self) -> frozenset[Axis]:
        """The axes of positions that tell how many terms there are."""
        return frozenset().union(*(x.axes for axis in self.first for x in self.of(axis)))

    def of(self, axis: Axis) -> list[Affine]:
        """Between what an axis stands."""
        return self.first[axis] + self.ends[axis]

    def share(self) -> float:
        """How much of all terms there is."""
        return prod(_part(self.first[axis], self.ends[axis]) / axis.size for axis in self.first)


def edges_of(node: Reduce, positions: Positions) -> Edges | None:
    """Where the terms of a sum lie inside, if the loops over its axes can say so.

    There must be a term at every position.
    """
    guards = _guards(node)
    if not guards or not all(axis.size for axis in node.axes):
        return None
    first: dict[Axis, list[Affine]] = {}
    ends: dict[Axis, list[Affine]] = {}
    for gap in (gap for guard in guards for gap in gaps_of(guard.operands[0], positions)):
        inner = [x for x in node.axes if gap is not None and x in gap.axes]
        if gap is None or len(inner) != 1 or gap.step(inner[0]) not in (1, -1):
            return None
        (axis,) = inner
        if any(not isinstance(x, Axis) for x in gap.terms):
            return None
        lows = first.setdefault(axis, [Affine(0, {})])
        highs = ends.setdefault(axis, [Affine(axis.size, {})])
        many = gap.terms[axis]
        rest = gap + Affine(0, {axis: -many})
        if many == 1:
            lows.append(rest.times(-1))
        else:
            highs.append(rest + Affine(1, {}))
    if not first:
        return None
    pairs: dict[Expression, Expression] = {x: x.operands[1] for x in guards}
    term = rewritten(node.operands, lambda x: x, pairs)[0]
    found = Edges(term, first, ends)
    return found if all(_some(found, x, positions) for x in first) else None


def is_stepped(edges: Edges, node: Reduce) -> bool:
    """Whether rows and lanes of a tile may be of an axis that tells how many terms there are.

    They read terms then that are not theirs, so that nothing may lie outside an array.
    """
    if len(node.axes) > 1 or len(edges.first) > 1:
        return False
    try:
        check_loads(edges.term)
    except RangeError:
        return False
    return True


def _guards(node: Reduce) -> list[Guard | Apply]:
    """What makes a term count for nothing where a condition fails: for a sum one of its factors."""
    found, pending = list[Guard | Apply](), [node.operands[0]]
    product = ("multiply", "cast") if node.operation == "sum" else ()
    if node.operation not in ("sum", "max", "min"):
        return []
    nothing = of_nothing(node.operation, node.dtype)
    faulty = finds_faults(node.operands[0])
    while pending:
        factor = pending.pop()
        if isinstance(factor, Apply) and factor.operation in product:
            pending.extend(factor.operands)
        elif isinstance(factor, Guard) or (is_select(factor) and not faulty):
            other = factor.operands[2]
            if isinstance(other, Constant) and other.value == nothing:
                found.append(factor)
    return found


def is_select(node: Expression) -> TypeGuard[Apply]:
    """Whether it chooses between two values that both may be computed."""
    return isinstance(node, Apply) and node.operation == "select"


def finds_faults(value: Expression) -> bool:
    """Whether computing a value finds indices out of range, so that it must not be left out."""
    return any(isinstance(n, Apply) and n.operation == "within" for n in ordered([value]))


def gaps_of(condition: Expression, positions: Positions) -> Sequence[Affine | None]:
    """What must not be negative for a condition to hold; None stands for what is no such thing."""
    found, pending = list[Affine | None](), [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, Apply) and node.operation == "and":
            pending.extend(node.operands)
        elif isinstance(node, Apply) and node.operation in ("less", "less_equal"):
            x, y = node.operands
            if x.dtype != "int64":
                return [None]
            gap = positions.of(y) + positions.of(x).times(-1)
            found.append(gap + Affine(-1 if node.operation == "less" else 0, {}))
        else:
            return [None]
    return found


def _some(edges: Edges, axis: Axis, positions: Positions) -> bool:
    """Whether there is a place between the edges of an axis wherever the others stand."""
    pairs = product(edges.first[axis], edges.ends[axis])
    few = prod(x.size for x in frozenset().union(*(x.axes for x in edges.of(axis)))) <= POSITIONS
    return few and all(positions.range_of(y + x.times(-1)).low > 0 for x, y in pairs)


def _part(first: Sequence[Affine], ends: Sequence[Affine]) -> float:
    """How many places lie between edges, on average."""
    axes = list(frozenset().union(*(x.axes for x in (*first, *ends))))
    total = 0
    for spot in product(*(range(x.size) for x in axes)):
        at: dict[Expression, int] = dict(zip(axes, spot, strict=True))
        low, high = (
            [x.constant + sum(many * at[n] for n, many in x.terms.items()) for x in side]
            for side in (first, ends)
        )
        total += min(high) - max(low)
    return total / prod(x.size for x in axes)
