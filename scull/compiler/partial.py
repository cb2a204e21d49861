"""Large reductions to few elements in two steps: parts of fixed size, then the parts.

So a sum over everything, or over all rows, is work that threads can share. The parts follow from
the sizes alone, and so does the order of additions.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.fuse import work_of
from scull.compiler.separate import Key, canonical
from scull.compiler.simplify import substituted
from scull.compiler.split import ENOUGH, SHARED
from scull.compiler.stage import contracts
from scull.compiler.trace import Statement
from scull.lang.arithmetic import STEPS
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Array, Axis, Expression, Guard, Load, Reduce, apply, only
from scull.lang.walk import ordered, rewritten

PARTS = 64
LEAST = 16  # terms of a part
WIDE = 32  # elements that are computed side by side where that is how memory runs
RATE = 32.0  # operations in a nanosecond, roughly; a load takes as long as two


def parted(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, those with a large reduction to few elements after one that gives parts."""
    found: list[Statement] = []
    made: dict[Key, Array] = {}
    for statement in statements:
        body = statement.body
        if isinstance(body, Map) and statement.strip is None and not contracts(body):
            for number, node in enumerate(_reductions(body)):
                axis = _parted_axis(body, node)
                if axis is None:
                    continue
                key = _key(body, node, axis)
                array = made.get(key)
                if array is None:
                    array = _array_of(body, node, axis, f"{statement.out.name}_parts{number}")
                    made[key] = array
                    parts = _parts_of(body, node, axis, array)
                    found.append(replace(statement, out=array, body=parts))
                    decided("stored", array.name, statement.out.name, "parts of a large reduction")
                body = _together(body, node, axis, array)
        found.append(replace(statement, body=body))
    return found


def _key(body: Map, node: Reduce, axis: Axis) -> Key:
    """What the parts of a reduction are; others that say the same are these."""
    free, said = canonical(node)
    return (
        said,
        tuple(map(body.axes.index, free)),
        tuple(x.size for x in body.axes),
        node.axes.index(axis),
    )


def _reductions(body: Map) -> list[Reduce]:
    """The reductions of a body that are computed in any case, whose terms have none."""
    guarded = {x for n in ordered([body.value]) if isinstance(n, Guard) for x in n.operands[1:]}
    return [
        node
        for node in ordered([body.value])
        if isinstance(node, Reduce)
        and node.operation in STEPS
        and (node.operation in ("max", "min") or element(node.dtype).bits >= 32)
        and not any(isinstance(x, Reduce) for x in ordered(node.operands))
        and node not in ordered(guarded)
    ]


def _parted_axis(body: Map, node: Reduce) -> Axis | None:
    """The axis of a reduction to cut into parts; None where that brings nothing."""
    elements = prod(axis.size for axis in body.axes)
    terms = prod(axis.size for axis in node.axes)
    if not elements or not terms:
        return None
    if elements * terms * (2 + work_of(node.operands[0])) / RATE < 2 * SHARED:
        return None
    if elements >= ENOUGH * (WIDE if _runs_along(body, node) else 1):
        return None
    large = [axis for axis in node.axes if axis.size >= ENOUGH]
    axis = large[0] if large else max(node.axes, key=lambda axis: axis.size)
    rest = terms // axis.size
    return axis if axis.size > 1 and terms >= 2 * LEAST and _parts(axis.size, rest) > 1 else None


def _runs_along(body: Map, node: Reduce) -> bool:
    """Whether memory runs along an axis of the body rather than of the reduction."""
    positions = Positions()
    for load in ordered(node.operands):
        if isinstance(load, Load):
            where = positions.offset(load.array, load.operands)
            if any(where.step(axis) == 1 for axis in body.axes if axis.size > 1):
                return True
    return False


def _parts(size: int, rest: int) -> int:
    """How many parts: as many as divide `size`, if there are such near to what is wanted."""
    most = min(PARTS, size * rest // LEAST, size)
    even = [n for n in range(most, most // 2, -1) if size % n == 0]
    return even[0] if even else most


def _array_of(body: Map, node: Reduce, axis: Axis, name: str) -> Array:
    """Where the parts of a reduction are kept."""
    count = _parts(axis.size, prod(x.size for x in node.axes) // axis.size)
    return Array(name, (count, *(x.size for x in body.axes)), node.dtype)


def _parts_of(body: Map, node: Reduce, axis: Axis, array: Array) -> Map:
    """The parts of a reduction."""
    own = {x: lang.axis(x.size) for x in body.axes}
    part, inner = lang.axis(array.shape[0]), lang.axis(axis.size // array.shape[0])
    fresh = tuple(inner if x is axis else x for x in node.axes)
    place = part * inner.size + inner
    term = substituted(node.operands[0], {**own, axis: place}, Positions())
    return Map((part, *own.values()), _reduce(node, term, fresh))


def _together(body: Map, node: Reduce, axis: Axis, array: Array) -> Map:
    """The body that reduces the parts of a reduction, and what is left over."""
    count = array.shape[0]
    size = axis.size // count
    each = lang.axis(count)
    total = _reduce(node, array[(each, *body.axes)], (each,))
    if count * size < axis.size:
        left = lang.axis(axis.size - count * size)
        fresh = tuple(left if x is axis else x for x in node.axes)
        term = substituted(node.operands[0], {axis: left + count * size}, Positions())
        total = apply(STEPS[node.operation], total, _reduce(node, term, fresh))
    done: dict[Expression, Expression] = {node: total}
    return Map(body.axes, rewritten([body.value], lambda x: x, done)[0])


def _reduce(node: Reduce, term: Expression, axes: tuple[Axis, ...]) -> Expression:
    return only(Reduce, node.dtype, (term,), node.operation, axes)
