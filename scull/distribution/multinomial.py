"""The multinomial distribution."""

from typing import Any

from scull.autograd import no_grad
from scull.distribution.categorical import Categorical
from scull.distribution.distribution import Distribution
from scull.distribution.parameter import drawn_shape, needs_tensors, sample_shape, times_log
from scull.errors import ArgumentError, ShapeError
from scull.ops.pick import put_along_axis
from scull.ops.promotion import cast_to
from scull.tensor.creation import arange, full, ones_like
from scull.tensor.function import exp, log
from scull.tensor.manipulation import moveaxis, reshape
from scull.tensor.reduction import sum as summed
from scull.tensor.special import lgamma


class Multinomial(Distribution):
    r"""The distribution of how often each category comes up in several draws.

    .. math:: P(x) = \frac{n!}{x_1! \cdots x_k!} p_1^{x_1} \cdots p_k^{x_k}

    Args:
        total_count (int): how many draws, 1 or more.
        probs (Tensor): along the last axis the weights of the categories, of any sum.

    Raises:
        ArgumentError: `total_count` is no integer above 0.
        ArgumentTypeError: `probs` is no tensor.
        ShapeError: `probs` has no axis.

    Examples:
        >>> import scull as paddle
        >>> votes = paddle.distribution.Multinomial(10, paddle.to_tensor([1.0, 3.0]))
        >>> votes.mean.tolist()
        [2.5, 7.5]
        >>> votes.sample([2]).sum(-1).tolist()
        [10.0, 10.0]
    """

    def __init__(self, total_count: int, probs: Any) -> None:
        if isinstance(total_count, bool) or not isinstance(total_count, int) or total_count < 1:
            raise ArgumentError(f"`total_count` is an integer above 0, not {total_count!r:.60}")
        needs_tensors(probs=probs)
        if not probs.shape:
            raise ShapeError("`probs` has no axis; the last holds the weights of categories")
        self.total_count = total_count
        self.probs: Any = probs / summed(probs, -1, keepdim=True)
        self._categorical = Categorical(log(self.probs))
        super().__init__(probs.shape[:-1], probs.shape[-1:])

    @property
    def mean(self) -> Any:
        """``total_count * probs``."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """``total_count * probs * (1 - probs)``."""
        return self.probs * (1.0 - self.probs) * self.total_count

    def prob(self, value: Any) -> Any:
        """The probability of `value`.

        Args:
            value (Tensor): how often each category came up.
        """
        return exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of `value`.

        Args:
            value (Tensor): how often each category came up; its sum is the number of draws.
        """
        needs_tensors(value=value)
        value = cast_to(value, self.probs.dtype)
        orders = lgamma(summed(value, -1) + 1.0) - summed(lgamma(value + 1.0), -1)
        return orders + summed(times_log(value, self.probs), -1)

    def sample(self, shape: Any = ()) -> Any:
        """Draws of counts.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape + event_shape`` and the dtype of `probs`.
        """
        drawn = self._categorical.sample([self.total_count, *sample_shape(shape)])
        with no_grad():
            places = moveaxis(drawn, 0, -1)
            none = full(drawn_shape(shape, self.probs), 0.0, self.probs.dtype)
            ones = ones_like(places, dtype=self.probs.dtype)
            return put_along_axis(none, places, ones, axis=len(places.shape) - 1, reduce="add")

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        count, kind = float(self.total_count), self.probs.dtype
        counts = cast_to(arange(1, self.total_count + 1), kind)
        counts = reshape(counts, [-1] + [1] * len(self.probs.shape))
        rest = count - counts
        orders = lgamma(ones_like(counts) * (count + 1.0)) - lgamma(counts + 1.0)
        chance = times_log(counts, self.probs) + times_log(rest, 1.0 - self.probs)
        binomial = exp(orders - lgamma(rest + 1.0) + chance)
        surprise = summed(binomial * lgamma(counts + 1.0), [0, -1])
        own = -summed(times_log(self.probs, self.probs), -1)
        return count * own - lgamma(full((), count + 1.0, kind)) + surprise
