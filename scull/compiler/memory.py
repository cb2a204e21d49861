"""Loads and stores of a tile: vectors, gathers, masks, addresses."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from scull.compiler.address import mask_of, pointer, pointers
from scull.compiler.affine import Affine
from scull.compiler.cross import crosses, turned
from scull.compiler.lanes import Lanes, stored_scalar
from scull.compiler.tile import Point
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Expression, Load, Reduce
from scull.lang.walk import ordered
from scull.runtime.line import LINE

LARGE = 1 << 19  # bytes of an operand that does not stay in a cache of a core's own
NEAREST = 1 << 15  # bytes of the cache that loads ask first
AHEAD = 32  # terms
SUMS = 192  # additions to vectors before what is asked for now is read

if TYPE_CHECKING:
    from scull.compiler.writer import Writer


def load(w: "Writer", node: Load, point: Point) -> str:
    """Read one element, or one for each lane."""
    array, f, where = node.array, w.function, w.where(node)
    axis = w.tile.axis
    varies = axis is not None and axis in node.free
    kind = stored_scalar(array.dtype)
    if not varies and (w.mask is None or w.wide.count == 1):
        at = pointer(w, array, where, point)
        if point.row == 0:
            fetch_ahead(w, array, where, at)
            fetch_rows(w, array, where)
        found = f.value(f"load {kind}, ptr {at}")
        return w.one.loaded(found, array.dtype)
    if not varies:
        return w.one.loaded(where_any(w, kind, array, where, point), array.dtype)
    if crosses(w, where):
        return turned(w, node, where, point)
    step = where.step(axis) if axis is not None else 0
    if w.wide.count == 1 or step == 1:
        at = pointer(w, array, where, point)
        found = whole(w.wide, kind, array, at, mask_of(w, point))
        fetch_vector(w, array, where, at, point)
    else:
        found = gathered(w, array, where, step, point)
    return w.wide.loaded(found, array.dtype)


def is_one_load(w: "Writer", node: Apply) -> bool:
    """Whether a pair lies in memory as its bits are wanted, in every lane."""
    low, high = node.operands
    if not isinstance(low, Load) or not isinstance(high, Load):
        return False
    if low.array.name != high.array.name:
        return False
    first, second, axis = w.where(low), w.where(high), w.tile.axis
    if second.constant != first.constant + 1 or second.terms != first.terms:
        return False
    return w.mask is None and (axis is None or first.step(axis) in (0, 2))


def load_pair(w: "Writer", node: Apply, point: Point) -> str:
    """Read a pair that lies side by side, or one for each lane."""
    low = node.operands[0]
    assert isinstance(low, Load)
    at, lanes = pointer(w, low.array, w.where(low), point), w.lanes_of(node)
    mask = mask_of(w, point) if lanes.count > 1 else None
    return whole(lanes, "i32", low.array, at, mask)


def fetch_vector(w: "Writer", array: Array, where: Affine, at: str, point: Point) -> None:
    """Ask for the lines of a vector, but for one in which another of the tile begins.

    Terms that adjoin are a stream, which hardware foresees: nothing asks for them where several
    vectors share a line, and would again and again.
    """
    step = where.step(w.terms) if w.terms is not None else 0
    size, columns = element(array.dtype).itemsize, w.tile.columns
    column, last = columns[point.column], columns[-1]
    adjoin = abs(step or 0) <= last.offset + last.lanes
    if not step or (adjoin and w.wide.count * size < LINE):
        return
    if column.offset * size % LINE == 0:
        fetch_ahead(w, array, where, at)
    if column is last and not _begin_lines(w, where, size):  # may end in a line more
        fetch_ahead(w, array, where, at, w.wide.count * size - 1)


def _begin_lines(w: "Writer", where: Affine, size: int) -> bool:
    """Whether tiles begin where lines do, in an array that does."""
    steps = (k for n, k in where.terms.items() if n is not w.tile.axis)
    return all(k * size % LINE == 0 for k in (where.constant, *steps))


def fetch_ahead(w: "Writer", array: Array, where: Affine, at: str, behind: int = 0) -> None:
    """Ask for what a contraction reads some terms later, of an operand too large for a near cache.

    Terms lie apart, which hardware that looks for streams of lines does not see through. Vectors
    of whole lines are consumed as fast as the next cache gives them: they are asked for shortly
    before, into the nearest.
    """
    size = element(array.dtype).itemsize
    step = where.step(w.terms) if w.terms is not None else 0
    soon = w.wide.count * size >= LINE
    if not step or array.size * size < (NEAREST if soon else LARGE) or abs(step) * size < LINE:
        return
    f, terms = w.function, ceil(SUMS / len(w.active)) if soon else AHEAD
    there = f.value(f"getelementptr i8, ptr {at}, i64 {terms * step * size + behind}")
    f.act(f"call void @llvm.prefetch.p0(ptr {there}, i32 0, i32 {3 if soon else 2}, i32 1)")


def fetch_rows(w: "Writer", array: Array, where: Affine) -> None:
    """Ask for what a tile's rows, of which one lies behind the other, read next, a bit a term.

    That is the next stretch of terms, which hardware cannot foresee, for it begins elsewhere; or
    what the next tile has, which comes from afar.
    """
    size = element(array.dtype).itemsize
    if w.terms is None or w.tile.row is None or w.wide.count * size < LINE:
        return
    adjoin = where.step(w.terms) == 1 and where.step(w.tile.row) == w.terms.size
    if not adjoin or array.size * size < LARGE:
        return
    along, many = (w.stretches, 1) if w.stretches is not None else w.following
    apart = (where.step(along) or 0) * many if along is not None else 0
    if apart and apart != w.terms.size:
        there = Affine(where.constant + apart, {**where.terms, w.terms: w.tile.rows})
        at = pointer(w, array, there, w.active[0])
        near = 3 if w.stretches is not None else 2
        w.function.act(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 {near}, i32 1)")


def fetch_before(w: "Writer", values: Sequence[Expression]) -> None:
    """Ask for what is read once the sums of a tile are made, while they are being made.

    Parameters of an optimizer that a gradient is made for, and what a product is added to.
    """
    for node in ordered(values, lambda x: () if isinstance(x, Reduce) else w.eager(x)):
        if not isinstance(node, Load) or not comes_late(w, node.array, w.where(node)):
            continue
        for point in {w.key(node, p): p for p in w.active}.values():
            at = pointer(w, node.array, w.where(node), point)
            w.function.act(f"call void @llvm.prefetch.p0(ptr {at}, i32 0, i32 3, i32 1)")


def comes_late(w: "Writer", array: Array, where: Affine) -> bool:
    """Whether vectors of a tile lie side by side, of an array that is in no near cache."""
    axis = w.tile.axis
    large = array.size * element(array.dtype).itemsize >= LARGE
    return (
        (large or array.name in w.far)
        and axis is not None
        and where.step(axis) == 1
        and all(isinstance(x, Axis) for x in where.terms)
    )


def where_any(w: "Writer", kind: str, array: Array, where: Affine, point: Point) -> str:
    """One element for all lanes, read if there is a lane that may."""
    f, wide = w.function, w.wide
    lanes = f"{wide.type('i1')} {mask_of(w, point)}"
    some = f.value(f"call i1 @llvm.vector.reduce.or.{wide.suffix('i1')}({lanes})")

    def read() -> str:
        return f.value(f"load {kind}, ptr {pointer(w, array, where, point)}")

    with w.scope():
        return f.choose(some, kind, read, lambda: "zeroinitializer")


def whole(wide: Lanes, kind: str, array: Array, at: str, mask: str | None) -> str:
    """Neighbours in memory, of which only some may be touched."""
    size = element(array.dtype).itemsize
    if mask is None:
        return wide.value(f"load {wide.type(kind)}, ptr {at}, align {size}")
    return wide.value(
        f"call {wide.type(kind)} @llvm.masked.load.{wide.suffix(kind)}.p0(ptr {at}, i32 {size},"
        f" {wide.type('i1')} {mask}, {wide.type(kind)} zeroinitializer)"
    )


def gathered(w: "Writer", array: Array, where: Affine, step: int | None, point: Point) -> str:
    f, wide, kind = w.function, w.wide, stored_scalar(array.dtype)
    at = pointers(w, array, where, step, point)
    mask = mask_of(w, point) or wide.number("i1", "true")
    size = element(array.dtype).itemsize
    return f.value(
        f"call {wide.type(kind)} @llvm.masked.gather.{wide.suffix(kind)}.{wide.suffix('p0')}("
        f"{wide.type('ptr')} {at}, i32 {size}, {wide.type('i1')} {mask},"
        f" {wide.type(kind)} zeroinitializer)"
    )


def store(w: "Writer", array: Array, where: Affine, value: str, point: Point) -> None:
    """Write one element, or one for each lane."""
    f, size = w.function, element(array.dtype).itemsize
    kind, axis = stored_scalar(array.dtype), w.tile.axis
    step = where.step(axis) if axis is not None else 0
    lanes = w.wide if axis is not None and step != 0 else w.one
    held = lanes.stored(value, array.dtype)
    mask = mask_of(w, point)
    if lanes.count > 1 and step != 1:
        at = pointers(w, array, where, step, point)
        f.act(
            f"call void @llvm.masked.scatter.{lanes.suffix(kind)}.{lanes.suffix('p0')}("
            f"{lanes.type(kind)} {held}, {lanes.type('ptr')} {at}, i32 {size},"
            f" {lanes.type('i1')} {mask or lanes.number('i1', 'true')})"
        )
        return
    at = pointer(w, array, where, point)
    if mask is None or lanes.count == 1:
        f.act(f"store {lanes.type(kind)} {held}, ptr {at}, align {size}")
        return
    if mask.count("true") == 1:  # LLVM 20 writes 32 bits of an element of 16
        first = f.value(f"extractelement {lanes.type(kind)} {held}, i64 0")
        f.act(f"store {kind} {first}, ptr {at}, align {size}")
        return
    f.act(
        f"call void @llvm.masked.store.{lanes.suffix(kind)}.p0({lanes.type(kind)} {held},"
        f" ptr {at}, i32 {size}, {lanes.type('i1')} {mask})"
    )
