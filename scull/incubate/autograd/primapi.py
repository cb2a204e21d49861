"""Derivatives of Programs, in both directions."""

from typing import Any

from scull.autograd.program import gradients
from scull.errors import ArgumentTypeError, TapeError
from scull.incubate.autograd.functional import forward
from scull.incubate.autograd.parting import to_prim
from scull.incubate.autograd.utils import as_tensors
from scull.ir.variable import Variable


def variables(value: Any, name: str) -> list[Any]:
    """One Variable or several, as a list."""
    found = as_tensors(value)
    if not isinstance(found, tuple) or not all(isinstance(v, Variable) for v in found):
        raise ArgumentTypeError(
            f"`{name}` takes a Variable or a sequence of Variables, in static mode"
        )
    return list(found)


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> Any:
    """How `outputs` of a Program change when `inputs` change by `grad_inputs`.

    Args:
        outputs (Variable | sequence): what is differentiated.
        inputs (Variable | sequence): with respect to what.
        grad_inputs (Variable | sequence, optional): how `inputs` change; by ones when None.

    Returns:
        Variable | list[Variable]: a change an output.
    """
    ys, xs = variables(outputs, "outputs"), variables(inputs, "inputs")
    v = None if grad_inputs is None else variables(grad_inputs, "grad_inputs")
    if v is not None and len(v) != len(xs):
        raise TapeError(f"{len(v)} grad_inputs were given for {len(xs)} inputs")
    found = forward(ys, xs, v)
    return found[0] if isinstance(outputs, Variable) else found


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """The gradients of `outputs` of a Program by `inputs`.

    Args:
        outputs (Variable | sequence): what is differentiated.
        inputs (Variable | sequence): with respect to what.
        grad_outputs (Variable | sequence, optional): gradients of `outputs`; ones when None.

    Returns:
        Variable | list[Variable]: a gradient an input.
    """
    ys, xs = variables(outputs, "outputs"), variables(inputs, "inputs")
    v = None if grad_outputs is None else variables(grad_outputs, "grad_outputs")
    found = gradients(ys, xs, v)
    return found[0] if isinstance(inputs, Variable) else found


__all__ = ["forward_grad", "grad", "to_prim"]
