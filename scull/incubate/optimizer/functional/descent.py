"""What the quasi-Newton methods share: they go downhill until it is flat."""

from collections.abc import Callable
from typing import Any, NamedTuple

from scull import tensor
from scull.autograd.matrix import derivative
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, UnsupportedError
from scull.incubate.optimizer.functional.line_search import Point, number, strong_wolfe
from scull.ir.variable import Variable
from scull.static.nn.control_flow import Assert, while_loop

NO_CURVATURE = 1000.0  # stands for the inverse of a curvature of zero


class Limits(NamedTuple):
    """Where a descent ends, how it searches along a line, and the element type it computes in."""

    rounds: int
    least_gradient: float
    least_step: float
    search_rounds: int
    length: float
    dtype: str


def checked(position: Any, matrix: Any, search: str, dtype: str) -> Any:
    """The inverse of the curvature to begin with, after all that was given has been looked at."""
    if dtype not in ("float32", "float64"):
        raise ArgumentError(
            f"The dtype must be 'float32' or 'float64', but the specified is {dtype}."
        )
    for given in (position,) if matrix is None else (position, matrix):
        if not isinstance(given, Tensor | Variable):
            raise ArgumentTypeError(f"The input: {given} must be tensor.")
    if len(position.shape) != 1:
        raise ArgumentError(f"`initial_position` has one axis, not shape {list(position.shape)}")
    if position.dtype.name != dtype:
        raise DtypeError(
            f"`initial_position` is {position.dtype.name}, and `dtype` is {dtype}: they agree"
        )
    if search != "strong_wolfe":
        raise UnsupportedError(
            "Currently only support line_search_fn = 'strong_wolfe', but the specified is "
            f"'{search}'"
        )
    if matrix is None:
        return tensor.eye(position.shape[0], dtype=dtype)
    positive = tensor.all(tensor.linalg.eigvalsh(matrix) > 0)
    good = positive & tensor.all(matrix == tensor.t(matrix))
    if isinstance(good, Variable):
        Assert(good, [matrix])
    elif not good:
        raise ArgumentError(
            "The initial_inverse_hessian_estimate should be symmetric and positive definite, but "
            "the specified is not."
        )
    return matrix


def inverted(curvature: Any) -> Any:
    """One over the product of a step with the change of the gradient along it."""
    none = curvature == 0
    return tensor.where(
        none,
        tensor.full_like(curvature, NO_CURVATURE),
        1 / tensor.where(none, tensor.ones_like(curvature), curvature),
    )


def descend(
    function: Callable[[Any], Any],
    position: Any,
    memory: list[Any],
    direction: Callable[[list[Any], Any], Any],
    learned: Callable[[list[Any], Any, Any], list[Any]],
    limits: Limits,
) -> tuple[Any, ...]:
    """Whether a minimum was found, the calls, where, the value, the gradient; then the memory.

    `direction` says where to go by the memory and the gradient, `learned` what the memory is after
    a step and a change of the gradient.
    """

    def evaluated(x: Any) -> tuple[Any, Any]:
        x = tensor.assign(x.detach())
        x.stop_gradient = False
        value = function(x)
        return value.detach(), derivative([value], [x])[0].detach()

    def goes_on(i: Any, done: Any, *_: Any) -> Any:
        return (i < limits.rounds) & ~done

    def moved(i: Any, _: Any, __: Any, calls: Any, x: Any, value: Any, g: Any, *known: Any) -> Any:
        way = direction(list(known), g)

        def at(length: Any) -> Point:
            value, gradient = evaluated(x + length * way)
            slope = tensor.sum(gradient * way).reshape([1])
            return Point(length, value.reshape([1]), slope, gradient)

        point, more = strong_wolfe(at, limits.length, limits.search_rounds, limits.dtype)
        step = point.place * way
        known = learned(list(known), step, point.gradient - g)
        flat = tensor.max(tensor.abs(point.gradient)) < limits.least_gradient
        converged = flat | (tensor.max(tensor.abs(way)) < limits.least_step)
        converged = converged.reshape([1])
        value = point.value.reshape(value.shape)
        ended = converged | (point.place == 0)
        return [i + 1, ended, converged, calls + more, x + step, value, point.gradient, *known]

    start = tensor.assign(position.detach())
    flags = [number(False, "bool"), number(False, "bool")]
    state = [number(0, "int64"), *flags, number(1, "int64"), start, *evaluated(start), *memory]
    return tuple(while_loop(goes_on, moved, state)[2:])
