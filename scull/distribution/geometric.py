"""The geometric distribution."""

from typing import Any

import numpy as np

from scull.autograd import no_grad
from scull.core.dtype import float32
from scull.core.tensor import Tensor
from scull.distribution.distribution import Distribution
from scull.distribution.parameter import HELD, REAL, alike, needs, open_unit, scalar, times_log
from scull.errors import ArgumentError
from scull.ops.compare import where
from scull.tensor.function import exp, floor, log, log1p, sqrt


class Geometric(Distribution):
    r"""The distribution of the number of failures before the first success.

    .. math:: P(k) = (1 - p)^k p, \quad k = 0, 1, 2, \ldots

    Args:
        probs (float | Tensor): the probability of a success, above 0 and up to 1.

    Raises:
        ArgumentError: a probability lies elsewhere; in a Program nobody looks.
        ArgumentTypeError: `probs` is of another type.

    Examples:
        >>> import scull as paddle
        >>> geometric = paddle.distribution.Geometric(0.5)
        >>> geometric.mean.item(), geometric.variance.item()
        (1.0, 2.0)
        >>> geometric.pmf(2).item(), geometric.cdf(2).item()
        (0.125, 0.875)
        >>> geometric.sample([3]).shape
        [3]
    """

    def __init__(self, probs: Any) -> None:
        needs((*REAL, *HELD), "a number or a Tensor", probs=probs)
        self.probs: Any = scalar(probs, float32)
        if isinstance(self.probs, Tensor):
            chance = self.probs.array
            if not ((chance > 0) & (chance <= 1)).all():
                raise ArgumentError("a probability in `probs` is not above 0 and up to 1")
        super().__init__(self.probs.shape)

    @property
    def mean(self) -> Any:
        """The mean: ``1 / probs - 1``."""
        return 1.0 / self.probs - 1.0

    @property
    def variance(self) -> Any:
        """The variance: ``(1 / probs - 1) / probs``."""
        return (1.0 / self.probs - 1.0) / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return sqrt(self.variance)

    def pmf(self, k: Any) -> Any:
        """The probability of `k` failures.

        Args:
            k (int | Tensor): how many.

        Raises:
            ArgumentTypeError: `k` is of another type.
        """
        return exp(self.log_pmf(k))

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of the probability of `k` failures.

        Args:
            k (int | Tensor): how many; below 0 it is minus infinity.

        Raises:
            ArgumentTypeError: `k` is of another type.
        """
        k = self.count(k)
        return where(k < 0, -float("inf"), times_log(k, 1.0 - self.probs) + log(self.probs))

    def log_prob(self, value: Any) -> Any:
        """As `log_pmf`.

        Args:
            value (int | Tensor): how many.
        """
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability of `k` failures or less.

        Args:
            k (int | Tensor): how many.

        Raises:
            ArgumentTypeError: `k` is of another type.
        """
        k = self.count(k)
        return where(k < 0, 0.0, 1.0 - (1.0 - self.probs) ** (k + 1.0))

    def count(self, k: Any) -> Any:
        """A number of failures as a tensor."""
        needs((int, np.integer, *HELD), "an integer or a Tensor", k=k)
        return alike(scalar(k, self.probs.dtype), self.probs)

    def sample(self, shape: Any = ()) -> Any:
        """Draws.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape`` and the dtype of `probs`.
        """
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any = ()) -> Any:
        """As `sample`, on the tape: whole numbers, whose gradients are 0.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return floor(log(open_unit(shape, self.probs)) / log1p(-self.probs))

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        failure = 1.0 - self.probs
        return -(times_log(failure, failure) + self.probs * log(self.probs)) / self.probs

    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Geometric): another geometric distribution.

        Raises:
            ArgumentTypeError: it is none.
        """
        needs((Geometric,), "another Geometric", other=other)
        failures = times_log(self.mean, (1.0 - self.probs) / (1.0 - other.probs))
        return log(self.probs / other.probs) + failures
