"""Sequences of tensors, slots of operators, and the setting of basic operators."""

from typing import Any

from scull.core import session
from scull.core.tensor import Tensor
from scull.ir.operator import Operator, each, program_outputs
from scull.ir.variable import Variable

session.put("primitive", False)


def as_tensors(xs: Any) -> Any:
    """A tensor or a sequence of them as a tuple."""
    if isinstance(xs, Tensor | Variable):
        return (xs,)
    return tuple(xs) if isinstance(xs, list | tuple) else xs


def get_input_var_list(op: Operator) -> list[Any]:
    """What an operator reads, in the order in which its slots are sorted; None where nothing is."""
    return in_order(op.op, op.op.inputs, op.inputs)


def get_output_var_list(op: Operator) -> list[Any]:
    """What an operator writes, in the order in which its slots are sorted."""
    return in_order(op.op, program_outputs(op.op), op.outputs)


def in_order(op: Any, names: tuple[str, ...], values: tuple[Any, ...]) -> list[Any]:
    """The values of slots as these are sorted; a list of nothing is None."""
    found = {op.slot(n): v for n, v in zip(names, values, strict=True)}
    return [found[s] if each(found[s]) else None for s in sorted(found)]


def prim_enabled() -> bool:
    """Whether `enable_prim` was called last."""
    return session.get("primitive")


def enable_prim() -> None:
    """Let `grad` and `forward_grad` make derivatives of basic operators, as far as there are rules.

    Derivatives of any order and in both directions are there without this, too.

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
