"""An axis as two, rows and places in them, where positions are taken apart by `//` and `%`.

A reshape merges axes that other operands have apart; lanes then lie side by side within a row.
"""

from collections.abc import Sequence
from dataclasses import replace

from scull.compiler.affine import Positions
from scull.compiler.simplify import substituted
from scull.compiler.stage import Stage, told_apart
from scull.lang.body import Body, Map
from scull.lang.expression import Apply, Axis, Constant, Expression, axis
from scull.lang.walk import ordered

LANES = 16  # float32 in the widest registers


def nested(stage: Stage, shared: Sequence[Axis], positions: Positions, least: int = LANES) -> Stage:
    """The stage with each such axis of its own as two, as long as rows have `least` places."""
    pending = [x for x in stage.axes if x not in shared]
    told = told_apart([root for body in stage.bodies for root in body.roots])
    while pending and all(isinstance(body, Map) for body in stage.bodies):
        one = pending.pop()
        size = _row(one, [root for body in stage.bodies for root in body.roots])
        if size >= least or (size and one in told):
            outer, inner = axis(one.size // size), axis(size)
            stage = _with_two(stage, one, outer, inner, positions)
            pending.append(outer)
    return stage


def _row(one: Axis, roots: Sequence[Expression]) -> int:
    """The least number by which `one` is divided, which all others are multiples of; 0: none."""
    sizes = {
        int(m.value)
        for node in ordered(roots)
        if isinstance(node, Apply) and node.operation in ("floor_divide", "remainder")
        for x, m in [node.operands]
        if x is one and isinstance(m, Constant)
    }
    least = min(sizes, default=0)
    fits = least > 0 and not any(m % least for m in (*sizes, one.size))
    return least if fits and least < one.size else 0


def _with_two(stage: Stage, one: Axis, outer: Axis, inner: Axis, positions: Positions) -> Stage:
    """A stage with two axes in the place of one."""
    place: dict[Axis, Expression] = {one: outer * inner.size + inner}
    bodies: list[Body] = []
    for body in stage.bodies:
        assert isinstance(body, Map)
        value = substituted(body.value, place, positions)
        bodies.append(Map(_both(body.axes, one, outer, inner), value))
    return replace(stage, axes=_both(stage.axes, one, outer, inner), bodies=bodies)


def _both(axes: tuple[Axis, ...], one: Axis, outer: Axis, inner: Axis) -> tuple[Axis, ...]:
    return tuple(y for x in axes for y in ((outer, inner) if x is one else (x,)))
