"""Cells: the places of values in a scope, and what users read and change there."""

from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from scull.core.dtype import BITS, DType, bfloat16, dtype_of, of_array
from scull.core.place import CPU, Place
from scull.core.tensor import Rows, Tensor
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError
from scull.runtime.line import at_line
from scull.runtime.resident import Resident

HOLDING: WeakValueDictionary[int, Any] = WeakValueDictionary()  # what has values in `held`
epoch: list[object] = [object()]  # another one for every value that a cell gets


def let_go() -> None:
    """Let go what is held of cells: some of it may have been replaced."""
    while HOLDING:
        with suppress(KeyError):  # another thread took the last
            holding = HOLDING.popitem()[1]
            holding.held = None


class Cell:
    """The place of one value. A plan is bound to the cell, not to the value."""

    __slots__ = ("lod", "name", "value")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; whoever looked at values before or meanwhile has to look again.

        That holds wherever this is interrupted: there is no moment with a new value and an epoch
        in which somebody saw the old one.
        """
        if name != "value":
            object.__setattr__(self, name, value)
            return
        epoch[0] = object()
        object.__setattr__(self, name, value)
        epoch[0] = object()  # for those who looked in between
        if HOLDING:
            let_go()

    def __init__(self, name: str, value: Any = None) -> None:
        self.name, self.value, self.lod = name, value, []  # type: ignore[var-annotated]

    def get_tensor(self) -> "ScopeTensor":
        """The value as Paddle's LoDTensor: set, shape, __array__."""
        return ScopeTensor(self)

    def get_lod_tensor_array(self) -> list["ScopeTensor"]:
        """The tensors of an array; an empty one is made of a cell without a value."""
        if self.value is None:
            self.value = []
        if not isinstance(self.value, list):
            raise ArgumentTypeError(f"`{self.name}` holds a tensor, not an array of tensors")
        return [ScopeTensor(Cell("", v)) for v in self.value]

    def set_value(self, value: Any) -> None:
        self.value = np.asarray(value)

    def get_selected_rows(self) -> Any:
        """The value as some rows of a matrix; made so when it is not."""
        return load("scull.runtime.selected_rows", "SelectedRows")(cell=self)

    def is_initialized(self) -> bool:
        return self.value is not None

    def get_int_sum(self) -> int:
        return int(np.asarray(self.value).sum())

    def set_int(self, value: int) -> None:
        """Replace the value by an integer."""
        self.value = int(value)

    def set_float(self, value: float) -> None:
        """Replace the value by a number."""
        self.value = float(value)

    def is_int(self) -> bool:
        """Whether the value is an integer."""
        return isinstance(self.value, int)

    def is_float(self) -> bool:
        """Whether the value is a number with a fraction."""
        return isinstance(self.value, float)

    def get_int(self) -> int:
        """The value as an integer."""
        return int(self.value)

    def get_float(self) -> float:
        """The value as a number."""
        return float(self.value)


class TensorCell(Cell):
    """The place of the array of a Tensor, as a plan or a user reads and replaces it."""

    __slots__ = ("tensor",)

    def __init__(self, name: str, tensor: Tensor) -> None:
        self.name, self.tensor = name, tensor

    @property
    def value(self) -> Any:
        return self.tensor.array

    @value.setter
    def value(self, array: Any) -> None:
        self.tensor.array = np.zeros(0, self.tensor.array.dtype) if array is None else array

    @property
    def lod(self) -> Any:
        return self.tensor.__dict__.get("_lod", [])

    @lod.setter
    def lod(self, levels: Any) -> None:
        self.tensor.__dict__["_lod"] = levels


class ScopeTensor:
    """What `find_var(name).get_tensor()` gives: the array in a cell, read and replaced."""

    def __init__(self, cell: Cell | None = None) -> None:
        self.cell = cell or Cell("")

    @property
    def array(self) -> Any:
        """The array it holds, taken home from a device; ValueError when it holds none."""
        if self.cell.value is None:
            raise ArgumentError("the tensor holds no memory; call its `set` first")
        if isinstance(self.cell.value, Resident):
            self.cell.value = self.cell.value.host()
        return self.cell.value

    def set(self, value: Any, place: Any = None) -> None:
        """Replace the value by a copy of `value`."""
        array = np.array(value)
        if array.dtype == BITS:
            array = array.view(bfloat16.array)
        if array.dtype.kind not in "biufcV":
            raise ArgumentError(f"{array.dtype} is no element type of a tensor")
        self.cell.value = at_line(array)

    def shape(self) -> list[int]:
        return [0] if self.cell.value is None else list(self.cell.value.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        value = self.cell.value.dense() if isinstance(self.cell.value, Rows) else self.cell.value
        return np.array(value, dtype=dtype)

    def __getitem__(self, index: Any) -> "ScopeTensor":
        return ScopeTensor(Cell("", np.array(self.array[index])))

    def numpy(self) -> Any:
        return np.array(self.cell.value)

    def __str__(self) -> str:
        lod = "".join(f"{{{', '.join(map(str, level))}}}" for level in self.cell.lod)
        lines = [f"  - lod: {{{lod}}}"] if lod else []
        if self.cell.value is None:
            return "\n".join([*lines, "  - shape: []", "  - layout: NCHW", "uninited", ""])
        array = np.asarray(self)
        values = " ".join(map(in_six_digits, array.reshape(-1).tolist()))
        lines += [f"  - shape: {list(array.shape)}", "  - layout: NCHW", f"  - place: {CPU}"]
        return "\n".join([*lines, f"  - dtype: {self._dtype().name}", f"  - data: [{values}]"])

    # ---- sequences of several lengths ----

    def lod(self) -> Any:
        return [list(level) for level in self.cell.lod]

    def set_lod(self, lod: Any) -> None:
        self.cell.lod = [list(level) for level in lod]

    def recursive_sequence_lengths(self) -> Any:
        return [[b - a for a, b in pairwise(level)] for level in self.cell.lod]

    def set_recursive_sequence_lengths(self, lengths: Any) -> None:
        """Say how long the sequences are, the outer level first."""
        self.cell.lod = [[0, *accumulate(map(int, level))] for level in lengths]

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether the lengths add up: each level counts the next, the last the rows."""
        levels = self.recursive_sequence_lengths()
        counts = [*map(len, levels[1:]), *self.shape()[:1]] if levels else []
        return all(sum(level) == count for level, count in zip(levels, counts, strict=True))

    # ---- older names: sizes first, memory later ----

    def _is_initialized(self) -> bool:
        return self.cell.value is not None

    def _set_dims(self, sizes: Any) -> None:
        self.cell.value = np.zeros(tuple(sizes), "float32")

    def _get_dims(self) -> list[int]:
        return list(self.array.shape)

    def _allocated(self, dtype: Any) -> Any:
        """An array of the sizes said before, in place of what the tensor held."""
        shape = (0,) if self.cell.value is None else self.cell.value.shape
        self.cell.value = np.zeros(shape, dtype)
        return self.cell.value

    def _alloc_float(self, place: Any = None) -> None:
        self._allocated("float32")

    def _alloc_double(self, place: Any = None) -> None:
        self._allocated("float64")

    def _alloc_int(self, place: Any = None) -> None:
        self._allocated("int32")

    def _mutable_data(self, place: Any, dtype: Any = "float32") -> int:
        return int(self._allocated(dtype_of(dtype).array).ctypes.data)

    def _ptr(self) -> int:
        return int(self.array.ctypes.data)

    def _dtype(self) -> DType:
        return of_array(self.array.dtype)

    def _as_type(self, dtype: Any) -> "ScopeTensor":
        return ScopeTensor(Cell("", self.array.astype(dtype_of(dtype).array)))

    def _place(self) -> Place:
        return CPU

    def _layout(self) -> str:
        return "NCHW"

    def _numel(self) -> int:
        return int(self.array.size)

    def _clear(self) -> None:
        self.cell.value = None

    def _slice(self, start: int, stop: int) -> "ScopeTensor":
        return ScopeTensor(Cell("", self.array[start:stop]))

    def _copy(self, place: Any = None) -> "ScopeTensor":
        return ScopeTensor(Cell("", np.array(self.array)))

    def _copy_from(self, other: Any, place: Any = None) -> None:
        self.cell.value = np.array(other)

    def _share_data_with(self, other: "ScopeTensor") -> None:
        self.cell.value = other.array

    def _get_float_element(self, place: int) -> float:
        return float(self.array.reshape(-1)[place])

    def _get_complex128_element(self, place: int) -> complex:
        return complex(self.array.reshape(-1)[place])

    def _set_float_element(self, place: int, value: Any) -> None:
        if not self.array.flags.writeable:
            self.cell.value = self.cell.value.copy()
        self.cell.value.reshape(-1)[place] = value

    _get_double_element = _get_float_element
    _get_complex64_element = _get_complex128_element
    _set_double_element = _set_complex64_element = _set_complex128_element = _set_float_element


def in_six_digits(value: Any) -> str:
    """A number in up to six digits; truth values are 1 and 0."""
    return f"{value:g}" if isinstance(value, float | complex) else str(int(value))
