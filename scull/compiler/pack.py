"""Operands of contractions laid out as their loops read them: transposed where lanes would lie far
apart, with borders where every read would ask whether it lies inside.

A copy of an operand costs little beside a contraction that reads each element many times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.fuse import substituted
from scull.compiler.group import contracts
from scull.compiler.trace import Statement
from scull.lang.body import Body, Map, with_roots
from scull.lang.expression import Array, Axis, Constant, Expression, Guard, Load, Reduce
from scull.lang.walk import ordered, rewritten

TIMES = 4  # an operand read more often than this is worth a copy


def packed(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with copies of operands before contractions that ask for them."""
    found: list[Statement] = []
    copies: dict[tuple[object, ...], Array] = {}
    for statement in statements:
        body = statement.body
        if isinstance(body, Map) and contracts(body):
            before = len(found)
            body = _with_borders(body, statement.origin, found)
            body = _with_rows(body, statement.origin, found, copies)
            for copy in found[before:]:
                decided("copied", copy.out.name, statement.out.name, "read many times in its order")
        found.append(replace(statement, body=body))
    return found


_numbers = count()


def _terms(body: Map) -> Iterator[tuple[Reduce, Expression]]:
    for node in ordered([body.value]):
        if isinstance(node, Reduce):
            for inner in ordered(node.operands):
                yield node, inner


def _with_rows(
    body: Map,
    origin: str,
    found: list[Statement],
    copies: dict[tuple[object, ...], Array],
) -> Map:
    """A body whose loads run through memory as its last axis does."""
    wide = [axis for axis in body.axes if axis.size > 1]
    if not wide:
        return body
    last, positions = wide[-1], Positions()
    around = prod(axis.size for axis in body.axes)
    changes: dict[Expression, Expression] = {}
    for reduce, node in _terms(body):
        if not isinstance(node, Load) or last not in node.free:
            continue
        where = positions.offset(node.array, node.operands)
        plain = all(isinstance(x, Axis) for x in where.terms) and where.step(last) != 1
        axes = [x for x in where.terms if isinstance(x, Axis)]
        size = prod(axis.size for axis in axes)
        times = around * prod(axis.size for axis in reduce.axes)
        if not plain or size > 2 * node.array.size or times <= TIMES * node.array.size:
            continue
        inner = set(reduce.axes)
        order = sorted(axes, key=lambda x: (x is last, x not in inner, -where.terms[x]))
        steps = tuple((x.size, where.terms[x]) for x in order)
        key = (node.array, where.constant, steps)
        if key not in copies:
            own: dict[Axis, Expression] = {x: lang.axis(x.size) for x in order}
            value = substituted(node, own, positions)
            out = Array(f"p{next(_numbers)}", tuple(x.size for x in order), node.dtype)
            copies[key] = out
            map_axes = tuple(x for x in own.values() if isinstance(x, Axis))
            found.append(Statement(out, Map(map_axes, value), origin))
        changes[node] = copies[key][tuple(order)]
    return _changed(body, changes)


def _with_borders(body: Map, origin: str, found: list[Statement]) -> Map:
    """A body that reads a copy with borders where a guard asks whether a position lies inside."""
    positions = Positions()
    changes: dict[Expression, Expression] = {}
    around = prod(axis.size for axis in body.axes)
    for reduce, node in _terms(body):
        if not isinstance(node, Guard) or node in changes:
            continue
        _, load, other = node.operands
        if not isinstance(load, Load) or not isinstance(other, Constant):
            continue
        if reduce.operation != "sum" or set(_outside(node, load)):
            continue
        ranges = [positions.range_of(positions.of(x)) for x in load.operands]
        sizes = [r.high - r.low + 1 for r in ranges]
        times = around * prod(axis.size for axis in reduce.axes)
        if prod(sizes) > 2 * load.array.size + 4096 or times <= TIMES * prod(sizes):
            continue
        axes = tuple(lang.axis(size) for size in sizes)
        places = tuple(x + r.low for x, r in zip(axes, ranges, strict=True))
        value = lang.guarded(lang.inside(load.array, places), load.array[places], other)
        value = substituted(value, {}, positions)
        out = Array(f"p{next(_numbers)}", tuple(sizes), load.dtype)
        found.append(Statement(out, Map(axes, value), origin))
        index = tuple(x - r.low for x, r in zip(load.operands, ranges, strict=True))
        changes[node] = out[index]
    return _changed(body, changes)


def _outside(node: Guard, load: Load) -> Iterator[Expression]:
    """What a guard asks that is not whether the load lies inside."""
    inside = lang.inside(load.array, load.operands)
    asked = {x for x in ordered([inside]) if x.dtype == "bool"}
    for x in ordered(node.operands[:1]):
        if x.dtype == "bool" and x not in asked and not isinstance(x, Constant):
            yield x


def _changed(body: Map, changes: dict[Expression, Expression]) -> Map:
    if not changes:
        return body
    done = dict(changes)
    value = rewritten([body.value], lambda node: node, done)[0]
    result: Body = with_roots(body, [substituted(value, {}, Positions())])
    assert isinstance(result, Map)
    return result
