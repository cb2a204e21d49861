"""append_backward and gradients, with Paddle's signatures."""

from typing import Any

from scull.autograd.program import append_backward as engine_append
from scull.autograd.program import gradients as engine_gradients
from scull.autograd.recompute import recompute
from scull.deferred import load
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.ir.variable import Variable


def names_of(variables: Any) -> set[str]:
    """The names of variables given as themselves or by name."""
    if variables is None:
        return set()
    if not isinstance(variables, list | tuple | set | frozenset):
        raise ArgumentTypeError(
            "no_grad_set should be a set, a list or a tuple of variables or names"
        )
    return {v if isinstance(v, str) else v.name for v in variables}


def append_backward(
    loss: Any,
    parameter_list: Any = None,
    no_grad_set: Any = None,
    callbacks: Any = None,
    checkpoints: Any = None,
    distop_context: Any = None,
) -> list[Any]:
    """Append the gradient operators of `loss` to its Program.

    Args:
        loss (Variable): one element.
        parameter_list (list, optional): the parameters to differentiate by; all when None.
        no_grad_set (set, optional): variables no gradient passes.
        callbacks (list, optional): functions that are called for each gradient operator when it
            is there, as ``callback(block=, context=)``: its block, and a dictionary of the names
            of gradients to those of their variables, with the operator's `desc` as
            ``"__current_op_desc__"``. With `nn.clip.error_clip_callback` among them gradients are
            clipped as `Variable._set_error_clip` says, which an optimizer does in any case.
        checkpoints (list, optional): variables or names; what lies between two of them is computed
            again when gradients need it, instead of being kept.

    Returns:
        list[tuple]: pairs (parameter, gradient).
    """
    if not isinstance(loss, Variable):
        raise ArgumentTypeError(
            f"The type of 'loss' in append_backward must be Variable, but received {type(loss)}."
        )
    if -1 in loss.shape:
        raise ArgumentError(
            f"the loss has the shape {loss.shape}, of unknown size; reduce it, for example by mean"
        )
    if parameter_list is not None:
        if not isinstance(parameter_list, list | tuple | set):
            raise ArgumentTypeError(
                "The type of 'parameter_list' in append_backward must be list, tuple or set"
            )
        for p in parameter_list:
            if not isinstance(p, Variable | str):
                raise ArgumentTypeError("parameter_list holds variables or names")
    clips, told = understood(callbacks)
    pairs = engine_append(loss, parameter_list, names_of(no_grad_set), clips=clips, told=told)
    if checkpoints:
        recompute(loss.block, checkpoints)
    return pairs


def understood(callbacks: Any) -> tuple[bool, Any]:
    """Whether gradients are clipped, and what is told of each gradient operator, if somebody is."""
    if not isinstance(callbacks or [], list | tuple):
        law = "The type of 'callbacks' in append_backward must be list or tuple"
        raise ArgumentTypeError(f"{law}, but received {type(callbacks)}.")
    if not all(map(callable, callbacks or ())):
        raise ArgumentError("'callback' must be a callable object.")
    clip = load("scull.nn.clip", "error_clip_callback") if callbacks else None
    others = [callback for callback in callbacks or () if callback is not clip]

    def tell(block: Any, operator: Any, names: dict[str, str]) -> None:
        context = {**names, "__current_op_desc__": operator.desc}
        for callback in others:
            callback(block=block, context=context)

    return len(others) < len(callbacks or ()), tell if others else None


def gradients(
    targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None
) -> list[Any]:
    """The gradients of `targets` with respect to `inputs`, as new variables of the Program.

    Args:
        targets (Variable | list): what is differentiated.
        inputs (Variable | list): with respect to what.
        target_gradients (Variable | list, optional): gradients of `targets`; ones when None.
        no_grad_set (set, optional): variables no gradient passes.

    Returns:
        list[Variable | None]: a gradient an input; None where there is no dependence.
    """
    outs, ins = as_list(targets, "targets"), as_list(inputs, "inputs")
    given = None if target_gradients is None else as_list(target_gradients, "target_gradients")
    if given is not None and len(given) != len(outs):
        raise ArgumentError("Should have the same number of target_gradients as targets")
    for out, dout in zip(outs, given or [], strict=False):
        if dout is not None and not may_agree(out.shape, dout.shape):
            raise ShapeError(f"a target is {list(out.shape)} and its gradient {list(dout.shape)}")
    return engine_gradients(outs, ins, given, names_of(no_grad_set))


def may_agree(x: Any, y: Any) -> bool:
    """Whether two shapes are one, as far as their sizes are known."""
    return len(x) == len(y) and all(-1 in (m, n) or m == n for m, n in zip(x, y, strict=True))


calc_gradient = gradients


def as_list(value: Any, name: str) -> list[Any]:
    """One variable or several, as a list."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    for v in values:
        if v is not None and not isinstance(v, Variable):
            raise ArgumentTypeError(
                f"The type of '{name}' must be Variable, list or tuple, but received {type(v)}."
            )
    return values


def _append_grad_suffix_(name: str) -> str:
    return name + "@GRAD"


def _as_list(x: Any) -> Any:
    if x is None:
        return []
    return list(x) if isinstance(x, list | tuple) else [x]
