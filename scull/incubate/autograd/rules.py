"""What operators that are primitive here are made of, where PaddlePaddle takes them apart."""

from collections.abc import Callable
from typing import Any

from scull.ops.batch_norm import channel_axis, other_axes, uses_given
from scull.ops.compare import maximum
from scull.ops.create import cast
from scull.ops.like import size_of
from scull.ops.math import rsqrt
from scull.ops.move import reshape
from scull.ops.reduce import reduce_sum, reduced_axes

HALF = ("float16", "bfloat16")


def mean_of(x: Any, axis: Any = (), keepdim: bool = False, reduce_all: bool = False) -> Any:
    """The mean along `axis`."""
    axes = reduced_axes(x, axis, reduce_all)
    total = reduce_sum(x, axis=axis, keepdim=keepdim, reduce_all=reduce_all)
    return total / size_of(x, axis=axes)


def reduce_mean(x: Any, *, axis: Any, keepdim: bool, reduce_all: bool, **_: Any) -> Any:
    """The mean along `axis`."""
    return mean_of(x, axis, keepdim, reduce_all)


def mean(x: Any) -> Any:
    """The mean of all elements."""
    return mean_of(x, reduce_all=True)


def relu(x: Any) -> Any:
    """What of `x` is above 0."""
    return maximum(x, 0.0)


def batch_norm(
    x: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    bias: Any = None,
    momentum_tensor: Any = None,
    *,
    is_test: bool,
    momentum: float,
    epsilon: float,
    data_layout: str,
    use_global_stats: bool,
    trainable_statistics: bool,
) -> tuple[Any, ...]:
    """Zero mean and unit variance of each channel, then `scale` and `bias`."""
    wide = cast(x, out_dtype="float32") if x.dtype.name in HALF else x
    shape = [1] * len(x.shape)
    shape[channel_axis(x, data_layout)] = -1

    def beside(vector: Any) -> Any:
        return reshape(vector, shape=tuple(shape))

    if uses_given(is_test, use_global_stats, trainable_statistics):
        new_mean = new_variance = None
        normal = (wide - beside(mean)) * rsqrt(beside(variance) + epsilon)
    else:
        axes = other_axes(x, data_layout)
        used = mean_of(wide, axes)
        centred = wide - beside(used)
        spread = mean_of(centred * centred, axes)
        normal = centred * rsqrt(beside(spread) + epsilon)
        new_mean = mean * momentum + used * (1 - momentum)
        new_variance = variance * momentum + spread * (1 - momentum)
    y = normal if scale is None else normal * beside(scale)
    y = y if bias is None else y + beside(bias)
    y = y if wide is x else cast(y, out_dtype=x.dtype.name)
    return new_mean, new_variance, None, None, y, None


RULES: dict[str, Callable[..., Any]] = {
    "batch_norm": batch_norm,
    "mean": mean,
    "reduce_mean": reduce_mean,
    "relu": relu,
}
