"""How losses of all elements become one."""

from typing import Any

from scull.errors import ArgumentError
from scull.ops.reduce import reduce_mean, reduce_sum
from scull.tensor.size import is_one_of

REDUCTIONS = ("sum", "mean", "none")


def check_reduction(reduction: str, where: str) -> None:
    """Refuse a reduction nobody knows."""
    if not is_one_of(reduction, REDUCTIONS):
        raise ArgumentError(
            f"The value of 'reduction' in {where} should be 'sum', 'mean' or 'none', "
            f"but received {reduction}, which is not allowed."
        )


def total(x: Any) -> Any:
    """The sum of all elements."""
    return reduce_sum(x, axis=())


def average(x: Any) -> Any:
    """The mean of all elements."""
    return reduce_mean(x, axis=(), reduce_all=True)


def combined(x: Any, reduction: str) -> Any:
    """The losses of all elements as `reduction` says."""
    if reduction == "mean":
        return average(x)
    return total(x) if reduction == "sum" else x
