"""Addresses of the elements that a tile reads and writes, and which of its lanes may."""

from typing import TYPE_CHECKING

from scull.compiler.affine import Affine
from scull.compiler.lanes import stored_scalar
from scull.compiler.tile import Key, Point
from scull.lang.expression import Array, Axis, Expression

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
