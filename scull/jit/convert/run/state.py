"""The names and attributes that a construct changes: read, written, left without a value."""

from collections.abc import Callable
from types import CellType
from typing import Any

from scull.jit.convert.run.reads import reading


class Undefined:
    """In the place of a value where a name has none."""

    def __repr__(self) -> str:
        return "nothing"


UNDEFINED: Any = Undefined()


class Local:
    """A variable that functions share."""

    def __init__(self, cell: CellType) -> None:
        self.cell = cell

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNDEFINED

    def write(self, value: Any) -> None:
        if value is not UNDEFINED:
            self.cell.cell_contents = value
        elif self.read() is not UNDEFINED:
            del self.cell.cell_contents


class Global:
    """A name of a module."""

    def __init__(self, module: dict[str, Any], name: str) -> None:
        self.module, self.name = module, name

    def read(self) -> Any:
        return self.module.get(self.name, UNDEFINED)

    def write(self, value: Any) -> None:
        if value is UNDEFINED:
            self.module.pop(self.name, None)
        else:
            self.module[self.name] = value


class Attribute:
    """An attribute of what another place holds."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name

    def read(self) -> Any:
        owner = self.owner.read()
        reading(owner, self.name)
        return UNDEFINED if owner is UNDEFINED else getattr(owner, self.name, UNDEFINED)

    def write(self, value: Any) -> None:
        if self.read() is value:
            return
        if value is UNDEFINED:
            delattr(self.owner.read(), self.name)
        else:
            setattr(self.owner.read(), self.name, value)


class State:
    """Places by their names, as the functions of a construct see them."""

    def __init__(self, names: tuple[str, ...], *functions: Callable[..., Any] | None) -> None:
        self.names = list(names)
        self.cells: dict[str, CellType] = {}
        self.module: dict[str, Any] = {}
        for f in functions:
            if f is not None:
                self.cells |= zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)  # type: ignore[attr-defined]
                self.module = f.__globals__  # type: ignore[attr-defined]
        self.places = [self.place(n) for n in names]

    def place(self, name: str) -> Any:
        """Where `a` or `a.b` is."""
        root, *attributes = name.split(".")
        found: Any = Local(self.cells[root]) if root in self.cells else Global(self.module, root)
        for attribute in attributes:
            found = Attribute(found, attribute)
        return found

    def add(self, name: str, cell: CellType) -> None:
        """Count one more variable to the state."""
        self.names.append(name)
        self.places.append(Local(cell))

    def read(self) -> list[Any]:
        """All values."""
        return [p.read() for p in self.places]

    def write(self, values: list[Any]) -> None:
        """Replace all values."""
        for place, value in zip(self.places, values, strict=True):
            place.write(value)
