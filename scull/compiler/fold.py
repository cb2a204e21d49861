"""Reductions of a tile: folds of all points at once, folds along lanes, positions of extremes."""

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from scull.compiler.ahead import ask, ask_noted
from scull.compiler.edge import edges_of, is_stepped
from scull.compiler.lanes import Lanes
from scull.compiler.matrix import summed
from scull.compiler.step import in_chunks, limits_of, long_terms, stepped
from scull.compiler.tile import FOLDS, Key, Place, Point, Tile, columns_of
from scull.lang.arithmetic import STEPS, of_nothing
from scull.lang.dtype import element
from scull.lang.expression import Apply, Axis, Expression, Guard, Load, Reduce
from scull.lang.operation import PRODUCTS
from scull.lang.walk import ordered

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

LONG = 80  # nodes that a round of a loop over terms computes, with which four at once are long
EXTREMES = {"max": "larger", "min": "smaller"}


def start_of(node: Reduce) -> float | int:
    """What a fold starts from: -0 for a sum, for -0 + x is x whatever x is."""
    return -0.0 if node.operation == "sum" else of_nothing(node.operation, node.dtype)


def step_of(node: Reduce) -> str:
    """The operation of one more term."""
    return EXTREMES[node.operation] if is_extreme(node) else STEPS[node.operation]


def is_extreme(node: Reduce) -> bool:
    """Whether it is the greatest or the least of floats, of which a zero is +0 in the end."""
    return node.operation in EXTREMES and element(node.dtype).kind == "float"


def reduce_at(w: "Writer", node: Reduce, missing: dict[Key, Point]) -> None:
    """A reduction at all points at once, so that what they share is read once."""
    points = list(missing.values())
    found = reduced(w, node, points)
    if is_extreme(node):
        each = [lanes_at(w, node, point) for point in points]
        found = [x.unsigned_zero(name, node.dtype) for x, name in zip(each, found, strict=True)]
    w.known[-1].update(zip(missing, found, strict=True))


def reduced(w: "Writer", node: Reduce, points: list[Point]) -> list[str]:
    """What a reduction is at each point."""
    each = [lanes_at(w, node, point) for point in points]
    if not all(axis.size for axis in node.axes):
        nothing = of_nothing(node.operation, node.dtype)
        return [lanes.literal(nothing, node.dtype) for lanes in each]
    if node.operation in ("argmax", "argmin"):
        return places(w, node, points)
    axis = folding_axis(w, node)
    if axis is not None:
        return [across(w, node, axis, point) for point in points]
    if node in w.by_unit:
        return summed(w, node, points)
    term = node.operands[0]
    starts = [(x.held(node.dtype), x.literal(start_of(node), node.dtype)) for x in each]
    edges = edges_of(node, w.positions)
    limits: dict[Axis, tuple[str, str]] = {}
    if edges is not None:
        if edges.axes.isdisjoint((w.tile.axis, w.tile.row)):
            found = {x: limits_of(w, edges, x, w.active[0]) for x in edges.first}
            term, limits = edges.term, {x: (one.first, one.end) for x, one in found.items()}
        elif is_stepped(edges, node):
            with long_terms(w, node, points):
                return stepped(w, edges, starts, points, stepping(w, node, edges.term, points))

    def body(values: list[str]) -> list[str]:
        ask_noted(w)
        return folded(w, node, term, values, points)

    made = ordered([term], lambda x: () if isinstance(x, Load) else x.operands)
    unroll = 4 if len(points) * (1 + len(made)) < LONG else 1
    with long_terms(w, node, points):
        return w.nest(node.axes, [term], starts, body, unroll=unroll, limits=limits)


def stepping(
    w: "Writer", node: Reduce, term: Expression, points: Sequence[Point]
) -> Callable[[list[str]], list[str]]:
    """What adds one more term at all points."""
    return lambda values: folded(w, node, term, values, points)


def lanes_at(w: "Writer", node: Reduce, point: Point) -> Lanes:
    """How many lanes a fold has at a point, where vectors are as wide as there from here on."""
    w.stand(point)
    return w.lanes_of(node.operands[0])


def folding_axis(w: "Writer", node: Reduce) -> Axis | None:
    """The axis along whose lanes a fold into scalars runs; None where it does not pay."""
    if w.folds == 1 or w.tile.axis is not None or w.mask is not None:
        return None
    if any(isinstance(x, (Reduce, Guard)) for x in ordered(node.operands)):
        return None
    loads = [x for x in ordered(node.operands) if isinstance(x, Load)]

    def even(axis: Axis) -> int:
        return sum(w.where(x).step(axis) in (0, 1) for x in loads)

    varying = [axis for axis in reversed(node.axes) if axis in node.operands[0].free]
    best = max(varying, key=even, default=None)
    if best is None or best.size < 3 or even(best) < len(loads):
        return None
    return best


def across(w: "Writer", node: Reduce, axis: Axis, point: Point) -> str:
    """A fold in lanes and columns, which are then folded too: the order is always the same."""
    lanes, f = Lanes(w.function, w.folds), w.function
    chunk, term = w.folds * FOLDS, node.operands[0]
    edges = edges_of(node, w.positions) if len(node.axes) == 1 else None
    outer = [x for x in node.axes if x is not axis]
    start = (lanes.held(node.dtype), lanes.literal(start_of(node), node.dtype))
    rounds, rest = divmod(axis.size, chunk)
    columns = FOLDS if rounds else -(-rest // w.folds)

    def part(base: str, size: int, values: list[str], term: Expression = term) -> list[str]:
        tile = Tile(w.tile.row, w.tile.rows, axis, columns_of(size, w.folds))
        with w.tiled(tile), w.scope([axis]):
            w.bind(axis, Place(base))
            points = [Point(point.row, c) for c in range(len(tile.columns))]
            w.active = points
            found = folded(w, node, term, values[: len(points)], points)
            ask(w, points)
            for number, column in enumerate(tile.columns):
                if column.mask is not None:
                    kind = lanes.held(node.dtype)
                    found[number] = lanes.select(column.mask, kind, found[number], values[number])
            return [*found, *values[len(points) :]]

    def body(values: list[str]) -> list[str]:
        w.hoist([term])
        if edges is not None and rounds > 1:
            limits = limits_of(w, edges, axis, point)
            pairs = [(start[0], x) for x in values]

            def whole(base: str, now: list[str]) -> list[str]:
                return part(base, chunk, now, edges.term)

            def partly(base: str, now: list[str]) -> list[str]:
                return part(base, chunk, now)

            values = in_chunks(w, limits, (chunk, rounds), pairs, whole, partly)
        elif rounds == 1:
            values = part("0", chunk, values)
        elif rounds:
            pairs = [(start[0], x) for x in values]
            values = f.loop(
                rounds * chunk, pairs, lambda base, now: part(base, chunk, now), step=chunk
            )
        if not rest:
            return values
        ahead = f.value(f"add i64 0, {rounds * chunk}") if rounds else "0"
        return part(ahead, rest, values)

    values = w.nest(outer, [term], [start] * columns, body)
    return lane_by_lane(w, node, lanes, values)


def lane_by_lane(w: "Writer", node: Reduce, lanes: Lanes, columns: Sequence[str]) -> str:
    """The fold of columns one after the other, and of their lanes by halves."""
    kind, count = lanes.held(node.dtype), lanes.count
    total = columns[0]
    for column in columns[1:]:
        total = lanes.applied(step_of(node), [total, column], node.dtype, node.dtype)
    while count > 1:
        count //= 2
        order = ", ".join(
            f"i32 {lane + count}" if lane < count else "i32 poison" for lane in range(lanes.count)
        )
        upper = w.function.value(
            f"shufflevector {kind} {total}, {kind} poison, <{lanes.count} x i32> <{order}>"
        )
        total = lanes.applied(step_of(node), [total, upper], node.dtype, node.dtype)
    return w.function.value(f"extractelement {kind} {total}, i64 0")


def folded(
    w: "Writer",
    node: Reduce,
    term: Expression,
    values: list[str],
    points: Sequence[Point],
) -> list[str]:
    """One more term; products are added without being rounded before."""
    step, joined = step_of(node), ""
    if node.operation == "sum" and isinstance(term, Apply) and node.dtype in ("float32", "float64"):
        joined = term.operation if term.operation in PRODUCTS else ""
    roots = term.operands if joined else (term,)
    w.compute(roots, points)
    found = []
    for now, point in zip(values, points, strict=True):
        lanes = lanes_at(w, node, point)
        operands = [w.operand(x, point, lanes) for x in roots]
        if joined == "pair_dot":
            made = lanes.pair_dot_add(operands, now)
        elif joined:
            made = lanes.applied("multiply_add", [*operands, now], node.dtype, node.dtype)
        else:
            made = lanes.applied(step, [now, *operands], node.dtype, node.dtype)
        found.append(made)
    return found


def places(w: "Writer", node: Reduce, points: Sequence[Point]) -> list[str]:
    """Where the greatest or least stands at each point: a better term or the first NaN takes it.

    It begins with the worst there is at the first place, so a term that is no better may stay.
    """
    (term,), value = node.operands, w.function.value
    wide = prod(axis.size for axis in node.axes) >= 1 << 31
    number = "i64" if wide else "i32"
    worst = of_nothing("max" if node.operation == "argmax" else "min", term.dtype)
    starts = [(number, "0")]
    for point in points:
        lanes = lanes_at(w, node, point)
        starts.append((lanes.held(term.dtype), lanes.literal(worst, term.dtype)))
        starts.append((lanes.type(number), lanes.number(number, 0)))

    def body(values: list[str]) -> list[str]:
        w.compute([term], points)
        count, *pairs = values
        found = [value(f"add {number} {count}, 1")]
        for place, point in enumerate(points):
            best, where = pairs[2 * place : 2 * place + 2]
            lanes = lanes_at(w, node, point)
            x = w.operand(term, point, lanes)
            taken = _takes(node, lanes, x, best)
            here = lanes.spread(count, number)
            found.append(lanes.select(taken, lanes.held(term.dtype), x, best))
            found.append(lanes.select(taken, lanes.type(number), here, where))
        return found

    found = w.nest(node.axes, [term], starts, body, unroll=4 if len(points) < 8 else 1)[2::2]
    if wide:
        return found
    each = [lanes_at(w, node, point) for point in points]
    return [
        value(f"zext {lanes.type(number)} {name} to {lanes.type('i64')}")
        for lanes, name in zip(each, found, strict=True)
    ]


def _takes(node: Reduce, lanes: Lanes, x: str, best: str) -> str:
    """Whether a term is better than the best before it, or NaN as nothing before it was."""
    dtype = node.operands[0].dtype

    def test(operation: str, x: str, y: str) -> str:
        return lanes.applied(operation, [x, y], dtype, "bool")

    less, more = (best, x) if node.operation == "argmax" else (x, best)
    if element(dtype).kind != "float":
        return test("less", less, more)
    truth = lanes.type("i1")
    worse = test("less_equal", more, less)
    better = lanes.value(f"xor {truth} {worse}, {lanes.number('i1', 'true')}")
    return lanes.value(f"and {truth} {better}, {test('equal', best, best)}")
