"""Loads and stores of a tile: vectors, gathers, masks, addresses."""

from typing import TYPE_CHECKING

from scull.compiler.affine import Affine
from scull.compiler.lanes import stored_scalar
from scull.compiler.tile import Key, Point
from scull.lang.dtype import element
from scull.lang.expression import Array, Axis, Expression, Load

if TYPE_CHECKING:
    from scull.compiler.writer import Writer


def pointer(w: "Writer", array: Array, where: Affine, point: Point) -> str:
    """The address of an element; of the first lane's where it lies along the vector axis."""
    f, kind = w.function, stored_scalar(array.dtype)
    at, constant = w.buffers[array.name], where.constant
    terms: list[tuple[int, Expression, int]] = []
    for node, many in where.terms.items():
        if isinstance(node, Axis):
            place = w.place(node, point)
            constant += place.offset * many
            if place.base != "0":
                terms.append((w.depths[node], node, many))
        else:
            depth = max((w.depths.get(x, 0) for x in node.free), default=0)
            terms.append((depth, node, many))
    key: Key = ("at", array.name)
    free: frozenset[Axis] = frozenset()
    for _, node, many in sorted(terms, key=lambda each: each[0]):
        row = point.row if not isinstance(node, Axis) and w.tile.row in node.free else 0
        base = w.places[node].base if isinstance(node, Axis) else row
        key, free = (*key, node, many, base), free | node.free
        found = w.find(key, free)
        if found is None:
            name = base if isinstance(node, Axis) else w.operand(node, point, w.one)
            far = name if many == 1 else f.value(f"mul i64 {name}, {many}")
            found = f.value(f"getelementptr {kind}, ptr {at}, i64 {far}")
            w.known[-1][key] = found
        at = found
    return f.value(f"getelementptr {kind}, ptr {at}, i64 {constant}") if constant else at


def mask_of(w: "Writer", point: Point) -> str | None:
    """Which lanes may touch memory; None: all."""
    lanes = w.tile.columns[point.column].mask
    if w.mask is None or lanes is None:
        return w.mask or lanes
    kind = w.wide.type("i1")
    return w.function.value(f"and {kind} {w.mask}, {lanes}")


def load(w: "Writer", node: Load, point: Point) -> str:
    """Read one element, or one for each lane."""
    array, f, where = node.array, w.function, w.where(node)
    axis = w.tile.axis
    varies = axis is not None and axis in node.free
    kind = stored_scalar(array.dtype)
    if not varies and (w.mask is None or w.wide.count == 1):
        found = f.value(f"load {kind}, ptr {pointer(w, array, where, point)}")
        return w.one.loaded(found, array.dtype)
    if not varies:
        return w.one.loaded(where_any(w, kind, array, where, point), array.dtype)
    step = where.step(axis) if axis is not None else 0
    if w.wide.count == 1 or step == 1:
        at = pointer(w, array, where, point)
        found = whole(w, kind, array, at, mask_of(w, point))
    else:
        found = gathered(w, array, where, step, point)
    return w.wide.loaded(found, array.dtype)


def where_any(w: "Writer", kind: str, array: Array, where: Affine, point: Point) -> str:
    """One element for all lanes, read if there is a lane that may."""
    f, wide = w.function, w.wide
    lanes = f"{wide.type('i1')} {mask_of(w, point)}"
    some = f.value(f"call i1 @llvm.vector.reduce.or.{wide.suffix('i1')}({lanes})")

    def read() -> str:
        return f.value(f"load {kind}, ptr {pointer(w, array, where, point)}")

    with w.scope():
        return f.choose(some, kind, read, lambda: "zeroinitializer")


def whole(w: "Writer", kind: str, array: Array, at: str, mask: str | None) -> str:
    f, wide, size = w.function, w.wide, element(array.dtype).itemsize
    if mask is None:
        return f.value(f"load {wide.type(kind)}, ptr {at}, align {size}")
    return f.value(
        f"call {wide.type(kind)} @llvm.masked.load.{wide.suffix(kind)}.p0(ptr {at}, i32 {size},"
        f" {wide.type('i1')} {mask}, {wide.type(kind)} zeroinitializer)"
    )


def pointers(w: "Writer", array: Array, where: Affine, step: int | None, point: Point) -> str:
    """Where each lane reads."""
    f, wide, kind = w.function, w.wide, stored_scalar(array.dtype)
    axis = w.tile.axis
    if step is not None:
        at = pointer(w, array, where, point)
        lanes = ", ".join(f"i64 {lane * step}" for lane in range(wide.count))
        return f.value(f"getelementptr {kind}, ptr {at}, {wide.type('i64')} <{lanes}>")
    fixed = {n: k for n, k in where.terms.items() if axis not in n.free}
    at = pointer(w, array, Affine(where.constant, fixed), point)
    total: str | None = None
    for node, many in where.terms.items():
        if node in fixed:
            continue
        w.compute([node], [point])
        term = w.operand(node, point, wide)
        if many != 1:
            term = f.value(f"mul {wide.type('i64')} {term}, {wide.number('i64', many)}")
        total = term if total is None else f.value(f"add {wide.type('i64')} {total}, {term}")
    return f.value(f"getelementptr {kind}, ptr {at}, {wide.type('i64')} {total}")


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
    f.act(
        f"call void @llvm.masked.store.{lanes.suffix(kind)}.p0({lanes.type(kind)} {held},"
        f" ptr {at}, i32 {size}, {lanes.type('i1')} {mask})"
    )
