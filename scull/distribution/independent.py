"""Distributions side by side as one."""

from typing import Any

from scull.distribution.distribution import Distribution
from scull.distribution.parameter import needs, rightmost_sum
from scull.errors import ArgumentError
from scull.tensor.function import exp
from scull.tensor.size import integer


class Independent(Distribution):
    """A distribution whose last axes of the batch are axes of the event.

    It changes what `log_prob` and `entropy` are of: the sums over these axes.

    Args:
        base (Distribution): the distributions side by side.
        reinterpreted_batch_rank (int): how many axes, 1 or more.

    Raises:
        ArgumentError: the batch does not have so many axes.
        ArgumentTypeError: `base` is no distribution.

    Examples:
        >>> import scull as paddle
        >>> pair = paddle.distribution.Independent(paddle.distribution.Normal([0.0, 0.0], 1.0), 1)
        >>> pair.batch_shape, pair.event_shape
        ((), (2,))
        >>> round(pair.log_prob(paddle.to_tensor([0.0, 0.0])).item(), 4)
        -1.8379
    """

    def __init__(self, base: Any, reinterpreted_batch_rank: int) -> None:
        needs((Distribution,), "a Distribution", base=base)
        rank, most = integer(reinterpreted_batch_rank, "reinterpreted_batch_rank"), base.batch_shape
        if not 0 < rank <= len(most):
            raise ArgumentError(
                f"Expected 0 < reinterpreted_batch_rank <= {len(most)}, but got {rank}"
            )
        self._base, self._reinterpreted_batch_rank = base, rank
        super().__init__(most[:-rank], most[-rank:] + base.event_shape)

    @property
    def mean(self) -> Any:
        """The mean of the base."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The variance of the base."""
        return self._base.variance

    def sample(self, shape: Any = ()) -> Any:
        """Draws from the base.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return self._base.sample(shape)

    def rsample(self, shape: Any = ()) -> Any:
        """Draws from the base, through which gradients reach its parameters.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return self._base.rsample(shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of `value`, or of its density.

        Args:
            value (Tensor): where.
        """
        return self._sum_rightmost(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def prob(self, value: Any) -> Any:
        """The probability of `value`, or its density.

        Args:
            value (Tensor): where.
        """
        return exp(self.log_prob(value))

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        return self._sum_rightmost(self._base.entropy(), self._reinterpreted_batch_rank)

    def _sum_rightmost(self, value: Any, n: int) -> Any:
        """The sums over the last `n` axes."""
        return rightmost_sum(value, n)
