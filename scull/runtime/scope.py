"""Scopes: values by name; a name that is missing is looked for in the parent."""

from scull.core import session
from scull.runtime.cell import Cell, ScopeTensor


class Scope:
    """Values by name."""

    def __init__(self, parent: "Scope | None" = None) -> None:
        self.parent = parent
        self.cells: dict[str, Cell] = {}
        self.kids: list[Scope] = []
        self.era = object()  # another when a name means another cell from now on
        self.runs: dict[str, int] = {}  # of plans that train, before they are machine code

    def var(self, name: str) -> Cell:
        """The cell `name` of this scope, made when it is not there."""
        if name not in self.cells:
            if self.parent is not None and self.parent.find_var(name) is not None:
                self.renew()
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
        self.renew()

    def renew(self) -> None:
        """Let plans bind themselves anew: a name means another cell, here and in scopes within."""
        self.era = object()
        for kid in self.kids:
            kid.renew()

    def local_var_names(self) -> list[str]:
        return list(self.cells)

    def size(self) -> int:
        """How many cells it has itself."""
        return len(self.cells)

    def raw_address(self) -> int:
        """A number that no other living scope has."""
        return id(self)


def global_scope() -> Scope:
    """The scope an Executor uses when none is given."""
    if session.get("scope") is None:
        session.put("scope", Scope())
    scope: Scope = session.get("scope")
    return scope


__all__ = ["Cell", "Scope", "ScopeTensor", "global_scope"]
