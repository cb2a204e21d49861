"""Distributions whose logarithm is a product of parameters and statistics."""

from typing import Any

from scull.autograd import grad
from scull.distribution.distribution import Distribution
from scull.distribution.parameter import rightmost_sum
from scull.ir.variable import Variable
from scull.ops.create import assign
from scull.static.backward import gradients


class ExponentialFamily(Distribution):
    r"""The base class of distributions of the form ``exp(<t(x), θ> - F(θ) + k(x))``.

    A class of this family says `_natural_parameters` (a tuple of θ), `_log_normalizer` (F of them)
    and `_mean_carrier_measure` (the average of k); entropy and divergence follow from these.

    Examples:
        >>> import scull as paddle
        >>> class Exponential(paddle.distribution.ExponentialFamily):
        ...     _natural_parameters = (paddle.to_tensor([-1.0, -2.0]),)
        ...     _mean_carrier_measure = 0
        ...     def _log_normalizer(self, x):
        ...         return -paddle.log(-x)
        >>> [round(nats, 4) for nats in Exponential([2]).entropy().tolist()]
        [1.0, 0.3069]
    """

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        """The parameters θ."""
        raise self.without("_natural_parameters")

    def _log_normalizer(self, *parameters: Any) -> Any:
        """F of the parameters: what makes the probabilities add up to 1."""
        raise self.without("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The average of k, which depends on the draw alone."""
        raise self.without("_mean_carrier_measure")

    def entropy(self) -> Any:
        """How many nats a draw is worth on average.

        Returns:
            Tensor: F(θ) - <θ, F'(θ)>, less the average of k, a number for each distribution.
        """
        carrier = self._mean_carrier_measure
        parameters, normalizer, slopes = tangent(self)
        total = normalizer - carrier
        for one, slope in zip(parameters, slopes, strict=True):
            total = total - over_events(one * slope, total)
        return total


def tangent(distribution: ExponentialFamily) -> tuple[list[Any], Any, list[Any]]:
    """The parameters of a distribution, its normalizer F there, and the slopes of F."""
    parameters = [open_to_gradients(one) for one in distribution._natural_parameters]
    normalizer = distribution._log_normalizer(*parameters)
    if isinstance(normalizer, Variable):
        return parameters, normalizer, gradients(normalizer, parameters)
    return parameters, normalizer, grad(normalizer, parameters, create_graph=True)


def open_to_gradients(x: Any) -> Any:
    """`x`, or a copy of what gradients stop at."""
    if not x.stop_gradient:
        return x
    copy = assign(x)
    copy.stop_gradient = False
    return copy


def over_events(x: Any, beside: Any) -> Any:
    """The sums over the axes that `beside` does not have."""
    return rightmost_sum(x, len(x.shape) - len(beside.shape))
