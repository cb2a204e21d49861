"""Eager or static: which interpreter is the base of every thread."""

from scull.core.eager import EAGER
from scull.core.interpreter import current, set_base
from scull.ir.recorder import STATIC


def enable_static() -> None:
    """From here on operators are recorded into the default main Program."""
    set_base(STATIC)


def disable_static(place: object = None) -> None:
    """From here on operators compute at once."""
    set_base(EAGER)


def in_dynamic_mode() -> bool:
    """Whether operators compute at once."""
    return current().eager
