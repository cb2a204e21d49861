"""What conversion tells while it works: the code it makes, and how it goes."""

import os
import sys
from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentTypeError

settings: dict[str, Any] = {
    "verbosity": None,
    "code_level": None,
    "verbosity_stdout": None,  # whether it is printed to the standard output too
    "code_level_stdout": None,
}
VARIABLES = {"verbosity": "TRANSLATOR_VERBOSITY", "code_level": "TRANSLATOR_CODE_LEVEL"}


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Say how much conversion tells about how it goes.

    Args:
        level (int): 0 for nothing; 1 names every function that is converted.
        also_to_stdout (bool): whether to print to the standard output too.
    """
    put("verbosity", level, also_to_stdout)


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Say whether the code that conversion makes is printed.

    Args:
        level (int): above 0 to print it.
        also_to_stdout (bool): whether to print to the standard output too.
    """
    put("code_level", level, also_to_stdout)


def put(name: str, level: Any, also_to_stdout: Any) -> None:
    """Note a level, and whether what belongs to it is printed."""
    if not isinstance(level, int | None):
        raise ArgumentTypeError(f"Level is not an integer: {level!r}")
    if not isinstance(also_to_stdout, bool | None):
        raise ArgumentTypeError(f"also_to_stdout should be bool, but got {type(also_to_stdout)}")
    settings[name], settings[f"{name}_stdout"] = level, also_to_stdout


def level_of(name: str) -> int:
    """A level as it was set, or as the environment says; -1 for nothing at all."""
    found = settings[name]
    return int(os.environ.get(VARIABLES[name], "-1")) if found is None else int(found)


def shown(function: Any, text: Callable[[Any], str]) -> None:
    """Tell of a function that was converted."""
    if level_of("verbosity") > 0:
        where = function.__code__.co_filename
        told("verbosity", f"converted `{function.__qualname__}` of {where}")
    if level_of("code_level") > 0:
        title = f"the code of `{function.__qualname__}` after conversion"
        told("code_level", f"{title}:\n{text(function)}")


def told(name: str, message: str, kind: str = "INFO") -> None:
    """Write a message."""
    line = f"Dynamic-to-Static {kind}: {message}"
    print(line, file=sys.stderr)
    if settings[f"{name}_stdout"]:
        print(line)
