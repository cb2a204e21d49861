"""The names and attributes that a construct changes: read, written, left without a value."""

from collections.abc import Callable
from types import CellType
from typing import Any

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
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


def is_computed(place: Any) -> bool:
    """Whether a place is a property of a user's class, which holds nothing itself."""
    if not isinstance(place, Attribute):
        return False
    owner = place.owner.read()
    found = getattr(type(owner), place.name, None)
    return isinstance(found, property) and not isinstance(owner, Tensor | Variable)


class State:
    """Places by their names, as the functions of a construct see them."""

    def __init__(self, names: tuple[str, ...], *functions: Callable[..., Any] | None) -> None:
        self.cells: dict[str, CellType] = {}
        self.module: dict[str, Any] = {}
        for f in functions:
            if f is not None:
                self.cells |= zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)  # type: ignore[attr-defined]
                self.module = f.__globals__  # type: ignore[attr-defined]
        found = [(n, self.place(n)) for n in names]
        self.names = [n for n, place in found if not is_computed(place)]
        self.places = [place for _, place in found if not is_computed(place)]

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
