"""Keeping elements and norms within bounds, and the norms themselves."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.tensor import Rows
from scull.errors import ArgumentError, ShapeError
from scull.ops.compare import where
from scull.ops.half import wide_at, widening
from scull.ops.like import squeeze

LARGEST = float(np.finfo("float32").max)


@primitive(
    slots={"min_tensor": "Min", "max_tensor": "Max"},
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False},
)
def clip(
    x: Meta,
    min_tensor: Meta = None,
    max_tensor: Meta = None,
    *,
    min: float = -LARGEST,
    max: float = LARGEST,
) -> Meta:
    """The elements of `x` kept within `min` and `max`; tensors of one element go before numbers."""
    for name, bound in (("min", min_tensor), ("max", max_tensor)):
        if bound is not None and -1 not in bound.shape and math.prod(bound.shape) != 1:
            raise ShapeError(f"{name} has the shape {list(bound.shape)}, one element is needed")
    if min_tensor is None and max_tensor is None:
        check_order(min, max)
    return x


def check_order(low: Any, high: Any) -> None:
    """Refuse bounds the wrong way round."""
    if low > high:
        raise ArgumentError(f"min is {low}, above max, {high}")


def bound_of(x: Any, tensor: Any, number: float) -> Any:
    """A bound as an element of the type of `x`, cut off at what whole numbers can hold."""
    if tensor is not None:
        return x.dtype.type(tensor.reshape(-1)[0])
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        return x.dtype.type(int(max(limits.min, min(limits.max, number))))
    with np.errstate(over="ignore"):
        return x.dtype.type(number)


@clip.kernel
def clip_kernel(
    xp: Any,
    x: Any,
    min_tensor: Any = None,
    max_tensor: Any = None,
    *,
    out: Any = None,
    min: float,
    max: float,
) -> Any:
    if min_tensor is None and max_tensor is None:
        check_order(min, max)
    low, high = bound_of(x, min_tensor, min), bound_of(x, max_tensor, max)
    check_order(low, high)
    out = xp.empty(x.shape, x.dtype) if out is None else out
    return xp.minimum(xp.maximum(x, low, out=out), high, out=out)


clip.lower_rows("merged")


@clip.kernel(rows=True)
def clip_rows(xp: Any, x: Rows, *tensors: Any, out: Any = None, min: float, max: float) -> Rows:
    merged = x.merged()
    return Rows(merged.rows, clip_kernel(xp, merged.values, *tensors, min=min, max=max), x.height)


@clip.grad("x")
def clip_grad(x: Any, min_tensor: Any, max_tensor: Any, dout: Any, min: float, max: float) -> Any:
    """Nothing passes on the bounds themselves."""
    low = min if min_tensor is None else squeeze(min_tensor)
    high = max if max_tensor is None else squeeze(max_tensor)
    return where(x > low, where(x < high, dout, 0.0), 0.0)


@clip.lower
def clip_at(index: Any, x: Any, low: Any, high: Any, min: float, max: float) -> Any:
    def bound(tensor: Any, number: float) -> Any:
        if tensor is not None:
            return lang.cast(tensor[(0,) * tensor.ndim], x.dtype)
        if "float" not in x.dtype:
            number = bound_of(np.empty(0, x.dtype), None, number).item()
        return lang.constant(number, x.dtype)

    return lang.minimum(lang.maximum(x[index], bound(low, min)), bound(high, max))


# Norms.


@primitive
def squared_l2_norm(x: Meta) -> Meta:
    """The sum of the squares of all elements, as one element."""
    floating(x)
    return Meta((1,), x.dtype)


@squared_l2_norm.kernel
@widening
def squared_l2_norm_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    line = x.reshape(-1)
    found = xp.dot(line, line)
    if out is None:
        return found.reshape(1)
    out[...] = found
    return out


squared_l2_norm.lower_rows("merged")


@squared_l2_norm.kernel(rows=True)
def squared_l2_norm_rows(xp: Any, x: Rows, *, out: Any = None) -> Any:
    return squared_l2_norm_kernel(xp, x.merged().values, out=out)


squared_l2_norm.grad(lambda x, dout: x * squeeze(dout, axes=(0,)) * 2.0)


@squared_l2_norm.lower
def squared_l2_norm_at(index: Any, x: Any) -> Any:
    return lang.cast(sum_of_squares(x.shape, x.__getitem__), x.dtype)


def sum_of_squares(shape: tuple[int, ...], at: Callable[[Any], Any]) -> Any:
    """The sum of the squares of what stands `at` each place of `shape`, for lowerings."""
    over = tuple(lang.axis(n) for n in shape)
    value = wide_at(at(over))
    return lang.sum(value * value, over=over) if over else value * value


@primitive
def clip_by_norm(x: Meta, *, max_norm: float) -> Meta:
    """`x`, made shorter where its norm is above `max_norm`."""
    floating(x)
    if not max_norm > 0:
        raise ArgumentError(f"max_norm is {max_norm}, not above 0")
    return x


@clip_by_norm.kernel
@widening
def clip_by_norm_kernel(xp: Any, x: Any, *, out: Any = None, max_norm: float) -> Any:
    if not max_norm > 0:
        raise ArgumentError(f"max_norm is {max_norm}, not above 0")
    line = x.reshape(-1)
    norm = math.sqrt(xp.dot(line, line))
    factor = max_norm / norm if norm > max_norm else 1.0
    return xp.multiply(x, x.dtype.type(factor), out=out)


clip_by_norm.lower_rows("merged")


@clip_by_norm.kernel(rows=True)
def clip_by_norm_rows(xp: Any, x: Rows, *, out: Any = None, max_norm: float) -> Rows:
    merged = x.merged()
    return Rows(merged.rows, clip_by_norm_kernel(xp, merged.values, max_norm=max_norm), x.height)


clip_by_norm.no_grad("it is applied to gradients")


@clip_by_norm.lower
def clip_by_norm_at(index: Any, x: Any, max_norm: float) -> Any:
    norm = lang.sqrt(sum_of_squares(x.shape, x.__getitem__))
    factor = lang.select(norm > max_norm, max_norm / norm, lang.constant(1.0, norm.dtype))
    return lang.cast(wide_at(x[index]) * factor, x.dtype)
