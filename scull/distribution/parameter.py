"""What users give a distribution: parameters, values and shapes, as tensors and sizes."""

from typing import Any

import ml_dtypes
import numpy as np

from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.meta import UNKNOWN, broadcast
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.variable import Variable
from scull.ops import like
from scull.ops.compare import where
from scull.ops.elementwise import maximum, minimum
from scull.ops.logic import logical_and
from scull.ops.promotion import cast_to
from scull.tensor.creation import full, to_tensor
from scull.tensor.function import log
from scull.tensor.join import unbind
from scull.tensor.manipulation import broadcast_tensors, expand
from scull.tensor.random import uniform
from scull.tensor.reduction import sum as summed
from scull.tensor.size import integer, integers

HELD = (Tensor, Variable)
REAL = (int, float, np.integer, np.floating)


def needs(kinds: tuple[type, ...], words: str, **values: Any) -> None:
    """Refuse a value that is of none of some types."""
    for name, value in values.items():
        if not isinstance(value, kinds):
            raise ArgumentTypeError(f"`{name}` is {words}, not {type(value).__name__}")


def needs_tensors(**values: Any) -> None:
    """Refuse values that are no tensors."""
    needs(HELD, "a Tensor", **values)


def scalar(value: Any, dtype: Any = None) -> Any:
    """A number as a tensor without axes, of the default element type; a tensor as it is."""
    kind = session.default_dtype() if dtype is None else dtype_of(dtype)
    return value if isinstance(value, HELD) else full((), float(value), kind)


def scalars(**values: Any) -> list[Any]:
    """Numbers and tensors as tensors of one shape."""
    needs((*REAL, *HELD), "a number or a Tensor", **values)
    made = [scalar(value) for value in values.values()]
    return made if len({tuple(one.shape) for one in made}) == 1 else broadcast_tensors(made)


def lists(**values: Any) -> list[Any]:
    """Tensors as they are; numbers, lists and arrays as tensors of one shape and element type.

    They are float32, unless an array is float64.
    """
    kinds = (int, float, list, tuple, np.ndarray, *HELD)
    needs(kinds, "a number, a list, an array or a Tensor", **values)
    given = list(values.values())
    held = {isinstance(value, HELD) for value in given}
    if held == {True}:
        return given
    if True in held:
        raise ArgumentError("if one argument is Tensor, all arguments should be Tensor")
    double = any(isinstance(v, np.ndarray) and v.dtype == np.float64 for v in given)
    try:
        arrays = [np.asarray(value, "float64" if double else "float32") for value in given]
        return [to_tensor(array.copy()) for array in np.broadcast_arrays(*arrays)]
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{' and '.join(values)} are no arrays of one shape: {error}") from None


def alike(value: Any, beside: Any) -> Any:
    """`value` in the element type of the parameter `beside`."""
    needs_tensors(value=value)
    return cast_to(value, beside.dtype)


def stretched(x: Any, *others: Any) -> Any:
    """`x` in the shape that all tensors stretch to."""
    shape = broadcast(*(tuple(one.shape) for one in (x, *others)))
    return x if tuple(x.shape) == shape else broadcast_tensors([x, *others])[0]


def sample_shape(shape: Any) -> tuple[Any, ...]:
    """The sizes of a sample, some of which Variables may hold."""
    if isinstance(shape, Variable):
        return tuple(unbind(shape))
    if isinstance(shape, np.ndarray | Tensor):
        return integers(shape, "shape")
    if not isinstance(shape, list | tuple | set | range):
        raise ArgumentTypeError(f"`shape` is a list or a tuple, not {type(shape).__name__}")
    return tuple(n if isinstance(n, Variable) else integer(n, "shape") for n in shape)


def drawn_shape(shape: Any, beside: Any) -> list[Any]:
    """The sizes of a sample each draw of which has the shape of `beside`, known or not."""
    own: list[Any] = list(beside.shape)
    if UNKNOWN in own:
        sizes = like.shape(beside)
        own = [sizes[i] if n == UNKNOWN else n for i, n in enumerate(own)]
    return [*sample_shape(shape), *own]


def repeated(x: Any, shape: Any) -> Any:
    """`x` once for each draw of a sample."""
    return expand(x, drawn_shape(shape, x))


def precision(dtype: Any) -> Any:
    """What NumPy knows of an element type: the distance from 1 to the next, the least number."""
    if not dtype.is_float:
        raise DtypeError(f"a parameter is {dtype.name}, not of floating-point elements")
    return np.finfo(dtype.array) if dtype.native else ml_dtypes.finfo(dtype.array)


def open_unit(shape: Any, beside: Any) -> Any:
    """Numbers between 0 and 1, neither of them, for the draws of a sample."""
    least = float(precision(beside.dtype).tiny)
    return uniform(drawn_shape(shape, beside), beside.dtype, min=least, max=1.0)


def kept_within(x: Any, low: float, high: float) -> Any:
    """`x`, or the bound it is beyond."""
    return minimum(maximum(x, full((), low, x.dtype)), full((), high, x.dtype))


def times_log(factor: Any, x: Any) -> Any:
    """`factor` times the logarithm of `x`, which is 0 where both are."""
    return factor * log(where(logical_and(factor == 0, x == 0), 1.0, x))


def rightmost_sum(x: Any, count: int) -> Any:
    """The sums over the last `count` axes."""
    return summed(x, axis=list(range(-count, 0))) if count > 0 else x
