"""Sequences of tensors, and the setting of primitive operators."""

from typing import Any

from scull.core import session
from scull.core.tensor import Tensor
from scull.ir.variable import Variable

session.put("primitive", False)


def as_tensors(xs: Any) -> Any:
    """A tensor or a sequence of them as a tuple."""
    if isinstance(xs, Tensor | Variable):
        return (xs,)
    return tuple(xs) if isinstance(xs, list | tuple) else xs


def prim_enabled() -> bool:
    """Whether `enable_prim` was called last."""
    return session.get("primitive")


def enable_prim() -> None:
    """Ask for derivatives of any order; scull has them always, so nothing but the answer changes.

    Examples:
        >>> import scull as paddle
        >>> paddle.incubate.autograd.enable_prim()
        >>> paddle.incubate.autograd.prim_enabled()
        True
        >>> paddle.incubate.autograd.disable_prim()
    """
    session.put("primitive", True)


def disable_prim() -> None:
    """Undo `enable_prim`."""
    session.put("primitive", False)
