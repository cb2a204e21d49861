"""Models that a folder offers: what its `hubconf.py` defines, which is run: trust the folder."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from scull.errors import ArgumentError, RunError, UnsupportedError

__all__ = ["help", "list", "load"]


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> Any:
    """The names of what the `hubconf.py` of a folder offers, in order.

    Args:
        repo_dir (str): the folder.
        source (str): ``"local"``; nothing is downloaded from ``"github"`` and ``"gitee"``.
        force_reload (bool): whether to download anew.

    Returns:
        list[str]: its functions and classes whose names begin with no underscore.
    """
    found = vars(configuration(repo_dir, source))
    return sorted(name for name in found if callable(found[name]) and not name.startswith("_"))


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> Any:
    """What the docstring of a model says.

    Args:
        repo_dir (str): the folder.
        model (str): the name of the model.
        source (str): ``"local"``; nothing is downloaded from ``"github"`` and ``"gitee"``.
        force_reload (bool): whether to download anew.
    """
    return entry(configuration(repo_dir, source), model).__doc__


def load(
    repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any
) -> Any:
    """What the function that makes a model returns.

    Args:
        repo_dir (str): the folder.
        model (str): the name of the model.
        source (str): ``"local"``; nothing is downloaded from ``"github"`` and ``"gitee"``.
        force_reload (bool): whether to download anew.
        **kwargs: what the function is given.

    Raises:
        RunError: there is no such model, or a module in `dependencies` is not installed.
    """
    module = configuration(repo_dir, source)
    needed = getattr(module, "dependencies", None) or ()
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise RunError(f"Missing dependencies: {', '.join(missing)}")
    return entry(module, model)(**kwargs)


def configuration(repo_dir: str, source: str) -> ModuleType:
    """The `hubconf.py` of a folder, which may import what lies beside it; run anew each time."""
    if source not in ("github", "gitee", "local"):
        raise ArgumentError(
            f'Unknown source: "{source}". Allowed values: "github" | "gitee" | "local".'
        )
    if source != "local":
        raise UnsupportedError(f"nothing is downloaded from {source}: name a local folder")
    path = Path(repo_dir) / "hubconf.py"
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise RunError(f"there is no {path}, which says what the folder offers")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(repo_dir))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(repo_dir))
    return module


def entry(module: ModuleType, name: str) -> Any:
    """What makes the model of a name."""
    if not isinstance(name, str):
        raise ArgumentError("Invalid input: model should be a str of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise RunError(f"Cannot find callable {name} in hubconf")
    return found
