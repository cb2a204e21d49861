"""Scopes: values by name; a name that is missing is looked for in the parent."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.core import session
from scull.core.tensor import Rows


class Cell:
    """The place of one value. A plan is bound to the cell, not to the value."""

    __slots__ = ("lod", "name", "value")

    def __init__(self, name: str, value: Any = None) -> None:
        self.name, self.value, self.lod = name, value, []  # type: ignore[var-annotated]

    def get_tensor(self) -> "ScopeTensor":
        """The value as Paddle's LoDTensor: set, shape, __array__."""
        return ScopeTensor(self)

    def set_value(self, value: Any) -> None:
        self.value = np.asarray(value)

    def get_selected_rows(self) -> Any:
        return self.value

    def is_initialized(self) -> bool:
        return self.value is not None

    def get_int_sum(self) -> int:
        return int(np.asarray(self.value).sum())


class ScopeTensor:
    """What `find_var(name).get_tensor()` gives: the array in a cell, read and replaced."""

    def __init__(self, cell: Cell | None = None) -> None:
        self.cell = cell or Cell("")

    def set(self, value: Any, place: Any = None) -> None:
        """Replace the value by a copy of `value`."""
        self.cell.value = np.array(value)

    def shape(self) -> list[int]:
        return [0] if self.cell.value is None else list(self.cell.value.shape)

    def _is_initialized(self) -> bool:
        return self.cell.value is not None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        value = self.cell.value.dense() if isinstance(self.cell.value, Rows) else self.cell.value
        return np.array(value, dtype=dtype)

    def numpy(self) -> Any:
        return np.array(self.cell.value)

    def lod(self) -> Any:
        return [list(level) for level in self.cell.lod]

    def set_lod(self, lod: Any) -> None:
        self.cell.lod = [list(level) for level in lod]

    def recursive_sequence_lengths(self) -> Any:
        return [[b - a for a, b in pairwise(level)] for level in self.cell.lod]

    def set_recursive_sequence_lengths(self, lengths: Any) -> None:
        self.cell.lod = [list(np.cumsum([0, *level])) for level in lengths]

    def __str__(self) -> str:
        return f"  - shape: {self.shape()}\n  - data: {self.cell.value}"


class Scope:
    """Values by name."""

    def __init__(self, parent: "Scope | None" = None) -> None:
        self.parent = parent
        self.cells: dict[str, Cell] = {}
        self.kids: list[Scope] = []

    def var(self, name: str) -> Cell:
        """The cell `name` of this scope, made when it is not there."""
        if name not in self.cells:
            self.cells[name] = Cell(name)
        return self.cells[name]

    def find_var(self, name: str) -> Cell | None:
        """The cell `name` here or in a parent; None when there is none."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.cells:
                return scope.cells[name]
            scope = scope.parent
        return None

    def new_scope(self) -> "Scope":
        """A scope within this one."""
        kid = Scope(self)
        self.kids.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forget the scopes within."""
        self.kids.clear()

    def erase(self, names: list[str]) -> None:
        """Forget the values of `names`."""
        for name in names:
            self.cells.pop(name, None)

    def local_var_names(self) -> list[str]:
        return list(self.cells)


def global_scope() -> Scope:
    """The scope an Executor uses when none is given."""
    if session.get("scope") is None:
        session.put("scope", Scope())
    scope: Scope = session.get("scope")
    return scope
