"""Modules from which Paddle's users import what stands elsewhere: `paddle.nn.layer.common`."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from scull.deferred import load


def shown_by(package: str) -> Callable[[str], Any]:
    """A module's `__getattr__` for what Paddle has in its module and scull elsewhere in `package`.

    Names with two underscores in front are nobody's but the module's own.
    """

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"a module of {package!r} has no attribute {name!r}")
        return load(package, name)

    return get


def door(name: str, package: str) -> ModuleType:
    """Make the module `name`, which shows what `package` has.

    Where its parent has something else under that name, this stays there.
    """
    made = ModuleType(name, f"What Paddle has in its module `{name.rpartition('.')[2]}`.")
    made.__getattr__ = shown_by(package)  # type: ignore[method-assign]
    sys.modules[name] = made
    return made


def doors(parent: str, names: str, package: str | None = None) -> None:
    """Make modules within `parent` that show what `package` has, by default the parent itself."""
    for name in names.split():
        made = door(f"{parent}.{name}", package or parent)
        vars(sys.modules[parent]).setdefault("__path__", [])  # it has modules, so it is a package
        setattr(sys.modules[parent], name, made)
