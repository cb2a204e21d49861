"""Functions of Python in a form that can be recorded: their control flow and calls are calls."""

from scull.jit.convert.convertible import ignore_module, is_left, leave
from scull.jit.convert.function import converted, text
from scull.jit.convert.logging import set_code_level, set_verbosity

__all__ = [
    "converted",
    "ignore_module",
    "is_left",
    "leave",
    "set_code_level",
    "set_verbosity",
    "text",
]
