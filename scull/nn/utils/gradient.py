"""Clipping of gradients in place, and parameters as one vector."""

from typing import Any

import numpy as np

from scull.autograd.interface import no_grad
from scull.core.interpreter import current
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.mode import in_dynamic_mode
from scull.ops.join import concat
from scull.ops.move import reshape
from scull.ops.python import assert_true
from scull.tensor import clip, isfinite, minimum, stack
from scull.tensor import sum as total_of

INFINITY = float("inf")
NORMS = [INFINITY, 0, 1, 2]
NOT_FINITE = (
    "the norm of order {} of the gradients of `parameters` is non-finite, and by it "
    "nothing can be scaled; `error_if_nonfinite=False` scales by it all the same"
)


def gradients_of(parameters: Any, function: str) -> list[Any]:
    """The gradients there are, as Tensors."""
    if not in_dynamic_mode():
        raise UnsupportedError(f"this API `{function}` can only run in dynamic mode.")
    given = listed(parameters)
    return [p.node.total for p in given if p.node is not None and p.node.total is not None]


def listed(parameters: Any) -> list[Any]:
    """One Tensor, or several, as a list."""
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def recorded(parameters: Any) -> list[tuple[Any, Any]]:
    """The parameters, and the variables of their gradients where a step is recorded."""
    mode: Any = current()
    pairs = [(p, mode.gradients.of(p)) for p in listed(parameters)]
    return [(p, g) for p, g in pairs if g is not None]


def norm_when_run(x: Any, norm_type: float) -> Any:
    """A norm of all elements of a variable."""
    if norm_type == INFINITY:
        return x.abs().max()
    if norm_type == 0:
        return total_of((x != 0).astype(x.dtype))
    if norm_type == 1:
        return total_of(x.abs())
    return total_of(x * x).sqrt()


def clip_when_run(
    parameters: Any, max_norm: float, norm_type: float, error_if_nonfinite: bool
) -> Any:
    """Record the clipping of gradients by their norm, which is returned."""
    pairs = recorded(parameters)
    total = norm_when_run(stack([norm_when_run(g, norm_type) for _, g in pairs]), norm_type)
    if error_if_nonfinite:
        assert_true(isfinite(total), [total], message=NOT_FINITE.format(norm_type))
    share = minimum(float(max_norm) / (total + 1e-6), total * 0.0 + 1.0)
    mode: Any = current()
    for p, g in pairs:
        mode.gradients.replace(p, g * share.astype(g.dtype))
    return total


def norm_of(x: Any, norm_type: float) -> Any:
    """A norm of all elements of an array."""
    size = np.abs(x.values if isinstance(x, Rows) else x)
    if norm_type == INFINITY:
        return size.max(initial=0)
    if norm_type == 0:
        return size.dtype.type(np.count_nonzero(size))
    if norm_type == 1:
        return np.add.reduce(size, axis=None)
    return np.sqrt(np.add.reduce(size * size, axis=None))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
) -> Any:
    """Scale gradients in place so that their norm, taken together, is at most `max_norm`.

    Args:
        parameters (list[Tensor] | Tensor): whose gradients are clipped.
        max_norm (float): the largest norm.
        norm_type (float): 2, 1, 0 or infinity.
        error_if_nonfinite (bool): whether a norm that is no number is refused.

    Returns:
        Tensor: the norm before.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> paddle.nn.utils.clip_grad_norm_(x, 1.0).item()
        10.0
    """
    if norm_type not in NORMS:
        raise ArgumentError(f"norm_type only support {NORMS}")
    if current().captures and recorded(parameters):
        return clip_when_run(parameters, max_norm, norm_type, error_if_nonfinite)
    grads = gradients_of(parameters, "clip_grad_norm_")
    if not grads:
        return Tensor(np.zeros((), "float32"))
    total = norm_of(np.stack([norm_of(g.array, norm_type) for g in grads]), norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(NOT_FINITE.format(norm_type))
    share = min(1.0, float(max_norm) / (total + 1e-6))
    for g in grads:
        values = g.array.values if isinstance(g.array, Rows) else g.array
        values *= values.dtype.type(share)
    return Tensor(np.asarray(total))


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Keep every element of gradients within ``[-clip_value, clip_value]``, in place.

    Args:
        parameters (list[Tensor] | Tensor): whose gradients are clipped.
        clip_value (float): the largest size of an element.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([3.0, 0.25], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> paddle.nn.utils.clip_grad_value_(x, 1.0)
        >>> x.grad.tolist()
        [1.0, 0.5]
    """
    mode: Any = current()
    if mode.captures and recorded(parameters):
        for p, g in recorded(parameters):
            mode.gradients.replace(p, clip(g, -float(clip_value), float(clip_value)))
        return
    for g in gradients_of(parameters, "clip_grad_value_"):
        values = g.array.values if isinstance(g.array, Rows) else g.array
        np.clip(values, -float(clip_value), float(clip_value), out=values)


def parameters_to_vector(parameters: Any, name: str | None = None) -> Any:
    """Parameters as one vector.

    Args:
        parameters (list[Tensor]): of one element type.
        name (str, optional): not used.

    Returns:
        Tensor: all their elements.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(2, 3).parameters()).shape
        [9]
    """
    with no_grad():
        found = concat([reshape(p, shape=(-1,)) for p in parameters], axis=0)
    found.stop_gradient = False
    return found


def vector_to_parameters(vec: Any, parameters: Any, name: str | None = None) -> None:
    """Give parameters the elements of one vector.

    Args:
        vec (Tensor): as many elements as all parameters have.
        parameters (list[Tensor]): what gets them, in order.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Linear(2, 3)
        >>> paddle.nn.utils.vector_to_parameters(paddle.ones([9]), layer.parameters())
        >>> layer.bias.tolist()
        [1.0, 1.0, 1.0]
    """
    begin, given = 0, vec.numpy()
    for p in parameters:
        size = p.array.size
        p.set_value(given[begin : begin + size].reshape(p.array.shape))
        begin += size
