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
from scull.compiler.fuse import substituted, work_of
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
    for statement in statements:
        body = statement.body
        if isinstance(body, Map) and statement.strip is None and not contracts(body):
            for number, node in enumerate(_reductions(body)):
                axis = _parted_axis(body, node)
                if axis is not None:
                    array = f"{statement.out.name}_parts{number}"
                    parts, body = _in_parts(body, node, axis, array)
                    found.append(replace(statement, out=parts[0], body=parts[1]))
                    decided("stored", array, statement.out.name, "parts of a large reduction")
        found.append(replace(statement, body=body))
    return found


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


def _in_parts(body: Map, node: Reduce, axis: Axis, name: str) -> tuple[tuple[Array, Map], Map]:
    """The parts of a reduction, and the body that reduces them; what is left over is in that."""
    (term,), positions = node.operands, Positions()
    count = _parts(axis.size, prod(x.size for x in node.axes) // axis.size)
    size = axis.size // count

    def over(place: Expression, axes: dict[Axis, Axis]) -> Expression:
        pairs: dict[Axis, Expression] = {**axes, axis: place}
        return substituted(term, pairs, positions)

    own = {x: lang.axis(x.size) for x in body.axes}
    part, inner = lang.axis(count), lang.axis(size)
    fresh = tuple(inner if x is axis else x for x in node.axes)
    array = Array(name, (count, *(x.size for x in body.axes)), node.dtype)
    value = _reduce(node, over(part * size + inner, own), fresh)
    parts = (array, Map((part, *own.values()), value))
    each = lang.axis(count)
    total = _reduce(node, array[(each, *body.axes)], (each,))
    if count * size < axis.size:
        left = lang.axis(axis.size - count * size)
        fresh = tuple(left if x is axis else x for x in node.axes)
        rest = _reduce(node, over(left + count * size, {}), fresh)
        total = apply(STEPS[node.operation], total, rest)
    done: dict[Expression, Expression] = {node: total}
    return parts, Map(body.axes, rewritten([body.value], lambda x: x, done)[0])


def _reduce(node: Reduce, term: Expression, axes: tuple[Axis, ...]) -> Expression:
    made = Reduce(node.dtype, (term,), node.operation, axes)
    return only(made, node.operation, axes)
