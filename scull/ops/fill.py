"""Tensors filled: not at all, everywhere, along a diagonal."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Dtype, Long, Longs
from scull.core.dtype import float32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree
from scull.errors import DtypeError, ShapeError
from scull.ops.create import given_sizes, new_shape
from scull.ops.diagonal import diagonal_view, length, two_axes
from scull.ops.like import full_like


@primitive(enlarges=("shape",), infer_first=True)
def empty(
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Longs = (),
    dtype: Dtype = float32,
) -> Meta:
    """A tensor of no values in particular; here they are zeros.

    A list of sizes whose length is unknown counts as one size.
    """
    if shape_tensor is not None and shape_tensor.shape == (-1,):
        return Meta((UNKNOWN,), dtype)
    return Meta(new_shape(shape, shape_tensor, shape_tensor_list), dtype)


@empty.kernel
def empty_kernel(
    xp: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, shape: Any, dtype: Any
) -> Any:
    if out is None:
        return xp.zeros(given_sizes(shape, tensor, tensors), dtype.array)
    out[...] = 0
    return out


empty.no_grad("it reads no value")


@empty.lower
def empty_at(index: Any, tensor: Any, tensors: Any, shape: Any, dtype: Any) -> Any:
    return lang.constant(zero_of(dtype.name), dtype.name)


def zero_of(dtype: str) -> Any:
    """Zero as a Python value of the kind of an element type."""
    return False if dtype == "bool" else 0.0 if "float" in dtype or "complex" in dtype else 0


@primitive
def fill_any(x: Meta, *, value: float = 0.0) -> Meta:
    """`value` in the shape of `x`."""
    return x


@fill_any.kernel
def fill_any_kernel(xp: Any, x: Any, *, out: Any = None, value: float) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = value
    return out


fill_any.grad(lambda dout: full_like(dout, value=0.0))


@fill_any.lower
def fill_any_at(index: Any, x: Any, value: float) -> Any:
    return number_at(value, x.dtype)


def number_at(value: float, dtype: str) -> Any:
    """`value` as an element of `dtype` in a lowering."""
    return lang.constant(type(zero_of(dtype))(value), dtype)


@primitive(infer_first=True)
def fill_diagonal(x: Meta, *, value: float = 0.0, offset: int = 0, wrap: bool = False) -> Meta:
    """`x` with `value` on the diagonal of all its axes, `offset` beside it along the last one.

    The diagonal of a tall matrix goes on from the top once it has left it, if `wrap`.
    """
    if x.ndim < 2:
        raise ShapeError(f"{x} has {x.ndim} axes; a diagonal needs 2")
    return x


def span(shape: Any, wrap: bool) -> tuple[int, int]:
    """How many elements apart those of the diagonal lie, and how many elements it runs through."""
    step = sum(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    size = math.prod(shape)
    return step, min(size, shape[1] ** 2) if len(shape) == 2 and not wrap else size


def diagonal_places(xp: Any, shape: Any, offset: int, wrap: bool) -> Any:
    """The places of the diagonal among all elements."""
    step, stop = span(shape, wrap)
    places = xp.arange(0, stop, step)
    beside = places % max(shape[1], 1) + offset
    found = places[(beside >= 0) & (beside < shape[1])] + offset
    return found[found < math.prod(shape)]


@fill_diagonal.kernel
def fill_diagonal_kernel(
    xp: Any, x: Any, *, out: Any = None, value: float, offset: int, wrap: bool
) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = x
    places = diagonal_places(xp, x.shape, offset, wrap)
    out[xp.unravel_index(places, x.shape)] = value
    return out


@fill_diagonal.grad
def fill_diagonal_grad(dout: Any, offset: int, wrap: bool) -> Any:
    return fill_diagonal(dout, value=0.0, offset=offset, wrap=wrap)


@fill_diagonal.lower
def fill_diagonal_at(index: Any, x: Any, value: float, offset: int, wrap: bool) -> Any:
    step, stop = span(x.shape, wrap)
    place = lang.ravel(index, x.shape) - offset
    here = lang.equal(place % step, 0)
    beside = place % max(x.shape[1], 1) + offset
    for condition in (place >= 0, place < stop, beside >= 0, beside < x.shape[1]):
        here = lang.both(here, condition)
    return lang.select(here, number_at(value, x.dtype), x[index])


@primitive(infer_first=True)
def fill_diagonal_tensor(
    x: Meta, y: Meta, *, offset: Long = 0, dim1: int = 0, dim2: int = 1
) -> Meta:
    """`x` with `y` on the diagonal of two axes; the last axis of `y` runs along it.

    Paddle gives `y` no gradient.
    """
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    axes = two_axes(x.ndim, dim1, dim2)
    sizes = [n for i, n in enumerate(x.shape) if i not in axes]
    sizes.append(length(x.shape[axes[0]], x.shape[axes[1]], offset))
    lead = y.ndim - len(sizes)
    if lead < 0 or any(n not in (1, UNKNOWN) for n in y.shape[:lead]):
        raise ShapeError(f"y has {y.ndim} axes, {len(sizes)} are needed")
    for n, size in zip(y.shape[lead:], sizes, strict=True):
        agree(n, size, "y has {} elements where the diagonal has {}")
    return x


@fill_diagonal_tensor.kernel
def fill_diagonal_tensor_kernel(
    xp: Any, x: Any, y: Any, *, out: Any = None, offset: int, dim1: int, dim2: int
) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = x
    rows, columns = two_axes(x.ndim, dim1, dim2)
    target = diagonal_view(xp, out, offset, rows, columns)
    target[...] = y.reshape(target.shape)
    return out


@fill_diagonal_tensor.grad("x")
def fill_diagonal_tensor_grad(dout: Any, offset: int, dim1: int, dim2: int) -> Any:
    return clear_diagonal(dout, offset=offset, dim1=dim1, dim2=dim2)


@fill_diagonal_tensor.lower
def fill_diagonal_tensor_at(index: Any, x: Any, y: Any, offset: int, dim1: int, dim2: int) -> Any:
    axes = two_axes(x.ndim, dim1, dim2)
    row, column = (index[a] for a in axes)
    if 0 in y.shape:
        return x[index]
    place = row if offset >= 0 else column
    inside = lang.both(lang.equal(row + offset, column), place < y.shape[-1])
    rest = [p for i, p in enumerate(index) if i not in axes]
    lead = (0,) * (y.ndim - len(rest) - 1)
    return lang.guarded(inside, y[(*lead, *rest, place)], x[index])


@primitive
def clear_diagonal(x: Meta, *, offset: Long = 0, dim1: int = 0, dim2: int = 1) -> Meta:
    """`x` with zeros on the diagonal of two axes."""
    two_axes(x.ndim, dim1, dim2)
    return x


@clear_diagonal.kernel
def clear_diagonal_kernel(
    xp: Any, x: Any, *, out: Any = None, offset: int, dim1: int, dim2: int
) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = x
    diagonal_view(xp, out, offset, *two_axes(x.ndim, dim1, dim2))[...] = 0
    return out


@clear_diagonal.grad
def clear_diagonal_grad(dout: Any, offset: int, dim1: int, dim2: int) -> Any:
    return clear_diagonal(dout, offset=offset, dim1=dim1, dim2=dim2)


@clear_diagonal.lower
def clear_diagonal_at(index: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    row, column = (index[a] for a in two_axes(x.ndim, dim1, dim2))
    here = lang.equal(row + offset, column)
    return lang.select(here, lang.constant(zero_of(x.dtype), x.dtype), x[index])
