"""Eager or static: which interpreter is the base of every thread."""

from scull.core import session
from scull.core.eager import EAGER
from scull.core.interpreter import _stack, current, pop, push, set_base
from scull.ir.recorder import STATIC


def enable_static() -> None:
    """From here on operators are recorded into the default main Program.

    That holds too where a setting such as `set_grad_enabled` lasts, which says how eager mode is.
    Names go on where static mode left them.
    """
    if current().eager:
        session.put("names", session.get("static_names"))
    set_base(STATIC)
    if current().eager:
        push(STATIC)


def disable_static(place: object = None) -> None:
    """From here on operators compute at once; after static mode names start anew."""
    if not current().eager:
        session.put("names", session.Names())
    set_base(EAGER)
    while STATIC in _stack.interpreters:
        pop(STATIC)


def in_to_static_mode() -> bool:
    """Whether a function is being turned into a Program."""
    return current().captures


def in_dynamic_mode() -> bool:
    """Whether operators compute at once."""
    return current().eager
