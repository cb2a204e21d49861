"""What stands around the operators of eager mode, for as long as somebody wants to see them all.

While nothing does, eager mode is as it was: no operator asks. To begin and to end exchanges what
its interpreters call.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from scull.core.eager import EAGER, SILENT, Eager
from scull.core.interpreter import modes


class Surrounding(NamedTuple):
    """Two functions that call the next one and may look before and after.

    `apply(next, op, inputs, attrs)` stands around an operator, the function that `pull(next)` gives
    around the gradients of a node of the tape.
    """

    apply: Callable[..., Any]
    pull: Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]] | None = None


surroundings: list[Surrounding] = []  # the innermost first
_lock = threading.Lock()


def surround(one: Surrounding) -> None:
    """Let `one` stand around all operators, in every thread."""
    with _lock:
        surroundings.append(one)
        exchange()


def release(one: Surrounding) -> None:
    """Undo `surround`."""
    with _lock:
        if one in surroundings:
            surroundings.remove(one)
            exchange()


def exchange() -> None:
    """Let eager mode call what stands around it, or itself when nothing does."""
    for mode in (EAGER, SILENT):
        apply: Any = partial(Eager.apply, mode)
        for one in surroundings:
            apply = partial(one.apply, apply)
        if surroundings:
            vars(mode).update(plain=False, apply=apply)
        else:
            vars(mode).pop("apply", None)
            vars(mode).pop("plain", None)
    if EAGER in modes:
        modes.remove(EAGER)
    if surroundings:
        modes.append(EAGER)  # so that no call takes the short way


def surrounded(pull: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`pull`, which gives the gradients of a node, with what stands around it."""
    for one in surroundings:
        if one.pull is not None:
            pull = one.pull(pull)
    return pull
