"""`import paddle` means scull in this process, after `scull.compat.install()`."""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from scull.errors import ArgumentError

OTHER, OWN = "paddle", "scull"


class AliasLoader(Loader):
    """Gives the module of scull under another name; it stays one object."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
        for name, inner in list(sys.modules.items()):
            parent, _, last = name.rpartition(".")
            if parent == module.__name__ and vars(module).get(last) is not inner:
                # an import would put it in the place of what the parent has there
                sys.modules[OTHER + name.removeprefix(OWN)] = inner


class AliasFinder(MetaPathFinder):
    """Finds `paddle` and everything below it in scull."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if own(name) == name:
            return None
        try:
            module = importlib.import_module(own(name))
        except ModuleNotFoundError as error:
            if error.name is not None and (own(name) + ".").startswith(error.name + "."):
                raise ModuleNotFoundError(
                    f"No module named '{name}' in scull, which stands for paddle here", name=name
                ) from None
            raise
        return ModuleSpec(name, AliasLoader(module), is_package=hasattr(module, "__path__"))


def own(name: str) -> str:
    """The name that a module has in scull; that of a module which is not paddle's stays."""
    return OWN + name.removeprefix(OTHER) if (name + ".").startswith(OTHER + ".") else name


def installed() -> bool:
    """Whether `import paddle` means scull."""
    return any(isinstance(finder, AliasFinder) for finder in sys.meta_path)


def install() -> None:
    """Let `import paddle` mean scull from here on, in this process.

    Examples:
        >>> import scull.compat
        >>> scull.compat.install()
        >>> import paddle
        >>> paddle.__name__
        'scull'
        >>> scull.compat.uninstall()
    """
    if installed():
        return
    if OTHER in sys.modules:
        raise ArgumentError("paddle was imported before: install() comes first")
    sys.meta_path.insert(0, AliasFinder())


def uninstall() -> None:
    """Let `import paddle` mean what it meant before."""
    if not installed():
        return
    finders: Sequence[Any] = [f for f in sys.meta_path if not isinstance(f, AliasFinder)]
    sys.meta_path[:] = finders
    for name in [n for n in sys.modules if n == OTHER or n.startswith(OTHER + ".")]:
        del sys.modules[name]


__all__ = ["install", "installed", "own", "uninstall"]
