"""Operands of differing element types, and Python numbers beside tensors, as Paddle 2.6 treats them."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import of_array
from scull.core.op import Op, op_of
from scull.core.tensor import Tensor


def unify(op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Both operands of one element type: numbers take their neighbour's, tensors the left one's."""
    x, y = inputs
    if op.align and attrs.get("axis", -1) != -1:
        y = op.align({"x": x, "y": y}, attrs["axis"])["y"]
        attrs["axis"] = -1
    if not isinstance(x, Tensor):
        x = beside(x, y, op)
        y = raised(y, x, op)
    elif not isinstance(y, Tensor):
        y = beside(y, x, op)
        x = raised(x, y, op)
    elif x.array.dtype is not y.array.dtype:
        wide = np.promote_types(x.array.dtype, y.array.dtype) if "c" in x.array.dtype.kind + y.array.dtype.kind else x.array.dtype
        x, y = cast_to(x, wide), cast_to(y, wide)
    return x, y


def beside(number: Any, tensor: Any, op: Op) -> Any:
    """A number or array as a Tensor that fits the tensor beside it."""
    dtype = tensor.array.dtype
    if isinstance(number, np.ndarray | np.generic):
        return Tensor(np.asarray(number))
    if isinstance(number, complex) and dtype.kind != "c":
        dtype = np.dtype("complex64")
    elif isinstance(number, float) and dtype.kind in "iub":
        dtype = session.default_dtype().array
    elif op.name == "divide" and dtype.kind in "iub":
        dtype = session.default_dtype().array
    return Tensor(np.array(number, dtype))


def raised(tensor: Any, number: Any, op: Op) -> Any:
    """The tensor beside a number that needed a wider element type."""
    return cast_to(tensor, number.array.dtype) if isinstance(number, Tensor) else tensor


def cast_to(x: Any, dtype: Any) -> Any:
    """`x` as elements of `dtype`, on the tape."""
    return x if x.array.dtype is dtype or x.array.dtype == dtype else op_of("cast").call(x, out_dtype=of_array(dtype))


