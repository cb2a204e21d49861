"""The normal distribution."""

import math
from typing import Any

from scull.distribution.distribution import Distribution, titled
from scull.distribution.parameter import alike, drawn_shape, lists, needs, stretched
from scull.tensor.function import exp, log
from scull.tensor.random import gaussian
from scull.tensor.size import integer


class Normal(Distribution):
    r"""The normal distribution of mean `loc` and standard deviation `scale`.

    .. math:: pdf(x) = \frac{1}{\sigma \sqrt{2 \pi}} e^{-\frac{(x - \mu)^2}{2 \sigma^2}}

    Args:
        loc (int | float | list | tuple | numpy.ndarray | Tensor): the mean.
        scale (int | float | list | tuple | numpy.ndarray | Tensor): the deviation, above 0.
        name (str, optional): what the distribution is called.

    Raises:
        ArgumentError: one of both is a tensor, the other is not; or they do not broadcast.
        ArgumentTypeError: one of them is of another type.

    Examples:
        >>> import scull as paddle
        >>> normal = paddle.distribution.Normal([0.0, 1.0], 2.0)
        >>> normal.sample([3]).shape
        [3, 2]
        >>> [round(p, 4) for p in normal.log_prob(paddle.to_tensor([0.0, 3.0])).tolist()]
        [-1.6121, -2.1121]
        >>> normal.kl_divergence(paddle.distribution.Normal([0.0, 1.0], 2.0)).tolist()
        [0.0, 0.0]
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = "Normal" if name is None else name
        self.loc, self.scale = lists(loc=loc, scale=scale)
        self.dtype = self.loc.dtype
        super().__init__(self.mean.shape)

    @property
    def mean(self) -> Any:
        """The mean: `loc`."""
        return stretched(self.loc, self.scale)

    @property
    def variance(self) -> Any:
        """The square of `scale`."""
        return stretched(self.scale * self.scale, self.loc)

    @titled
    def sample(self, shape: Any = (), seed: int = 0) -> Any:
        """Draws through which gradients reach `loc` and `scale`, as in Paddle.

        Args:
            shape (Sequence[int], optional): how many.
            seed (int): of these draws alone; 0 takes the generator's next numbers.

        Returns:
            Tensor: of shape ``shape + batch_shape`` and the dtype of the parameters.
        """
        sizes = drawn_shape(shape, self.mean)
        unit = gaussian(sizes, seed=integer(seed, "seed"), dtype=self.loc.dtype)
        return unit * self.scale + self.loc

    @titled
    def rsample(self, shape: Any = ()) -> Any:
        """As `sample`.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return self.sample(shape)

    @titled
    def entropy(self) -> Any:
        """How many nats a draw is worth on average.

        Returns:
            Tensor: ``log(scale) + log(2 π e) / 2`` of shape `batch_shape`.
        """
        return stretched(log(self.scale) + (0.5 * math.log(2 * math.pi) + 0.5), self.loc)

    @titled
    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (Tensor): where.
        """
        ratio = (alike(value, self.loc) - self.loc) / self.scale
        return -0.5 * ratio * ratio - log(self.scale) - 0.5 * math.log(2 * math.pi)

    @titled
    def probs(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): where.
        """
        return exp(self.log_prob(value))

    @titled
    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Normal): another normal distribution.
        """
        needs((Normal,), "another Normal", other=other)
        ratio = self.scale / other.scale
        shift = (self.loc - other.loc) / other.scale
        return 0.5 * (ratio * ratio + shift * shift) - 0.5 - log(ratio)
