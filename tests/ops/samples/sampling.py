"""Samples of random numbers whose distribution the elements of a tensor say."""

import numpy as np
from scipy import stats

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples
from tests.ops.samples.random import like

MANY = (200, 100)


def counts(x):
    """Counts of which one in six is 0, as those of the mean 1.8 are."""
    return abs(float((x == 0).mean()) - np.exp(-1.8)) < 0.02 and abs(x.mean() - 1.8) < 0.05


@samples("poisson")
def poisson_samples():
    yield call(array(np.full(MANY, 1.8)), holds=counts, grad=False)
    yield call(f32(2, 3, low=0.0), holds=lambda x: (x == np.floor(x)).all(), grad=False)
    yield call(f64(0, 3), holds=lambda x: x.size == 0, grad=False)
    yield call(array(0.0), holds=lambda x: x == 0, grad=False)
    yield call(bf16(3, low=0.5), holds=lambda x: x.dtype.name == "bfloat16", grad=False)
    beyond = "a mean number of events lies from 0 to"
    yield fails(ArgumentError, beyond, array([-1.0]), by_value=True)
    yield fails(ArgumentError, beyond, array([np.nan]), by_value=True)
    yield fails(DtypeError, "is not of floating-point elements", i64(3))


@samples("exponential")
def exponential_samples():
    yield call(f32(*MANY), holds=like(stats.expon()), grad=False)
    yield call(f64(*MANY), rate=4.0, holds=like(stats.expon(scale=0.25)), grad=False)
    yield call(f32(), holds=lambda x: x >= 0, grad=False)
    yield call(f32(0, 3), holds=lambda x: x.size == 0, grad=False)
    yield fails(ArgumentError, "lambda is 0.0, not above 0", f32(2), rate=0.0)
    yield fails(DtypeError, "is not of floating-point elements", i64(3))


def first_share(x):
    """The share of concentration 1 beside 3, on average a quarter."""
    return abs(x[:, 0].mean() - 0.25) < 0.02 and np.allclose(x.sum(-1), 1, atol=1e-5)


@samples("dirichlet")
def dirichlet_samples():
    yield call(array(np.tile([1.0, 3.0], (20000, 1))), holds=first_share)
    yield call(f64(3, low=0.5, high=2.0), holds=lambda x: np.isclose(x.sum(), 1))
    yield call(f32(0, 3), holds=lambda x: x.shape == (0, 3))
    yield fails(ArgumentError, "a concentration lies above 0", array([0.0, 1.0]), by_value=True)
    yield fails(ShapeError, "at least 1 are needed", f32())
    yield fails(DtypeError, "is not of floating-point elements", i64(3))
