"""Samples of functions that are integrals or series."""

import math

import numpy as np
from scipy import special

from scull.errors import ArgumentError, DtypeError
from tests.ops.sample import array, c64, call, f32, f64, fails, i64, samples, strided

POLES = (0.0, -0.0, -1.0, -3.0, float("nan"), float("inf"))


def at_points(*, low, high):
    """Calls with numbers from `low` to `high`."""
    yield call(f32(3, 4, low=low, high=high))
    yield call(f32(low=low, high=high))
    yield call(f32(0, 3))
    yield call(strided(f32(2, 3, low=low, high=high)))
    yield call(f64(20, low=low, high=high))
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))
    yield fails(DtypeError, "complex64[3] is not of floating-point elements", c64(3))


@samples("erfinv", reference=special.erfinv)
def erfinv_samples():
    yield from at_points(low=-0.99, high=0.99)
    yield call(array([1.0, -1.0, np.nan, 1 - 1e-6, 1 - 1e-15], "float64"), grad=False)


@samples("lgamma", reference=special.gammaln)
def lgamma_samples():
    yield from at_points(low=0.1, high=12.0)
    yield from at_points(low=-2.9, high=-2.1)
    yield call(array(POLES), grad=False, name_of_case="poles")


@samples("digamma", reference=lambda x: np.where(x == 0, np.nan, special.digamma(x)))
def digamma_samples():
    yield from at_points(low=0.3, high=12.0)
    yield from at_points(low=-2.8, high=-2.2)
    yield call(array(POLES), grad=False, name_of_case="poles")


def derivative(x, n):
    """SciPy's own, which takes n first."""
    return special.polygamma(n, x)


@samples("polygamma")
def polygamma_samples():
    for n in (0, 1, 2, 5):
        yield call(f64(8, low=0.4, high=12.0), reference=derivative, n=n)
        yield call(f64(8, low=-2.8, high=-2.2), n=n)
    yield call(f32(3, 4, low=0.5, high=3.0), n=1)
    yield call(f32(low=0.5, high=3.0), n=2)
    yield call(f32(0, 3), n=1)
    known = np.array([math.pi**2 / 6, math.pi**2 / 2, 8.934802200544679])
    values = array([1.0, 0.5, -0.5], "float64")
    yield call(values, grad=False, n=1, reference=lambda x: known, name_of_case="known")
    ends = np.array([-np.inf, -np.inf, -np.inf, -np.inf, np.nan, -0.0])
    yield call(array(POLES), grad=False, n=2, reference=lambda x: ends, name_of_case="poles")
    yield fails(ArgumentError, "n is -1, outside [0, 170]", f32(3), n=-1)
    yield fails(ArgumentError, "n is 171, outside [0, 170]", f32(3), n=171)
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3), n=1)


def odds(x, eps):
    """The logarithm of the odds of a chance within bounds."""
    return special.logit(np.clip(x, eps, 1 - eps) if eps else x)


@samples("logit", reference=odds)
def logit_samples():
    yield from at_points(low=0.05, high=0.95)
    yield call(f32(2, 9, low=-0.2, high=1.2), eps=0.1)
    yield call(f32(3, low=0.05, high=0.95), eps=0.0)
    yield call(array([0.0, 1.0, 0.25, -1.0, 2.0]), eps=0.0, grad=False, name_of_case="limits")
