"""Elements of pooled images put back to where they were the largest; zeros elsewhere."""

import math
from typing import Any

from scull.core.attribute import Ints
from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.half import placed
from scull.ops.pool_index import gather_pooled
from scull.ops.window import pair


def unpooled(x: Any, indices: Any, output_size: Any, data_format: str, axes: int) -> Any:
    """The shape of the images, or the mistake in the operands."""
    if data_format != ("NCDHW" if axes == 3 else "NCHW"):
        raise ArgumentError(f"data_format is {data_format!r}; the channels must be axis 1")
    if len(x.shape) != axes + 2 or len(indices.shape) != axes + 2:
        law = f"x has {len(x.shape)} axes and indices {len(indices.shape)}"
        raise ShapeError(f"{law}; both need {axes + 2}")
    for i, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True)):
        agree(n, m, f"x has {{}} elements along axis {i} and indices {{}}")
    if meta_of(indices).dtype not in (int32, int64):
        raise DtypeError(f"indices is {indices.dtype.name}, not int32 or int64")
    return (*x.shape[:2], *pair("output_size", tuple(output_size), axes, 0))


def unpool_kernel(
    xp: Any, x: Any, indices: Any, *, out: Any = None, output_size: Any, **attrs: Any
) -> Any:
    """The images; where several elements go to one place the last one stays."""
    form = attrs["data_format"]
    shape = unpooled(x, indices, output_size, form, len(output_size))
    count, size = math.prod(shape[:2]), math.prod(shape[2:])
    where = indices.reshape(count, math.prod(x.shape[2:]))
    if where.size and not 0 <= where.min() <= where.max() < size:
        law = f"outside [0, {size}), the places of an image of {list(shape[2:])}"
        raise RangeError(f"indices go from {where.min()} to {where.max()}, {law}")
    planes = xp.zeros((count, size), x.dtype)
    planes[xp.arange(count)[:, None], where] = x.reshape(where.shape)
    return placed(planes.reshape(shape), x.dtype, out)


def back(indices: Any, out_meta: Any, dout: Any, x_meta: Any) -> Any:
    """What came to the place of each element; the shapes are asked for as Paddle's slots are."""
    return gather_pooled(indices, dout)


REASON = "of several elements for one place the last one stays"


@primitive(infer_first=True)
def unpool(
    x: Meta,
    indices: Meta,
    *,
    ksize: Ints,
    unpooling_type: str,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    output_size: Ints = (0, 0),
    data_format: str = "NCHW",
) -> Meta:
    """Images of `output_size` with the elements of `x` at the places `indices`, row by row."""
    if unpooling_type != "max":
        raise ArgumentError(f"unpooling_type is {unpooling_type!r}, not max")
    return x.with_shape(unpooled(x, indices, output_size, data_format, 2))


@primitive(infer_first=True)
def unpool3d(
    x: Meta,
    indices: Meta,
    *,
    ksize: Ints,
    strides: Ints = (1, 1, 1),
    paddings: Ints = (0, 0, 0),
    output_size: Ints = (0, 0, 0),
    data_format: str = "NCDHW",
) -> Meta:
    """Volumes of `output_size` with the elements of `x` at the places `indices`, row by row."""
    return x.with_shape(unpooled(x, indices, output_size, data_format, 3))


for function in (unpool, unpool3d):
    function.kernel(unpool_kernel)
    function.grad("x")(back)
    function.no_lowering(REASON)
