"""Errors of what cannot stand in a Program: the law, the user's line, and a rewrite if certain."""

import warnings
from typing import Any

import numpy as np

from scull.core.interpreter import current
from scull.core.refusal import user_line
from scull.errors import ArgumentTypeError, ScullError, located
from scull.jit.convert.run.raising import REFUSED
from scull.jit.convert.run.state import UNDEFINED
from scull.jit.convert.run.tree import Tree, shown
from scull.static.nn.branch import described

UNKNOWN = "is known only when the Program runs"


def refused(law: str, rewrite: str = "") -> Exception:
    """The error that says which law was broken, where, and what to write instead."""
    where = f"  at {user_line()}" + (f"\n  {rewrite}" if rewrite else "")
    error = ArgumentTypeError(law)
    setattr(error, REFUSED, True)
    return located(error, where)


def is_lenient() -> bool:
    """Whether what PaddlePaddle records is recorded, and not left to pieces of graph."""
    mode: Any = current()
    return not mode.captures or mode.lenient


def lenient_of_none(name: str, path: tuple[Any, ...], a: Any, b: Any) -> None:
    """Warn of a value that is None in one branch alone, or refuse it."""
    if not is_lenient():
        raise differing(name, path, a, b)
    warnings.warn(
        f"{branches(name, path, a, b)} (at {user_line()}). A Program has zeros for None: Set var "
        "to 'None' in ifelse block might lead to error.",
        stacklevel=2,
    )


def branches(name: str, path: tuple[Any, ...], a: Any, b: Any) -> str:
    """What a value is in each of two branches."""
    what = "what the function returns" if is_result(name) else f"`{shown(path, name)}`"
    return f"{what} is {kind_of(a)} where the condition holds and {kind_of(b)} where it does not"


def differing(name: str, path: tuple[Any, ...], a: Any, b: Any) -> Exception:
    """The error of a value that two branches leave as different kinds."""
    law = f"{branches(name, path, a, b)}; which of them {UNKNOWN}"
    if is_result(name) and count_of(a) != count_of(b):
        law = f"Your if/else have different number of return value: {law}"
    rewrite = ""
    if is_result(name) and (a is None or b is None):
        rewrite = "return a Tensor in both cases, such as paddle.zeros_like of the other one"
    elif a is None or b is None:
        rewrite = f"give `{name}` a Tensor instead of None, such as paddle.zeros_like of the other"
    return refused(law, rewrite)


def count_of(value: Any) -> int:
    """How many values a function returns."""
    return len(value.children) if isinstance(value, Tree) else 1


def changing(name: str, path: tuple[Any, ...], a: Any, b: Any) -> Exception:
    """The error of a value that becomes one of another kind in a loop."""
    what = "what the function returns" if is_result(name) else f"`{shown(path, name)}`"
    law = (
        f"{what} is {kind_of(a)} before the loop and {kind_of(b)} after a round; how many rounds "
        f"there are {UNKNOWN}"
    )
    first = a is None and not isinstance(b, Tree)
    rewrite = f"give `{name}` a Tensor before the loop, such as paddle.zeros" if first else ""
    return refused(law, rewrite)


def is_result(name: str) -> bool:
    """Whether a name is that of what a function returns."""
    return name.rpartition("_")[0] == "result" and name[-1].isdigit()


def kind_of(value: Any) -> str:
    """What a value is, as errors say it."""
    if isinstance(value, Tree):
        return f"{type(value.origin).__name__} of {len(value.children)}"
    if value is UNDEFINED:
        return "without a value"
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype.name}{list(value.shape)}"
    return "None" if value is None else described(value)


def both_recorded(error: Exception) -> Exception:
    """An exception that came up in a branch, with the remark that this is always recorded."""
    if not isinstance(error, ScullError) and not hasattr(error, REFUSED):
        error.add_note(
            f"a Tensor decides whether this runs (at {user_line()}), and while the Program is "
            "recorded both branches run; what they `raise` themselves is raised when it runs"
        )
    setattr(error, REFUSED, True)
    return error
