"""The Dirichlet distribution."""

from typing import Any

from scull.autograd import no_grad
from scull.distribution.exponential_family import ExponentialFamily
from scull.distribution.parameter import needs_tensors, repeated, times_log
from scull.errors import ShapeError
from scull.ops.sampling import dirichlet
from scull.tensor.function import exp
from scull.tensor.reduction import sum as summed
from scull.tensor.special import digamma, lgamma


class Dirichlet(ExponentialFamily):
    r"""The distribution of shares of a whole.

    .. math::
        pdf(x) = \frac{\Gamma(\sum_i \alpha_i)}{\prod_i \Gamma(\alpha_i)} \prod_i x_i^{\alpha_i - 1}

    Args:
        concentration (Tensor): the parameters α, above 0, along the last axis.

    Raises:
        ArgumentTypeError: `concentration` is no tensor.
        ShapeError: it has no axis.

    Examples:
        >>> import scull as paddle
        >>> shares = paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0]))
        >>> shares.mean.tolist()
        [0.25, 0.75]
        >>> round(shares.sample([5]).sum(-1).mean().item(), 4)
        1.0
    """

    def __init__(self, concentration: Any) -> None:
        needs_tensors(concentration=concentration)
        if not concentration.shape:
            raise ShapeError("`concentration` has no axis; the last holds the shares of a whole")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mean(self) -> Any:
        """The parts that parameters have of their sum."""
        return self.concentration / summed(self.concentration, -1, keepdim=True)

    @property
    def variance(self) -> Any:
        """The average square of the distance of shares from the mean."""
        total = summed(self.concentration, -1, keepdim=True)
        return self.mean * (1.0 - self.mean) / (total + 1.0)

    def sample(self, shape: Any = ()) -> Any:
        """Draws of shares.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape + event_shape``, 1 in sum over the last axis.
        """
        with no_grad():
            return dirichlet(repeated(self.concentration, shape))

    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): shares.
        """
        return exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (Tensor): shares, 1 in sum over the last axis, which nobody verifies.
        """
        needs_tensors(value=value)
        parts = times_log(self.concentration - 1.0, value)
        return summed(parts, -1) - self._log_normalizer(self.concentration)

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        concentration = self.concentration
        total, count = summed(concentration, -1), summed(concentration * 0.0 + 1.0, -1)
        parts = summed((concentration - 1.0) * digamma(concentration), -1)
        return self._log_normalizer(concentration) + (total - count) * digamma(total) - parts

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return summed(lgamma(x), -1) - lgamma(summed(x, -1))
