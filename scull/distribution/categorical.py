"""The categorical distribution."""

import math
from typing import Any

import numpy as np

from scull.autograd import no_grad
from scull.distribution.distribution import Distribution, titled
from scull.distribution.parameter import (
    HELD,
    drawn_shape,
    lists,
    needs,
    needs_tensors,
    sample_shape,
)
from scull.errors import ShapeError, UnsupportedError
from scull.ir.variable import Variable
from scull.nn.functional.activation import log_softmax, softmax
from scull.ops.promotion import cast_to
from scull.tensor.function import exp, log
from scull.tensor.join import gather, take_along_axis
from scull.tensor.manipulation import expand, reshape, transpose
from scull.tensor.random import multinomial
from scull.tensor.reduction import sum as summed


class Categorical(Distribution):
    r"""The distribution of one of several categories, numbered from 0 on.

    As in Paddle, the parameters mean two things. `sample`, `entropy` and `kl_divergence` take them
    for logarithms: a category has the probability ``softmax(logits)``. `probs` and `log_prob` take
    them for weights: it has the probability ``logits / sum(logits)``.

    Args:
        logits (list | tuple | numpy.ndarray | Tensor): along the last axis, a number each category.
        name (str, optional): what the distribution is called.

    Raises:
        ArgumentTypeError: `logits` are of another type.
        ShapeError: `logits` have no axis.

    Examples:
        >>> import scull as paddle
        >>> dice = paddle.distribution.Categorical([1.0, 1.0, 2.0])
        >>> dice.probs(paddle.to_tensor([2, 0])).tolist()
        [0.5, 0.25]
        >>> dice.sample([4]).shape
        [4]
        >>> round(paddle.distribution.Categorical([0.0, 0.0]).entropy().item(), 4)
        0.6931
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        needs((list, tuple, np.ndarray, *HELD), "a list, an array or a Tensor", logits=logits)
        self.name = "Categorical" if name is None else name
        (given,) = lists(logits=logits)
        self.logits = given if given.dtype.is_float else cast_to(given, "float32")
        if not self.logits.shape:
            raise ShapeError("`logits` has no axis; the last holds a number for each category")
        self.dtype = self.logits.dtype
        self._prob = self.logits / summed(self.logits, -1, keepdim=True)
        super().__init__(self.logits.shape[:-1])

    @titled
    def sample(self, shape: Any = ()) -> Any:
        """Draws of categories.

        Args:
            shape (Sequence[int]): how many.

        Returns:
            Tensor: int64 of shape ``shape + batch_shape``.
        """
        sizes = drawn_shape(shape, self.logits)
        weights = reshape(softmax(self.logits, axis=-1), [-1, sizes[-1]])
        with no_grad():
            drawn = multinomial(weights, count_of(shape), replacement=True)
            return reshape(transpose(drawn, [1, 0]), sizes[:-1])

    @titled
    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        logits = log_softmax(self.logits, axis=-1)
        return -summed(exp(logits) * logits, -1)

    @titled
    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`.

        Args:
            other (Categorical): another categorical distribution.

        Returns:
            Tensor: of shape ``batch_shape + [1]``.
        """
        needs((Categorical,), "another Categorical", other=other)
        own = log_softmax(self.logits, axis=-1)
        surplus = own - log_softmax(other.logits, axis=-1)
        return summed(softmax(self.logits, axis=-1) * surplus, -1, keepdim=True)

    @titled
    def probs(self, value: Any) -> Any:
        """The part that weights of categories have of their sum.

        Args:
            value (Tensor): int32 or int64, the categories. Where `logits` have several axes, either
                one axis of them for all distributions, or as many axes as `logits`.

        Returns:
            Tensor: of the shape of `value`, after `batch_shape` where it has one axis for all.

        Raises:
            RangeError: there is no such category.
        """
        needs_tensors(value=value)
        if len(self.logits.shape) == 1:
            flat = gather(self._prob, reshape(value, [-1]))
            return reshape(flat, drawn_shape((), value))
        if len(value.shape) == 1:
            value = expand(value, drawn_shape(self.logits.shape[:-1], value))
        return take_along_axis(self._prob, value, -1)

    @titled
    def log_prob(self, value: Any) -> Any:
        """The logarithms of `probs`.

        Args:
            value (Tensor): int32 or int64, the categories.
        """
        return log(self.probs(value))


def count_of(shape: Any) -> int:
    """How many draws a sample shape of known sizes means."""
    sizes = sample_shape(shape)
    if any(isinstance(n, Variable) for n in sizes):
        raise UnsupportedError("how many categories are drawn is known when a Program is built")
    return math.prod(sizes)
