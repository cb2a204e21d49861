"""The uniform distribution."""

from typing import Any

from scull.distribution.distribution import Distribution, titled
from scull.distribution.parameter import alike, drawn_shape, lists, needs, stretched
from scull.ops.compare import where
from scull.ops.logic import logical_and
from scull.tensor.function import exp, log
from scull.tensor.random import uniform
from scull.tensor.size import integer


class Uniform(Distribution):
    r"""The distribution of numbers from `low` to `high`, all equally likely.

    .. math:: pdf(x) = \frac{1}{high - low}, \quad low < x < high

    Args:
        low (int | float | list | tuple | numpy.ndarray | Tensor): the lower bound.
        high (int | float | list | tuple | numpy.ndarray | Tensor): the upper bound, above `low`.
        name (str, optional): what the distribution is called.

    Raises:
        ArgumentError: one of both is a tensor, the other is not; or they do not broadcast.
        ArgumentTypeError: one of them is of another type.

    Examples:
        >>> import scull as paddle
        >>> uniform = paddle.distribution.Uniform(0.0, [2.0, 4.0])
        >>> uniform.sample([3]).shape
        [3, 2]
        >>> uniform.probs(paddle.to_tensor([1.0, 5.0])).tolist()
        [0.5, 0.0]
    """

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.name = "Uniform" if name is None else name
        self.low, self.high = lists(low=low, high=high)
        self.dtype = self.low.dtype
        super().__init__(stretched(self.low, self.high).shape)

    @property
    def mean(self) -> Any:
        """The middle."""
        return (self.low + self.high) * 0.5

    @property
    def variance(self) -> Any:
        """A twelfth of the square of the width."""
        width = self.high - self.low
        return width * width / 12.0

    @titled
    def sample(self, shape: Any = (), seed: int = 0) -> Any:
        """Draws through which gradients reach `low` and `high`, as in Paddle.

        Args:
            shape (Sequence[int]): how many.
            seed (int): of these draws alone; 0 takes the generator's next numbers.

        Returns:
            Tensor: of shape ``shape + batch_shape`` and the dtype of the parameters.
        """
        sizes = drawn_shape(shape, stretched(self.low, self.high))
        unit = uniform(sizes, self.low.dtype, min=0.0, max=1.0, seed=integer(seed, "seed"))
        return unit * (self.high - self.low) + self.low

    @titled
    def rsample(self, shape: Any = ()) -> Any:
        """As `sample`.

        Args:
            shape (Sequence[int], optional): how many.
        """
        return self.sample(shape)

    @titled
    def entropy(self) -> Any:
        """How many nats a draw is worth on average: ``log(high - low)``."""
        return log(self.high - self.low)

    @titled
    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`, minus infinity outside and on the bounds.

        Args:
            value (Tensor): where.
        """
        value = alike(value, self.low)
        inside = logical_and(value > self.low, value < self.high)
        return where(inside, -log(self.high - self.low), -float("inf"))

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
            other (Uniform): another uniform distribution.

        Returns:
            Tensor: infinite where `other` cannot draw everything that this one can.
        """
        needs((Uniform,), "another Uniform", other=other)
        inside = logical_and(other.low <= self.low, other.high >= self.high)
        return where(inside, log((other.high - other.low) / (self.high - self.low)), float("inf"))
