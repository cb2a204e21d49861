"""Random numbers whose distribution the elements of a tensor say."""

from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import Meta, at_least
from scull.errors import ArgumentError, DtypeError
from scull.ops.half import placed
from scull.ops.like import full_like
from scull.ops.random import NO_GRADIENT, NO_LOWERING

MOST = 2.0**62  # the greatest mean of counts that fit 64 bits


def source(draw: Any) -> np.random.Generator:
    """NumPy's generator of the words of one draw."""
    return np.random.Generator(np.random.Philox(key=np.array(draw, np.uint64)))


def fractions(x: Meta) -> Meta:
    """`x`, refused where its elements are not floating-point numbers."""
    if not x.dtype.is_float:
        raise DtypeError(f"{x} is not of floating-point elements")
    return x


@primitive(effects=("random",), infer_first=True)
def poisson(x: Meta) -> Meta:
    """How many events there are, for the mean number that each element says."""
    return fractions(x)


@poisson.kernel
def poisson_kernel(xp: Any, x: Any, *, out: Any = None, draw: Any) -> Any:
    means = x.astype("float64")
    if not ((means >= 0) & (means <= MOST)).all():
        raise ArgumentError(f"a mean number of events lies from 0 to {MOST:.0f}")
    return placed(xp.asarray(source(draw).poisson(means)), x.dtype, out)


poisson.grad(lambda dout: full_like(dout, value=0.0))
poisson.no_lowering(NO_LOWERING)


@primitive(
    attrs={"rate": "lambda"},
    in_place={"out": "x"},
    effects=("random",),
    inline_gradient=True,
    infer_first=True,
)
def exponential(x: Meta, *, rate: float = 1.0) -> Meta:
    """Exponentially distributed numbers in the place of `x`."""
    if not rate > 0:
        raise ArgumentError(f"lambda is {rate}, not above 0")
    return fractions(x)


@exponential.kernel
def exponential_kernel(xp: Any, x: Any, *, out: Any = None, draw: Any, rate: float) -> Any:
    found = xp.asarray(source(draw).standard_exponential(x.shape) / rate)
    return placed(found, x.dtype, out)


exponential.grad(lambda dout: full_like(dout, value=0.0))
exponential.no_lowering(NO_LOWERING)


@primitive(effects=("random",), infer_first=True)
def dirichlet(alpha: Meta) -> Meta:
    """Shares of a whole along the last axis, with the concentrations `alpha`."""
    at_least(1, alpha)
    return fractions(alpha)


@dirichlet.kernel
def dirichlet_kernel(xp: Any, alpha: Any, *, out: Any = None, draw: Any) -> Any:
    wide = alpha.astype("float64")
    if not (wide > 0).all():
        raise ArgumentError("a concentration lies above 0")
    parts = source(draw).standard_gamma(wide)
    parts /= xp.maximum(parts.sum(-1, keepdims=True), xp.finfo("float64").tiny)
    return placed(parts, alpha.dtype, out)


dirichlet.no_grad(NO_GRADIENT)
dirichlet.no_lowering(NO_LOWERING)
