"""Functions that are no operator of their own: each is one of the public functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import scull as paddle
from scull._C_ops.number import said
from scull.core.dtype import dtype_of
from scull.core.op import op_of

EINSUM, SET = op_of("einsum"), op_of("set_value")
WHERE = ["starts", "ends", "steps", "axes", "decrease_axes", "none_axes"]


def full_int_array(value: Any, dtype: Any = "int64", place: Any = None) -> Any:
    """A tensor of one axis, of whole numbers."""
    return paddle.assign(np.asarray(value, dtype_of(dtype).array))


def add_n(inputs: Any) -> Any:
    """The sum of several tensors."""
    return paddle.add_n(inputs)


def arange(start: Any, end: Any, step: Any, dtype: Any = None, place: Any = None) -> Any:
    """The numbers from `start` on, `step` apart, before `end`."""
    return paddle.arange(start, end, step, dtype)


def zeros(shape: Any, dtype: Any = "float32", place: Any = None) -> Any:
    """A tensor of zeros."""
    return paddle.zeros(shape, dtype)


def ones(shape: Any, dtype: Any = "float32", place: Any = None) -> Any:
    """A tensor of ones."""
    return paddle.ones(shape, dtype)


def zeros_like(x: Any, dtype: Any = None, place: Any = None) -> Any:
    """Zeros in the shape of `x`."""
    return paddle.zeros_like(x, dtype)


def ones_like(x: Any, dtype: Any = None, place: Any = None) -> Any:
    """Ones in the shape of `x`."""
    return paddle.ones_like(x, dtype)


def empty_like(x: Any, dtype: Any = None, place: Any = None) -> Any:
    """A tensor in the shape of `x`, whose elements nobody has set."""
    return paddle.empty_like(x, dtype)


def tril(x: Any, diagonal: int = 0) -> Any:
    """`x` at and below a diagonal, zeros above."""
    return paddle.tril(x, diagonal)


def triu(x: Any, diagonal: int = 0) -> Any:
    """`x` at and above a diagonal, zeros below."""
    return paddle.triu(x, diagonal)


def view_shape(x: Any, dims: Any = ()) -> Any:
    """`x` in another shape, in its own memory."""
    return paddle.view(x, list(dims))


def view_dtype(x: Any, dtype: Any) -> Any:
    """The memory of `x` read as another element type."""
    return paddle.view(x, dtype)


def as_strided(x: Any, dims: Any = (), stride: Any = (), offset: int = 0) -> Any:
    """The memory of `x` by other sizes and strides."""
    return paddle.as_strided(x, list(dims), list(stride), offset)


def shape64(x: Any) -> Any:
    """The sizes of `x` as int64."""
    return paddle.cast(paddle.shape(x), "int64")


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """`x` with `value` where `mask` is true."""
    return paddle.masked_fill(x, mask, value)


def swiglu(x: Any, y: Any = None) -> Any:
    """`silu(x) * y`; without `y` of both halves of the last axis of `x`."""
    if y is None:
        x, y = paddle.chunk(x, 2, axis=-1)
    return paddle.nn.functional.silu(x) * y


def einsum(operands: Sequence[Any], equation: str) -> Any:
    """The sum of products that `equation` says; then what Paddle caches of the operands."""
    found = EINSUM.call(list(operands), equation=equation)[0]
    return found, [None] * len(operands), list(operands)


def assign_out_(x: Any, output: Any) -> Any:
    """`output` with the elements of `x`."""
    return paddle.assign(x, output)


def assign_value_(
    output: Any, shape: Sequence[int], dtype: Any, values: Any, place: Any = None
) -> Any:
    """`output` with the numbers `values`."""
    return paddle.assign(paddle.to_tensor(list(values), dtype).reshape(list(shape)), output)


def full_(output: Any, shape: Any, value: Any, dtype: Any = None, place: Any = None) -> Any:
    """`output` with one number in all places."""
    return paddle.assign(paddle.full(shape, value, dtype or output.dtype), output)


def set_value(x: Any, *arguments: Any) -> Any:
    """`x` with numbers where an index points: starts, ends, steps, axes, then their shape."""
    return written(x, None, WHERE + ["shape", "values"], arguments)


def set_value_with_tensor(x: Any, values: Any, *arguments: Any) -> Any:
    """`x` with the elements of `values` where an index points."""
    return written(x, values, WHERE, arguments)


def written(x: Any, values: Any, names: Sequence[str], arguments: Sequence[Any]) -> Any:
    """`x` after the operator `set_value`."""
    given = {"x": x, "value_tensor": values, "dtype": x.dtype}
    inputs, attrs = said(SET, given | dict(zip(names, arguments, strict=True)))
    return SET.call(*inputs, **attrs)


__all__ = [
    "add_n",
    "arange",
    "as_strided",
    "assign_out_",
    "assign_value_",
    "einsum",
    "empty_like",
    "full_",
    "full_int_array",
    "masked_fill",
    "ones",
    "ones_like",
    "set_value",
    "set_value_with_tensor",
    "shape64",
    "swiglu",
    "tril",
    "triu",
    "view_dtype",
    "view_shape",
    "zeros",
    "zeros_like",
]
