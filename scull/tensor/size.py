"""Shapes and axes as users give them: numbers, tensors that hold numbers, and lists of both."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import Variable
from scull.ops import create


def integer(value: Any, name: str) -> int:
    """One size or axis."""
    if isinstance(value, bool | float | str) or value is None:
        raise ArgumentError(f"`{name}` holds integers, not {type(value).__name__} {value!r}")
    if isinstance(value, Tensor):
        return int(value.array.item())
    try:
        return int(value)
    except TypeError:
        raise ArgumentError(f"`{name}` holds integers, not {type(value).__name__}") from None


def integers(value: Any, name: str) -> tuple[int, ...]:
    """One number, a list of them, or a tensor of them, as a tuple."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray):
        return tuple(value.reshape(-1).tolist())
    if isinstance(value, list | tuple | range):
        return tuple([integer(v, name) for v in value])
    return (integer(value, name),)


def shape_inputs(shape: Any, name: str = "shape") -> tuple[Any, Any, tuple[int, ...]]:
    """A shape as the inputs and the attribute of an operator: a tensor, tensors, numbers."""
    if isinstance(shape, Variable):
        return shape, None, ()
    if isinstance(shape, list | tuple) and any(isinstance(n, Variable) for n in shape):
        tensors = [n if isinstance(n, Variable) else held_number(n, "int32") for n in shape]
        return None, tensors, tuple(-1 if isinstance(n, Variable) else int(n) for n in shape)
    return None, None, integers(shape, name)


def held_number(value: Any, dtype: Any, shape: tuple[int, ...] = (1,)) -> Any:
    """A number as a tensor on the host."""
    text = str(int(value)) if dtype_of(dtype).is_integer else str(float(value))
    called(None, "fill_constant")  # as in Paddle, which numbers these by twos
    attrs = {"shape": shape, "value": float(value), "dtype": dtype_of(dtype), "str_value": text}
    return create.fill_constant(**attrs, force_cpu=True)


def axis_inputs(axis: Any, name: str = "axis") -> tuple[Any, int]:
    """An axis as the input and the attribute of an operator."""
    return (axis, 0) if isinstance(axis, Variable) else (None, integer(axis, name))


def reduced_axes(axis: Any, x: Any) -> tuple[tuple[int, ...], bool]:
    """The attributes `axis` and `reduce_all` of a reduction of `x`."""
    axes, ndim = () if axis is None else integers(axis, "axis"), len(x.shape)
    from_0 = {a % ndim for a in axes if -ndim <= a < ndim}
    return axes, not axes or (len(from_0) == len(axes) == ndim)


def dtype_or_default(dtype: Any) -> DType:
    """`dtype`, or that of new floating-point tensors."""
    return session.default_dtype() if dtype is None else dtype_of(dtype)


def is_static() -> bool:
    """Whether operators are recorded into a Program."""
    return not current().eager


def called(name: str | None, word: str) -> str | None:
    """The name of a result in a Program: `name`, or one after `word`."""
    return session.unique_name(word) if name is None and is_static() else name


def tensor_like(value: Any, beside: Any) -> Any:
    """A number as a tensor of the element type of `beside`; tensors as they are."""
    if isinstance(value, Tensor | Variable):
        return value
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if not isinstance(value, bool | int | float | complex | np.generic):
        raise ArgumentTypeError(f"a tensor or a number is needed, not {type(value).__name__}")
    if not is_static():
        return Tensor(np.array(value).astype(beside.dtype.array))
    return create.fill_constant(shape=(), value=float(value), dtype=beside.dtype)


def needs_tensor(x: Any, function: str, parameter: str = "x") -> None:
    """Refuse what is no tensor."""
    if not isinstance(x, Tensor | Variable):
        raise ArgumentError(
            f"{function}(): argument `{parameter}` must be Tensor, but got {type(x).__name__}"
        )
