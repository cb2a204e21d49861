"""Normalisation of groups of channels, and of each channel, of every image by itself."""

from typing import Any

from scull.core.eager import composite
from scull.errors import ArgumentError, ShapeError
from scull.ops.batch_norm import beside, channel_axis, other_axes
from scull.ops.half import by_body, refuse_integers
from scull.ops.like import reshape_like, size_of, unsqueeze
from scull.ops.math import rsqrt
from scull.ops.move import flatten, reshape, transpose
from scull.ops.norm import check_vector
from scull.ops.reduce import reduce_mean, reduce_sum

LAST = (-1,)


def centred(rows: Any) -> tuple[Any, Any, Any]:
    """The mean and the variance of each row, and the rows without the mean."""
    mean = reduce_mean(rows, axis=LAST, keepdim=True)
    apart = rows - mean
    return mean, reduce_mean(apart * apart, axis=LAST, keepdim=True), apart


def scaled(normal: Any, scale: Any, bias: Any, data_layout: str) -> Any:
    """`normal` times `scale` and `bias` more, channel by channel."""
    y = normal if scale is None else normal * beside(scale, normal, data_layout)
    return y if bias is None else y + beside(bias, y, data_layout)


def back_through(g: Any, normal: Any, inverse: Any) -> Any:
    """The gradient of rows before they were normalised, from `g` after it."""
    g = (
        g
        - reduce_mean(g, axis=LAST, keepdim=True)
        - normal * reduce_mean(g * normal, axis=LAST, keepdim=True)
    )
    return g * inverse


# Groups of channels.


def check_groups(x: Any, scale: Any, bias: Any, groups: int, data_layout: str) -> None:
    """Refuse operands that do not fit together."""
    refuse_integers(x)
    size = x.shape[channel_axis(x, data_layout)]
    if groups < 1 or (size != -1 and size % groups):
        raise ArgumentError(f"{groups} groups do not divide {int(size)} channels")
    check_vector(scale, "scale", size, x.dtype)
    check_vector(bias, "bias", size, x.dtype)


def order(x: Any, data_layout: str, back: bool) -> Any:
    """`x` with the channels on axis 1, or put back from there."""
    axes = range(len(x.shape))
    if data_layout == "NCHW":
        return x
    if back:
        return transpose(x, perm=(0, *axes[2:], 1))
    return transpose(x, perm=(0, axes[-1], *axes[1:-1]))


def grouped(x: Any, groups: int, data_layout: str) -> Any:
    """`x` as [image, group, element]."""
    return reshape(order(x, data_layout, False), shape=(0, groups, -1))


def ungrouped(rows: Any, x: Any, data_layout: str) -> Any:
    """[image, group, element] as an image like `x`."""
    return order(reshape_like(rows, order(x, data_layout, False)), data_layout, True)


@composite(
    outputs=("mean", "variance", "y"),
    hidden=("mean", "variance"),
)
def group_norm(
    x,
    scale=None,
    bias=None,
    *,
    epsilon: float = 1e-5,
    groups: int = -1,
    data_layout: str = "NCHW",
):
    """Zero mean and unit variance of each group of channels of each image; `scale` and `bias`."""
    check_groups(x, scale, bias, groups, data_layout)
    mean, variance, apart = centred(grouped(x, groups, data_layout))
    normal = ungrouped(apart * rsqrt(variance + epsilon), x, data_layout)
    y = scaled(normal, scale, bias, data_layout)
    return reshape(mean, shape=(0, 0)), reshape(variance, shape=(0, 0)), y


def normal_groups(
    x: Any, mean: Any, variance: Any, epsilon: float, groups: int, data_layout: str
) -> tuple[Any, Any]:
    """The normalised groups of `x`, and what they were multiplied by."""
    inverse = rsqrt(unsqueeze(variance, axes=LAST) + epsilon)
    rows = grouped(x, groups, data_layout)
    return (rows - unsqueeze(mean, axes=LAST)) * inverse, inverse


@group_norm.grad("x")
def group_norm_grad_x(
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    y_meta: Any,
    dy: Any,
    epsilon: float,
    groups: int,
    data_layout: str,
    dmean: Any = None,
    dvariance: Any = None,
) -> Any:
    normal, inverse = normal_groups(x, mean, variance, epsilon, groups, data_layout)
    g = dy if scale is None else dy * beside(scale, dy, data_layout)
    dx = back_through(grouped(g, groups, data_layout), normal, inverse)
    size = size_of(normal, axis=LAST)
    if dmean is not None:
        dx = dx + unsqueeze(dmean, axes=LAST) / size
    if dvariance is not None:
        dx = dx + normal / inverse * unsqueeze(dvariance, axes=LAST) * 2.0 / size
    return ungrouped(dx, x, data_layout)


@group_norm.grad("scale")
def group_norm_grad_scale(
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    dy: Any,
    epsilon: float,
    groups: int,
    data_layout: str,
) -> Any:
    if scale is None:
        return None
    normal, _ = normal_groups(x, mean, variance, epsilon, groups, data_layout)
    found = dy * ungrouped(normal, x, data_layout)
    return reduce_sum(found, axis=other_axes(x, data_layout))


@group_norm.grad("bias")
def group_norm_grad_bias(bias_meta: Any, dy: Any, data_layout: str) -> Any:
    return None if bias_meta is None else reduce_sum(dy, axis=other_axes(dy, data_layout))


# Each channel.


@composite(
    outputs=("saved_mean", "saved_variance", "y"),
    hidden=("saved_mean", "saved_variance"),
)
def instance_norm(x, scale=None, bias=None, *, epsilon: float = 1e-5):
    """Zero mean and unit variance of each channel of each image; `scale` and `bias`.

    `saved_variance` is one over a standard deviation.
    """
    refuse_integers(x)
    if not 2 <= len(x.shape) <= 5:
        raise ShapeError(f"x has {len(x.shape)} axes, 2 to 5 are needed")
    for name, vector in (("scale", scale), ("bias", bias)):
        check_vector(vector, name, x.shape[1], x.dtype)
    mean, variance, apart = centred(channels(x))
    inverse = rsqrt(variance + epsilon)
    y = scaled(reshape_like(apart * inverse, x), scale, bias, "NCHW")
    return reshape(mean, shape=(-1,)), reshape(inverse, shape=(-1,)), y


def channels(x: Any) -> Any:
    """`x` as [image, channel, element]."""
    return flatten(x, start_axis=2, stop_axis=-1) if len(x.shape) > 2 else unsqueeze(x, axes=LAST)


def normal_channels(x: Any, mean: Any, inverse: Any) -> tuple[Any, Any]:
    """The normalised channels of `x`, and what they were multiplied by."""
    rows = channels(x)
    like = reduce_sum(rows, axis=LAST, keepdim=True)
    inverse = reshape_like(inverse, like)
    return (rows - reshape_like(mean, like)) * inverse, inverse


@instance_norm.grad("x")
def instance_norm_grad_x(
    x: Any,
    scale: Any,
    saved_mean: Any,
    saved_variance: Any,
    dy: Any,
    dsaved_mean: Any = None,
    dsaved_variance: Any = None,
) -> Any:
    normal, inverse = normal_channels(x, saved_mean, saved_variance)
    g = dy if scale is None else dy * beside(scale, dy, "NCHW")
    dx = back_through(channels(g), normal, inverse)
    size = size_of(normal, axis=LAST)
    if dsaved_mean is not None:
        dx = dx + reshape_like(dsaved_mean, inverse) / size
    if dsaved_variance is not None:
        dx = dx - normal * reshape_like(dsaved_variance, inverse) * inverse * inverse / size
    return reshape_like(dx, x)


@instance_norm.grad("scale")
def instance_norm_grad_scale(
    x: Any, scale: Any, saved_mean: Any, saved_variance: Any, dy: Any
) -> Any:
    if scale is None:
        return None
    normal, _ = normal_channels(x, saved_mean, saved_variance)
    return reduce_sum(dy * reshape_like(normal, x), axis=other_axes(x, "NCHW"))


@instance_norm.grad("bias")
def instance_norm_grad_bias(dy: Any) -> Any:
    return reduce_sum(dy, axis=other_axes(dy, "NCHW"))


by_body(group_norm)
by_body(instance_norm)
