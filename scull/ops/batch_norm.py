"""Normalisation of each channel over a batch."""

import math
from typing import Any

from scull import lang
from scull.core.eager import gradient, primitive
from scull.core.meta import UNKNOWN, Meta, floating
from scull.errors import ArgumentError, ShapeError
from scull.ops.create import assign
from scull.ops.half import mixing, wide_at, widening
from scull.ops.like import full_like, size_of, unsqueeze
from scull.ops.norm import check_epsilon, check_vector, placed
from scull.ops.portion import MOST, portions
from scull.ops.reduce import reduce_mean, reduce_sum


def channel_axis(x: Any, data_layout: str, most: int = 9) -> int:
    """The axis of the channels, of 2 to `most` axes."""
    if not 2 <= len(x.shape) <= most:
        raise ShapeError(f"x has {len(x.shape)} axes, 2 to {most} are needed")
    if data_layout not in ("NCHW", "NHWC"):
        raise ArgumentError(f"data_layout is {data_layout!r}, neither NCHW nor NHWC")
    return 1 if data_layout == "NCHW" else len(x.shape) - 1


def other_axes(x: Any, data_layout: str) -> tuple[int, ...]:
    """All axes but that of the channels."""
    axis = channel_axis(x, data_layout)
    return tuple(i for i in range(len(x.shape)) if i != axis)


def beside(vector: Any, x: Any, data_layout: str) -> Any:
    """A vector of the channels, in a shape that stretches to that of `x`."""
    more = len(x.shape) - 1 - channel_axis(x, data_layout)
    return unsqueeze(vector, axes=(-1,) * more) if more else vector


def uses_given(is_test: bool, use_global_stats: bool, trainable_statistics: bool) -> bool:
    """Whether the mean and variance are those given, not those of the batch."""
    return use_global_stats or (is_test and not trainable_statistics)


def is_lone(x: Any, data_layout: str, *flags: bool) -> bool:
    """Whether each channel is one value, to be normalised by itself: Paddle lets it pass."""
    return not uses_given(*flags) and all(x.shape[i] == 1 for i in other_axes(x, data_layout))


@primitive(
    outputs=("mean_out", "variance_out", "saved_mean", "saved_variance", "y", "reserve_space"),
    hidden=("saved_mean", "saved_variance", "reserve_space"),
    in_place={"mean_out": "mean", "variance_out": "variance"},
    fixed={"fuse_with_relu": False, "use_mkldnn": False},
    unsaid=("ReserveSpace",),
)
def batch_norm(
    x: Meta,
    mean: Meta,
    variance: Meta,
    scale: Meta = None,
    bias: Meta = None,
    momentum_tensor: Meta = None,
    *,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_layout: str = "NCHW",
    use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> tuple[Meta | None, ...]:
    """Zero mean and unit variance of each channel, then `scale` and `bias`; the running statistics.

    `saved_mean` and `saved_variance` are what was used: a mean, and one over a standard deviation.
    """
    floating(x)
    check_epsilon(epsilon)
    size = x.shape[channel_axis(x, data_layout, 5)]
    vectors = {"scale": scale, "bias": bias, "mean": mean, "variance": variance}
    for name, vector in vectors.items():
        check_vector(vector, name, size, x.dtype)
    reserve = None if is_test else mean.with_shape((UNKNOWN,))
    return mean, variance, mean, variance, x, reserve


@batch_norm.kernel
@mixing(4)
@widening
def batch_norm_kernel(
    xp: Any,
    x: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    bias: Any = None,
    momentum_tensor: Any = None,
    *,
    out: Any = None,
    is_test: bool,
    momentum: float,
    epsilon: float,
    data_layout: str,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:
    mean_out, variance_out, saved_mean, inverse, y, reserve = out or (None,) * 6
    check_epsilon(epsilon)
    check_channels(x, (scale, bias, mean, variance), data_layout)
    used, spread, rate = mean, variance, 1.0
    flags = is_test, use_global_stats, trainable_statistics
    lone = is_lone(x, data_layout, *flags)
    if not (lone or uses_given(*flags)):
        used, spread = moments(xp, x, data_layout)
        rate = momentum if momentum_tensor is None else float(momentum_tensor.reshape(-1)[0])
    inverse = xp.divide(1, xp.sqrt(spread + x.dtype.type(epsilon)), out=inverse)
    factor = inverse if scale is None else inverse * scale
    offset = -used * factor if bias is None else bias - used * factor
    y = xp.empty(x.shape, x.dtype) if y is None else y
    factor, offset = (beside(v, x, data_layout) for v in (factor, offset))
    for few in in_cache(x) if not lone else ():
        part = xp.multiply(x[few], factor, out=y[few])
        part += offset
    if lone:
        y[...] = x
    if reserve is None and not is_test:
        reserve = xp.empty(0, x.dtype)
    return (
        running(xp, mean, used, rate, mean_out),
        running(xp, variance, spread, rate, variance_out),
        placed(used.copy() if used is mean else used, used.shape, saved_mean),
        inverse,
        y,
        reserve,
    )


def check_channels(x: Any, vectors: tuple[Any, ...], data_layout: str) -> None:
    """Refuse vectors that would stretch in place of having one element a channel."""
    size = x.shape[channel_axis(x, data_layout, 5)]
    for vector in vectors:
        check_vector(vector, "scale, bias, mean or variance", size, x.dtype)


def in_cache(x: Any) -> list[slice]:
    """A batch in portions that are still in cache when they are looked at again."""
    return portions(len(x), MOST * len(x) // max(x.size, 1))


def moments(xp: Any, x: Any, data_layout: str) -> tuple[Any, Any]:
    """The mean and the variance of each channel."""
    axes = other_axes(x, data_layout)
    size = x.dtype.type(math.prod([x.shape[i] for i in axes]))
    mean = xp.add.reduce(x, axis=axes)
    mean /= size
    variance = products(xp, x, x, mean, data_layout)
    variance /= size
    return mean, variance


def products(xp: Any, x: Any, y: Any, mean: Any, data_layout: str) -> Any:
    """The sums by channels of the products of `x` without its mean and of `y`, or of its square."""
    every, channel = list(range(x.ndim)), [channel_axis(x, data_layout)]
    total, middle = xp.zeros_like(mean), beside(mean, x, data_layout)
    for few in in_cache(x):
        centred = xp.subtract(x[few], middle)
        total += xp.einsum(centred, every, centred if y is x else y[few], every, channel)
    return total


def running(xp: Any, old: Any, new: Any, momentum: float, out: Any) -> Any:
    """The running statistic moved from `old` towards `new`."""
    if momentum == 1.0:
        return placed(old.copy(), old.shape, out)
    out = xp.multiply(old, momentum, out=out)
    out += new * (1 - momentum)
    return out


@batch_norm.grad("x")
def batch_norm_grad_x(
    x: Any,
    scale: Any,
    saved_mean: Any,
    saved_variance: Any,
    dy: Any,
    data_layout: str,
    is_test: bool,
    use_global_stats: bool,
    trainable_statistics: bool,
    dsaved_mean: Any = None,
    dsaved_variance: Any = None,
) -> Any:
    flags = is_test, use_global_stats, trainable_statistics
    if is_lone(x, data_layout, *flags):
        return assign(dy)
    inverse = beside(saved_variance, x, data_layout)
    g = dy if scale is None else dy * beside(scale, x, data_layout)
    if uses_given(*flags):
        return g * inverse
    axes = other_axes(x, data_layout)
    normal = (x - beside(saved_mean, x, data_layout)) * inverse
    dx = g - reduce_mean(g, axis=axes, keepdim=True)
    dx = (dx - normal * reduce_mean(g * normal, axis=axes, keepdim=True)) * inverse
    size = size_of(x, axis=axes)
    if dsaved_mean is not None:
        dx = dx + beside(dsaved_mean, x, data_layout) / size
    if dsaved_variance is not None:
        pull = beside(dsaved_variance, x, data_layout) * inverse * inverse
        dx = dx - normal * pull / size
    return dx


@batch_norm.grad("scale")
def batch_norm_grad_scale(
    x: Any,
    scale: Any,
    saved_mean: Any,
    saved_variance: Any,
    dy: Any,
    data_layout: str,
    is_test: bool,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:
    if scale is None:
        return None
    if is_lone(x, data_layout, is_test, use_global_stats, trainable_statistics):
        return full_like(scale, value=0.0)
    centred = x - beside(saved_mean, x, data_layout)
    return reduce_sum(dy * centred, axis=other_axes(x, data_layout)) * saved_variance


@batch_norm.grad("bias")
def batch_norm_grad_bias(
    bias_meta: Any,
    mean_out_meta: Any,
    variance_out_meta: Any,
    reserve_space_meta: Any,
    dy: Any,
    data_layout: str,
    is_test: bool,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> Any:
    """The shapes are asked for since Paddle's operator has slots for them."""
    if bias_meta is None:
        return None
    total = reduce_sum(dy, axis=other_axes(dy, data_layout))
    flags = is_test, use_global_stats, trainable_statistics
    return full_like(total, value=0.0) if is_lone(dy, data_layout, *flags) else total


@gradient(batch_norm).kernel("cpu")
@mixing(0)
@widening
def batch_norm_grad_cpu(
    xp: Any, *values: Any, out: Any = None, wanted: Any = None, **attrs: Any
) -> Any:
    """The rules in fewer steps; they themselves where gradients of the statistics came, too."""
    g = batch_norm.op.gradient
    known = dict(zip(g.inputs, values, strict=False))
    if known.get("dsaved_mean") is not None or known.get("dsaved_variance") is not None:
        return g.body(*values, wanted=wanted, **attrs)
    x, dy, scale, inverse = (known[n] for n in ("x", "dy", "scale", "saved_variance"))
    layout, mean = attrs["data_layout"], known["saved_mean"]
    axes = other_axes(x, layout)
    dx, dscale, dbias = out or (None, None, None)
    dx = xp.empty(x.shape, x.dtype) if dx is None else dx
    flags = [attrs[n] for n in ("is_test", "use_global_stats", "trainable_statistics")]
    given = uses_given(*flags)
    if is_lone(x, layout, *flags):
        dx[...] = dy
        none = [placed(xp.zeros_like(mean), mean.shape, v) for v in (dscale, dbias)]
        return dx, None if scale is None else none[0], none[1]
    total, product = xp.add.reduce(dy, axis=axes), products(xp, x, dy, mean, layout)
    size = x.dtype.type(x.size // max(mean.size, 1))
    factor = inverse if scale is None else inverse * scale
    middle, slope, offset, factor = (
        beside(v, x, layout)
        for v in (mean, inverse * inverse * product / size, total / size, factor)
    )
    for few in in_cache(x):
        if given:
            xp.multiply(dy[few], factor, out=dx[few])
            continue
        centred = xp.subtract(x[few], middle)
        centred *= slope
        centred += offset
        part = xp.subtract(dy[few], centred, out=dx[few])
        part *= factor
    dscale = None if scale is None else xp.multiply(product, inverse, out=dscale)
    return dx, dscale, placed(total, total.shape, dbias)


def moments_at(x: Any, axis: int, channel: Any) -> tuple[Any, Any]:
    """The mean and the variance of one channel, each a sum over all of it."""

    def mean_of(value: Any) -> Any:
        over = [lang.axis(n) for i, n in enumerate(x.shape) if i != axis]
        total = lang.sum(value(wide_at(x[(*over[:axis], channel, *over[axis:])])), over=over)
        return total / lang.constant(math.prod(a.size for a in over), total.dtype)

    mean = mean_of(lambda v: v)
    return mean, mean_of(lambda v: (v - mean) * (v - mean))


@batch_norm.lower
def batch_norm_at(
    index: Any, x: Any, mean: Any, variance: Any, scale: Any, bias: Any, tensor: Any, **attrs: Any
) -> Any:
    """One element of each result."""
    axis = channel_axis(x, attrs["data_layout"])
    flags = [attrs[n] for n in ("is_test", "use_global_stats", "trainable_statistics")]
    lone = is_lone(x, attrs["data_layout"], *flags)
    given = lone or uses_given(*flags)
    results: list[Any] = [None] * 6

    def used(c: Any) -> tuple[Any, Any, Any]:
        own = wide_at(mean[c]), wide_at(variance[c])
        average, spread = own if given else moments_at(x, axis, c)
        return average, spread, 1 / lang.sqrt(spread + attrs["epsilon"])

    def moved(old: Any, new: Any) -> Any:
        rate: Any = attrs["momentum"]
        rate = rate if tensor is None else wide_at(tensor[(0,) * tensor.ndim])
        return old if given else wide_at(old) * rate + new * (1 - rate)

    if index[4] is not None and lone:
        results[4] = x[index[4]]
    elif index[4] is not None:
        c = index[4][axis]
        average, _, inverse = used(c)
        factor = inverse if scale is None else inverse * wide_at(scale[c])
        offset = -(average * factor)
        offset = offset if bias is None else wide_at(bias[c]) + offset
        results[4] = lang.cast(wide_at(x[index[4]]) * factor + offset, x.dtype)
    vector = next((i for i in index[:4] if i is not None), None)
    if vector is not None:
        average, spread, inverse = used(vector[0])
        running = moved(mean[vector[0]], average), moved(variance[vector[0]], spread)
        results[:4] = [lang.cast(v, x.dtype) for v in (*running, average, inverse)]
    if index[5] is not None:
        results[5] = 0.0
    return tuple(results)
