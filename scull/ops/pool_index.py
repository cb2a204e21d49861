"""The largest element of each window over an image, and where it is."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.ops.half import placed, widening
from scull.ops.pool import (
    Pooling,
    element_at,
    indices,
    lowest,
    lowest_of,
    pooling,
    surrounded,
    taps_at,
)
from scull.ops.window import image_shape

ATTRIBUTES = ("ksize", "strides", "paddings", "global_pooling", "adaptive")


def windows(x: Any, attrs: dict[str, Any]) -> Pooling:
    """The windows over `x`, or its meta."""
    shape = image_shape(x, "x", "NCHW")
    given = [tuple(attrs[n]) for n in ("ksize", "strides", "paddings")]
    wholes = (attrs["global_pooling"], attrs["adaptive"])
    return pooling(shape, *given, False, "max", *wholes, "EXPLICIT")


@primitive(outputs=("out", "mask"))
def max_pool2d_with_index(
    x: Meta,
    *,
    ksize: Ints,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    global_pooling: bool = False,
    adaptive: bool = False,
) -> Any:
    """The largest element of each window, and its place in its image, row by row."""
    floating(x)
    values = (ksize, strides, paddings, global_pooling, adaptive)
    p = windows(x, dict(zip(ATTRIBUTES, values, strict=True)))
    found = x.with_shape((p.images, p.channels, p.rows.count, p.columns.count))
    return found, found.with_dtype(int32)


@max_pool2d_with_index.kernel
@widening
def max_pool2d_with_index_kernel(xp: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
    p = windows(x, attrs)
    shape = (p.images, p.channels, p.rows.count, p.columns.count)
    largest, mask = out or (None, None)
    largest = xp.empty(shape, x.dtype) if largest is None else largest
    mask = xp.empty(shape, "int32") if mask is None else mask
    wide = surrounded(xp, x, p, lowest(x.dtype))
    largest[...], mask[...] = lowest(x.dtype), -1
    for tap in p.taps():
        rows, columns = (along - a.before for along, a in zip(spots(tap), p[2:4], strict=True))
        places = rows.reshape(-1, 1) * p.columns.size + columns.reshape(-1)
        inside = ((rows >= 0) & (rows < p.rows.size)).reshape(-1, 1)
        inside = inside & ((columns >= 0) & (columns < p.columns.size)).reshape(-1)
        value = wide[tap]
        better = (value > largest) | ((mask < 0) & (value == largest))
        better &= inside
        xp.copyto(largest, value, where=better)
        xp.copyto(mask, places, where=better, casting="same_kind")
    return largest, mask


def spots(tap: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rows and the columns of a tap as arrays."""
    return indices(tap[1]), indices(tap[2])


@max_pool2d_with_index.lower
def max_pool2d_with_index_at(index: Any, x: Any, **attrs: Any) -> Any:
    p = windows(x, attrs)
    spot = next(i for i in index if i is not None)
    i, j = lang.axis(p.rows.kernel), lang.axis(p.columns.kernel)
    value = element_at(x, p, spot, i, j, lowest_of(x.dtype), "NCHW")
    first = lang.argmax(value, over=(i, j))
    h, w, _ = taps_at(p, spot, first // j.size, first % j.size)
    return lang.max(value, over=(i, j)), lang.cast(h * p.columns.size + w, "int32")


@primitive
def scatter_pooled(like_meta: Meta, mask: Meta, source: Meta) -> Meta:
    """`source` given back to the places that `mask` names in images like those of `like`."""
    return source.with_shape(like_meta.shape)


@scatter_pooled.kernel
def scatter_pooled_kernel(xp: Any, like: Any, mask: Any, source: Any, *, out: Any = None) -> Any:
    count, size = math.prod(like.shape[:2]), math.prod(like.shape[2:])
    planes = xp.zeros((count, size), source.dtype)
    where = (xp.arange(count)[:, None], mask.reshape(count, math.prod(mask.shape[2:])))
    xp.add.at(planes, where, source.reshape(where[1].shape))
    return placed(planes.reshape(like.shape), source.dtype, out)


@scatter_pooled.lower
def scatter_pooled_at(index: Any, like: Any, mask: Any, source: Any) -> Any:
    over = [lang.axis(n) for n in source.shape]
    place = mask[tuple(over)]
    spot = (over[0], over[1], place // like.shape[3], place % like.shape[3])
    return lang.scatter_add(like.shape, spot, source[tuple(over)], over=over)


@primitive
def gather_pooled(mask: Meta, source: Meta) -> Meta:
    """The elements of the images `source` at the places that `mask` names."""
    return source.with_shape(mask.shape)


@gather_pooled.kernel
def gather_pooled_kernel(xp: Any, mask: Any, source: Any, *, out: Any = None) -> Any:
    count, size = math.prod(source.shape[:2]), math.prod(source.shape[2:])
    where = mask.reshape(count, math.prod(mask.shape[2:]))
    found = xp.take_along_axis(source.reshape(count, size), where, 1)
    return placed(found.reshape(mask.shape), source.dtype, out)


@gather_pooled.lower
def gather_pooled_at(index: Any, mask: Any, source: Any) -> Any:
    place = mask[index]
    columns = source.shape[3]
    return lang.padded(source, (index[0], index[1], place // columns, place % columns), 0.0)


max_pool2d_with_index.grad("x")(
    lambda x_meta, mask, dout, dmask=None: scatter_pooled(x_meta, mask, dout)
)
scatter_pooled.grad("source")(lambda mask, dout: gather_pooled(mask, dout))
gather_pooled.grad("source")(
    lambda mask, source_meta, dout: scatter_pooled(source_meta, mask, dout)
)
