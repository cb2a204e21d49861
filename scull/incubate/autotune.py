"""Settings of Paddle's automatic tuning, which are checked and have no effect."""

import json
import warnings
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, AssertError

PARAMETERS = {
    "kernel": ("enable", "tuning_range"),
    "layout": ("enable",),
    "dataloader": ("enable", "tuning_steps"),
}


def set_config(config: dict[str, Any] | str | None = None) -> None:
    """Check how kernels, layouts and data loaders shall be tuned; nothing changes.

    There is one kernel for each operator on a CPU, machine code has tiles for the shapes that it
    meets, convolutions are laid out where code is made, and a `DataLoader` has the number of
    workers that it was given.

    Args:
        config (dict | str, optional): by "kernel", "layout" and "dataloader" a dictionary with
            `enable` (bool); that of "kernel" also has `tuning_range` (list of two int), that of
            "dataloader" `tuning_steps`. Or the name of a file of JSON that says so. What cannot
            be read, and what has another type, gives a warning.

    Raises:
        ArgumentError: `config` names something else.
        ArgumentTypeError: `config`, or what it has under a name, is no dictionary.
        AssertError: `tuning_range` has not two elements.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.autotune.set_config({"dataloader": {"enable": True}})
    """
    if config is None:
        return
    found = read(config) if isinstance(config, str) else config
    for kind, given in dictionary(found, "config").items():
        if kind not in PARAMETERS:
            raise ArgumentError(f"{', '.join(PARAMETERS)} are tuned, not {kind!r}")
        check(kind, dictionary(given, kind))


def read(path: str) -> Any:
    """What a file of JSON says; a warning tells when it cannot be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError) as error:
        told = f"Use default configuration for auto-tuning: {error}"
        warnings.warn(told, stacklevel=3)
        return {}


def dictionary(value: Any, name: str) -> dict[str, Any]:
    """`value`, which is a dictionary."""
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"`{name}` is a dictionary, not {type(value).__name__}")
    return value


def check(kind: str, given: dict[str, Any]) -> None:
    """Whether the parameters of one kind of tuning are known and of their types."""
    for name, value in given.items():
        if name not in PARAMETERS[kind]:
            allowed = ", ".join(PARAMETERS[kind])
            raise ArgumentError(f"the tuning of {kind} has {allowed}, not {name!r}")
        wanted = {"enable": bool, "tuning_range": list}.get(name, int)
        if not isinstance(value, wanted):
            warnings.warn(
                f"The auto-tuning configuration of the {kind} is incorrect. The `{name}` should "
                f"be {wanted.__name__}. Use default parameter instead.",
                stacklevel=3,
            )
        elif name == "tuning_range" and len(value) != 2:
            raise AssertError(f"`tuning_range` is where tuning begins and ends, not {value}")


__all__ = ["set_config"]
