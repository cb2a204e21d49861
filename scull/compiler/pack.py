"""Operands of contractions laid out as their loops read them: transposed where lanes would lie far
apart, with borders where every read would ask whether it lies inside.

A copy of an operand costs little beside a contraction that reads each element many times, and
nothing where it is made once.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import prod

from scull import lang
from scull.compiler.affine import Affine, Positions
from scull.compiler.decision import decided
from scull.compiler.edge import edges_of
from scull.compiler.fuse import loads_of
from scull.compiler.pair import takes_pairs, with_pairs
from scull.compiler.panel import Copy, Order, Reading, copy_of
from scull.compiler.simplify import substituted
from scull.compiler.stage import contracts
from scull.compiler.target import target
from scull.compiler.tile import vectors_of
from scull.compiler.trace import Statement
from scull.lang.body import Body, Map, with_roots
from scull.lang.bounds import Range
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
    only,
)
from scull.lang.walk import ordered, rewritten

ROWS = 8  # rows side by side that share what was fetched
PAGE = 256  # elements between two terms, of which a page holds several
NEAR = 16  # elements between two terms that still share what was fetched
TIMES = 4  # an operand read more often than this is worth a copy
FEW = 4  # rows of a tile, at least, that read what they share once
WORTH = 0.93  # of all terms; with more, a border costs less than to skip it


def packed(statements: Sequence[Statement], fixed: Collection[Array] = ()) -> list[Statement]:
    """The statements, with copies of operands before contractions that ask for them.

    What is computed of `fixed` arrays alone is computed once.
    """
    found, once = list[Statement](), set(fixed)
    copies: dict[tuple[object, ...], Array] = {}
    cut = {statement.out for statement in statements if statement.strip is not None}
    for statement in statements:
        body = statement.body
        if isinstance(body, Map) and contracts(body):
            before = len(found)
            body = _with_borders(body, statement.origin, found, copies)
            body = with_pairs(body, statement.origin, found, copies, once, cut)
            body = _with_near_terms(body)
            body = _with_rows(body, statement.origin, found, copies, once, cut)
            for copy in found[before:]:
                decided("copied", copy.out.name, statement.out.name, "read many times in its order")
        found.append(replace(statement, body=body))
        read = {load.array for load in loads_of(body)}
        if read and read <= once:
            once.add(statement.out)
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
    once: Collection[Array],
    cut: Collection[Array],
) -> Map:
    """A body whose loads run through memory as its last axis does, at places that are sums."""
    wide = [axis for axis in body.axes if axis.size > 1]
    if not wide:
        return body
    last, positions = wide[-1], Positions()
    around = prod(axis.size for axis in body.axes)
    guards = [node for node in ordered([body.value]) if isinstance(node, Guard)]
    guarded = set(ordered(x for guard in guards for x in guard.operands[1:]))
    changes: dict[Expression, Expression] = {}
    for reduce, node in _terms(body):
        if not isinstance(node, Load) or not node.free:
            continue
        times = around * prod(axis.size for axis in reduce.axes)
        if times <= (1 if node.array in once else TIMES) * node.array.size:
            continue
        where = positions.offset(node.array, node.operands)
        sums = all(isinstance(x, Axis) for x in where.terms)
        order = Order.KEPT if sums and runs_well(where, wide, reduce) else Order.ROWS
        if node.array not in cut:
            reading = Reading(node, where, last, reduce, times, fixed=node.array in once)
            order = reading.crowded(order)
        if order is Order.KEPT:
            continue
        inner = {x: n for n, x in enumerate(reduce.axes)}
        axes = sorted(node.free, key=lambda x: (x is last, inner.get(x, -1), x.number))
        if node not in guarded and prod(x.size for x in axes) <= 2 * node.array.size:
            key: tuple[object, ...] = (order, node, *axes)
            if sums:
                places = ((x.size, where.terms[x]) for x in axes)
                key = (order, node.array, where.constant, *places)
            copy = copy_of(axes, reduce.axes, order)
            if key not in copies:
                copies[key] = _copied(node, copy, origin, found)
            changes[node] = copies[key][copy.index]
        elif last in node.free:
            changes[node] = _turned(node, last, positions, origin, found, copies)
    return _changed(body, changes)


def _with_near_terms(body: Map) -> Map:
    """A body whose sums run last along the axis along which terms lie near in what is not copied.

    What the lanes share is read an element at a time; next to it lies the next term then.
    """
    wide = [axis for axis in body.axes if axis.size > 1]
    positions, changes = Positions(), dict[Expression, Expression]()
    for reduce, node in _terms(body):
        if not wide or not isinstance(node, Load) or wide[-1] in node.free or reduce in changes:
            continue
        where = positions.offset(node.array, node.operands)
        sums = all(isinstance(x, Axis) for x in where.terms)
        if not sums or runs_well(where, wide, reduce):
            continue
        near = {x: abs(where.step(x) or 0) for x in reduce.axes if x.size >= NEAR}
        best = min((x for x in near if 0 < near[x] <= NEAR), key=near.__getitem__, default=None)
        if best is not None and prod(x.size for x in node.free) > 2 * node.array.size:
            axes = (*(x for x in reduce.axes if x is not best), best)
            changes[reduce] = only(Reduce, reduce.dtype, reduce.operands, reduce.operation, axes)
    return _changed(body, changes)


def runs_well(where: Affine, wide: Sequence[Axis], reduce: Reduce) -> bool:
    """Whether lanes lie side by side; of what all lanes share, whether rows do, or terms nearly."""
    *rows, last = wide
    if where.step(last):
        return where.step(last) == 1
    inner = next((x for x in reversed(reduce.axes) if x.size > 1), None)
    beside = any(where.step(x) == 1 and x.size >= ROWS for x in rows)
    return inner is None or abs(where.step(inner) or 0) <= (PAGE if beside else NEAR)


def _copied(node: Load, copy: Copy, origin: str, found: list[Statement]) -> Array:
    """A copy of what a load reads, in the order in which it reads."""
    value = substituted(node, copy.places, Positions())
    out = Array(f"p{next(_numbers)}", tuple(x.size for x in copy.axes), node.dtype)
    found.append(Statement(out, Map(copy.axes, value), origin))
    return out


def _turned(
    node: Load,
    last: Axis,
    positions: Positions,
    origin: str,
    found: list[Statement],
    copies: dict[tuple[object, ...], Array],
) -> Expression:
    """A load of a copy in which the axis that lanes run through is the last one."""
    through = [n for n, x in enumerate(node.operands) if last in x.free]
    if len(through) != 1 or positions.of(node.operands[through[0]]).step(last) != 1:
        return node
    order = [n for n in range(node.array.ndim) if n != through[0]] + through
    shape, strides = node.array.shape, node.array.strides
    key: tuple[object, ...] = (node.array, 0, *((shape[n], strides[n]) for n in order))
    if key not in copies:
        axes = [lang.axis(n) for n in node.array.shape]
        out = Array(f"p{next(_numbers)}", tuple(axes[n].size for n in order), node.dtype)
        value = node.array[tuple(axes)]
        found.append(Statement(out, Map(tuple(axes[n] for n in order), value), origin))
        copies[key] = out
    return copies[key][tuple(node.operands[n] for n in order)]


def _with_borders(
    body: Map,
    origin: str,
    found: list[Statement],
    copies: dict[tuple[object, ...], Array],
) -> Map:
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
        if not takes_pairs(reduce) and _skips(body, reduce, positions):
            continue
        ranges = [positions.range_of(positions.of(x)) for x in load.operands]
        sizes = [r.high - r.low + 1 for r in ranges]
        times = around * prod(axis.size for axis in reduce.axes)
        if prod(sizes) > 4 * load.array.size + 4096 or times <= TIMES * prod(sizes):
            continue
        key = (load.array, other.value, *((r.low, r.high) for r in ranges))
        if key not in copies:
            copies[key] = _bordered(load, other, ranges, origin, found)
        index = tuple(x - r.low for x, r in zip(load.operands, ranges, strict=True))
        changes[node] = copies[key][index]
    return _changed(body, changes)


def _skips(body: Map, reduce: Reduce, positions: Positions) -> bool:
    """Whether loops that skip what lies outside beat those over a border.

    Lanes and rows of a tile have as many terms each, so they lie along other axes then.
    """
    edges = edges_of(reduce, positions)
    wide = [axis for axis in body.axes if axis.size > 1]
    if edges is None or wide[-1] in edges.axes:
        return False
    if not any(axis.size >= FEW and axis not in edges.axes for axis in wide[:-1]):
        return False
    lanes = target().lanes
    filled = wide[-1].size / (vectors_of(wide[-1].size, lanes) * lanes)
    return edges.share() < WORTH * filled


def _bordered(
    load: Load, other: Constant, ranges: Sequence[Range], origin: str, found: list[Statement]
) -> Array:
    """A copy of an array with what stands outside of it, as far as is read."""
    axes = tuple(lang.axis(r.high - r.low + 1) for r in ranges)
    places = tuple(x + r.low for x, r in zip(axes, ranges, strict=True))
    value = lang.guarded(lang.inside(load.array, places), load.array[places], other)
    out = Array(f"p{next(_numbers)}", tuple(x.size for x in axes), load.dtype)
    found.append(Statement(out, Map(axes, substituted(value, {}, Positions())), origin))
    return out


def _outside(node: Guard, load: Load) -> Iterator[Expression]:
    """What a guard asks that is not whether the load lies inside."""
    inside = lang.inside(load.array, load.operands)
    asked = set(ordered([inside]))
    for x in ordered(node.operands[:1]):
        joins = isinstance(x, Apply) and x.operation == "and"
        if x.dtype == "bool" and x not in asked and not joins and not isinstance(x, Constant):
            yield x


def _changed(body: Map, changes: dict[Expression, Expression]) -> Map:
    if not changes:
        return body
    done = dict(changes)
    value = rewritten([body.value], lambda node: node, done)[0]
    result: Body = with_roots(body, [substituted(value, {}, Positions())])
    assert isinstance(result, Map)
    return result
