"""Images cut into windows, put together from them, and their elements dealt to channels."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import placed, single_type
from scull.ops.window import (
    Windows,
    asking,
    channels_first,
    image_shape,
    in_format,
    pair,
    sliding,
    window_over,
)

ATTRIBUTES = ("kernel_sizes", "strides", "paddings", "dilations")


def windows(size: Any, attrs: dict[str, Any]) -> tuple[Windows, Windows]:
    """The windows along both axes of images of `size`."""
    kernel, strides = (pair(n, tuple(attrs[n])) for n in ("kernel_sizes", "strides"))
    dilations, pads = pair("dilations", tuple(attrs["dilations"])), tuple(attrs["paddings"])
    if len(pads) not in (2, 4) or min(pads) < 0:
        raise ArgumentError(f"paddings is {list(pads)}; two or four numbers from 0 on are needed")
    top, left, bottom, right = pads if len(pads) == 4 else pads * 2
    sides = ((top, bottom), (left, right))
    rows, columns = (
        sliding(n, k, s, p, d)
        for n, k, s, p, d in zip(size, kernel, strides, sides, dilations, strict=True)
    )
    return rows, columns


@primitive(outputs=("y",))
def unfold(x: Meta, *, kernel_sizes: Ints, strides: Ints, paddings: Ints, dilations: Ints) -> Meta:
    """The elements of every window as a column, channel by channel."""
    images, channels, *size = image_shape(x, "x", "NCHW")
    values = (kernel_sizes, strides, paddings, dilations)
    rows, columns = windows(size, dict(zip(ATTRIBUTES, values, strict=True)))
    depth = UNKNOWN if channels == -1 else channels * rows.kernel * columns.kernel
    count = UNKNOWN if -1 in (rows.count, columns.count) else rows.count * columns.count
    return x.with_shape((images, depth, count))


@unfold.kernel
def unfold_kernel(xp: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
    images, channels, *size = image_shape(x, "x", "NCHW")
    rows, columns = windows(size, attrs)
    wide = xp.zeros((images, channels, rows.padded, columns.padded), x.dtype)
    begin = (rows.before, columns.before)
    wide[:, :, begin[0] : begin[0] + size[0], begin[1] : begin[1] + size[1]] = x
    shape = (images, channels, rows.kernel, columns.kernel, rows.count, columns.count)
    found = xp.empty(shape, x.dtype)
    for i in range(rows.kernel):
        for j in range(columns.kernel):
            found[:, :, i, j] = wide[:, :, rows.tap(i), columns.tap(j)]
    depth, count = channels * rows.kernel * columns.kernel, rows.count * columns.count
    return placed(found.reshape(images, depth, count), x.dtype, out)


@unfold.lower
def unfold_at(index: Any, x: Any, **attrs: Any) -> Any:
    rows, columns = windows(x.shape[2:], attrs)
    n, depth, place = index
    j, rest = depth % columns.kernel, depth // columns.kernel
    row = rows.place(place // columns.count, rest % rows.kernel)
    column = columns.place(place % columns.count, j)
    return lang.padded(x, (n, rest // rows.kernel, row, column), 0.0)


@primitive(outputs=("y",))
def fold(
    x: Meta,
    *,
    output_sizes: Ints,
    kernel_sizes: Ints,
    strides: Ints,
    paddings: Ints,
    dilations: Ints,
) -> Meta:
    """Images of `output_sizes` put together from columns, which add up where they overlap."""
    values = (kernel_sizes, strides, paddings, dilations)
    attrs = dict(zip(ATTRIBUTES, values, strict=True))
    return x.with_shape(folded_shape(x, output_sizes, attrs))


def folded_shape(x: Any, output_sizes: Any, attrs: dict[str, Any]) -> tuple[int, ...]:
    """The shape of the images, or the mistake in the columns."""
    if len(x.shape) != 3:
        raise ShapeError(f"x has {len(x.shape)} axes, 3 are needed")
    size = pair("output_sizes", tuple(output_sizes))
    rows, columns = windows(size, attrs)
    images, depth, count = x.shape
    agree(count, rows.count * columns.count, "x has {} columns, {} windows fit")
    area = rows.kernel * columns.kernel
    if depth != -1 and depth % area:
        raise ShapeError(
            f"x has {depth} rows, of which windows of {area} elements make no channels"
        )
    return (images, UNKNOWN if depth == -1 else depth // area, *size)


@fold.kernel
def fold_kernel(xp: Any, x: Any, *, out: Any = None, output_sizes: Any, **attrs: Any) -> Any:
    shape = folded_shape(x, output_sizes, attrs)
    rows, columns = windows(shape[2:], attrs)
    columns_of = x.reshape(*shape[:2], rows.kernel, columns.kernel, rows.count, columns.count)
    wide = xp.zeros((*shape[:2], rows.padded, columns.padded), single_type(x))
    for i in range(rows.kernel):
        for j in range(columns.kernel):
            wide[:, :, rows.tap(i), columns.tap(j)] += columns_of[:, :, i, j]
    begin = (rows.before, columns.before)
    inside = wide[:, :, begin[0] : begin[0] + shape[2], begin[1] : begin[1] + shape[3]]
    return placed(xp.ascontiguousarray(inside), x.dtype, out)


@fold.lower
def fold_at(index: Any, x: Any, output_sizes: Any, **attrs: Any) -> Any:
    rows, columns = windows(output_sizes, attrs)
    n, c, h, w = index
    i, j = lang.axis(rows.kernel), lang.axis(columns.kernel)
    row, in_rows = window_over(rows, h, i)
    column, in_columns = window_over(columns, w, j)
    spot = (n, (c * rows.kernel + i) * columns.kernel + j, row * columns.count + column)
    return lang.sum(lang.guarded(lang.both(in_rows, in_columns), x[spot], 0.0), over=(i, j))


unfold.grad("x")(
    asking(
        ATTRIBUTES,
        lambda x_meta, dy, attrs: fold(dy, output_sizes=tuple(x_meta.shape[2:]), **attrs),
    )
)
fold.grad("x")(
    asking(ATTRIBUTES, lambda x_meta, dy, attrs: unfold(dy, **attrs)),
)


# Elements dealt to channels.


def divided(size: int, parts: int, what: str) -> int:
    """`size` over `parts`, which must divide it."""
    if parts < 1 or (size != -1 and size % parts):
        raise ArgumentError(f"{parts} does not divide {int(size)} {what}")
    return UNKNOWN if size == -1 else size // parts


def times(size: int, factor: int) -> int:
    """`size` times `factor`, unknown if it is."""
    return UNKNOWN if size == -1 else size * factor


def dealt(xp: Any, parts: Any, shape: tuple[int, ...], out: Any) -> Any:
    """`parts` in another shape, copied once."""
    if out is None:
        return xp.array(parts, order="C").reshape(shape)
    out[...] = parts.reshape(shape)
    return out


@primitive
def pixel_shuffle(x: Meta, *, upscale_factor: int = 1, data_format: str = "NCHW") -> Meta:
    """Larger images of fewer channels: groups of channels become squares of elements."""
    n, c, h, w = image_shape(x, "x", data_format)
    c = divided(c, upscale_factor**2, "channels")
    shape = (n, c, times(h, upscale_factor), times(w, upscale_factor))
    return x.with_shape(in_format(shape, data_format))


@pixel_shuffle.kernel
def pixel_shuffle_kernel(
    xp: Any, x: Any, *, out: Any = None, upscale_factor: int, data_format: str
) -> Any:
    n, c, h, w = image_shape(x, "x", data_format)
    r = upscale_factor
    count = divided(c, r * r, "channels")
    parts = channels_first(x, data_format).reshape(n, count, r, r, h, w)
    order = (0, 1, 4, 2, 5, 3) if data_format == "NCHW" else (0, 4, 2, 5, 3, 1)
    shape = in_format((n, count, h * r, w * r), data_format)
    return dealt(xp, parts.transpose(order), shape, out)


@pixel_shuffle.lower
def pixel_shuffle_at(index: Any, x: Any, upscale_factor: int, data_format: str) -> Any:
    n, c, h, w = channels_first(tuple(index), data_format)
    r = upscale_factor
    channel = (c * r + h % r) * r + w % r
    return x[in_format((n, channel, h // r, w // r), data_format)]


@primitive
def pixel_unshuffle(x: Meta, *, downscale_factor: int = 1, data_format: str = "NCHW") -> Meta:
    """Smaller images of more channels: squares of elements become groups of channels."""
    n, c, h, w = image_shape(x, "x", data_format)
    h, w = (divided(m, downscale_factor, "elements along an axis") for m in (h, w))
    return x.with_shape(in_format((n, times(c, downscale_factor**2), h, w), data_format))


@pixel_unshuffle.kernel
def pixel_unshuffle_kernel(
    xp: Any, x: Any, *, out: Any = None, downscale_factor: int, data_format: str
) -> Any:
    n, c, h, w = image_shape(x, "x", data_format)
    r = downscale_factor
    h, w = (divided(m, r, "elements along an axis") for m in (h, w))
    parts = channels_first(x, data_format).reshape(n, c, h, r, w, r)
    order = (0, 1, 3, 5, 2, 4) if data_format == "NCHW" else (0, 2, 4, 1, 3, 5)
    shape = in_format((n, c * r * r, h, w), data_format)
    return dealt(xp, parts.transpose(order), shape, out)


@pixel_unshuffle.lower
def pixel_unshuffle_at(index: Any, x: Any, downscale_factor: int, data_format: str) -> Any:
    n, c, h, w = channels_first(tuple(index), data_format)
    r = downscale_factor
    row, column = h * r + c // r % r, w * r + c % r
    return x[in_format((n, c // (r * r), row, column), data_format)]


pixel_shuffle.grad("x")(
    lambda dout, upscale_factor, data_format: pixel_unshuffle(
        dout, downscale_factor=upscale_factor, data_format=data_format
    )
)
pixel_unshuffle.grad("x")(
    lambda dout, downscale_factor, data_format: pixel_shuffle(
        dout, upscale_factor=downscale_factor, data_format=data_format
    )
)


@primitive
def channel_shuffle(x: Meta, *, groups: int = 1, data_format: str = "NCHW") -> Meta:
    """The channels dealt anew: the first of every group, then the second of every group."""
    divided(image_shape(x, "x", data_format)[1], groups, "channels")
    return x


@channel_shuffle.kernel
def channel_shuffle_kernel(
    xp: Any, x: Any, *, out: Any = None, groups: int, data_format: str
) -> Any:
    size = image_shape(x, "x", data_format)[1]
    count = divided(size, groups, "channels")
    order = xp.arange(math.prod((groups, count))).reshape(groups, count).T.reshape(-1)
    return placed(x.take(order, 1 if data_format == "NCHW" else 3), x.dtype, out)


@channel_shuffle.lower
def channel_shuffle_at(index: Any, x: Any, groups: int, data_format: str) -> Any:
    n, c, h, w = channels_first(tuple(index), data_format)
    count = x.shape[1 if data_format == "NCHW" else 3] // groups
    return x[in_format((n, c % groups * count + c // groups, h, w), data_format)]


@channel_shuffle.grad("x")
def channel_shuffle_grad(dout: Any, groups: int, data_format: str) -> Any:
    size = dout.shape[1 if data_format == "NCHW" else 3]
    return channel_shuffle(dout, groups=size // groups, data_format=data_format)
