"""The Cauchy distribution."""

import math
from typing import Any

from scull.autograd import no_grad
from scull.distribution.distribution import Distribution, titled
from scull.distribution.parameter import alike, needs, open_unit, scalars, stretched
from scull.errors import ArgumentError
from scull.ops.trigonometry import atan, tan
from scull.tensor.function import exp, log, log1p


class Cauchy(Distribution):
    r"""The distribution of the ratio of two normal numbers, stretched and moved.

    .. math:: pdf(x) = \frac{1}{\pi \gamma (1 + (\frac{x - x_0}{\gamma})^2)}

    It has neither mean nor variance.

    Args:
        loc (int | float | Tensor): the middle.
        scale (int | float | Tensor): half of the width at half of the height, above 0.
        name (str, optional): what the distribution is called.

    Raises:
        ArgumentTypeError: one of them is of another type.
        DtypeError: they are tensors of two element types and shapes.

    Examples:
        >>> import scull as paddle
        >>> cauchy = paddle.distribution.Cauchy(1.0, paddle.to_tensor([1.0, 2.0]))
        >>> cauchy.sample([3]).shape
        [3, 2]
        >>> cauchy.cdf(paddle.to_tensor(1.0)).tolist()
        [0.5, 0.5]
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = "Cauchy" if name is None else name
        self.loc, self.scale = scalars(loc=loc, scale=scale)
        self.dtype = self.loc.dtype
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        """Refused: the average of draws does not settle."""
        raise ArgumentError("Cauchy distribution has no mean.")

    @property
    def variance(self) -> Any:
        """Refused: there is no mean."""
        raise ArgumentError("Cauchy distribution has no variance.")

    @property
    def stddev(self) -> Any:
        """Refused: there is no mean."""
        raise ArgumentError("Cauchy distribution has no stddev.")

    @titled
    def sample(self, shape: Any, name: str | None = None) -> Any:
        """Draws.

        Args:
            shape (Sequence[int]): how many.
            name (str, optional): of no effect.

        Returns:
            Tensor: of shape ``shape + batch_shape``.
        """
        with no_grad():
            return self.rsample(shape)

    @titled
    def rsample(self, shape: Any, name: str | None = None) -> Any:
        """Draws through which gradients reach the parameters.

        Args:
            shape (Sequence[int]): how many.
            name (str, optional): of no effect.
        """
        unit = open_unit(shape, self.loc)
        return self.loc + self.scale * tan(math.pi * (unit - 0.5))

    @titled
    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): where.
        """
        return exp(self.log_prob(value))

    @titled
    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (Tensor): where.
        """
        ratio = self.ratio(value)
        return -math.log(math.pi) - log(self.scale) - log1p(ratio * ratio)

    @titled
    def cdf(self, value: Any) -> Any:
        """The probability of a draw up to `value`.

        Args:
            value (Tensor): where.
        """
        return atan(self.ratio(value)) / math.pi + 0.5

    def ratio(self, value: Any) -> Any:
        """How many widths `value` is away from the middle."""
        return (alike(value, self.loc) - self.loc) / self.scale

    @titled
    def entropy(self) -> Any:
        """How many nats a draw is worth on average: ``log(4 π scale)``."""
        return stretched(log(self.scale) + math.log(4 * math.pi), self.loc)

    @titled
    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Cauchy): another Cauchy distribution.

        Raises:
            ArgumentTypeError: it is none.
        """
        needs((Cauchy,), "another Cauchy", other=other)
        widths, shift = self.scale + other.scale, self.loc - other.loc
        return log((widths * widths + shift * shift) / (4.0 * self.scale * other.scale))
