"""Loops that add to places or set them: one position after another, rows of memory in vectors."""

from collections.abc import Callable, Sequence
from typing import Any

from scull.compiler.address import mask_of, pointer
from scull.compiler.affine import Affine, Positions
from scull.compiler.flatten import flat
from scull.compiler.lanes import stored_scalar
from scull.compiler.memory import store, whole
from scull.compiler.schedule import lanes_for
from scull.compiler.stage import Stage
from scull.compiler.target import Target
from scull.compiler.tile import ALONE, Point, Tile, columns_of
from scull.compiler.writer import Writer
from scull.lang.body import Scatter
from scull.lang.dtype import element
from scull.lang.expression import Array, Axis, Expression

COLUMNS = 2  # vectors at once
Chunks = Callable[[Writer, Axis, int, Sequence[Expression], Callable[[int], None]], None]


def write_scatter(writer: Writer, stage: Stage, target: Target, chunks: Chunks) -> None:
    """The loop of a stage; `chunks` writes one over an axis in chunks."""
    bodies = [body for body in stage.bodies if isinstance(body, Scatter)]
    if not stage.arrays[0].size:
        return
    for body, array in zip(bodies, stage.arrays, strict=True):
        _begin(writer, body, array)
    if not all(axis.size for axis in stage.axes):
        return
    first, positions = bodies[0], writer.positions
    values = [body.value for body in bodies]
    along = axis_of_rows(first, positions)
    wheres = [positions.offset(array, first.index) for array in stage.arrays]
    writer.hoist([root for body in bodies for root in body.roots])

    def change() -> None:
        for point in writer.active:
            _change(writer, bodies, stage.arrays, wheres, point)

    def row(_: list[str]) -> list[str]:
        def inside() -> None:
            with writer.scope():
                if along is None:
                    change()
                    return
                chunks(writer, along, lanes * COLUMNS, values, columns)

        writer.function.when(_fits(writer, first, along), inside)
        return []

    def columns(size: int) -> None:
        with writer.tiled(Tile(None, 1, along, columns_of(size, lanes))):
            change()

    lanes = lanes_for(stage, target)
    outer = [axis for axis in stage.axes if axis is not along]
    with writer.tiled(ALONE):
        writer.nest(outer, first.index, (), row)


def axis_of_rows(body: Scatter, positions: Positions) -> Axis | None:
    """The axis along which places lie side by side, all of them inside."""
    if not body.index:
        return None
    *rest, last = body.index
    where = positions.of(last)
    for axis in body.over:
        if where.step(axis) != 1 or any(axis in x.free for x in rest):
            continue
        reach = positions.range_of(where)
        if reach.low >= 0 and reach.high < body.shape[-1]:
            return axis
    return None


def _begin(writer: Writer, body: Scatter, array: Array) -> None:
    """The output as it is before anything changes."""
    f, at = writer.function, writer.buffers[array.name]
    size = array.size * element(array.dtype).itemsize
    if body.base is not None:
        base = writer.buffers[body.base.name]
        copied = f"call void @llvm.memcpy.p0.p0.i64(ptr {at}, ptr {base}, i64 {size}, i1 false)"
        f.when(f.value(f"icmp ne ptr {at}, {base}"), lambda: f.act(copied))
    elif not body.sets:
        f.act(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {size}, i1 false)")


def _fits(writer: Writer, body: Scatter, along: Axis | None) -> str:
    """Whether a place lies inside; along a row it does if the row does."""
    f, point, test = writer.function, Point(0, 0), "true"
    for x, size in zip(body.index, body.shape, strict=True):
        if along is not None and along in x.free:
            continue
        writer.compute([x], [point])
        place = writer.operand(x, point, writer.one)
        test = f.value(f"and i1 {test}, {f.value(f'icmp ult i64 {place}, {size}')}")
    return test


def _change(
    writer: Writer,
    bodies: Sequence[Scatter],
    arrays: Sequence[Array],
    wheres: Sequence[Affine],
    point: Point,
) -> None:
    """Add to, or set, one place of every output, or the places of all lanes."""
    axis = writer.tile.axis
    lanes = writer.wide if axis is not None else writer.one
    for where in wheres:
        writer.compute([x for x in where.terms if not isinstance(x, Axis)], [point])
    values: list[Any] = []
    for body, array, where in zip(bodies, arrays, wheres, strict=True):
        writer.compute([body.value], [point])
        value = writer.operand(body.value, point, lanes)
        if not body.sets:
            at, kind = pointer(writer, flat(array), where, point), stored_scalar(array.dtype)
            mask = mask_of(writer, point) if axis is not None else None
            before = lanes.loaded(whole(lanes, kind, array, at, mask), array.dtype)
            value = lanes.applied("add", [before, value], array.dtype, array.dtype)
        values.append(value)
    for array, where, value in zip(arrays, wheres, values, strict=True):
        store(writer, flat(array), where, value, point)
