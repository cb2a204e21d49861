"""The divergence of distributions, by the classes of both."""

from collections.abc import Callable
from typing import Any

from scull.distribution.bernoulli import Bernoulli
from scull.distribution.beta import Beta
from scull.distribution.categorical import Categorical
from scull.distribution.cauchy import Cauchy
from scull.distribution.dirichlet import Dirichlet
from scull.distribution.distribution import Distribution
from scull.distribution.exponential_family import ExponentialFamily, over_events, tangent
from scull.distribution.geometric import Geometric
from scull.distribution.laplace import Laplace
from scull.distribution.lognormal import LogNormal
from scull.distribution.normal import Normal
from scull.distribution.uniform import Uniform
from scull.errors import ArgumentTypeError, UnsupportedError
from scull.tensor.reduction import sum as summed
from scull.tensor.special import digamma

__all__ = ["kl_divergence", "register_kl"]

_REGISTER_TABLE: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
OF_ONE_CLASS = (Bernoulli, Categorical, Cauchy, Geometric, Laplace, LogNormal, Normal, Uniform)


def kl_divergence(p: Any, q: Any) -> Any:
    r"""How many more nats draws from `p` cost that are coded as those of `q`.

    .. math:: KL(p \| q) = \int p(x) \log \frac{p(x)}{q(x)} dx

    The rule is the one registered for the nearest classes of `p` and `q`, those of `p` first.

    Args:
        p (Distribution): what is drawn.
        q (Distribution): what is believed.

    Returns:
        Tensor: a number for each distribution of the batch.

    Raises:
        UnsupportedError: no rule is registered for them.

    Examples:
        >>> import scull as paddle
        >>> p, q = paddle.distribution.Beta(1.0, 1.0), paddle.distribution.Beta(2.0, 1.0)
        >>> round(paddle.distribution.kl_divergence(p, q).item(), 4)
        0.3069
    """
    return _dispatch(type(p), type(q))(p, q)


def register_kl(cls_p: Any, cls_q: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function is the rule of `kl_divergence` for two classes.

    Args:
        cls_p (type): the class of the first distribution.
        cls_q (type): that of the second.

    Raises:
        ArgumentTypeError: one of them is no class of distributions.

    Examples:
        >>> import scull as paddle
        >>> class Fair(paddle.distribution.Distribution):
        ...     pass
        >>> @paddle.distribution.register_kl(Fair, Fair)
        ... def fair(p, q):
        ...     return paddle.zeros([])
        >>> paddle.distribution.kl_divergence(Fair(), Fair()).item()
        0.0
    """
    for one in (cls_p, cls_q):
        if not isinstance(one, type) or not issubclass(one, Distribution):
            raise ArgumentTypeError(f"{one!r:.60} is no class of distributions")

    def registered(rule: Callable[..., Any]) -> Callable[..., Any]:
        _REGISTER_TABLE[cls_p, cls_q] = rule
        return rule

    return registered


def _dispatch(cls_p: type, cls_q: type) -> Callable[[Any, Any], Any]:
    """The rule registered for the nearest classes."""
    for one in cls_p.__mro__:
        for other in cls_q.__mro__:
            if (one, other) in _REGISTER_TABLE:
                return _REGISTER_TABLE[one, other]
    raise UnsupportedError(
        f"no rule is registered for a {cls_p.__name__} and a {cls_q.__name__}: `register_kl` does"
    )


for kind in OF_ONE_CLASS:
    register_kl(kind, kind)(kind.kl_divergence)


@register_kl(Beta, Beta)
def _kl_beta_beta(p: Beta, q: Beta) -> Any:
    """That of shares of two."""
    return _kl_dirichlet_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p: Dirichlet, q: Dirichlet) -> Any:
    """The difference of the normalizers, and of the parameters times the mean logarithms."""
    own, other = p.concentration, q.concentration
    mean_logs = digamma(own) - digamma(summed(own, -1, keepdim=True))
    shift = summed((own - other) * mean_logs, -1)
    return q._log_normalizer(other) - p._log_normalizer(own) + shift


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    """What the normalizer at `q` is above its tangent at `p`."""
    if type(p) is not type(q):
        raise UnsupportedError(f"{type(p).__name__} and {type(q).__name__} are two families")
    parameters, normalizer, slopes = tangent(p)
    others = q._natural_parameters
    total = q._log_normalizer(*others) - normalizer
    for own, other, slope in zip(parameters, others, slopes, strict=True):
        total = total - over_events((other - own) * slope, normalizer)
    return total
