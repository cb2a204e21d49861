"""The Bernoulli distribution."""

from typing import Any

import numpy as np

from scull.autograd import no_grad
from scull.core.tensor import Tensor
from scull.distribution.distribution import titled
from scull.distribution.exponential_family import ExponentialFamily
from scull.distribution.parameter import (
    HELD,
    alike,
    drawn_shape,
    kept_within,
    lists,
    needs,
    precision,
    repeated,
    scalar,
)
from scull.errors import ArgumentError
from scull.ops.compare import where
from scull.ops.shrink import logsigmoid
from scull.tensor.function import exp, log, log1p, sigmoid
from scull.tensor.random import bernoulli, uniform
from scull.tensor.size import number


class Bernoulli(ExponentialFamily):
    r"""The distribution of 1 with the probability `probs`, and 0 otherwise.

    .. math:: P(x) = p^x (1 - p)^{1 - x}

    A probability is kept so far from 0 and 1 that its logarithms are finite.

    Args:
        probs (float | list | tuple | numpy.ndarray | Tensor): the probability of 1.
        name (str, optional): what the distribution is called.

    Raises:
        ArgumentError: a probability lies outside [0, 1]; in a Program nobody looks.
        ArgumentTypeError: `probs` is of another type.

    Examples:
        >>> import scull as paddle
        >>> coin = paddle.distribution.Bernoulli(0.25)
        >>> coin.mean.item(), coin.variance.item()
        (0.25, 0.1875)
        >>> coin.sample([3]).shape
        [3]
        >>> coin.cdf(paddle.to_tensor([-1.0, 0.0, 1.0])).tolist()
        [0.0, 0.75, 1.0]
    """

    def __init__(self, probs: Any, name: str | None = None) -> None:
        kinds = (float, list, tuple, np.ndarray, *HELD)
        needs(kinds, "a float, a list, an array or a Tensor", probs=probs)
        self.name = "Bernoulli" if name is None else name
        (given,) = [scalar(probs)] if isinstance(probs, float) else lists(probs=probs)
        needs_chances(given)
        margin = float(precision(given.dtype).eps)
        self.probs: Any = kept_within(given, margin, 1 - margin)
        self.logits = self._probs_to_logits(self.probs, is_binary=True)
        self.dtype = given.dtype
        super().__init__(given.shape)

    @property
    def mean(self) -> Any:
        """The mean: `probs`."""
        return self.probs

    @property
    def variance(self) -> Any:
        """``probs * (1 - probs)``."""
        return self.probs * (1.0 - self.probs)

    @titled
    def sample(self, shape: Any = ()) -> Any:
        """Draws of 0 and 1.

        Args:
            shape (Sequence[int]): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape`` and the dtype of `probs`.
        """
        with no_grad():
            return bernoulli(repeated(self.probs, shape))

    @titled
    def rsample(self, shape: Any = (), temperature: float = 1.0) -> Any:
        """Draws whose `sigmoid` is close to 0 or 1, through which gradients reach `probs`.

        Args:
            shape (Sequence[int]): how many.
            temperature (float): the lower it is, the closer they are.

        Returns:
            Tensor: of shape ``shape + batch_shape``: logarithms of odds.
        """
        heat = number(temperature, "temperature")
        margin = float(precision(self.probs.dtype).eps)
        sizes = drawn_shape(shape, self.probs)
        unit = uniform(sizes, self.probs.dtype, min=margin, max=1 - margin)
        return (self.logits + log(unit) - log1p(-unit)) / scalar(heat, self.probs.dtype)

    @titled
    def cdf(self, value: Any) -> Any:
        """The probability of a draw up to `value`.

        Args:
            value (Tensor): where.
        """
        value = alike(value, self.probs)
        return where(value < 0, 0.0, where(value < 1, 1.0 - self.probs, 1.0))

    @titled
    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of `value`.

        Args:
            value (Tensor): 0 or 1; a number between them weighs both logarithms.
        """
        value = alike(value, self.probs)
        return value * self.logits + logsigmoid(-self.logits)

    @titled
    def prob(self, value: Any) -> Any:
        """The probability of `value`.

        Args:
            value (Tensor): 0 or 1.
        """
        return exp(self.log_prob(value))

    @titled
    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        return -logsigmoid(-self.logits) - self.probs * self.logits

    @titled
    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Bernoulli): another Bernoulli distribution.
        """
        needs((Bernoulli,), "another Bernoulli", other=other)
        surplus = sigmoid(self.logits) * (self.logits - other.logits)
        return surplus + logsigmoid(-self.logits) - logsigmoid(-other.logits)


def needs_chances(probs: Any) -> None:
    """Refuse probabilities outside [0, 1], where they are known."""
    if isinstance(probs, Tensor) and not ((probs.array >= 0) & (probs.array <= 1)).all():
        raise ArgumentError("a probability in `probs` lies outside [0, 1]")
