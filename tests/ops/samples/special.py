"""Samples of functions that are integrals or series."""

import math

import numpy as np

from scull.errors import ArgumentError, DtypeError
from tests.ops.sample import array, c64, call, f32, f64, fails, i64, samples, strided

POLES = (0.0, -1.0, -3.0, float("nan"), float("inf"))
EULER = 0.5772156649015329


def at_points(*, low, high):
    """Calls with numbers from `low` to `high`."""
    yield call(f32(3, 4, low=low, high=high))
    yield call(f32(low=low, high=high))
    yield call(f32(0, 3))
    yield call(strided(f32(2, 3, low=low, high=high)))
    yield call(f64(20, low=low, high=high))
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))
    yield fails(DtypeError, "complex64[3] is not of floating-point elements", c64(3))


def inverted(x):
    """The inverse error function by bisection with the standard library's own."""
    low, high = np.full(x.shape, -6.0), np.full(x.shape, 6.0)
    for _ in range(80):
        middle = (low + high) / 2
        below = np.vectorize(math.erf, otypes=[float])(middle) < x
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


@samples("erfinv")
def erfinv_samples():
    for sample in at_points(low=-0.99, high=0.99):
        yield sample if sample.error else with_reference(sample, inverted)
    ends = np.array([np.inf, -np.inf, np.nan, 3.4589107372795], "float64")
    values = array([1.0, -1.0, np.nan, 1 - 1e-6], "float64")
    yield call(values, grad=False, reference=lambda x: ends, name_of_case="limits")


def with_reference(sample, reference):
    """`sample` with a reference of its own."""
    return call(*sample.inputs, reference=reference, **sample.attrs)


def gamma_size(x):
    """The logarithm of the size of the gamma function, by the standard library."""
    return np.vectorize(math.lgamma, otypes=[float])(x)


@samples("lgamma")
def lgamma_samples():
    for low, high in ((0.1, 12.0), (-2.9, -2.1)):
        for sample in at_points(low=low, high=high):
            yield sample if sample.error else with_reference(sample, gamma_size)
    ends = np.array([np.inf, np.inf, np.inf, np.nan, np.inf])
    yield call(array(POLES), grad=False, reference=lambda x: ends, name_of_case="poles")


def steps_of_lgamma(x):
    """The slope of `lgamma` by steps of high order."""
    h = 1e-3
    near, far = (gamma_size(x + k * h) - gamma_size(x - k * h) for k in (1, 2))
    return (8 * near - far) / (12 * h)


@samples("digamma")
def digamma_samples():
    yield from at_points(low=0.3, high=12.0)
    yield from at_points(low=-2.8, high=-2.2)
    yield call(f32(9, low=2.0, high=12.0), reference=steps_of_lgamma)
    known = np.array([-EULER, 1 - EULER, -EULER - 2 * math.log(2), 0.03648997397857652])
    values = array([1.0, 2.0, 0.5, -0.5], "float64")
    yield call(values, grad=False, reference=lambda x: known, name_of_case="known")
    ends = np.array([np.nan, np.nan, np.nan, np.nan, np.inf])
    yield call(array(POLES), grad=False, reference=lambda x: ends, name_of_case="poles")


@samples("polygamma")
def polygamma_samples():
    for n in (0, 1, 2, 5):
        yield call(f64(8, low=0.4, high=12.0), n=n)
        yield call(f64(8, low=-2.8, high=-2.2), n=n)
    yield call(f32(3, 4, low=0.5, high=3.0), n=1)
    yield call(f32(low=0.5, high=3.0), n=2)
    yield call(f32(0, 3), n=1)
    known = np.array([math.pi**2 / 6, math.pi**2 / 2, 8.934802200544679])
    values = array([1.0, 0.5, -0.5], "float64")
    yield call(values, grad=False, n=1, reference=lambda x: known, name_of_case="known")
    ends = np.array([-np.inf, -np.inf, -np.inf, np.nan, -0.0])
    yield call(array(POLES), grad=False, n=2, reference=lambda x: ends, name_of_case="poles")
    yield fails(ArgumentError, "n is -1, not 0 or more", f32(3), n=-1)
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3), n=1)


def odds(x, eps):
    """The logarithm of the odds of a chance within bounds."""
    kept = np.clip(x, eps, 1 - eps) if eps else x
    return np.log(kept / (1 - kept))


@samples("logit", reference=odds)
def logit_samples():
    yield from at_points(low=0.05, high=0.95)
    yield call(f32(2, 9, low=-0.2, high=1.2), eps=0.1)
    yield call(f32(3, low=0.05, high=0.95), eps=0.0)
    yield call(array([0.0, 1.0, 0.25, -1.0, 2.0]), eps=0.0, grad=False, name_of_case="limits")
