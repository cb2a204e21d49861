"""BFGS: the inverse of the curvature is a matrix, made better by every step."""

from collections.abc import Callable
from typing import Any

from scull import tensor
from scull.incubate.optimizer.functional.descent import Limits, checked, descend, inverted


def minimize_bfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Any,
    max_iters: int = 50,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    initial_inverse_hessian_estimate: Any = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """The least value of a function near a place, by the method of Broyden and others.

    Nocedal and Wright, "Numerical optimization", 2006, algorithm 6.1.

    Args:
        objective_func (callable): takes a Tensor of shape [n] and returns one number.
        initial_position (Tensor): where to begin: [n], of the element type `dtype`.
        max_iters (int): the most steps.
        tolerance_grad (float): where no element of the gradient is larger, it has converged.
        tolerance_change (float): where no element of the direction is larger, it has converged.
        initial_inverse_hessian_estimate (Tensor, optional): [n, n], symmetric and positive
            definite: the inverse of the second derivatives; the identity when None.
        line_search_fn (str): "strong_wolfe".
        max_line_search_iters (int): the most rounds of a search along a line.
        initial_step_length (float): how far along the line the search begins.
        dtype (str): float32 or float64.
        name (str, optional): of no effect.

    Returns:
        tuple: six Tensors: whether it converged (bool, [1]), how often the function was called
        (int64, [1]), the position, the value there, the gradient there, and the inverse of the
        second derivatives.

    Raises:
        ArgumentError: `dtype` is another, the position has not one axis, or the matrix is not
            symmetric and positive definite (an AssertError in a Program, when it runs).
        ArgumentTypeError: the position or the matrix is no Tensor.
        DtypeError: the position is not of the element type `dtype`.
        UnsupportedError: `line_search_fn` is another.

    Examples:
        >>> import scull as paddle
        >>> def far(x):
        ...     return ((x - 3.0) ** 2).sum()
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> found = paddle.incubate.optimizer.functional.minimize_bfgs(far, x)
        >>> found[0].item(), found[2].tolist()
        (True, [3.0, 3.0])
    """
    start = checked(initial_position, initial_inverse_hessian_estimate, line_search_fn, dtype)
    limits = Limits(
        max_iters,
        tolerance_grad,
        tolerance_change,
        max_line_search_iters,
        initial_step_length,
        dtype,
    )
    memory = [tensor.assign(start)]
    return descend(objective_func, initial_position, memory, direction, learned, limits)


def direction(memory: list[Any], gradient: Any) -> Any:
    """The gradient, downwards, times the inverse of the curvature."""
    return -tensor.mv(memory[0], gradient)


def learned(memory: list[Any], step: Any, change: Any) -> list[Any]:
    """The inverse of the curvature that explains `change` and is otherwise as before."""
    (inverse,) = memory
    rho = inverted(tensor.sum(step * change))
    seen = tensor.mv(inverse, change)
    crossed = tensor.outer(step, seen)
    along = rho * (1 + rho * tensor.sum(change * seen)) * tensor.outer(step, step)
    return [inverse - rho * (crossed + tensor.t(crossed)) + along]
