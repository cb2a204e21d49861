"""Given values, which stand in the startup Program."""

from typing import Any

import numpy as np

from scull.core.dtype import DType
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.initializer.initializer import Initializer
from scull.ops.create import assign_value

LIMIT = 1 << 28  # elements of a table of values

LISTS = {
    "bool": "bool_values",
    "float32": "fp32_values",
    "float64": "fp64_values",
    "int32": "int32_values",
    "int64": "int64_values",
}


class Table(Initializer):
    """Values that are known when the parameter is made: `numbers` gives them."""

    narrow = False

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        """The values as an array."""
        raise NotImplementedError

    def array(self, shape: tuple[int, ...], dtype: DType) -> Any:
        return self.numbers(shape, dtype)

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        if dtype.name not in LISTS:
            raise ArgumentTypeError(f"a table of values cannot be of {dtype.name}")
        found = self.numbers(shape, dtype).astype(dtype.array)
        values = {LISTS[dtype.name]: found.ravel().tolist()}
        return assign_value(shape=found.shape, dtype=dtype, **values)


class NumpyArrayInitializer(Table):
    """The values of an array."""

    word = "numpy_array_init"

    def __init__(self, value: Any) -> None:
        if not isinstance(value, np.ndarray):
            raise ArgumentTypeError(f"`value` takes an array, not {type(value).__name__}")
        if value.size > LIMIT:
            raise ArgumentError(f"{value.size} values are too many for a Program")
        self._value = value

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        return self._value


class Assign(NumpyArrayInitializer):
    """Given values.

    Args:
        value (Tensor | numpy.ndarray | list | tuple): the values; the parameter takes their shape.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> attr = paddle.nn.initializer.Assign([[1.0, 2.0]])
        >>> paddle.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if isinstance(value, Tensor):
            value = value.array
        elif isinstance(value, list | tuple):
            value = np.array(value)
        super().__init__(value)
