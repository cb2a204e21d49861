"""Channels of images: the largest of a group, shifted in time, dealt anew, scaled, normalised."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, floating
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.compare import where
from scull.ops.elementwise import add, multiply
from scull.ops.half import by_body, placed, wide_at, widening
from scull.ops.level import BY_VALUES, rows_at, rows_into, sequence_rows, window_rows
from scull.ops.like import sum_like, unsqueeze
from scull.ops.math import exp, log
from scull.ops.move import flip
from scull.ops.reduce import reduce_sum
from scull.ops.spread import repeat_interleave
from scull.ops.unfold import channel_shuffle, divided
from scull.ops.window import image_shape

LAYOUTS = {"NCHW": 1, "AnyLayout": 1, "NHWC": 3}


def layout_axis(data_format: str) -> int:
    """The axis of the channels."""
    if data_format not in LAYOUTS:
        raise ArgumentError(f"data_format is {data_format!r}, not one of {', '.join(LAYOUTS)}")
    return LAYOUTS[data_format]


# The largest of each group of channels.


def grouped(x: Any, groups: int, axis: int) -> tuple[tuple[int, ...], int]:
    """The shape of `x` with one channel a group, and the axis of the channels."""
    if groups <= 1:
        raise ArgumentError(f"groups is {groups}; at least 2 are needed")
    if axis not in (1, 3, -1):
        raise ArgumentError(f"axis is {axis}; channels lie on axis 1 or on the last one, 3")
    if len(x.shape) != 4:
        raise ShapeError(f"x has {len(x.shape)} axes, 4 are needed")
    shape = list(x.shape)
    shape[axis] = divided(shape[axis], groups, "channels")
    return tuple(shape), axis % 4


def in_groups(x: Any, groups: int, axis: int) -> Any:
    """`x` with an axis for the channels of a group behind that of the groups."""
    shape, axis = grouped(x, groups, axis)
    return x.reshape(*shape[: axis + 1], groups, *shape[axis + 1 :])


@primitive
def maxout(x: Meta, *, groups: int, axis: int = 1) -> Meta:
    """The largest of every `groups` channels that lie side by side."""
    floating(x)
    return x.with_shape(grouped(x, groups, axis)[0])


@maxout.kernel
@widening
def maxout_kernel(xp: Any, x: Any, *, out: Any = None, groups: int, axis: int) -> Any:
    return xp.maximum.reduce(in_groups(x, groups, axis), axis=axis % 4 + 1, out=out)


@maxout.lower
def maxout_at(index: Any, x: Any, groups: int, axis: int) -> Any:
    axis, k = axis % 4, lang.axis(groups)
    spot = (*index[:axis], index[axis] * groups + k, *index[axis + 1 :])
    return lang.max(x[spot], over=k)


@maxout.grad("x")
def maxout_grad(x: Any, out_meta: Any, dout: Any, groups: int, axis: int) -> Any:
    shares = repeat_interleave(dout, repeats=groups, axis=axis % 4)
    return where(first_largest(x, groups=groups, axis=axis), shares, 0.0)


@primitive
def first_largest(x: Meta, *, groups: int, axis: int = 1) -> Meta:
    """Which channel is the first of the largest ones of its group, element by element."""
    return x.with_dtype(bool_)


@first_largest.kernel
def first_largest_kernel(xp: Any, x: Any, *, out: Any = None, groups: int, axis: int) -> Any:
    parts, axis = in_groups(x, groups, axis), axis % 4 + 1
    numbers = xp.arange(groups).reshape([-1 if i == axis else 1 for i in range(5)])
    found = xp.expand_dims(parts.argmax(axis), axis) == numbers
    return placed(found.reshape(x.shape), found.dtype, out)


first_largest.no_grad("it tells places apart")


@first_largest.lower
def first_largest_at(index: Any, x: Any, groups: int, axis: int) -> Any:
    axis, k = axis % 4, lang.axis(groups)
    c = index[axis]
    spot = (*index[:axis], c // groups * groups + k, *index[axis + 1 :])
    return lang.equal(lang.argmax(x[spot], over=k), lang.cast(c % groups, "int64"))


# Some channels a step later or earlier in time.


def moments(x: Any, seg_num: int, shift_ratio: float, data_format: str) -> tuple[int, int]:
    """How many channels are shifted later, and how many later or earlier."""
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_format is {data_format!r}, neither NCHW nor NHWC")
    if seg_num < 1:
        raise ArgumentError(f"seg_num is {seg_num}; at least 1 is needed")
    if not 0 < shift_ratio < 0.5:
        raise ArgumentError(f"shift_ratio is {shift_ratio}, outside (0, 0.5)")
    images, channels, _, _ = image_shape(x, "x", data_format)
    divided(images, seg_num, "images")
    ratio = np.float32(shift_ratio)
    return (0, 0) if channels == -1 else (int(channels * ratio), int(channels * 2 * ratio))


def shifting(name: str, step: int, text: str) -> Any:
    """Declare a shift by `step` of the first channels, and back of those behind them."""

    def body(
        x: Meta, *, seg_num: int, shift_ratio: float = 0.25, data_format: str = "NCHW"
    ) -> Meta:
        floating(x)
        moments(x, seg_num, shift_ratio, data_format)
        return x

    def kernel(
        xp: Any, x: Any, *, out: Any = None, seg_num: int, shift_ratio: float, data_format: str
    ) -> Any:
        later, moved = moments(x, seg_num, shift_ratio, data_format)
        videos = x.reshape(-1 if x.size else 0, seg_num, *x.shape[1:])
        found = xp.array(videos)
        for begin, end, by in ((0, later, step), (later, moved, -step)):
            channels = (Ellipsis, slice(begin, end)) + (slice(None),) * (
                2 if data_format == "NCHW" else 0
            )
            given, taken = found[channels], videos[channels]
            if by == 1:
                given[:, 0], given[:, 1:] = 0, taken[:, :-1]
            else:
                given[:, -1], given[:, :-1] = 0, taken[:, 1:]
        return placed(found.reshape(x.shape), x.dtype, out)

    def lower(index: Any, x: Any, seg_num: int, shift_ratio: float, data_format: str) -> Any:
        later, moved = moments(x, seg_num, shift_ratio, data_format)
        n, c = index[0], index[1 if data_format == "NCHW" else 3]
        back, none = (lang.constant(i, "int64") for i in (step, 0))
        by = lang.select(c < later, -step, lang.select(c < moved, back, none))
        time = n % seg_num + by
        inside = (time >= 0) & (time < seg_num)
        return lang.guarded(inside, lang.padded(x, (n + by, *index[1:]), 0.0), 0.0)

    body.__name__, body.__doc__ = name, text
    function = primitive(body)
    function.kernel(kernel)
    function.lower(lower)
    return function


temporal_shift = shifting(
    "temporal_shift", 1, "Of every `seg_num` images some channels a step later, some earlier."
)
temporal_unshift = shifting("temporal_unshift", -1, "What `temporal_shift` moves moved back.")
temporal_shift.grad("x")(
    lambda dout, seg_num, shift_ratio, data_format: temporal_unshift(
        dout, seg_num=seg_num, shift_ratio=shift_ratio, data_format=data_format
    )
)
temporal_unshift.grad("x")(
    lambda dout, seg_num, shift_ratio, data_format: temporal_shift(
        dout, seg_num=seg_num, shift_ratio=shift_ratio, data_format=data_format
    )
)


@composite(fixed={"use_mkldnn": False})
def shuffle_channel(x, *, group: int = 1):
    """The channels dealt anew: the first of every group, then the second of every group."""
    return channel_shuffle(x, groups=group)


@shuffle_channel.grad("x")
def shuffle_channel_grad(dout: Any, group: int) -> Any:
    return channel_shuffle(dout, groups=dout.shape[1] // group)


# Channels scaled and normalised.


@composite
def affine_channel(x, scale, bias, *, data_layout: str = "AnyLayout"):
    """Each channel times its own scale, and its own bias added."""
    axis = layout_axis(data_layout)
    channels = image_shape(x, "x", data_layout)[1]
    for name, values in (("scale", scale), ("bias", bias)):
        if len(values.shape) != 1:
            raise ShapeError(f"{name} has {len(values.shape)} axes, 1 is needed")
        agree(values.shape[0], channels, name + " has {} numbers and x has {} channels")
    return add(multiply(x, scale, axis=axis), bias, axis=axis)


@affine_channel.grad("x", "scale", "bias")
def affine_channel_grad(x: Any, scale: Any, dout: Any, data_layout: str) -> Any:
    axis = layout_axis(data_layout)
    dscale = sum_like(multiply(x, dout), scale, axis=axis)
    return multiply(dout, scale, axis=axis), dscale, sum_like(dout, scale, axis=axis)


@primitive
def sum_near(x: Meta, *, n: int, axis: int = 1) -> Meta:
    """The sum of the `n` elements around each along an axis, an odd number."""
    return x


@sum_near.kernel
@widening
def sum_near_kernel(xp: Any, x: Any, *, out: Any = None, n: int, axis: int = 1) -> Any:
    total = xp.array(x)
    left, size = x.swapaxes(0, axis), x.shape[axis]
    target = total.swapaxes(0, axis)
    for i in range(1, min(n // 2, size - 1) + 1):
        target[i:] += left[:-i]
        target[:-i] += left[i:]
    return placed(total, x.dtype, out)


sum_near.grad("x")(lambda dout, n, axis: sum_near(dout, n=n, axis=axis))


@sum_near.lower
def sum_near_at(index: Any, x: Any, n: int, axis: int) -> Any:
    k = lang.axis(n)
    spot = (*index[:axis], index[axis] + k - n // 2, *index[axis + 1 :])
    return lang.cast(lang.sum(wide_at(lang.padded(x, spot, 0.0)), over=k), x.dtype)


@composite(outputs=("out", "mid_out"), fixed={"is_test": False, "use_mkldnn": False})
def lrn(
    x,
    *,
    n: int = 5,
    k: float = 2.0,
    alpha: float = 0.0001,
    beta: float = 0.75,
    data_format: str = "AnyLayout",
):
    """Each element over a power of what the squares of `n` channels around it sum up to."""
    image_shape(x, "x", data_format)
    if n < 1 or n % 2 == 0:
        raise ArgumentError(f"n is {n}; an odd number above 0 is needed")
    middle = sum_near(x * x, n=n, axis=layout_axis(data_format)) * alpha + k
    return x * exp(log(middle) * -beta), middle


@lrn.grad("x")
def lrn_grad(
    x: Any,
    out: Any,
    mid_out: Any,
    dout: Any,
    n: int,
    alpha: float,
    beta: float,
    data_format: str,
    dmid_out: Any = None,
) -> Any:
    around = sum_near(dout * out / mid_out, n=n, axis=layout_axis(data_format))
    dx = dout * exp(log(mid_out) * -beta) - x * around * (2 * alpha * beta)
    if dmid_out is None:
        return dx
    return dx + x * sum_near(dmid_out, n=n, axis=layout_axis(data_format)) * (2 * alpha)


# Sequences.


@primitive(slots={"levels": "X@LOD"}, unsaid=("X@LOD",))
def row_conv(x: Meta, filter: Meta, levels: Meta = None) -> Meta:
    """Each step of a sequence with those after it, a weight for each column and distance.

    Sequences stand one above the other, or one behind the other where levels of detail part them.
    """
    floating(x, filter)
    for name, m, counts in (("x", x, (2, 3)), ("filter", filter, (2,))):
        if m.ndim not in counts:
            needed = " or ".join(map(str, counts))
            raise ShapeError(f"{name} has {m.ndim} axes, {needed} are needed")
    agree(x.shape[-1], filter.shape[1], "x has {} columns and filter has {}")
    return x


@row_conv.kernel
@widening
def row_conv_kernel(xp: Any, x: Any, filter: Any, levels: Any = None, *, out: Any = None) -> Any:
    total = xp.zeros(x.shape, x.dtype) if out is None else out
    total[...] = 0
    if x.ndim == 2:
        given = [] if levels is None else [levels]
        for rows, weight in zip(window_rows(given, len(filter), 0).T, filter, strict=True):
            total[rows >= 0] += x[rows[rows >= 0]] * weight
        return total
    for i in range(min(len(filter), x.shape[1])):
        total[:, : x.shape[1] - i] += x[:, i:] * filter[i]
    return total


@row_conv.lower
def row_conv_at(index: Any, x: Any, filter: Any, levels: Any = None) -> Any:
    if len(index) == 2:
        raise UnsupportedError(BY_VALUES)
    n, t, d = index
    k = lang.axis(filter.shape[0])
    value = wide_at(lang.padded(x, (n, t + k, d), 0.0)) * wide_at(filter[k, d])
    return lang.cast(lang.sum(value, over=k), x.dtype)


@row_conv.grad("x")
def row_conv_grad_x(x_meta: Any, filter: Any, levels: Any, dout: Any) -> Any:
    if len(dout.shape) == 3:
        return backwards(dout, filter)
    return rows_into(unsqueeze(dout, axes=(1,)) * filter, after_each(filter, levels), x_meta)


@row_conv.grad("filter")
def row_conv_grad_filter(x: Any, filter_meta: Any, levels: Any, dout: Any) -> Any:
    if len(dout.shape) == 3:
        return row_conv_to_filter(x, dout, filter_meta)
    side = rows_at(x, after_each(filter_meta, levels))
    return reduce_sum(side * unsqueeze(dout, axes=(1,)), axis=(0,))


def after_each(filter: Any, levels: Any) -> Any:
    """Each row with as many after it as a filter has weights."""
    return sequence_rows(
        None if levels is None else [levels], of="window", numbers=(filter.shape[0], 0)
    )


def backwards(x: Any, filter: Any) -> Any:
    """Each step with those before it."""
    return flip(row_conv(flip(x, axis=(1,)), filter), axis=(1,))


@primitive
def row_conv_to_filter(x: Meta, source: Meta, like_meta: Meta) -> Meta:
    """The gradient of the filter: how each column goes with the results so many steps before."""
    return x.with_shape(like_meta.shape)


@row_conv_to_filter.kernel
@widening
def row_conv_to_filter_kernel(xp: Any, x: Any, source: Any, like: Any, *, out: Any = None) -> Any:
    found = xp.zeros(like.shape, x.dtype) if out is None else out
    found[...] = 0
    for i in range(min(like.shape[0], x.shape[1])):
        found[i] = (x[:, i:] * source[:, : x.shape[1] - i]).sum((0, 1))
    return found


@row_conv_to_filter.lower
def row_conv_to_filter_at(index: Any, x: Any, source: Any, like: Any) -> Any:
    k, d = index
    n, t = lang.axis(x.shape[0]), lang.axis(x.shape[1])
    value = wide_at(lang.padded(x, (n, t + k, d), 0.0)) * wide_at(source[n, t, d])
    return lang.cast(lang.sum(value, over=(n, t)), x.dtype)


row_conv_to_filter.grad("x")(lambda source, dout: backwards(source, dout))
row_conv_to_filter.grad("source")(lambda x, dout: row_conv(x, dout))

for function in (shuffle_channel, affine_channel, lrn):
    by_body(function)
