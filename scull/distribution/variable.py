"""What a transformation takes and gives: kinds of random variables."""

from collections.abc import Sequence
from typing import Any

from scull.distribution import constraint
from scull.errors import ShapeError, UnsupportedError
from scull.tensor.join import stack, unbind
from scull.tensor.logic import all as all_of


class Variable:
    """The base class.

    Args:
        is_discrete (bool): whether values are counts or categories, not measures.
        event_rank (int): how many axes an event has.
        constraint (Callable, optional): says where a tensor holds values of this variable.

    Examples:
        >>> import scull as paddle
        >>> pairs = paddle.distribution.variable.Independent(
        ...     paddle.distribution.variable.positive, 1)
        >>> pairs.event_rank
        1
        >>> pairs.constraint(paddle.to_tensor([[1.0, 2.0], [1.0, -2.0]])).tolist()
        [True, False]
    """

    def __init__(
        self, is_discrete: bool = False, event_rank: int = 0, constraint: Any = None
    ) -> None:
        self._is_discrete, self._event_rank, self._constraint = is_discrete, event_rank, constraint

    @property
    def is_discrete(self) -> bool:
        """Whether values are counts or categories, not measures."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """How many axes an event has."""
        return self._event_rank

    def constraint(self, value: Any) -> Any:
        """Where `value` holds values of this variable.

        Args:
            value (Tensor): what is asked about.
        """
        if self._constraint is None:
            raise UnsupportedError(f"{type(self).__name__} has no constraint")
        return self._constraint(value)


class Real(Variable):
    """Real numbers.

    Args:
        event_rank (int): how many axes an event has.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.real)


class Positive(Variable):
    """Numbers that are 0 or more.

    Args:
        event_rank (int): how many axes an event has.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.positive)


class Independent(Variable):
    """A variable whose last axes of the batch are axes of the event.

    Args:
        base (Variable): the variables side by side.
        reinterpreted_batch_rank (int): how many axes.
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Any) -> Any:
        """Where whole events hold values of the base.

        Args:
            value (Tensor): what is asked about.
        """
        held, rank = self._base.constraint(value), self._reinterpreted_batch_rank
        if len(held.shape) < rank:
            raise ShapeError(f"an event has {rank} axes more, and there are {len(held.shape)}")
        return all_of(held, list(range(-rank, 0))) if rank else held


class Stack(Variable):
    """Variables along an axis.

    Args:
        vars (Sequence[Variable]): one for each place.
        axis (int): the axis.
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars, self._axis = vars, axis

    @property
    def is_discrete(self) -> bool:
        """Whether any of them is."""
        return any(one.is_discrete for one in self._vars)

    @property
    def event_rank(self) -> int:
        """The most axes that an event of one of them has, and this one where it is among them."""
        rank = max(one.event_rank for one in self._vars)
        return rank + (self._axis + rank < 0)

    def constraint(self, value: Any) -> Any:
        """Where each place holds values of its variable.

        Args:
            value (Tensor): what is asked about.
        """
        if not -len(value.shape) <= self._axis < len(value.shape):
            raise ShapeError(f"there are {len(value.shape)} axes, and this is axis {self._axis}")
        if value.shape[self._axis] != len(self._vars):
            raise ShapeError(f"axis {self._axis} of {list(value.shape)} has not {len(self._vars)}")
        parts = zip(self._vars, unbind(value, self._axis), strict=True)
        return stack([one.constraint(part) for one, part in parts], self._axis)


real = Real()
positive = Positive()
