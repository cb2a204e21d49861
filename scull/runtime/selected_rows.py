"""Some rows of a tall matrix as Paddle's users hold them."""

from typing import Any

import numpy as np

from scull.core.tensor import Rows
from scull.runtime.scope import Cell, ScopeTensor


class ValuesCell:
    """The place of the values of some rows."""

    name, lod = "", ()

    def __init__(self, cell: Cell) -> None:
        self.cell = cell

    @property
    def value(self) -> Any:
        return self.cell.value.values

    @value.setter
    def value(self, array: Any) -> None:
        self.cell.value.values = array


class SelectedRows:
    """Some rows of a tall matrix, in a cell of a scope or in one of its own.

    Args:
        rows (list[int], optional): their numbers.
        height (int): how many rows the matrix has.
    """

    def __init__(self, rows: Any = (), height: int = 0, cell: Cell | None = None) -> None:
        self.cell = cell or Cell("")
        if not isinstance(self.cell.value, Rows):
            numbers = np.array(rows, "int64")
            self.cell.value = Rows(numbers, np.zeros((len(numbers), 0), "float32"), height)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.cell.value.dense(), dtype=dtype)

    def rows(self) -> list[int]:
        """The numbers of the rows."""
        found: list[int] = self.cell.value.rows.tolist()
        return found

    def set_rows(self, rows: Any) -> None:
        self.cell.value.rows = np.array(rows, "int64")

    def height(self) -> int:
        return int(self.cell.value.height)

    def set_height(self, height: int) -> None:
        self.cell.value.height = int(height)

    def numel(self) -> int:
        return int(self.cell.value.values.size)

    def get_tensor(self) -> ScopeTensor:
        """The values of the rows."""
        return ScopeTensor(ValuesCell(self.cell))  # type: ignore[arg-type]

    def sync_index(self) -> None:
        """Nothing is kept besides the numbers of the rows."""
