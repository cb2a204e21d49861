"""The Tensor of eager mode: what users see of an array and the tape behind it."""

from scull.deferred import load
from scull.eager import change, conversion, derivative, index, property, text  # noqa: F401
from scull.flags import flag, told


def follow(mode: str) -> None:
    """Let eager mode prefer machine code, or no longer."""
    load("scull.eager.prefer", "follow")(mode)


told["COMPILE"] = follow
if flag("COMPILE") != "off":  # the environment said so
    follow(flag("COMPILE"))
