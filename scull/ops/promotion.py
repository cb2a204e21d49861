"""Operands of differing element types, and Python numbers beside tensors, as in Paddle 2.6."""

from typing import Any

import numpy as np

from scull.core.dtype import DType, complex64, complex128, dtype_of, float32, float64
from scull.core.meta import promote
from scull.core.op import Op, op_of
from scull.core.operand import concrete
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError

MEET = (
    "add",
    "subtract",
    "multiply",
)  # two floating types meet at the wider; elsewhere the left one wins
TO_COMPLEX = (*MEET, "divide", "matmul")


def unify(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Both operands of one element type: a number's neighbour's, or mostly the left one's."""
    x, y = inputs
    if op.align and attrs.get("axis", -1) != -1:
        y = op.align({"x": x, "y": y}, attrs["axis"])["y"]
        attrs["axis"] = -1
    reflected = not isinstance(x, Tensor)
    if reflected:
        x, y = beside(x, y, op)
    elif not isinstance(y, Tensor):
        y, x = beside(y, x, op)
    if x.array.dtype is y.array.dtype:
        return x, y
    first, other = (y, x) if reflected else (x, y)  # an array of NumPy never comes first
    common = common_dtype(op.name, first.dtype, other.dtype)
    return cast_to(x, common), cast_to(y, common)


def common_dtype(name: str, left: DType, right: DType) -> DType:
    """The element type in which operator `name` takes operands of two."""
    if left is right:
        return left
    if name in TO_COMPLEX and (left.is_complex or right.is_complex):
        return promote(left, right)
    if name in MEET and left.is_float and right.is_float:
        return promote(left, right)
    if name == "divide" and not left.is_float:
        return float32
    return left


def beside(number: Any, tensor: Any, op: Op) -> tuple[Any, Any]:
    """A number or array as a Tensor that fits `tensor`, and `tensor`, widened if it must be."""
    if isinstance(number, np.ndarray) and number.ndim:
        return Tensor(number), tensor
    if isinstance(number, np.ndarray | np.generic):
        number = number.item()
    if not isinstance(concrete(number), bool | int | float | complex):
        kind = type(number).__name__
        raise ArgumentTypeError(
            f"{op.name}(): an operand must be int, float, bool or Tensor, but got {kind}"
        )
    dtype: DType = tensor.dtype
    if isinstance(number, complex) and not dtype.is_complex:
        dtype = complex128 if dtype is float64 else complex64
    elif (isinstance(number, float) or op.name == "divide") and not (
        dtype.is_float or dtype.is_complex
    ):
        dtype = float32  # whatever the default is
    return Tensor(np.array(number, dtype.array)), cast_to(tensor, dtype)


def cast_to(x: Any, dtype: Any) -> Any:
    """`x` as elements of `dtype`, on the tape."""
    found = dtype_of(dtype)
    return x if x.dtype is found else op_of("cast").call(x, in_dtype=x.dtype, out_dtype=found)
