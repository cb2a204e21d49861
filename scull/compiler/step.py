"""Where the loops of sums begin and end that have fewer terms at some places than at others."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.affine import Affine
from scull.compiler.assembly import Carried
from scull.compiler.edge import Edges
from scull.compiler.lanes import Lanes
from scull.compiler.memory import AHEAD
from scull.compiler.tile import Key, Place, Point
from scull.lang.expression import Axis, Reduce

if TYPE_CHECKING:
    from scull.compiler.writer import Writer


class Limits(NamedTuple):
    """The names of where an axis begins and ends, in each of some lanes."""

    first: str
    end: str
    lanes: Lanes


def limits_of(w: "Writer", edges: Edges, axis: Axis, point: Point) -> Limits:
    """Where the loop over an axis begins, and where it ends, at a point."""
    w.stand(point)
    lanes = w.wide if w.tile.axis in edges.axes else w.one
    first = _extreme(w, "smax", _names(w, edges.first[axis], point, lanes), lanes)
    return Limits(
        first, _extreme(w, "smin", _names(w, edges.ends[axis], point, lanes), lanes), lanes
    )


def _names(w: "Writer", side: Sequence[Affine], point: Point, lanes: Lanes) -> list[str]:
    roots = [w.positions.expression(x) for x in side]
    w.compute(roots, [point])
    return [w.operand(x, point, lanes) for x in roots]


def _extreme(w: "Writer", choice: str, names: Sequence[str], lanes: Lanes) -> str:
    """The least or the greatest of some integers, in each lane."""
    found, kind = names[0], lanes.type("i64")
    for name in names[1:]:
        call = f"call {kind} @llvm.{choice}.{lanes.suffix('i64')}({kind} {found}, {kind} {name})"
        found = w.function.value(call)
    return found


def _scalar(w: "Writer", choice: str, name: str, lanes: Lanes) -> str:
    """The least or the greatest of all lanes."""
    if lanes.count == 1:
        return name
    kind, suffix = lanes.type("i64"), lanes.suffix("i64")
    return w.function.value(f"call i64 @llvm.vector.reduce.{choice}.{suffix}({kind} {name})")


@contextmanager
def long_terms(w: "Writer", node: Reduce, points: Sequence[Point]) -> Iterator[None]:
    """A contraction reads one term after the other, so far that it asks ahead."""
    if is_long(node, points):
        *outer, w.terms = node.axes
        w.stretches = outer[-1] if outer else None
    yield
    w.terms = w.stretches = None


def is_long(node: Reduce, points: Sequence[Point]) -> bool:
    """Whether a sum for many points has many terms, one after the other."""
    return len(points) > 4 and node.axes[-1].size > AHEAD


def stepped(
    w: "Writer",
    edges: Edges,
    carried: Carried,
    points: Sequence[Point],
    more: Callable[[list[str]], list[str]],
) -> list[str]:
    """A sum of which rows or lanes begin, or end, at one term after the other.

    In the middle are the terms that all have; before and behind each takes its own. `more` adds
    one term.
    """
    ((axis, _),) = edges.first.items()
    f, kinds = w.function, [kind for kind, _ in carried]
    w.hoist([edges.term])
    keys = [_key(w, edges, point) for point in points]
    limits = {
        key: limits_of(w, edges, axis, point)
        for key, point in dict(zip(keys, points, strict=True)).items()
    }

    def of_all(choice: str, side: str) -> str:
        each = [_scalar(w, choice, getattr(x, side), x.lanes) for x in limits.values()]
        return _extreme(w, choice, each, w.one)

    low, high = of_all("smin", "first"), of_all("smax", "end")
    begin = _extreme(w, "smin", [of_all("smax", "first"), high], w.one)
    stop = _extreme(w, "smax", [of_all("smin", "end"), begin], w.one)

    def own(base: str, found: list[str], now: list[str]) -> list[str]:
        taken = {key: _lies_in(base, each) for key, each in limits.items()}
        return [
            limits[key].lanes.select(taken[key], kind, new, old)
            for key, kind, new, old in zip(keys, kinds, found, now, strict=True)
        ]

    def through(first: str, end: str, values: list[str], whole: bool) -> list[str]:
        def turn(base: str, now: list[str]) -> list[str]:
            with w.scope([axis]):
                w.bind(axis, Place(base))
                found = more(now)
                return found if whole else own(base, found, now)

        return f.loop_if_any(first, end, list(zip(kinds, values, strict=True)), turn)

    def vary(side: Sequence[Affine]) -> bool:
        return any(not x.axes.isdisjoint((w.tile.row, w.tile.axis)) for x in side)

    values = [start for _, start in carried]
    if vary(edges.first[axis]):
        values = through(low, begin, values, False)
    values = through(begin, stop, values, True)
    if vary(edges.ends[axis]):
        values = through(stop, high, values, False)
    return values


def in_chunks(
    w: "Writer",
    limits: Limits,
    sizes: tuple[int, int],
    carried: Carried,
    whole: Callable[[str, list[str]], list[str]],
    partly: Callable[[str, list[str]], list[str]],
) -> list[str]:
    """A loop over chunks, of which `sizes` says the length and number, as far as there are terms.

    The first and the last of them may lie inside partly; a chunk is a power of 2 long.
    """
    f, (chunk, count) = w.function, sizes

    def even(name: str, more: int) -> str:
        raised = f.value(f"add i64 {name}, {more}")
        return f.value(f"and i64 {raised}, {-chunk}")

    def least(x: str, y: str) -> str:
        return _extreme(w, "smin", [x, y], w.one)

    last = str(chunk * count)
    high = least(even(limits.end, chunk - 1), last)
    begin = least(even(limits.first, chunk - 1), high)
    stop = _extreme(w, "smax", [begin, least(even(limits.end, 0), last)], w.one)
    kinds, values = [kind for kind, _ in carried], [start for _, start in carried]
    for first, end, body in (
        (even(limits.first, 0), begin, partly),
        (begin, stop, whole),
        (stop, high, partly),
    ):
        pairs = list(zip(kinds, values, strict=True))
        values = f.loop_if_any(first, end, pairs, body, step=chunk)
    return values


def _key(w: "Writer", edges: Edges, point: Point) -> Key:
    """What tells the limits of a point from those of others."""
    row = point.row if w.tile.row in edges.axes else 0
    return row, point.column if w.tile.axis in edges.axes else 0


def _lies_in(base: str, limits: Limits) -> str:
    """Whether a place lies within limits, in each lane."""
    lanes = limits.lanes
    place = lanes.spread(base, "i64")
    kind, truth = lanes.type("i64"), lanes.type("i1")
    behind = lanes.value(f"icmp sge {kind} {place}, {limits.first}")
    return lanes.value(
        f"and {truth} {behind}, {lanes.value(f'icmp slt {kind} {place}, {limits.end}')}"
    )
