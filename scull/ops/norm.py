"""Normalisation of rows by their mean and variance."""

import math
from typing import Any

from scull.core.eager import composite, gradient
from scull.core.meta import UNKNOWN, agree
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import widening
from scull.ops.like import reshape_like, size_of, squeeze, unsqueeze
from scull.ops.math import rsqrt
from scull.ops.move import flatten
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
