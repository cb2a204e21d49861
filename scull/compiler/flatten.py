"""A stage with flat arrays and as few axes as do: neighbours that every access runs through in one
go become one.
"""

from collections.abc import Sequence
from dataclasses import replace

from scull.compiler.affine import Affine, Positions
from scull.compiler.draw import draws
from scull.compiler.nest import nested
from scull.compiler.simplify import substituted
from scull.compiler.stage import Stage
from scull.lang.body import Body, Map, Scatter, with_roots
from scull.lang.expression import (
    Array,
    Axis,
    Expression,
    Load,
    Reduce,
    axis,
    constant,
    only,
    with_operands,
)
from scull.lang.walk import ordered, rewritten


def flat(array: Array) -> Array:
    """The same memory with one axis."""
    return Array(array.name, (array.size,), array.dtype)


def flattened(stage: Stage, shared: Sequence[Axis], positions: Positions) -> Stage:
    """The stage with flat arrays; its stores stay as they are in `offsets_of`."""
    zeros, places = dict[Expression, Expression](), dict[Expression, Expression]()
    bodies = [_without_units(body, positions, zeros) for body in stage.bodies]
    bodies = [_one_axis(body, positions, places) for body in bodies]
    axes = tuple(x for x in stage.axes if x.size != 1)
    stage = nested(replace(stage, axes=axes, bodies=bodies), shared, positions)
    for axes in _runs(stage, shared):
        stage = _merged(stage, axes, positions)
    return stage


def _without_units(body: Body, positions: Positions, done: dict[Expression, Expression]) -> Body:
    """A body whose axes of one position are 0; `done` has what other bodies had in common."""
    zero = constant(0, "int64")
    axes = body.axes if isinstance(body, Map) else body.over
    inner = [x for n in ordered(body.roots) if isinstance(n, Reduce) for x in n.axes]
    pairs: dict[Expression, Expression] = {x: zero for x in (*axes, *inner) if x.size == 1}
    if not pairs:
        return body
    done |= pairs

    def change(node: Expression) -> Expression:
        if isinstance(node, Reduce) and any(x.size == 1 for x in node.axes):
            left = tuple(x for x in node.axes if x.size != 1)
            if left:
                return only(Reduce, node.dtype, node.operands, node.operation, left)
            if node.operation not in ("argmax", "argmin"):
                return node.operands[0]
            return zero
        return node

    roots = [substituted(x, {}, positions) for x in rewritten(body.roots, change, done)]
    body = with_roots(body, roots)
    left = tuple(x for x in axes if x.size != 1)
    return replace(body, axes=left) if isinstance(body, Map) else replace(body, over=left)


def _one_axis(body: Body, positions: Positions, done: dict[Expression, Expression]) -> Body:
    """A body whose loads say where in memory they read; `done` as in `_without_units`."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Load):
            return node
        if node.array.size == 1:  # wherever a place that guards let through may be
            return flat(node.array)[0]
        if len(node.array.shape) == 1:
            return node
        where = positions.expression(positions.offset(node.array, node.operands))
        return flat(node.array)[where]

    return with_roots(body, rewritten(body.roots, change, done))


def _runs(stage: Stage, shared: Sequence[Axis]) -> list[tuple[Axis, ...]]:
    """The rows of axes among which neighbours may be merged: those of the maps, of reductions."""
    if any(isinstance(body, Scatter) for body in stage.bodies):
        return []
    nodes = ordered([root for body in stage.bodies for root in body.roots])
    runs = [node.axes for node in nodes if isinstance(node, Reduce)]
    own = tuple(x for x in stage.axes if x not in shared)
    return [run for run in dict.fromkeys((own, *runs)) if len(run) > 1]


def _merged(stage: Stage, run: tuple[Axis, ...], positions: Positions) -> Stage:
    """A stage with neighbours of `run` merged wherever they can be."""
    place = len(run) - 1
    while place > 0:
        outer, inner = run[place - 1], run[place]
        if _go_together(stage, outer, inner, positions):
            both = axis(outer.size * inner.size)
            stage = _with_one(stage, outer, inner, both, positions)
            run = (*run[: place - 1], both, *run[place + 1 :])
        place -= 1
    return stage


def _go_together(stage: Stage, outer: Axis, inner: Axis, positions: Positions) -> bool:
    """Whether every access runs through both axes as through one, and nothing else asks for one."""
    roots = [root for body in stage.bodies for root in body.roots]
    used = {outer, inner}
    for node in ordered(roots):
        if has_place(node):
            where = positions.of(node.operands[-1])
            steps = where.step(outer), where.step(inner)
            if None in steps or steps[0] != steps[1] * inner.size:  # type: ignore[operator]
                return False
        elif isinstance(node, Reduce):
            if used & set(node.axes) and not _side_by_side(node.axes, outer, inner):
                return False
            if node.operation in ("argmax", "argmin") and not used & set(node.axes):
                continue
        elif node.dtype != "int64" and used & set(node.operands):
            return False
    return not used & bare(roots)


def bare(roots: Sequence[Expression]) -> set[Axis]:
    """The axes that are read as values, not as places."""
    found, pending, seen = set[Axis](), list(roots), set[Expression]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Axis):
            found.add(node)
        if not has_place(node):
            pending.extend(node.operands)
        else:
            pending.extend(node.operands[:-1])
            pending.extend(x for x in _parts(node.operands[-1]) if not isinstance(x, Axis))
    return found


def has_place(node: Expression) -> bool:
    """Whether the last operand of a node says where something stands."""
    return isinstance(node, Load) or draws(node)


def _parts(where: Expression) -> list[Expression]:
    """What a place is made of: what is under sums and products is no value of its own."""
    found, pending = [], [where]
    while pending:
        node = pending.pop()
        if getattr(node, "operation", "") in ("add", "multiply", "subtract"):
            pending.extend(node.operands)
        else:
            found.append(node)
    return found


def _side_by_side(axes: tuple[Axis, ...], outer: Axis, inner: Axis) -> bool:
    return outer in axes and inner in axes and axes.index(outer) + 1 == axes.index(inner)


def _with_one(stage: Stage, outer: Axis, inner: Axis, both: Axis, positions: Positions) -> Stage:
    """A stage with one axis in the place of two."""

    def change(node: Expression) -> Expression:
        if has_place(node):
            where = positions.of(node.operands[-1])
            step = where.step(inner) or 0
            terms = {n: k for n, k in where.terms.items() if n not in (outer, inner)}
            if step:
                terms[both] = step
            place = positions.expression(Affine(where.constant, terms))
            return with_operands(node, (*node.operands[:-1], place))
        if isinstance(node, Reduce) and inner in node.axes:
            axes = _replaced(node.axes, outer, inner, both)
            return only(Reduce, node.dtype, node.operands, node.operation, axes)
        return node

    bodies, done = list[Body](), dict[Expression, Expression]()
    for body in stage.bodies:
        assert isinstance(body, Map)
        axes = _replaced(body.axes, outer, inner, both)
        bodies.append(Map(axes, rewritten([body.value], change, done)[0]))
    return replace(stage, axes=_replaced(stage.axes, outer, inner, both), bodies=bodies)


def _replaced(axes: tuple[Axis, ...], outer: Axis, inner: Axis, both: Axis) -> tuple[Axis, ...]:
    if inner not in axes:
        return axes
    place = axes.index(outer)
    return (*axes[:place], both, *axes[place + 2 :])
