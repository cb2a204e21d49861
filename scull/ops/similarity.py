"""How alike channels of images are, and where one of them is largest."""

from typing import Any

import numpy as np

from scull.core.attribute import Ints
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, RangeError, ShapeError
from scull.ops.half import placed
from scull.ops.like import size_of
from scull.ops.linear import matmul
from scull.ops.move import flatten
from scull.ops.product import same_type


@composite
def fsp(x, y):
    """For each pair of channels of `x` and of `y` the mean product of their elements."""
    same_type(x, y)
    for name, v in (("x", x), ("y", y)):
        if len(v.shape) != 4:
            raise ShapeError(f"{name} is {meta_of(v)}; it has 4 axes")
    for axis, (n, m) in enumerate(zip(x.shape, y.shape, strict=True)):
        if axis != 1 and -1 not in (n, m) and n != m:
            raise ShapeError(f"{meta_of(x)} and {meta_of(y)} differ along axis {axis}")
    rows, columns = (flatten(v, start_axis=2, stop_axis=3) for v in (x, y))
    return matmul(rows, columns, transpose_y=True) / size_of(x, axis=(2, 3))


@primitive(infer_first=True)
def similarity_focus(x: Meta, *, axis: int, indexes: Ints) -> Meta:
    """Ones where slices along `axis` are largest, of each row and each column once; else zeros.

    What one of the slices `indexes` is largest at is marked in all of them.
    """
    floating(x)
    if x.ndim != 4:
        raise ShapeError(f"x has {x.ndim} axes, 4 are needed")
    if axis not in (1, 2, 3):
        raise ArgumentError(f"axis is {axis}, not 1, 2 or 3")
    if not indexes:
        raise ArgumentError("indexes is empty")
    for i in indexes:
        if i < 0 or (x.shape[axis] != -1 and i >= x.shape[axis]):
            raise RangeError(f"index {i} is outside [0, {x.shape[axis]}) of axis {axis}")
    return x


@similarity_focus.kernel
def similarity_focus_kernel(xp: Any, x: Any, *, out: Any = None, axis: int, indexes: Any) -> Any:
    slices = np.moveaxis(x, axis, 1)[:, list(indexes)]
    images, count, rows, columns = slices.shape
    open = slices.reshape(images * count, rows, columns).astype(x.dtype)
    marks = xp.zeros((images, rows, columns), x.dtype)
    each, image = xp.arange(len(open)), xp.repeat(xp.arange(images), count)
    for _ in range(min(rows, columns)):
        row, column = xp.divmod(open.reshape(len(open), -1).argmax(1), columns)
        marks[image, row, column] = 1
        open[each, row] = open[each, :, column] = -np.inf
    found = xp.broadcast_to(xp.expand_dims(marks, axis), x.shape)
    return placed(xp.array(found), x.dtype, out)


similarity_focus.no_grad("a place is not differentiable")
similarity_focus.no_lowering("what is largest depends on what was larger before")
