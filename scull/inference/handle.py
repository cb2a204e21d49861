"""Handles: the inputs and outputs of a predictor, which arrays are copied to and from."""

from typing import Any

import numpy as np

from scull.core.dtype import BITS, bfloat16
from scull.core.tensor import Tensor as EagerTensor
from scull.errors import ArgumentTypeError, FeedError, RunError, UnsupportedError
from scull.inference.kind import DataType, data_type
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, ScopeTensor


class Tensor:
    """One input or output of a predictor; `Predictor.get_input_handle` gives it.

    Examples:
        >>> import numpy as np
        >>> from scull.inference.handle import Tensor
        >>> handle = Tensor("x")
        >>> handle.copy_from_cpu(np.zeros((2, 3), "int64"))
        >>> handle.shape(), handle.type()
        ([2, 3], <DataType.INT64: 1>)
    """

    def __init__(self, name: str, variable: Variable | None = None) -> None:
        self.variable, self.cell = variable, Cell(name)
        self.sizes: list[int] | None = None

    def name(self) -> str:
        """The name in the Program."""
        return self.cell.name

    def reshape(self, shape: Any) -> None:
        """Say which shape comes next; `copy_from_cpu` takes that of the array."""
        self.sizes = [int(shape)] if isinstance(shape, int) else [int(n) for n in shape]

    def copy_from_cpu(self, data: Any) -> None:
        """Give an input its value.

        Args:
            data (numpy.ndarray): copied.
        """
        if isinstance(data, list) and data and all(isinstance(v, str) for v in data):
            raise UnsupportedError("texts are no tensors: give numbers that stand for them")
        if not isinstance(data, np.ndarray):
            raise ArgumentTypeError(
                "In copy_from_cpu, we only support numpy ndarray and list[str] data type."
            )
        self.take(np.array(data, order="C"))

    def share_external_data(self, data: Any) -> None:
        """Give an input a Tensor without copying it.

        Args:
            data (Tensor | LoDTensor): read when the predictor runs.
        """
        if isinstance(data, EagerTensor):
            self.take(data.array)
        elif isinstance(data, ScopeTensor):
            self.take(data.cell.value)
            self.set_lod(data.lod())
        else:
            raise ArgumentTypeError("In share_external_data, we only support Tensor and LoDTensor.")

    def take(self, array: Any) -> None:
        """Hold `array`; FeedError when it is of no element type that models take."""
        if array.dtype == BITS:
            array = array.view(bfloat16.array)
        if array.dtype.kind not in "biufV" or array.dtype.itemsize > 8:
            raise FeedError(
                f"the input `{self.name()}` was given {array.dtype}, which is no number"
            )
        self.cell.value, self.sizes = array, None

    def drop(self) -> None:
        """Forget the value."""
        self.cell.value, self.sizes = None, None

    def copy_to_cpu(self) -> np.ndarray:
        """The value, as an array of its own."""
        if self.cell.value is None:
            raise RunError(f"`{self.name()}` has no value yet: call `run` of its predictor first")
        return np.array(self.cell.value)

    def shape(self) -> list[int]:
        """The shape of the value; [0] when there is none yet."""
        if self.sizes is not None:
            return self.sizes
        return [0] if self.cell.value is None else list(self.cell.value.shape)

    def type(self) -> DataType:
        """The element type of the value, or what the Program declares."""
        if self.cell.value is not None:
            return data_type(self.cell.value.dtype)
        return DataType.FLOAT32 if self.variable is None else data_type(self.variable.dtype.array)

    def lod(self) -> list[list[int]]:
        """Where the sequences in the value begin, and the last ends, the outer level first."""
        return [list(level) for level in self.cell.lod]

    def set_lod(self, x: list[list[int]]) -> None:
        """Say where the sequences in the value begin, and the last ends.

        Args:
            x (list[list[int]]): the offsets of each level, the outer first; none for an array
                that is no sequences. They are looked at when the predictor runs.
        """
        self.cell.lod = [list(map(int, level)) for level in x]

    def given(self) -> Any:
        """The value for a run: an array, with levels a LoDTensor."""
        return ScopeTensor(self.cell) if self.cell.lod else self.cell.value

    def receive(self, value: Any) -> None:
        """Hold what a run gave."""
        tensor = isinstance(value, ScopeTensor)
        self.take(value.cell.value if tensor else value)
        self.set_lod(value.lod() if tensor else [])
