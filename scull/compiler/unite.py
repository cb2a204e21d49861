"""Two axes of rows as one, where tiles of one alone would have few rows.

Images are small where channels are many: seven rows of an image are a tile of four and one of
three, seven times seven nine tiles of six. Where data is read with strides the two are no one axis
of memory; each row of a tile knows its place then.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from scull.compiler.affine import Positions
from scull.compiler.edge import edges_of
from scull.compiler.flatten import bare
from scull.compiler.schedule import is_map, scheduled
from scull.compiler.simplify import substituted
from scull.compiler.stage import Stage
from scull.compiler.target import Target
from scull.compiler.tile import most_rows
from scull.lang.body import Body, Map
from scull.lang.expression import Axis, Expression, Load, Reduce, axis
from scull.lang.walk import ordered

WORTH = 0.85  # of the tiles there would be
SMALL = 16  # rows of an axis whose last tile weighs


def united(stage: Stage, shared: Sequence[Axis], target: Target, positions: Positions) -> Stage:
    """A contraction with its axis of rows and a neighbour of that as one, if that saves tiles."""
    own = stage.axes[len(shared) :]
    small = len(own) > 2 and any(1 < x.size <= SMALL for x in own)
    if not small or not is_map(stage) or not stage.is_contraction:
        return stage
    chosen = scheduled(stage, own, target, positions)
    row, most = chosen.row, most_rows(chosen.columns, target.registers)
    if row is None or chosen.by_unit or not most < row.size <= SMALL:
        return stage
    number = own.index(row)
    near = [n for n in (number - 1, number) if 0 <= n < len(own) - 1]
    for first in near:
        outer, inner = own[first], own[first + 1]
        if not _are_rows(stage, chosen.vector, outer, inner, positions):
            continue
        other = outer.size if inner is row else inner.size
        if ceil(outer.size * inner.size / most) <= WORTH * other * ceil(row.size / most):
            return _on_one_axis(stage, outer, inner, positions)
    return stage


def _are_rows(
    stage: Stage, vector: Axis | None, outer: Axis, inner: Axis, positions: Positions
) -> bool:
    """Whether two axes do nothing but say where elements are read that all lanes share."""
    roots = [root for body in stage.bodies for root in body.roots]
    if vector in (None, outer, inner) or not {outer, inner}.isdisjoint(bare(roots)):
        return False
    sums = [x for x in ordered(roots) if isinstance(x, Reduce)]
    loads = [x for r in sums for x in ordered(r.operands) if isinstance(x, Load)]
    if any(vector in x.free and {outer, inner} & x.free for x in loads):
        return False
    return not any(edges_of(x, positions) for x in sums)


def _on_one_axis(stage: Stage, outer: Axis, inner: Axis, positions: Positions) -> Stage:
    """A stage with one axis in the place of two."""
    both = axis(outer.size * inner.size)
    places: dict[Axis, Expression] = {outer: both // inner.size, inner: both % inner.size}

    def axes(of: tuple[Axis, ...]) -> tuple[Axis, ...]:
        return tuple(both if x is outer else x for x in of if x is not inner)

    bodies: list[Body] = []
    for body in stage.bodies:
        assert isinstance(body, Map)
        bodies.append(Map(axes(body.axes), substituted(body.value, places, positions)))
    return replace(stage, axes=axes(stage.axes), bodies=bodies)
