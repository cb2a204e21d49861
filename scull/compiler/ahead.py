"""What the rows of a kernel will need is asked for while a row is computed.

A row is read in one go, then nothing is while other stages compute; hardware that foresees streams
stops at the end of a page meanwhile, and a line that is only written waits for its old content.
The stages that compute most ask for most, so that memory and arithmetic take their time together.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.address import pointer
from scull.compiler.affine import Affine, Positions
from scull.compiler.flatten import flat
from scull.compiler.memory import LARGE, comes_late
from scull.compiler.schedule import offset_of
from scull.compiler.stage import Stage, nbytes
from scull.compiler.tile import Point
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce
from scull.lang.walk import ordered

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

ROW = range(256, (1 << 14) + 1)  # bytes of a row that is asked for


class Line(NamedTuple):
    """A row of an array that is needed soon: where it begins, of how many elements it is."""

    array: Array
    where: Affine
    size: int
    written: bool


def lines_of(
    stages: Sequence[Stage], shared: Sequence[Axis], own: frozenset[str], positions: Positions
) -> list[list[Line]]:
    """What each stage of a row asks for; arrays that are its `own` stay near.

    What the first stage reads itself is asked for a row ahead.
    """
    asked: list[list[Line]] = [[] for _ in stages]
    if not shared or len(stages) < 2 or stages[0].is_contraction:
        return asked
    if not all(isinstance(body, Map) for stage in stages for body in stage.bodies):
        return asked
    needed = _needed(stages, shared, own, positions)
    busy = [sum(number == n for number, _ in needed) for n in range(len(stages))]
    work = [_work(stage, shared) for stage in stages]
    for number, line in sorted(needed, key=lambda pair: pair[0] or len(stages)):
        able = [n for n in range(number or len(stages)) if work[n][0] == line.size]
        if able:
            best = max(able, key=lambda n: (work[n][1] / (busy[n] + 1), n))
            asked[best].append(line)
            busy[best] += 1
    return asked


def _needed(
    stages: Sequence[Stage], shared: Sequence[Axis], own: frozenset[str], positions: Positions
) -> list[tuple[int, Line]]:
    """The rows that are far, each with the number of the stage that is the first to need it."""
    found: dict[str, tuple[int, Line]] = {}
    for number, stage in enumerate(stages):
        for array, where, written in _accesses(stage, positions):
            rest = {n: k for n, k in where.terms.items() if n not in shared}
            plain = all(isinstance(n, Axis) for n in where.terms) and list(rest.values()) == [1]
            if array.name in own or array.name in found or not plain or nbytes(array) < LARGE:
                continue
            ((along, _),) = rest.items()
            assert isinstance(along, Axis)
            step = where.terms.get(shared[-1], 0)
            if step < along.size or along.size * element(array.dtype).itemsize not in ROW:
                continue
            terms = {n: k for n, k in where.terms.items() if n is not along}
            ahead = step if number == 0 else 0
            line = Line(array, Affine(where.constant + ahead, terms), along.size, written)
            if number or not written:
                found[array.name] = number, line
    return list(found.values())


def _work(stage: Stage, shared: Sequence[Axis]) -> tuple[int, int]:
    """How many positions a stage has in a row, and its operations at each; 0 if in many rows."""
    nodes = ordered([root for body in stage.bodies for root in body.roots])
    axes = {axis for node in nodes for axis in node.free}.union(stage.axes).difference(shared)
    if len(axes) != 1:
        return 0, 0
    (axis,) = axes
    return axis.size, sum(isinstance(node, Apply) and axis in node.free for node in nodes)


def _accesses(stage: Stage, positions: Positions) -> Iterator[tuple[Array, Affine, bool]]:
    """What a stage reads and writes, and where, in elements."""
    for node in ordered([body.roots[-1] for body in stage.bodies]):
        if isinstance(node, Load) and node.operands:
            yield node.array, positions.of(node.operands[0]), False
    for array in stage.arrays:
        if array.size == prod(x.size for x in stage.axes):
            yield flat(array), offset_of(array, stage.axes), True


def ask(w: "Writer", points: Sequence[Point]) -> None:
    """Ask for the lines of rows beside which a vector lies."""
    axis = w.tile.axis
    for line in w.ahead:
        if axis is None or axis.size != line.size:
            continue
        where = Affine(line.where.constant, {**line.where.terms, axis: 1})
        for point in points:
            at = pointer(w, line.array, where, point)
            write = int(line.written)
            w.function.act(f"call void @llvm.prefetch.p0(ptr {at}, i32 {write}, i32 3, i32 1)")


class Noted(NamedTuple):
    """Addresses that a tile asks for while it sums, in memory at `at`: so many `lines`."""

    at: str
    lines: int


def note_next(
    w: "Writer",
    values: Sequence[Expression],
    stores: Sequence[tuple[Array, Affine]],
) -> None:
    """Note what the next tile reads once its sums are made, and what it writes.

    To ask for all at once would keep the terms of the sums waiting; so each asks for one.
    """
    axis, many = w.following
    nodes = ordered(values, lambda x: () if isinstance(x, Reduce) else w.eager(x))
    places = [(x.array, w.where(x)) for x in nodes if isinstance(x, Load)]
    lines = dict[str, None]()
    for array, where in (*places, *stores):
        step = where.step(axis) if axis is not None else 0
        if step and array.name in w.buffers and comes_late(w, array, where):
            there = Affine(where.constant + step * many, where.terms)
            lines.update((pointer(w, array, there, point), None) for point in w.active)
    if not lines:
        return
    f, kind = w.function, f"[{len(lines)} x ptr]"
    w.noted = Noted(f.room(kind), len(lines))
    for number, line in enumerate(lines):
        place = f.value(f"getelementptr ptr, ptr {w.noted.at}, i64 {number}")
        f.act(f"store ptr {line}, ptr {place}")


def ask_noted(w: "Writer") -> None:
    """Ask for as much of what is noted as lets the terms of a sum ask for all."""
    if w.noted is None or w.terms is None:
        return
    f, (at, lines) = w.function, w.noted
    place = w.place(w.terms, w.active[0])
    term = f.value(f"add i64 {place.base}, {place.offset}")
    each = -(-lines // w.terms.size)
    for number in range(each):
        spot = f.value(f"add i64 {f.value(f'mul i64 {term}, {each}')}, {number}")
        spot = f.value(f"call i64 @llvm.umin.i64(i64 {spot}, i64 {lines - 1})")
        line = f.value(f"load ptr, ptr {f.value(f'getelementptr ptr, ptr {at}, i64 {spot}')}")
        f.act(f"call void @llvm.prefetch.p0(ptr {line}, i32 1, i32 3, i32 1)")
