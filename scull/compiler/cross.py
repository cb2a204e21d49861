"""Loads across a tile: where memory runs with rows, those are read and turned into lanes."""

from typing import TYPE_CHECKING

from scull.compiler.address import pointer
from scull.compiler.affine import Affine
from scull.compiler.lanes import stored_scalar
from scull.compiler.tile import Point
from scull.lang.dtype import element
from scull.lang.expression import Array, Load

if TYPE_CHECKING:
    from scull.compiler.writer import Writer


def crosses(w: "Writer", where: Affine) -> bool:
    """Whether a load runs through memory with the rows of the tile, all of which are wanted."""
    row, axis = w.tile.row, w.tile.axis
    if row is None or axis is None or w.mask is not None or not 1 < w.tile.rows <= w.wide.count:
        return False
    if len({point.row for point in w.active}) != w.tile.rows:
        return False
    step = where.step(axis)
    return where.step(row) == 1 and step is not None and step not in (0, 1)


def turned(w: "Writer", node: Load, where: Affine, point: Point) -> str:
    """The element of one row in each lane; those of the other rows are known from here on."""
    column = w.tile.columns[point.column]
    used = w.wide.count if column.mask is None else column.mask.count("true")
    step = where.step(w.tile.axis)  # type: ignore[arg-type]
    assert step is not None
    vectors = [
        _along_rows(w, node.array, Affine(where.constant + lane * step, where.terms), point)
        if lane < used
        else "poison"
        for lane in range(w.wide.count)
    ]
    found = _transposed(w, vectors, stored_scalar(node.array.dtype))
    for row in range(w.tile.rows):
        name = w.wide.loaded(found[row], node.array.dtype)
        w.known[-1][w.key(node, Point(row, point.column))] = name
    return w.known[-1][w.key(node, point)]


def _along_rows(w: "Writer", array: Array, where: Affine, point: Point) -> str:
    """What lies in memory from the first row of the tile on, one element a lane."""
    from_first = Point(0, point.column)
    at = pointer(w, array, where, from_first)
    kind, size = stored_scalar(array.dtype), element(array.dtype).itemsize
    f, wide = w.function, w.wide
    if w.tile.rows == wide.count:
        return f.value(f"load {wide.type(kind)}, ptr {at}, align {size}")
    lanes = ", ".join(f"i1 {'true' if row < w.tile.rows else 'false'}" for row in range(wide.count))
    return f.value(
        f"call {wide.type(kind)} @llvm.masked.load.{wide.suffix(kind)}.p0(ptr {at}, i32 {size},"
        f" {wide.type('i1')} <{lanes}>, {wide.type(kind)} zeroinitializer)"
    )


def _transposed(w: "Writer", vectors: list[str], kind: str) -> list[str]:
    """Lane i of vector k becomes lane k of vector i: squares of 1, 2, 4, … lanes change places."""
    count, whole, distance = w.wide.count, w.wide.type(kind), 1
    found = list(vectors)

    def mixed(x: str, y: str, order: list[int]) -> str:
        if x == y == "poison":
            return x
        lanes = ", ".join(f"i32 {lane}" for lane in order)
        return w.function.value(
            f"shufflevector {whole} {x}, {whole} {y}, <{count} x i32> <{lanes}>"
        )

    while distance < count:
        for first in range(count):
            if first & distance:
                continue
            second = first + distance
            x, y = found[first], found[second]
            low = [k if not k & distance else count + k - distance for k in range(count)]
            high = [k + distance if not k & distance else count + k for k in range(count)]
            found[first], found[second] = mixed(x, y, low), mixed(x, y, high)
        distance *= 2
    return found
