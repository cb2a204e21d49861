"""Rows of a tall matrix by their numbers: which occur again, their sums, the matrix they are.

Of the positions that name a row the last one stands for it: each position is noted in a table with
a place for every row, over whatever was noted there before. So the table need not begin as
anything: what it says of a row is true if the position it gives names that row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.simplify import substituted
from scull.compiler.trace import Statement
from scull.lang.body import Map, Scatter
from scull.lang.expression import Array, Axis, Expression, Load, apply, cast, constant, guarded
from scull.lang.walk import ordered

FEW = 2  # a matrix with more rows than so many times those that are named is not written out

_numbers = count()


@dataclass(frozen=True)
class Merged:
    """The statements that merge rows: their numbers, who stands for each, the sums."""

    statements: list[Statement]
    rows: Array
    owner: Array
    sums: Array

    def named(self, row: Expression, within: Sequence[Axis]) -> Expression:
        """An element of the matrix: of the sum of what its row got, or 0 if it got nothing."""
        (many,), zero = self.rows.shape, constant(0, self.sums.dtype)
        place = cast(self.owner[row], "int64")
        told = guarded(lang.equal(self.rows[place], row), self.sums[(place, *within)], zero)
        return guarded((place >= 0) & (place < many), told, zero)

    def stands(self, place: Expression) -> Expression:
        """Whether a position stands for the row it names, which is one of the matrix."""
        row, height = self.rows[place], self.owner.shape[0]
        own = guarded((row >= 0) & (row < height), cast(self.owner[row], "int64"), -1)
        return apply("equal", own, place)


def merging(
    row_at: Callable[[Axis], Expression],
    value_at: Callable[[Axis, tuple[Axis, ...]], Expression],
    many: int,
    shape: Sequence[int],
    origin: str,
) -> Merged:
    """The statements that merge `many` rows of a matrix of `shape`."""
    height, *width = shape
    positions = Positions()

    def array(sizes: Sequence[int], dtype: str) -> Array:
        return Array(f"m{next(_numbers)}", tuple(sizes), dtype)

    def simple(value: Expression) -> Expression:
        return substituted(value, {}, positions)

    i = lang.axis(many)
    rows, owner = array([many], "int64"), array([height], "int32")
    i0, j = lang.axis(many), lang.axis(many)
    inner = tuple(lang.axis(n) for n in width)
    row = rows[j]
    own = lang.guarded((row >= 0) & (row < height), lang.cast(owner[row], "int64"), -1)
    value = simple(value_at(j, inner))
    sums = array([many, *width], value.dtype)
    bodies = (
        (rows, Map((i,), simple(row_at(i)))),
        (owner, Scatter((height,), (rows[i0],), lang.cast(i0, "int32"), (i0,), True)),
        (sums, lang.scatter_add(sums.shape, (own, *inner), value, (j, *inner))),
    )
    return Merged([Statement(out, body, origin) for out, body in bodies], rows, owner, sums)


def unscattered(statements: Sequence[Statement]) -> list[Statement]:
    """The statements; few rows added to a tall matrix are merged, which is then read from those."""
    found: list[Statement] = []
    for statement in statements:
        body = statement.body
        rest = inner_of(body) if isinstance(body, Scatter) else None
        if rest is None or not isinstance(body, Scatter):
            found.append(statement)
            continue
        decided("merged", statement.out.name, "", "few of its rows are added to")
        found += _merged(statement, body, rest)
    return found


def inner_of(body: Scatter) -> tuple[Axis, ...] | None:
    """The axes within the rows that are added to a matrix with many more; None for any other."""
    if body.sets or body.base is not None or not body.index:
        return None
    if not body.value.dtype.startswith("float"):
        return None
    row, *rest = body.index
    inner = tuple(x for x in rest if isinstance(x, Axis))
    outer = [x for x in body.over if x not in inner]
    plain = tuple(x.size for x in inner) == body.shape[1:] and len(set(inner)) == len(rest)
    reads = any(isinstance(node, Load) for node in ordered([row]))
    many = prod(x.size for x in outer)
    if not plain or not reads or row.free & set(inner) or not set(inner) <= set(body.over):
        return None
    return inner if 0 < many * FEW < body.shape[0] and 0 not in body.shape else None


def _merged(statement: Statement, body: Scatter, inner: tuple[Axis, ...]) -> list[Statement]:
    outer = [x for x in body.over if x not in inner]
    sizes, positions = [x.size for x in outer], Positions()

    def at(root: Expression, place: Axis, within: tuple[Axis, ...] = ()) -> Expression:
        spots = lang.unravel(place, sizes) if outer else []
        pairs: dict[Axis, Expression] = dict(zip(outer, spots, strict=True))
        pairs |= dict(zip(inner, within, strict=False))
        return substituted(root, pairs, positions)

    made = merging(
        lambda place: at(body.index[0], place),
        lambda place, within: at(body.value, place, within),
        prod(sizes),
        body.shape,
        statement.origin,
    )
    row, *within = axes = tuple(lang.axis(n) for n in body.shape)
    dense = Statement(statement.out, Map(axes, made.named(row, within)), statement.origin)
    return [*made.statements, dense]
