"""The log-normal distribution."""

from typing import Any

from scull.distribution.normal import Normal
from scull.distribution.parameter import needs
from scull.distribution.transform import ExpTransform
from scull.distribution.transformed_distribution import TransformedDistribution
from scull.tensor.function import exp, expm1


class LogNormal(TransformedDistribution):
    r"""The distribution of numbers whose logarithms are normal.

    .. math:: pdf(x) = \frac{1}{x \sigma \sqrt{2 \pi}} e^{-\frac{(\log x - \mu)^2}{2 \sigma^2}}

    Args:
        loc (int | float | list | tuple | numpy.ndarray | Tensor): the mean of the logarithms.
        scale (int | float | list | tuple | numpy.ndarray | Tensor): their deviation, above 0.

    Raises:
        ArgumentError: one of both is a tensor, the other is not; or they do not broadcast.
        ArgumentTypeError: one of them is of another type.

    Examples:
        >>> import scull as paddle
        >>> wages = paddle.distribution.LogNormal([0.0, 1.0], 1.0)
        >>> wages.sample([3]).shape
        [3, 2]
        >>> [round(m, 4) for m in wages.mean.tolist()]
        [1.6487, 4.4817]
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        normal = Normal(loc, scale)
        self.loc, self.scale = normal.loc, normal.scale
        super().__init__(normal, [ExpTransform()])

    @property
    def mean(self) -> Any:
        """The mean: ``exp(loc + scale ** 2 / 2)``."""
        return exp(self.loc + self.scale * self.scale * 0.5)

    @property
    def variance(self) -> Any:
        """The average square of the distance from the mean."""
        square = self.scale * self.scale
        return expm1(square) * exp(self.loc * 2.0 + square)

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        return self._base.entropy() + self.loc

    def probs(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): where.
        """
        return self.prob(value)

    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (LogNormal): another log-normal distribution.
        """
        needs((LogNormal,), "another LogNormal", other=other)
        return self._base.kl_divergence(other._base)
