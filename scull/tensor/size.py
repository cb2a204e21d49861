"""Shapes and axes as users give them: numbers, tensors that hold numbers, and lists of both."""

from collections.abc import Container
from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import current
from scull.core.op import meta_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ir.told import holds_variables
from scull.ir.variable import Variable
from scull.ops import create


def integer(value: Any, name: str) -> int:
    """One size or axis."""
    if isinstance(value, bool | float | str) or value is None:
        raise ArgumentTypeError(f"`{name}` holds integers, not {type(value).__name__} {value!r}")
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray | np.generic):
        if value.size != 1 or value.dtype.kind not in "iuf":
            raise ArgumentTypeError(f"`{name}` is one integer, not {meta_of(value)}")
        return int(value.item())
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`{name}` holds integers, not {type(value).__name__}") from None


def asserted_axis(axis: Any, ndim: int) -> int:
    """One axis counted from the front, where Paddle asserts that it is there."""
    found = integer(axis, "axis")
    if not -ndim <= found < ndim:
        raise AssertError(f"'axis' must be in the range of [-{ndim}, {ndim}), not {found}")
    return found % ndim


def number(value: Any, name: str) -> float:
    """One real number."""
    if isinstance(value, Tensor):
        value = value.array
    one = not isinstance(value, np.ndarray) or value.size == 1
    if not one or not isinstance(value, int | float | np.ndarray | np.generic):
        raise ArgumentTypeError(f"`{name}` is a number, not {type(value).__name__}")
    try:
        return float(value.item() if isinstance(value, np.ndarray) else value)
    except (TypeError, OverflowError):
        raise ArgumentTypeError(f"`{name}` is a real number, not {value!r}") from None


def whole(value: Any, name: str) -> int:
    """One number with its fraction left out."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(f"`{name}` is a whole number, not {value!r:.60}") from None


def several(value: Any, name: str) -> list[Any]:
    """The elements of a list or a tuple."""
    if not isinstance(value, list | tuple):
        raise ArgumentTypeError(f"`{name}` is a list or a tuple, not {type(value).__name__}")
    return list(value)


def is_one_of(value: Any, names: Container[str]) -> bool:
    """Whether `value` is one of some texts."""
    return isinstance(value, str) and value in names


def integers(value: Any, name: str) -> tuple[int, ...]:
    """One number, a list of them, or a tensor of them, as a tuple."""
    if isinstance(value, Tensor):
        value = value.array
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iu":
            raise ArgumentTypeError(f"`{name}` holds integers, not {value.dtype.name}")
        return tuple(value.reshape(-1).tolist())
    if isinstance(value, list | tuple | range):
        return tuple([integer(v, name) for v in value])
    return (integer(value, name),)


def shape_inputs(shape: Any, name: str = "shape") -> tuple[Any, Any, tuple[int, ...]]:
    """A shape as the inputs and the attribute of an operator: a tensor, tensors, numbers."""
    for v in shape if isinstance(shape, list | tuple) else (shape,):
        whole_numbers(v, name)
    if isinstance(shape, Variable):
        return shape, None, ()
    if isinstance(shape, list | tuple) and any(isinstance(n, Variable) for n in shape):
        tensors = [n if isinstance(n, Variable) else held_number(n, "int32") for n in shape]
        return None, tensors, tuple(-1 if isinstance(n, Variable) else int(n) for n in shape)
    return None, None, integers(shape, name)


def whole_numbers(value: Any, name: str) -> None:
    """Refuse a Variable whose elements are no integers, and in a Program arrays."""
    if isinstance(value, Variable) and value.dtype.name not in ("int32", "int64"):
        raise ArgumentTypeError(f"`{name}` holds int32 or int64, not {value.dtype.name}")
    if isinstance(value, np.ndarray) and is_static():
        raise ArgumentTypeError(f"`{name}` is a list, a tuple or a Tensor, not an array")


def axis_held(axis: Any, name: str = "axis") -> Any:
    """An axis as an attribute that a Variable may hold."""
    return axis if isinstance(axis, Variable) else integer(axis, name)


def held_number(value: Any, dtype: Any, shape: tuple[int, ...] = (1,), name: str = "value") -> Any:
    """A number, which users gave as `name`, as a tensor on the host."""
    kind = dtype_of(dtype)
    real, text = said(value, kind, name)
    called(None, "fill_constant")  # as in Paddle, which numbers these by twos
    attrs = {"shape": shape, "value": real, "dtype": kind, "str_value": text}
    return create.fill_constant(**attrs, force_cpu=True)


def said(value: Any, dtype: DType, name: str) -> tuple[float, str]:
    """A number as the attributes of `fill_constant` say it: rounded, and as a text."""
    try:
        real = float(value)
        return real, str(int(value) if dtype.is_integer else real)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(f"`{name}` is a number, not {value!r:.60}") from None


def axis_inputs(axis: Any, name: str = "axis") -> tuple[Any, int]:
    """An axis as the input and the attribute of an operator."""
    whole_numbers(axis, name)
    return (axis, 0) if isinstance(axis, Variable) else (None, integer(axis, name))


def reduced_axes(axis: Any, x: Any) -> tuple[Any, bool]:
    """The attributes `axis` and `reduce_all` of a reduction of `x`."""
    if holds_variables(axis):
        return axes_held(axis), False
    axes, ndim = () if axis is None else integers(axis, "axis"), len(x.shape)
    from_0 = {a % ndim for a in axes if -ndim <= a < ndim}
    return axes, not axes or (len(from_0) == len(axes) == ndim)


def axes_held(axis: Any) -> Any:
    """Axes that Variables hold, with numbers among them held too."""
    if isinstance(axis, Variable):
        return axis
    return [n if isinstance(n, Variable) else held_number(n, "int32") for n in axis]


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
        try:
            return Tensor(np.array(value).astype(beside.dtype.array))
        except OverflowError as error:
            raise ArgumentError(f"{value}: {error}") from None
    return create.fill_constant(shape=(), value=float(value), dtype=beside.dtype)


def needs_tensor(x: Any, function: str, parameter: str = "x") -> None:
    """Refuse what is no tensor."""
    if not isinstance(x, Tensor | Variable):
        raise ArgumentTypeError(
            f"{function}(): argument `{parameter}` must be Tensor, but got {type(x).__name__}"
        )
