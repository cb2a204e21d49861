"""The largest element of each window over an image or a volume, and where it is."""

import math
from functools import partial, reduce
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.tensor import add_at
from scull.ops.half import placed, wide_at, widening
from scull.ops.pool import element_at, lowest, lowest_of, surrounded, taps_at, window_at
from scull.ops.pooling import Pooling, indices, pooling
from scull.ops.window import image_shape

ATTRIBUTES = ("ksize", "strides", "paddings", "global_pooling", "adaptive")


def windows(x: Any, attrs: dict[str, Any], axes: int) -> Pooling:
    """The windows over `x`, or its meta, along `axes` inner axes."""
    shape = image_shape(x, "x", "NCHW", axes)
    given = [tuple(attrs[n]) for n in ("ksize", "strides", "paddings")]
    wholes = (attrs["global_pooling"], attrs["adaptive"])
    return pooling(shape, *given, False, "max", *wholes, "EXPLICIT")


def pool_with_index(name: str, axes: int) -> Any:
    """Declare pooling with places over `axes` inner axes under the type `name`."""

    def body(
        x: Meta,
        *,
        ksize: Ints,
        strides: Ints = (1,) * axes,
        paddings: Ints = (0,) * axes,
        global_pooling: bool = False,
        adaptive: bool = False,
    ) -> Any:
        """The largest element of each window, and its place in its image, row by row."""
        floating(x)
        values = (ksize, strides, paddings, global_pooling, adaptive)
        p = windows(x, dict(zip(ATTRIBUTES, values, strict=True)), axes)
        found = x.with_shape(p.shape)
        return found, found.with_dtype(int32)

    body.__name__ = name
    function = primitive(body, outputs=("out", "mask"))
    function.kernel(widening(partial(pool_with_index_kernel, axes=axes)))
    function.lower(pool_with_index_at)
    function.grad("x")(lambda x_meta, mask, dout, dmask=None: scatter_pooled(x_meta, mask, dout))
    return function


def pool_with_index_kernel(xp: Any, x: Any, *, out: Any = None, axes: int, **attrs: Any) -> Any:
    """The largest elements and their places."""
    p = windows(x, attrs, axes)
    largest, mask = out or (None, None)
    largest = xp.empty(p.shape, x.dtype) if largest is None else largest
    mask = xp.empty(p.shape, "int32") if mask is None else mask
    wide = surrounded(xp, x, p, lowest(x.dtype))
    largest[...], mask[...] = lowest(x.dtype), -1
    for tap in p.taps():
        places, inside = spots(p, tap)
        value = wide[tap]
        better = (value > largest) | ((mask < 0) & (value == largest))
        better &= inside
        xp.copyto(largest, value, where=better)
        xp.copyto(mask, places, where=better, casting="same_kind")
    return largest, mask


def spots(p: Pooling, tap: tuple[Any, ...]) -> tuple[Any, Any]:
    """The places of the elements of a tap in their images, and whether they are within them."""
    along = [indices(t).reshape(-1) - a.before for t, a in zip(tap[1:], p.along, strict=True)]
    inside = [(n >= 0) & (n < a.size) for n, a in zip(along, p.along, strict=True)]
    places = along[0]
    for n, a in zip(along[1:], p.along[1:], strict=True):
        places = places[..., None] * a.size + n
    return places, reduce(lambda x, y: x[..., None] & y, inside)


def pool_with_index_at(index: Any, x: Any, **attrs: Any) -> Any:
    """One element of both results."""
    p = windows(x, attrs, len(x.shape) - 2)
    spot = next(i for i in index if i is not None)
    over = window_at(p)
    value = wide_at(element_at(x, p, spot, over, -math.inf, "NCHW"))
    low = lang.constant(lowest_of(value.dtype), value.dtype)
    value = lang.select(value > low, value, low)  # no number is no largest one
    first = lang.unravel(lang.argmax(value, over=over), [a.size for a in over])
    place = lang.cast(lang.ravel(taps_at(p, spot, first)[0], x.shape[2:]), "int32")
    found = lang.max(value, over=over)
    mask = lang.select(found > low, place, lang.constant(-1, "int32"))
    return lang.cast(found, x.dtype), mask


@primitive
def scatter_pooled(like_meta: Meta, mask: Meta, source: Meta) -> Meta:
    """`source` given back to the places that `mask` names in images like those of `like`."""
    return source.with_shape(like_meta.shape)


@scatter_pooled.kernel
def scatter_pooled_kernel(xp: Any, like: Any, mask: Any, source: Any, *, out: Any = None) -> Any:
    count, size = math.prod(like.shape[:2]), math.prod(like.shape[2:])
    planes = xp.zeros((count, size), source.dtype)
    if (mask < 0).any():  # windows without a largest element
        source = xp.where(mask < 0, source.dtype.type(0), source)
    where = (xp.arange(count)[:, None], mask.reshape(count, math.prod(mask.shape[2:])))
    add_at(xp, planes, where, source.reshape(where[1].shape))
    return placed(planes.reshape(like.shape), source.dtype, out)


@scatter_pooled.lower
def scatter_pooled_at(index: Any, like: Any, mask: Any, source: Any) -> Any:
    over = [lang.axis(n) for n in source.shape]
    spot = (over[0], over[1], *lang.unravel(mask[tuple(over)], like.shape[2:]))
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
    spots = lang.unravel(mask[index], source.shape[2:])
    return lang.padded(source, (index[0], index[1], *spots), 0.0)


scatter_pooled.grad("source")(lambda mask, dout: gather_pooled(mask, dout))
gather_pooled.grad("source")(
    lambda mask, source_meta, dout: scatter_pooled(source_meta, mask, dout)
)

max_pool2d_with_index = pool_with_index("max_pool2d_with_index", 2)
max_pool3d_with_index = pool_with_index("max_pool3d_with_index", 3)
