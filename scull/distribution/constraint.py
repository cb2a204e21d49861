"""What the values of a variable fulfil."""

from typing import Any

from scull.ops.logic import logical_and
from scull.tensor.function import abs as size
from scull.tensor.logic import all as all_of
from scull.tensor.reduction import sum as summed

TOLERANCE = 1e-6  # how far from 1 shares of a whole may be in sum


class Constraint:
    """The base class: called with a tensor it says where the tensor fulfils it.

    Examples:
        >>> import scull as paddle
        >>> within = paddle.distribution.constraint.Range(0.0, 1.0)
        >>> within(paddle.to_tensor([-1.0, 0.0, 0.5])).tolist()
        [False, True, True]
    """

    def __call__(self, value: Any) -> Any:
        """Where `value` fulfils it.

        Args:
            value (Tensor): what is asked about.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what fulfils it")


class Real(Constraint):
    """A number, which NaN is not."""

    def __call__(self, value: Any) -> Any:
        return value == value


class Range(Constraint):
    """From a bound to another, both included.

    Args:
        lower (float | Tensor): the lower one.
        upper (float | Tensor): the upper one.
    """

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Any) -> Any:
        return logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """0 or more."""

    def __call__(self, value: Any) -> Any:
        return value >= 0.0


class Simplex(Constraint):
    """Along the last axis shares of a whole: 0 or more, and 1 in sum."""

    def __call__(self, value: Any) -> Any:
        whole = size(summed(value, -1) - 1.0) < TOLERANCE
        return logical_and(all_of(value >= 0.0, -1), whole)


real = Real()
positive = Positive()
simplex = Simplex()
