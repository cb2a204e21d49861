"""Contractions that skip most of their terms as several that skip none.

The gradient of a convolution with strides reaches each place by every second or third element of a
window alone. Places of one remainder are a phase: a contraction of its own, over the elements that
reach them. What reads the whole finds each place in its phase.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.simplify import simplified
from scull.compiler.stage import contracts
from scull.compiler.trace import Statement
from scull.lang.body import Map
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Reduce,
    axis,
    constant,
    only,
)
from scull.lang.walk import ordered, rewritten


@dataclass(frozen=True)
class Skip:
    """Terms count where an axis of the results and one of the sum agree in their remainders.

    `firsts` has, by the remainder of the place, the first element that reaches it, if any does.
    """

    along: Axis
    over: Axis
    stride: int
    firsts: tuple[int | None, ...]


def phased(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with contractions that skip terms taken apart."""
    found: list[Statement] = []
    for statement in statements:
        found += _taken_apart(statement)
    return found


def _taken_apart(statement: Statement) -> Iterator[Statement]:
    body = statement.body
    skip = skipped(body) if isinstance(body, Map) and contracts(body) else None
    if skip is None or not isinstance(body, Map):
        yield statement
        return
    place, arrays = body.axes.index(skip.along), list[Array]()
    for number, first in enumerate(skip.firsts):
        inner = axis(-(-(skip.along.size - number) // skip.stride))
        axes = (*body.axes[:place], inner, *body.axes[place + 1 :])
        shape = tuple(x.size for x in axes)
        arrays.append(Array(f"{statement.out.name}_{number}", shape, statement.out.dtype))
        value = _value(body.value, skip, number, first, inner)
        decided("phase", arrays[-1].name, statement.out.name, f"each {skip.stride}th place alone")
        yield from _taken_apart(replace(statement, out=arrays[-1], body=Map(axes, value)))
    yield replace(statement, body=_together(statement.out, arrays, place, skip.stride))


def skipped(body: Map) -> Skip | None:
    """What a contraction skips, if remainders of its axes say so."""
    positions = Positions()
    sums = [x for x in ordered([body.value]) if isinstance(x, Reduce) and x.operation == "sum"]
    for reduce in sums:
        for node in ordered(reduce.operands):
            match node:
                case Apply(
                    operation="equal",
                    operands=(
                        Apply(operation="remainder", operands=(x, Constant(value=stride))),
                        Constant(value=0),
                    ),
                ):
                    found = _skip(body, reduce, positions, x, int(stride))
                    if found is not None:
                        return found
    return None


def _skip(
    body: Map, reduce: Reduce, positions: Positions, place: Expression, stride: int
) -> Skip | None:
    where = positions.of(place)
    own = [x for x in where.terms if isinstance(x, Axis) and x in body.axes]
    inner = [x for x in where.terms if isinstance(x, Axis) and x in reduce.axes]
    if len(own) != 1 or len(inner) != 1 or len(where.terms) != 2:
        return None
    firsts: list[int | None] = []
    for number in range(min(stride, own[0].size)):
        base = where.constant + where.terms[own[0]] * number
        reach = [k for k in range(stride) if (base + where.terms[inner[0]] * k) % stride == 0]
        if len(reach) > 1:
            return None
        firsts.append(reach[0] if reach and reach[0] < inner[0].size else None)
    return Skip(own[0], inner[0], stride, tuple(firsts))


def _value(root: Expression, skip: Skip, number: int, first: int | None, along: Axis) -> Expression:
    """What a contraction is at the places of one remainder."""
    positions = Positions()
    size = 0 if first is None else -(-(skip.over.size - first) // skip.stride)
    over = axis(size)

    def change(node: Expression) -> Expression:
        if isinstance(node, Reduce) and skip.over in node.axes:
            if not size:
                return constant(0, node.dtype)
            axes = tuple(over if x is skip.over else x for x in node.axes)
            return only(Reduce, node.dtype, node.operands, node.operation, axes)
        return simplified(node, positions)

    pairs: dict[Expression, Expression] = {
        skip.along: along * skip.stride + number,
        skip.over: over * skip.stride + (first or 0),
    }
    return rewritten([root], change, pairs)[0]


def _together(out: Array, arrays: Sequence[Array], place: int, stride: int) -> Map:
    """The whole, read from its phases."""
    axes = tuple(map(axis, out.shape))
    along = axes[place]
    value: Expression | None = None
    for number, array in reversed(list(enumerate(arrays))):
        spot = (*axes[:place], along // stride, *axes[place + 1 :])
        part = array[spot]
        if value is None:
            value = part
        else:
            here = lang.equal(along % stride, number)
            value = lang.guarded(here, part, value)
    assert value is not None
    return Map(axes, value)
