"""What old code calls on the values of a scope: numbers by place, sizes first, memory later."""

from itertools import accumulate
from typing import Any

import numpy as np

from scull.core.dtype import BITS, DType, bfloat16, dtype_of, of_array
from scull.core.place import CPU, Place
from scull.eager.attach import attach
from scull.errors import ArgumentError
from scull.runtime.scope import Cell, ScopeTensor
from scull.runtime.selected_rows import SelectedRows


def array_of(tensor: ScopeTensor) -> Any:
    """The array a tensor holds; ValueError when it holds none."""
    if tensor.cell.value is None:
        raise ArgumentError("the tensor holds no memory; call its `set` first")
    return tensor.cell.value


def allocated(tensor: ScopeTensor, dtype: Any) -> Any:
    """An array of the sizes said before, in place of what the tensor held."""
    shape = (0,) if tensor.cell.value is None else tensor.cell.value.shape
    tensor.cell.value = np.zeros(shape, dtype)
    return tensor.cell.value


@attach(ScopeTensor)
class Old:
    """Methods of LoDTensor by their older names."""

    def set(self: Any, value: Any, place: Any = None) -> None:
        """Replace the value by a copy of `value`."""
        array = np.array(value)
        if array.dtype == BITS:
            array = array.view(bfloat16.array)
        if array.dtype.kind not in "biufcV":
            raise ArgumentError(f"{array.dtype} is no element type of a tensor")
        self.cell.value = array

    def __getitem__(self: Any, index: Any) -> ScopeTensor:
        return ScopeTensor(Cell("", np.array(array_of(self)[index])))

    def _set_dims(self: Any, sizes: Any) -> None:
        self.cell.value = np.zeros(tuple(sizes), "float32")

    def _get_dims(self: Any) -> list[int]:
        return list(array_of(self).shape)

    def _alloc_float(self: Any, place: Any = None) -> None:
        allocated(self, "float32")

    def _alloc_double(self: Any, place: Any = None) -> None:
        allocated(self, "float64")

    def _alloc_int(self: Any, place: Any = None) -> None:
        allocated(self, "int32")

    def _mutable_data(self: Any, place: Any, dtype: Any = "float32") -> int:
        return int(allocated(self, dtype_of(dtype).array).ctypes.data)

    def _ptr(self: Any) -> int:
        return int(array_of(self).ctypes.data)

    def _dtype(self: Any) -> DType:
        return of_array(array_of(self).dtype)

    def _as_type(self: Any, dtype: Any) -> ScopeTensor:
        return ScopeTensor(Cell("", array_of(self).astype(dtype_of(dtype).array)))

    def _place(self: Any) -> Place:
        return CPU

    def _numel(self: Any) -> int:
        return int(array_of(self).size)

    def _clear(self: Any) -> None:
        self.cell.value = None

    def _slice(self: Any, start: int, stop: int) -> ScopeTensor:
        return ScopeTensor(Cell("", array_of(self)[start:stop]))

    def _copy_from(self: Any, other: Any, place: Any = None) -> None:
        self.cell.value = np.array(other)

    def _share_data_with(self: Any, other: ScopeTensor) -> None:
        self.cell.value = array_of(other)

    def _get_float_element(self: Any, place: int) -> float:
        return float(array_of(self).reshape(-1)[place])

    def _get_complex128_element(self: Any, place: int) -> complex:
        return complex(array_of(self).reshape(-1)[place])

    def _set_float_element(self: Any, place: int, value: Any) -> None:
        if not array_of(self).flags.writeable:
            self.cell.value = self.cell.value.copy()
        self.cell.value.reshape(-1)[place] = value

    _get_double_element = _get_float_element
    _get_complex64_element = _get_complex128_element
    _set_double_element = _set_complex64_element = _set_complex128_element = _set_float_element

    def set_recursive_sequence_lengths(self: Any, lengths: Any) -> None:
        """Say how long the sequences are, the outer level first."""
        self.cell.lod = [[0, *accumulate(map(int, level))] for level in lengths]

    def has_valid_recursive_sequence_lengths(self: Any) -> bool:
        """Whether the lengths add up: each level counts the next, the last the rows."""
        levels = self.recursive_sequence_lengths()
        counts = [*map(len, levels[1:]), *self.shape()[:1]] if levels else []
        return all(sum(level) == count for level, count in zip(levels, counts, strict=True))


@attach(Cell)
class Numbers:
    """A variable of a scope as a number, and as an array of tensors."""

    def get_selected_rows(self: Any) -> SelectedRows:
        """The value as some rows of a matrix; made so when it is not."""
        return SelectedRows(cell=self)

    def set_int(self: Any, value: int) -> None:
        """Replace the value by an integer."""
        self.value = int(value)

    def set_float(self: Any, value: float) -> None:
        """Replace the value by a number."""
        self.value = float(value)

    def is_int(self: Any) -> bool:
        """Whether the value is an integer."""
        return isinstance(self.value, int)

    def is_float(self: Any) -> bool:
        """Whether the value is a number with a fraction."""
        return isinstance(self.value, float)

    def get_int(self: Any) -> int:
        """The value as an integer."""
        return int(self.value)

    def get_float(self: Any) -> float:
        """The value as a number."""
        return float(self.value)
