"""Gradients of Programs under the module name of Paddle's later representation."""

from typing import Any

from scull.autograd.program import gradients
from scull.errors import ArgumentError

__all__ = ["grad"]


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, no_grad_vars: Any = None
) -> list[Any]:
    """Append the gradients of `outputs` by `inputs` to their Program.

    Args:
        outputs (Variable | list): what is differentiated.
        inputs (Variable | list): with respect to what.
        grad_outputs (Variable | list, optional): gradients of `outputs`; ones when None.
        no_grad_vars (Variable | list, optional): variables no gradient passes.

    Returns:
        list[Variable | None]: a gradient an input; None where there is no dependence.

    Raises:
        ArgumentError: as many `grad_outputs` as `outputs` are needed.
    """
    outs, ins, stops = listed(outputs), listed(inputs), listed(no_grad_vars)
    given = listed(grad_outputs) or None
    if given is not None and len(given) != len(outs):
        raise ArgumentError(f"{len(given)} grad_outputs are given for {len(outs)} outputs")
    return gradients(outs, ins, given, {v.name for v in stops})


def listed(value: Any) -> list[Any]:
    """`value` as a list; empty for None."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple | set) else [value]
