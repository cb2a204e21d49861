"""The order in memory of the axes of arrays that a region keeps to itself.

A contraction runs fastest where lanes lie side by side in what it reads and writes. Each names the
axis it would like last, as often as it reads; axes that run together through elementwise statements
are one class, so that what lies between contractions has their order too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, prod

from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.fuse import loads_of, words_of
from scull.compiler.pack import runs_well
from scull.compiler.stage import contracts
from scull.compiler.target import target
from scull.compiler.trace import Statement
from scull.lang.body import Map, Scatter, with_roots
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce, axis
from scull.lang.walk import ordered, rewritten

WINDOWED = 0.7  # of its worth has an axis that is read through a window
NATURAL = 1.25  # times its worth, at most, has the last axis of a matrix, read by matrices too
TURNING = 64  # multiplications that to read one element of a result in another order costs
COPYING = 16  # the same of a copy of what a contraction reads
DRAWING = 256  # the same of a random word that its neighbours do not share a block with
FAR = 4  # times worse are lanes that lie apart where values are added to places
LEAST = 0.1  # of its runs a contraction votes with, however little another order would cost
EVEN = 0.01  # times that, where several axes would do as well
LOCAL = 0.01  # of them for the axis along which one element after the other is read
DEEP = 16  # terms of a sum that pay for turning its result round

Place = tuple[Array, int]  # an axis of an array


def arranged(statements: Sequence[Statement], outputs: Collection[Array]) -> list[Statement]:
    """The statements with the axes of what lies between them in the order that they like."""
    kept, positions = set(outputs), Positions()
    found = [x for s in statements for x in _apart(s, kept, positions)]
    ties, votes = _Ties(), defaultdict[Place, float](float)
    for statement in found:
        ties.read(statement)
    free = (s.out for s in found if isinstance(s.body, Map) and s.strip is None)
    inner = dict.fromkeys(x for x in free if x not in kept)
    for statement in found:
        for (array, number), weight in _votes(statement, positions):
            if array in inner and array.shape[number] > 1:
                votes[ties.of((array, number))] += weight
    beside = defaultdict[Place, int](int)
    for statement in found:
        for place, runs in _terms_beside(statement, positions):
            beside[ties.of(place)] += runs
    leads = _leads(found, inner, ties)
    orders: dict[Array, tuple[int, ...]] = {}
    for array in inner:
        worth = [votes[ties.of((array, n))] for n in range(array.ndim)]
        plain = tuple(range(array.ndim))
        lead = leads.get(array, plain)
        last = max(range(array.ndim), key=lambda n: (worth[n], n), default=0)
        if array.ndim and worth[last] and last != lead[-1] and array.shape[last] > 1:
            others = [n for n in lead if n != last]
            others.sort(key=lambda n: beside[ties.of((array, n))])
            lead = (*others, last)
            decided("turned", array.name, "", f"axis {last} is last: lanes run along it")
        elif lead != plain:
            decided("turned", array.name, "", "rows of what it multiplies come first")
        if lead != plain:
            orders[array] = lead
    turned = {x: Array(x.name, tuple(x.shape[n] for n in o), x.dtype) for x, o in orders.items()}
    return [_turned(s, orders, turned) for s in found] if orders else found


def _leads(
    statements: Sequence[Statement], inner: Collection[Array], ties: "_Ties"
) -> dict[Array, tuple[int, ...]]:
    """The order of the axes of contractions that have their rows first, and of what runs with them.

    Rows are axes that all it multiplies varies with, from the first on: what other contractions
    make in such rows is at hand then, and small.
    """
    wanted: dict[frozenset[Place], list[Place]] = {}
    for statement in statements:
        body, out = statement.body, statement.out
        if out not in inner or not isinstance(body, Map) or not contracts(body):
            continue
        loads = [x for r in _sums(body) for x in ordered(r.operands) if isinstance(x, Load)]
        common = frozenset[Axis].intersection(*(x.free for x in loads))
        rows = [n for n, x in enumerate(body.axes) if x in common]
        if rows and rows[0] == 0 and rows[-1] != len(rows) - 1:
            order = (*rows, *(n for n in range(out.ndim) if n not in rows))
            places = [ties.of((out, n)) for n in order]
            if len(set(places)) == len(places):
                wanted.setdefault(frozenset(places), places)
    found: dict[Array, tuple[int, ...]] = {}
    for array in inner if wanted else ():
        own = [ties.of((array, n)) for n in range(array.ndim)]
        if len(set(own)) == len(own) and frozenset(own) in wanted:
            found[array] = tuple(map(own.index, wanted[frozenset(own)]))
    return found


def lane_axis(body: Map, positions: Positions) -> Axis | None:
    """The axis of a contraction's results along which its lanes had better lie."""
    return best_of(worths(body, positions))


def best_of(found: dict[Axis, float]) -> Axis | None:
    """The axis that is worth most; of several the last."""
    return max(reversed(found), key=found.__getitem__, default=None)


def worths(body: Map, positions: Positions) -> dict[Axis, float]:
    """How well the lanes of a contraction would lie along the axes of its results that may do."""
    sums = _sums(body)
    loads = [x for r in sums for x in ordered(r.operands) if isinstance(x, Load)]
    wide = [x for x in body.axes if x.size > 1]
    last = wide[-1] if len(wide) == 2 else None
    lanes = target().lanes
    found: dict[Axis, float] = {}
    for each in wide:
        through = [_through(x, each, positions) for x in loads if each in x.free]
        if not through or None in through:
            continue
        worth = each.size / (ceil(each.size / lanes) * lanes)
        worth *= WINDOWED if any(windowed for _, windowed in filter(None, through)) else 1.0
        found[each] = worth * (_natural(each, wide, sums, positions) if each is last else 1.0)
    return found


def _natural(
    last: Axis, wide: Sequence[Axis], sums: Sequence[Reduce], positions: Positions
) -> float:
    """What it adds to the worth of an axis that it is the last one of a matrix.

    Less where what lanes along it share would be copied: the result can be turned instead.
    """
    copying = _copying(last, wide, sums, positions)
    if not copying:
        return NATURAL
    return min(NATURAL, 1 + TURNING / max(map(_terms, sums))) / (1 + copying)


def _copying(
    lanes: Axis, wide: Sequence[Axis], sums: Sequence[Reduce], positions: Positions
) -> float:
    """What copies would cost of what lanes along an axis share, beside all products.

    Where terms lie far apart, it is copied so that they lie near.
    """
    order, total = [*(x for x in wide if x is not lanes), lanes], 0.0
    for reduce in sums:
        runs = prod(x.size for x in wide) * _terms(reduce)
        for load in (x for x in ordered(reduce.operands) if isinstance(x, Load)):
            where = positions.offset(load.array, load.operands)
            if lanes not in load.free and not runs_well(where, order, reduce):
                total += COPYING * prod(x.size for x in load.free) / runs
    return total


def _sums(body: Map) -> list[Reduce]:
    return [x for x in ordered([body.value]) if isinstance(x, Reduce)]


def _terms(reduce: Reduce) -> int:
    """How many terms a sum has."""
    return prod(x.size for x in reduce.axes)


def _through(load: Load, along: Axis, positions: Positions) -> tuple[int, bool] | None:
    """Which axis of an array runs with `along`, and whether other axes move it too."""
    places = [n for n, x in enumerate(load.operands) if along in x.free]
    if len(places) != 1:
        return None
    where = positions.of(load.operands[places[0]])
    moving = [x for x in where.terms if not isinstance(x, Axis) or x.size > 1]
    return (places[0], len(moving) > 1) if where.step(along) == 1 else None


def _votes(statement: Statement, positions: Positions) -> Iterator[tuple[Place, float]]:
    """Which axes a contraction likes last, by how much would be lost with another."""
    body = statement.body
    if isinstance(body, Scatter) and body.over:
        last, times = body.over[-1], float(FAR * prod(x.size for x in body.over))
        for load in loads_of(body):
            yield from (((load.array, n), times) for n, x in enumerate(load.operands) if x is last)
    if not isinstance(body, Map):
        return
    for word in words_of([body]):
        drawn = positions.of(word.operands[2])
        for number, x in enumerate(body.axes):
            if drawn.step(x) == 1:
                yield (statement.out, number), float(DRAWING * prod(n.size for n in body.axes))
    if not contracts(body):
        return
    found = worths(body, positions)
    lanes, ranked = best_of(found), sorted(found.values())
    around, deep = prod(x.size for x in body.axes), max(map(_terms, _sums(body)))
    lost = 1.0 - (ranked[-2] if len(ranked) > 1 else 0.0) / ranked[-1] if ranked else 0.0
    least = 1.0 if lost else EVEN
    if lanes is not None:
        yield (statement.out, body.axes.index(lanes)), max(least, lost * deep) * around
    for reduce in _sums(body):
        runs = around * _terms(reduce)
        times = max(lost, LEAST * least) * runs
        for load in (x for x in ordered(reduce.operands) if isinstance(x, Load)):
            along = lanes is not None and lanes in load.free and _through(load, lanes, positions)
            if along:
                yield (load.array, along[0]), times
                continue
            if _reshaped(load):  # it runs through memory as it is
                yield (load.array, load.array.ndim - 1), times
                continue
            for number, place in enumerate(load.operands):
                if place is reduce.axes[-1]:
                    yield (load.array, number), LOCAL * runs


def _terms_beside(statement: Statement, positions: Positions) -> Iterator[tuple[Place, int]]:
    """The axes along which terms run of what a contraction's lanes read, by how often.

    Next to the lanes they lie side by side: elsewhere they crowd in few sets of a cache.
    """
    body = statement.body
    if not isinstance(body, Map) or not contracts(body):
        return
    lanes = lane_axis(body, positions)
    for reduce in _sums(body):
        runs = prod(axis.size for axis in body.axes) * _terms(reduce)
        for load in ordered(reduce.operands):
            if isinstance(load, Load) and lanes in load.free:
                for number, place in enumerate(load.operands):
                    if place in reduce.axes:
                        yield (load.array, number), runs


def _reshaped(load: Load) -> bool:
    """Whether an array is read in another shape than its own."""
    parts = (x for x in ordered(load.operands) if isinstance(x, Apply))
    return any(x.operation in ("floor_divide", "remainder") for x in parts)


def _apart(statement: Statement, kept: Collection[Array], positions: Positions) -> list[Statement]:
    """A contraction that gives a result of the region in an order of its own, and that turned."""
    body = statement.body
    if not isinstance(body, Map) or statement.out not in kept or not contracts(body):
        return [statement]
    lanes, terms = lane_axis(body, positions), list(map(_terms, _sums(body)))
    wide = [x for x in body.axes if x.size > 1]
    if lanes is None or lanes is wide[-1] or max(terms) < DEEP:
        return [statement]
    inner = Array(f"{statement.out.name}_turned", statement.out.shape, statement.out.dtype)
    axes = tuple(axis(n) for n in inner.shape)
    copy = Map(axes, inner[axes])
    return [replace(statement, out=inner), Statement(statement.out, copy, statement.origin)]


class _Ties:
    """Axes of arrays that run together, as classes."""

    def __init__(self) -> None:
        self.above: dict[Place, Place] = {}

    def of(self, place: Place) -> Place:
        """The one that stands for its class."""
        while place in self.above:
            place = self.above[place]
        return place

    def read(self, statement: Statement) -> None:
        """Tie what a statement reads to what it makes."""
        if not isinstance(statement.body, Map):
            return
        own = {x: n for n, x in enumerate(statement.body.axes)}
        body = statement.body
        inside = {x for r in _sums(body) for x in ordered(r.operands)} if contracts(body) else ()
        for load in loads_of(body):
            if load in inside:  # a contraction goes through what it reads in an order of its own
                continue
            for number, place in enumerate(load.operands):
                if isinstance(place, Axis) and place in own:
                    first = self.of((load.array, number))
                    second = self.of((statement.out, own[place]))
                    if first != second:
                        self.above[first] = second


def _turned(
    statement: Statement, orders: Mapping[Array, tuple[int, ...]], turned: Mapping[Array, Array]
) -> Statement:
    """A statement over arrays whose axes have other orders."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Load) and node.array in turned:
            order = orders[node.array]
            return turned[node.array][tuple(node.operands[n] for n in order)]
        return node

    body = with_roots(statement.body, rewritten(statement.body.roots, change, {}))
    if statement.out not in turned:
        return replace(statement, body=body)
    assert isinstance(body, Map)
    order = orders[statement.out]
    body = replace(body, axes=tuple(body.axes[n] for n in order))
    return replace(statement, out=turned[statement.out], body=body)
