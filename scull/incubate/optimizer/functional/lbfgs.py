"""L-BFGS: the last steps stand for the inverse of the curvature."""

from collections.abc import Callable
from typing import Any

from scull import tensor
from scull.errors import ArgumentError
from scull.incubate.optimizer.functional.descent import Limits, checked, descend, inverted
from scull.incubate.optimizer.functional.line_search import number
from scull.static.nn.control_flow import while_loop


def minimize_lbfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Any,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Any = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """The least value of a function near a place, remembering a few steps in place of a matrix.

    Nocedal and Wright, "Numerical optimization", 2006, algorithms 7.4 and 7.5.

    Args:
        objective_func (callable): takes a Tensor of shape [n] and returns one number.
        initial_position (Tensor): where to begin: [n], of the element type `dtype`.
        history_size (int): how many steps are remembered, at least 1.
        max_iters (int): the most steps.
        tolerance_grad (float): where no element of the gradient is larger, it has converged.
        tolerance_change (float): where no element of the direction is larger, it has converged.
        initial_inverse_hessian_estimate (Tensor, optional): [n, n], symmetric and positive
            definite: the inverse of the second derivatives before what the steps tell; the
            identity when None.
        line_search_fn (str): "strong_wolfe".
        max_line_search_iters (int): the most rounds of a search along a line.
        initial_step_length (float): how far along the line the search begins.
        dtype (str): float32 or float64.
        name (str, optional): of no effect.

    Returns:
        tuple: five Tensors: whether it converged (bool, [1]), how often the function was called
        (int64, [1]), the position, the value there, and the gradient there.

    Raises:
        ArgumentError: `dtype` is another, `history_size` is below 1, the position has not one
            axis, or the matrix is not symmetric and positive definite (an AssertError in a
            Program, when it runs).
        ArgumentTypeError: the position or the matrix is no Tensor.
        DtypeError: the position is not of the element type `dtype`.
        UnsupportedError: `line_search_fn` is another.

    Examples:
        >>> import scull as paddle
        >>> def far(x):
        ...     return ((x - 3.0) ** 2).sum()
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> found = paddle.incubate.optimizer.functional.minimize_lbfgs(far, x)
        >>> found[0].item(), found[2].tolist()
        (True, [3.0, 3.0])
    """
    if history_size < 1:
        raise ArgumentError(f"`history_size` is at least 1, not {history_size}")
    start = checked(initial_position, initial_inverse_hessian_estimate, line_search_fn, dtype)
    limits = Limits(
        max_iters,
        tolerance_grad,
        tolerance_change,
        max_line_search_iters,
        initial_step_length,
        dtype,
    )
    nothing = tensor.zeros([history_size, initial_position.shape[0]], dtype)
    memory = [number(0, "int64"), nothing, tensor.assign(nothing)]

    def direction(memory: list[Any], gradient: Any) -> Any:
        return -product(start, *memory, gradient)

    return descend(objective_func, initial_position, memory, direction, learned, limits)[:5]


def learned(memory: list[Any], step: Any, change: Any) -> list[Any]:
    """The count, the steps and the changes of the gradient, the newest of them first."""
    count, steps, changes = memory
    newer = [
        tensor.concat([x.unsqueeze(0), kept[:-1]]) for x, kept in ((step, steps), (change, changes))
    ]
    return [tensor.minimum(count + 1, number(steps.shape[0], "int64")), *newer]


def product(start: Any, count: Any, steps: Any, changes: Any, gradient: Any) -> Any:
    """The inverse of the curvature, `start` and what the steps tell, times `gradient`."""
    rhos = inverted(tensor.sum(steps * changes, axis=1))
    places = tensor.arange(steps.shape[0], dtype="int64")

    def newest_first(i: Any, found: Any, shares: Any) -> list[Any]:
        share = tensor.gather(rhos, i) * tensor.sum(row(steps, i) * found)
        shares = tensor.where(places == i, share, shares)
        return [i + 1, found - share * row(changes, i), shares]

    def newest_last(i: Any, found: Any) -> list[Any]:
        share = tensor.gather(rhos, i) * tensor.sum(row(changes, i) * found)
        return [i - 1, found + (tensor.gather(shares, i) - share) * row(steps, i)]

    state = [number(0, "int64"), tensor.assign(gradient), tensor.zeros_like(rhos)]
    _, found, shares = while_loop(lambda i, *_: i < count, newest_first, state)
    state = [count - 1, tensor.mv(start, found)]
    return while_loop(lambda i, _: i >= 0, newest_last, state)[1]


def row(matrix: Any, i: Any) -> Any:
    """One row of a matrix."""
    return tensor.gather(matrix, i).squeeze(0)
