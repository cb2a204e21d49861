"""The beta distribution."""

from typing import Any

from scull.distribution.dirichlet import Dirichlet
from scull.distribution.exponential_family import ExponentialFamily
from scull.distribution.parameter import needs_tensors, scalars, times_log
from scull.tensor.function import exp
from scull.tensor.join import stack, unbind
from scull.tensor.special import lgamma


class Beta(ExponentialFamily):
    r"""The distribution of one of two shares of a whole.

    .. math:: pdf(x) = \frac{x^{\alpha - 1} (1 - x)^{\beta - 1}}{B(\alpha, \beta)}

    Args:
        alpha (int | float | Tensor): the parameter α, above 0.
        beta (int | float | Tensor): the parameter β, above 0.

    Raises:
        ArgumentTypeError: one of them is of another type.
        DtypeError: they are tensors of two element types and shapes.

    Examples:
        >>> import scull as paddle
        >>> beta = paddle.distribution.Beta(2.0, paddle.to_tensor([2.0, 6.0]))
        >>> beta.mean.tolist()
        [0.5, 0.25]
        >>> beta.sample([3]).shape
        [3, 2]
        >>> [round(p, 4) for p in beta.prob(paddle.to_tensor(0.5)).tolist()]
        [1.5, 0.6563]
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = scalars(alpha=alpha, beta=beta)
        self._dirichlet = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(self._dirichlet.batch_shape)

    @property
    def mean(self) -> Any:
        """The part that `alpha` has of both parameters."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        """The average square of the distance from the mean."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (total * total * (total + 1.0))

    def prob(self, value: Any) -> Any:
        """The density at `value`.

        Args:
            value (Tensor): from 0 to 1.
        """
        return exp(self.log_prob(value))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at `value`.

        Args:
            value (Tensor): from 0 to 1.
        """
        needs_tensors(value=value)
        parts = times_log(self.alpha - 1.0, value) + times_log(self.beta - 1.0, 1.0 - value)
        return parts - self._log_normalizer(self.alpha, self.beta)

    def sample(self, shape: Any = ()) -> Any:
        """Draws between 0 and 1.

        Args:
            shape (Sequence[int], optional): how many.

        Returns:
            Tensor: of shape ``shape + batch_shape``.
        """
        return unbind(self._dirichlet.sample(shape), -1)[0]

    def entropy(self) -> Any:
        """How many nats a draw is worth on average."""
        return self._dirichlet.entropy()

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (self.alpha, self.beta)

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return lgamma(x) + lgamma(y) - lgamma(x + y)
