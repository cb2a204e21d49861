"""What is old, and which release this is."""

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.version import full_version


class VisibleDeprecationWarning(UserWarning):
    """A call of something old, shown to users."""


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[Any], Any]:
    """Mark a function as old: its docstring says so, and from level 1 on each call warns.

    Args:
        update_to (str): what replaces it.
        since (str): the release from which on it is old.
        reason (str): why.
        level (int): 0 only notes it, 1 warns, 2 refuses the call.
    """

    def mark(function: Any) -> Any:
        text = f'API "{function.__module__}.{function.__name__}" is deprecated'
        text += f" since {since}" if since else ""
        text += f', and will be removed in future versions. Please use "{update_to}" instead.'
        text = text if update_to else text.split(". Please")[0] + "."
        text += f"\nReason: {reason}" if reason else ""

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            if level == 2:
                raise UnsupportedError(text)
            if level == 1:
                warnings.warn(text, VisibleDeprecationWarning, stacklevel=2)
            return function(*arguments, **options)

        call.__doc__ = f"Warning:\n    {text}\n\n{function.__doc__ or ''}"
        return call

    return mark


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Refuse to go on when the release is not between two.

    Args:
        min_version (str): the first that will do, such as "2.5.0".
        max_version (str, optional): the last.
    """
    own = numbers(full_version, "version")
    if numbers(min_version, "min_version") > own:
        raise UnsupportedError(
            f"VersionError: PaddlePaddle version {min_version} or higher is required, but "
            f"{full_version} is what scull offers"
        )
    if max_version is not None and numbers(max_version, "max_version") < own:
        raise UnsupportedError(
            f"VersionError: PaddlePaddle version {max_version} or lower is required, but "
            f"{full_version} is what scull offers"
        )


def numbers(version: Any, name: str) -> tuple[int, ...]:
    """The four numbers of a release."""
    if not isinstance(version, str):
        raise ArgumentTypeError(
            f"The type of '{name}' in require_version must be str, but received {type(version)}."
        )
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise ArgumentError(
            f"The value of '{name}' in require_version must be in format '\\d+(\\.\\d+){{0,3}}', "
            f"like '1.5.2.0', but received {version}"
        )
    found = tuple(map(int, version.split(".")))
    return found + (0,) * (4 - len(found))
