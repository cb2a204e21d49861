"""Normalisation by mean and variance."""

import math
from typing import Any

from scull import lang
from scull.core.eager import composite, gradient, primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import mixing, wide_at, widening
from scull.ops.like import reshape_like, size_of, squeeze, unsqueeze
from scull.ops.math import rsqrt
from scull.ops.move import flatten
from scull.ops.portion import MOST, portions
from scull.ops.reduce import reduce_mean, reduce_sum


def check_epsilon(epsilon: float) -> None:
    """Refuse an `epsilon` that would be more than a guard against dividing by 0."""
    if not 0 <= epsilon <= 0.001001:
        raise ArgumentError(f"epsilon is {epsilon}, outside [0, 0.001]")


HALVES = ("float16", "bfloat16")  # beside which vectors may be of float32


def check_vector(x: Any, name: str, size: int, dtype: Any) -> None:
    """Refuse a vector that has not one element of `dtype` for each of `size` places."""
    if x is None:
        return
    if len(x.shape) != 1:
        raise ShapeError(f"{name} has {len(x.shape)} axes, 1 is needed")
    agree(x.shape[0], size, f"{name} has {{}} elements, {{}} are needed")
    if x.dtype != dtype and not (x.dtype.name == "float32" and dtype.name in HALVES):
        raise DtypeError(f"{name} is {x.dtype.name} and x is {dtype.name}; cast one")


# Layer normalisation: each row by itself.


def check_rows(x: Any, scale: Any, bias: Any, epsilon: float, begin_norm_axis: int) -> None:
    """Refuse operands of layer normalisation that do not fit together."""
    check_epsilon(epsilon)
    if not 0 < begin_norm_axis < len(x.shape):
        law = f"begin_norm_axis is {begin_norm_axis}, outside [1, {len(x.shape)})"
        raise ArgumentError(law)
    rest = x.shape[begin_norm_axis:]
    size = UNKNOWN if -1 in rest else math.prod(rest)
    check_vector(scale, "scale", size, x.dtype)
    check_vector(bias, "bias", size, x.dtype)


@composite(
    outputs=("mean", "variance", "y"),
    hidden=("mean", "variance"),
    fixed={"is_test": False, "mkldnn_data_type": "float32", "use_mkldnn": False},
)
def layer_norm(x, scale=None, bias=None, *, epsilon: float = 1e-5, begin_norm_axis: int = 1):
    """Zero mean and unit variance of each row from `begin_norm_axis` on; `scale` and `bias`."""
    check_rows(x, scale, bias, epsilon, begin_norm_axis)
    rows = flatten(x, start_axis=begin_norm_axis, stop_axis=-1)
    mean = reduce_mean(rows, axis=(-1,), keepdim=True)
    centred = rows - mean
    variance = reduce_mean(centred * centred, axis=(-1,), keepdim=True)
    y = centred * rsqrt(variance + epsilon)
    y = y if scale is None else y * scale
    y = y if bias is None else y + bias
    return squeeze(mean, axes=(-1,)), squeeze(variance, axes=(-1,)), reshape_like(y, x)


def row_sizes(x: Any, begin: int) -> tuple[int, int]:
    """How many rows there are, and how many elements in each."""
    return math.prod(x.shape[:begin]), math.prod(x.shape[begin:])


@layer_norm.kernel
@widening
def layer_norm_kernel(
    xp: Any,
    x: Any,
    scale: Any = None,
    bias: Any = None,
    *,
    out: Any = None,
    epsilon: float,
    begin_norm_axis: int,
) -> Any:
    check_rows(x, scale, bias, epsilon, begin_norm_axis)
    mean, variance, y = out or (None, None, None)
    count, size = row_sizes(x, begin_norm_axis)
    rows = x.reshape(count, size)
    average = xp.add.reduce(rows, axis=1, keepdims=True)
    average /= size
    centred = rows - average
    spread = xp.einsum("rk,rk->r", centred, centred)
    spread /= size
    centred *= (1 / xp.sqrt(spread + x.dtype.type(epsilon)))[:, None]
    if scale is not None:
        centred *= scale
    if bias is not None:
        centred += bias
    return (
        placed(average, x.shape[:begin_norm_axis], mean),
        placed(spread, x.shape[:begin_norm_axis], variance),
        placed(centred, x.shape, y),
    )


def placed(found: Any, shape: tuple[int, ...], out: Any) -> Any:
    """`found` in another shape, in `out` where that is given."""
    if out is None:
        return found.reshape(shape)
    out[...] = found.reshape(shape)
    return out


def normal_rows(x: Any, mean: Any, variance: Any, epsilon: float, begin: int) -> tuple[Any, Any]:
    """The normalised rows of `x`, and what they were multiplied by."""
    inverse = rsqrt(unsqueeze(variance, axes=(-1,)) + epsilon)
    rows = flatten(x, start_axis=begin, stop_axis=-1)
    return (rows - unsqueeze(mean, axes=(-1,))) * inverse, inverse


@layer_norm.grad("x")
def layer_norm_grad_x(
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    dy: Any,
    epsilon: float,
    begin_norm_axis: int,
    dmean: Any = None,
    dvariance: Any = None,
) -> Any:
    normal, inverse = normal_rows(x, mean, variance, epsilon, begin_norm_axis)
    g = flatten(dy, start_axis=begin_norm_axis, stop_axis=-1)
    g = g if scale is None else g * scale
    dx = g - reduce_mean(g, axis=(-1,), keepdim=True)
    dx = (dx - normal * reduce_mean(g * normal, axis=(-1,), keepdim=True)) * inverse
    size = size_of(normal, axis=(-1,))
    if dmean is not None:
        dx = dx + unsqueeze(dmean, axes=(-1,)) / size
    if dvariance is not None:
        dx = dx + normal / inverse * unsqueeze(dvariance, axes=(-1,)) * 2.0 / size
    return reshape_like(dx, x)


@layer_norm.grad("scale")
def layer_norm_grad_scale(
    x: Any, scale: Any, mean: Any, variance: Any, dy: Any, epsilon: float, begin_norm_axis: int
) -> Any:
    if scale is None:
        return None
    normal, _ = normal_rows(x, mean, variance, epsilon, begin_norm_axis)
    g = flatten(dy, start_axis=begin_norm_axis, stop_axis=-1)
    return reduce_sum(g * normal, axis=tuple(range(begin_norm_axis)))


@layer_norm.grad("bias")
def layer_norm_grad_bias(bias_meta: Any, dy: Any, begin_norm_axis: int) -> Any:
    if bias_meta is None:
        return None
    g = flatten(dy, start_axis=begin_norm_axis, stop_axis=-1)
    return reduce_sum(g, axis=tuple(range(begin_norm_axis)))


@gradient(layer_norm).kernel("cpu")
@widening
def layer_norm_grad_cpu(
    xp: Any, *values: Any, out: Any = None, wanted: Any = None, **attrs: Any
) -> Any:
    """The rules in fewer steps; they themselves where gradients of the moments came, too."""
    g = layer_norm.op.gradient
    known = dict(zip(g.inputs, values, strict=False))
    x, dy, scale = known["x"], known["dy"], known["scale"]
    if known.get("dmean") is not None or known.get("dvariance") is not None:
        return g.body(*values, wanted=wanted, **attrs)
    dx, dscale, dbias = out or (None, None, None)
    count, size = row_sizes(x, attrs["begin_norm_axis"])
    dy = dy.reshape(count, size)
    normal = x.reshape(count, size) - known["mean"].reshape(count, 1)
    variance = known["variance"].reshape(count, 1)
    inverse = 1 / xp.sqrt(variance + x.dtype.type(attrs["epsilon"]))
    normal *= inverse
    dbias = None if known["bias"] is None else xp.add.reduce(dy, axis=0, out=dbias)
    if scale is not None:
        dscale = xp.einsum("rk,rk->k", dy, normal, out=dscale)
        dy = dy * scale
    along = xp.einsum("rk,rk->r", dy, normal)[:, None] / x.dtype.type(size)
    normal *= along
    normal += xp.add.reduce(dy, axis=1, keepdims=True) / x.dtype.type(size)
    found = xp.subtract(dy, normal, out=normal)
    found *= inverse
    return placed(found, x.shape, dx), dscale, dbias


# Batch normalisation: each channel by itself.


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
    if not uses_given(is_test, use_global_stats, trainable_statistics):
        used, spread = moments(xp, x, data_layout)
        rate = momentum if momentum_tensor is None else float(momentum_tensor.reshape(-1)[0])
    inverse = xp.divide(1, xp.sqrt(spread + x.dtype.type(epsilon)), out=inverse)
    factor = inverse if scale is None else inverse * scale
    offset = -used * factor if bias is None else bias - used * factor
    y = xp.empty(x.shape, x.dtype) if y is None else y
    factor, offset = (beside(v, x, data_layout) for v in (factor, offset))
    for few in in_cache(x):
        part = xp.multiply(x[few], factor, out=y[few])
        part += offset
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
    inverse = beside(saved_variance, x, data_layout)
    g = dy if scale is None else dy * beside(scale, x, data_layout)
    if uses_given(is_test, use_global_stats, trainable_statistics):
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
    x: Any, scale: Any, saved_mean: Any, saved_variance: Any, dy: Any, data_layout: str
) -> Any:
    if scale is None:
        return None
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
) -> Any:
    """The shapes are asked for since Paddle's operator has slots for them."""
    return None if bias_meta is None else reduce_sum(dy, axis=other_axes(dy, data_layout))


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
    given = uses_given(*[attrs[n] for n in ("is_test", "use_global_stats", "trainable_statistics")])
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
    given = uses_given(*[attrs[n] for n in ("is_test", "use_global_stats", "trainable_statistics")])
    results: list[Any] = [None] * 6

    def used(c: Any) -> tuple[Any, Any, Any]:
        own = wide_at(mean[c]), wide_at(variance[c])
        average, spread = own if given else moments_at(x, axis, c)
        return average, spread, 1 / lang.sqrt(spread + attrs["epsilon"])

    def moved(old: Any, new: Any) -> Any:
        rate: Any = attrs["momentum"]
        rate = rate if tensor is None else wide_at(tensor[(0,) * tensor.ndim])
        return old if given else wide_at(old) * rate + new * (1 - rate)

    if index[4] is not None:
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
