"""Names of Paddle's that scull does not have: they can be imported; using one says why."""

from typing import Any, NoReturn

from scull.errors import UnsupportedError


class Absent:
    """Stands for what is not there. Nothing is an instance of it."""

    def __init__(self, name: str, reason: str) -> None:
        self.__name__, self.reason = name, reason

    def refuse(self) -> str:
        return f"`{self.__name__}` is not in scull: {self.reason}"

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        raise UnsupportedError(self.refuse())

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        """A class of what is not there can be written down, as a module does that is imported."""

        def make(cls: type, *arguments: Any, **options: Any) -> NoReturn:
            raise UnsupportedError(self.refuse())

        return (type(self.__name__.rpartition(".")[2], (), {"__new__": make}),)

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self.refuse() if not name.startswith("__") else name)

    def __repr__(self) -> str:
        return f"<absent {self.__name__}>"


def absent(module: str, reasons: dict[str, str]) -> Any:
    """A module's `__getattr__` for the names it lacks, which stand behind the reason, in a row."""
    found = {name: reason for reason, names in reasons.items() for name in names.split()}

    def lookup(name: str) -> Absent:
        if name not in found:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return Absent(f"{module.replace('scull', 'paddle', 1)}.{name}", found[name])

    return lookup
