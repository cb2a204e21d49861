"""Modules from which Paddle's users import what stands elsewhere: `paddle.nn.layer.common`."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from scull.deferred import load


def shown_by(package: str) -> Callable[[str], Any]:
    """A module's `__getattr__` for what Paddle has in its module and scull elsewhere in `package`.

    Names with underscores in front are nobody's but the module's own.
    """

    def get(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"a module of {package!r} has no attribute {name!r}")
        return load(package, name)

    return get


def doors(parent: str, names: str, package: str | None = None) -> None:
    """Make modules within `parent` that show what `package` has, by default the parent itself."""
    for name in names.split():
        made = ModuleType(f"{parent}.{name}", f"What Paddle has in its module `{name}`.")
        made.__getattr__ = shown_by(package or parent)  # type: ignore[method-assign]
        sys.modules[made.__name__] = made
        vars(sys.modules[parent]).setdefault("__path__", [])  # it has modules, so it is a package
        setattr(sys.modules[parent], name, made)
