"""What every distribution has."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from scull.core import session
from scull.core.interpreter import current
from scull.distribution.parameter import alike, lists, needs
from scull.distribution.parameter import sample_shape as sizes_of
from scull.errors import UnsupportedError
from scull.ir.variable import Variable
from scull.nn.functional.activation import softmax
from scull.tensor.function import exp, log, log1p, sigmoid


class Distribution:
    """The base class of distributions.

    A draw has the shape ``batch_shape + event_shape``: the events of a batch are independent, what
    is within one may not be.

    Args:
        batch_shape (Sequence[int], optional): the shape of the distributions side by side.
        event_shape (Sequence[int], optional): the shape of a single draw from one of them.

    Raises:
        ArgumentTypeError: a shape is no sequence.

    Examples:
        >>> import scull as paddle
        >>> normal = paddle.distribution.Normal([0.0, 1.0], 2.0)
        >>> normal.batch_shape, normal.event_shape, normal.sample([3]).shape
        ((2,), (), [3, 2])
    """

    def __init__(self, batch_shape: Any = (), event_shape: Any = ()) -> None:
        needs((Iterable,), "a sequence", batch_shape=batch_shape, event_shape=event_shape)
        self._batch_shape = tuple(batch_shape)
        self._event_shape = tuple(event_shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the distributions side by side."""
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of a single draw from one distribution."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """What draws are on average."""
        raise self.without("mean")

    @property
    def variance(self) -> Any:
        """The average square of the distance from the mean."""
        raise self.without("variance")

    def sample(self, shape: Any = ()) -> Any:
        """As many draws as `shape` says."""
        raise self.without("sample")

    def rsample(self, shape: Any = ()) -> Any:
        """Draws through which gradients reach the parameters."""
        raise self.without("rsample")

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        raise self.without("entropy")

    def kl_divergence(self, other: Any) -> Any:
        """How many more nats draws cost that are coded as those of `other`."""
        raise self.without("kl_divergence")

    def prob(self, value: Any) -> Any:
        """The probability of `value`, or its density."""
        return exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of `value`, or of its density."""
        raise self.without("log_prob")

    def probs(self, value: Any) -> Any:
        """The older name of `prob`, which some distributions have."""
        raise self.without("probs")

    def without(self, name: str) -> UnsupportedError:
        """What is raised for a quantity that this distribution does not have."""
        return UnsupportedError(f"{type(self).__name__} has no `{name}`")

    def _extend_shape(self, sample_shape: Any) -> tuple[int, ...]:
        """The shape of a sample."""
        return (*sizes_of(sample_shape), *self._batch_shape, *self._event_shape)

    def _validate_args(self, *args: Any) -> bool:
        """Whether tensors are given; refused where only some are tensors."""
        given = {str(i): value for i, value in enumerate(args)}
        return all(made is value for made, value in zip(lists(**given), args, strict=True))

    def _to_tensor(self, *args: Any) -> tuple[Any, ...]:
        """Numbers, lists and arrays as tensors of one shape and element type."""
        return tuple(lists(**{str(i): value for i, value in enumerate(args)}))

    def _check_values_dtype_in_probs(self, param: Any, value: Any) -> Any:
        """`value` in the element type of a parameter."""
        return alike(value, param)

    def _probs_to_logits(self, probs: Any, is_binary: bool = False) -> Any:
        """Logarithms of probabilities, or of the odds where there are two outcomes."""
        return log(probs) - log1p(-probs) if is_binary else log(probs)

    def _logits_to_probs(self, logits: Any, is_binary: bool = False) -> Any:
        """Probabilities from their logarithms up to a sum, or from the odds'."""
        return sigmoid(logits) if is_binary else softmax(logits, axis=-1)


def titled(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose result in a Program is called after the `name` of the distribution and it."""

    @functools.wraps(method)
    def made(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, *args, **kwargs)
        mode: Any = current()
        if isinstance(found, Variable) and not mode.captures:
            name = session.unique_name(f"{self.name}_{method.__name__}.tmp")
            found.block._rename_var(found.name, name)
        return found

    return made
