"""The Gumbel distribution."""

import math
from typing import Any

import numpy as np

from scull.autograd import no_grad
from scull.distribution.parameter import (
    REAL,
    needs_tensors,
    open_unit,
    scalar,
    scalars,
    stretched,
)
from scull.distribution.transformed_distribution import TransformedDistribution
from scull.distribution.uniform import Uniform
from scull.tensor.creation import ones_like, zeros_like
from scull.tensor.function import exp, log, sqrt


class Gumbel(TransformedDistribution):
    r"""The distribution of the greatest of many numbers.

    .. math:: pdf(x) = \frac{1}{\beta} e^{-z - e^{-z}}, \quad z = \frac{x - \mu}{\beta}

    Args:
        loc (int | float | Tensor): where the density is the greatest.
        scale (int | float | Tensor): by how much it is stretched, above 0.

    Raises:
        ArgumentTypeError: one of them is of another type.
        DtypeError: they are tensors of two element types and shapes.

    Examples:
        >>> import scull as paddle
        >>> gumbel = paddle.distribution.Gumbel(1.0, paddle.to_tensor([1.0, 2.0]))
        >>> gumbel.sample([3]).shape
        [3, 2]
        >>> [round(p, 4) for p in gumbel.cdf(paddle.to_tensor(1.0)).tolist()]
        [0.3679, 0.3679]
    """

    def __init__(self, loc: Any, scale: Any) -> None:
        self.loc, self.scale = scalars(loc=loc, scale=scale)
        super().__init__(Uniform(zeros_like(self.loc), ones_like(self.loc)), [])

    @property
    def mean(self) -> Any:
        """The mean: ``loc + scale * γ``, with Euler's constant."""
        return self.loc + self.scale * np.euler_gamma

    @property
    def variance(self) -> Any:
        """The variance: ``(scale * π) ** 2 / 6``."""
        return stretched(self.scale * self.scale * (math.pi**2 / 6), self.loc)

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return sqrt(self.variance)

    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (float | Tensor): where.
        """
        return exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (float | Tensor): where.
        """
        ratio = self.ratio(value)
        return -ratio - exp(-ratio) - log(self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of a draw up to `value`.

        Args:
            value (float | Tensor): where.
        """
        return exp(-exp(-self.ratio(value)))

    def ratio(self, value: Any) -> Any:
        """How many scales `value`, a number or a tensor, is away from `loc`."""
        if isinstance(value, REAL):
            value = scalar(value, self.loc.dtype)
        needs_tensors(value=value)
        return (value - self.loc) / self.scale

    def entropy(self) -> Any:
        """How many nats a draw is worth on average: ``log(scale) + 1 + γ``."""
        return stretched(log(self.scale) + (1 + np.euler_gamma), self.loc)

    def sample(self, shape: Any) -> Any:
        """Draws.

        Args:
            shape (Sequence[int]): how many.

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
        return self.loc - self.scale * log(-log(open_unit(shape, self.loc)))
