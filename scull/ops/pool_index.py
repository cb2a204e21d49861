"""The largest element of each window over an image, and where it is."""

from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.ops.half import widening
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
from scull.ops.window import asking, attributes_of, image_shape

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
@attributes_of(max_pool2d_with_index)
def scatter_pooled(x: Meta, mask: Meta, source: Meta, **attrs: Any) -> Meta:
    """`source` given back to the places in the images of `x` that `mask` names."""
    return source.with_shape(x.shape)


@scatter_pooled.kernel
@widening
def scatter_pooled_kernel(
    xp: Any, x: Any, mask: Any, source: Any, *, out: Any = None, **attrs: Any
) -> Any:
    out = xp.empty(x.shape, source.dtype) if out is None else out
    out[...] = 0
    planes = out.reshape(x.shape[0] * x.shape[1], -1)
    rows = xp.arange(len(planes))[:, None]
    xp.add.at(planes, (rows, mask.reshape(len(planes), -1)), source.reshape(len(planes), -1))
    if planes.base is None or not xp.shares_memory(planes, out):
        out[...] = planes.reshape(x.shape)
    return out


@scatter_pooled.lower
def scatter_pooled_at(index: Any, x: Any, mask: Any, source: Any, **attrs: Any) -> Any:
    over = [lang.axis(n) for n in source.shape]
    place = mask[tuple(over)]
    spot = (over[0], over[1], place // x.shape[3], place % x.shape[3])
    return lang.scatter_add(x.shape, spot, source[tuple(over)], over=over)


@primitive
@attributes_of(max_pool2d_with_index)
def gather_pooled(mask: Meta, source: Meta, **attrs: Any) -> Meta:
    """The elements of the images `source` at the places that `mask` names."""
    return source.with_shape(mask.shape)


@gather_pooled.kernel
def gather_pooled_kernel(xp: Any, mask: Any, source: Any, *, out: Any = None, **attrs: Any) -> Any:
    planes = mask.shape[0] * mask.shape[1]
    found = xp.take_along_axis(source.reshape(planes, -1), mask.reshape(planes, -1), 1)
    if out is None:
        return found.reshape(mask.shape)
    out[...] = found.reshape(mask.shape)
    return out


@gather_pooled.lower
def gather_pooled_at(index: Any, mask: Any, source: Any, **attrs: Any) -> Any:
    place = mask[index]
    return source[index[0], index[1], place // source.shape[3], place % source.shape[3]]


max_pool2d_with_index.grad("x")(
    asking(
        ("dmask", *ATTRIBUTES),
        lambda x, mask, dout, attrs: scatter_pooled(
            x, mask, dout, **{n: attrs[n] for n in ATTRIBUTES}
        ),
    )
)
scatter_pooled.grad("source")(
    asking(ATTRIBUTES, lambda mask, dout, attrs: gather_pooled(mask, dout, **attrs))
)
gather_pooled.grad("source")(
    asking(
        ATTRIBUTES,
        lambda mask, source, dout, attrs: scatter_pooled(source, mask, dout, **attrs),
    )
)
