"""The Laplace distribution."""

import math
from typing import Any

from scull.autograd import no_grad
from scull.distribution.distribution import Distribution
from scull.distribution.parameter import (
    REAL,
    alike,
    drawn_shape,
    needs,
    precision,
    scalar,
    scalars,
    stretched,
)
from scull.tensor.function import abs as size
from scull.tensor.function import exp, expm1, log, log1p, sign
from scull.tensor.random import uniform


class Laplace(Distribution):
    r"""The distribution whose density falls exponentially on both sides of `loc`.

    .. math:: pdf(x) = \frac{1}{2 b} e^{-\frac{|x - \mu|}{b}}

    Args:
        loc (int | float | Tensor): the mean.
        scale (int | float | Tensor): the mean distance from it, above 0.

    Raises:
        ArgumentTypeError: one of them is of another type.
        DtypeError: they are tensors of two element types and shapes.

    Examples:
        >>> import scull as paddle
        >>> laplace = paddle.distribution.Laplace(1.0, paddle.to_tensor([1.0, 2.0]))
        >>> laplace.sample([3]).shape
        [3, 2]
        >>> laplace.icdf(laplace.cdf(paddle.to_tensor(1.0))).tolist()
        [1.0, 1.0]
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = scalars(loc=loc, scale=scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """The mean: `loc`."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The standard deviation: ``sqrt(2) * scale``."""
        return stretched(self.scale * math.sqrt(2.0), self.loc)

    @property
    def variance(self) -> Any:
        """The square of the standard deviation."""
        return self.stddev * self.stddev

    def ratio(self, value: Any) -> Any:
        """How many scales `value`, a number or a tensor, is away from the mean."""
        if isinstance(value, REAL):
            value = scalar(value, self.loc.dtype)
        return (alike(value, self.loc) - self.loc) / self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (float | Tensor): where.
        """
        return -log(self.scale * 2.0) - size(self.ratio(value))

    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (float | Tensor): where.
        """
        return exp(self.log_prob(value))

    def cdf(self, value: Any) -> Any:
        """The probability of a draw up to `value`.

        Args:
            value (float | Tensor): where.
        """
        ratio = self.ratio(value)
        return 0.5 - 0.5 * sign(ratio) * expm1(-size(ratio))

    def icdf(self, value: Any) -> Any:
        """Up to where draws have the probability `value`.

        Args:
            value (float | Tensor): from 0 to 1.
        """
        if isinstance(value, REAL):
            value = scalar(value, self.loc.dtype)
        term = alike(value, self.loc) - 0.5
        return self.loc - self.scale * sign(term) * log1p(-2.0 * size(term))

    def entropy(self) -> Any:
        """How many nats a draw is worth on average: ``1 + log(2 scale)``."""
        return stretched(log(self.scale * 2.0) + 1.0, self.loc)

    def sample(self, shape: Any = ()) -> Any:
        """Draws.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape``.
        """
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: Any) -> Any:
        """Draws through which gradients reach the parameters.

        Args:
            shape (Sequence[int]): how many.
        """
        kind = self.loc.dtype
        least = float(precision(kind).eps) - 1.0
        unit = uniform(drawn_shape(shape, self.loc), kind, min=least, max=1.0)
        return self.loc - self.scale * sign(unit) * log1p(-size(unit))

    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Laplace): another Laplace distribution.
        """
        needs((Laplace,), "another Laplace", other=other)
        ratio, shift = self.scale / other.scale, size(self.loc - other.loc)
        return ratio * exp(-shift / self.scale) + shift / other.scale - log(ratio) - 1.0
