"""Names whose modules load when they are first used: starting takes only what is used."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any


def load(module: str, name: str) -> Any:
    """What `module` has under `name`."""
    return getattr(importlib.import_module(module), name)


def load_all(package: str) -> None:
    """Import every module of `package`."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{module.name}")


def deferred(
    package: str, *tables: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of `package`; `tables` list by module what is there.

    A module is spelt as seen from the package: `layer.norm`; under "" are modules themselves. No
    other module may have the name of one of the names, for importing it would put it there.
    """
    modules = {
        name: module
        for names in tables
        for module, group in names.items()
        for name in group.split()
    }
    places = set(modules.values())  # the modules themselves are found too

    def get(name: str) -> Any:
        if name in places:
            return importlib.import_module(f"{package}.{name}")
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        own = f"{package}.{module or name}"
        value = load(own, name) if module else importlib.import_module(own)
        setattr(importlib.import_module(package), name, value)
        return value

    def every() -> list[str]:
        return sorted({*vars(importlib.import_module(package)), *modules})

    return get, every


def listed(names: Mapping[str, str]) -> list[str]:
    """All names of such a table, in order."""
    return sorted(name for group in names.values() for name in group.split())
