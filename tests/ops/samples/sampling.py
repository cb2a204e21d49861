"""Samples of random numbers whose distribution the elements of a tensor say."""

import numpy as np
from scipy import stats

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.sampling import shuffled_rows
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


@samples("sampling_id")
def sampling_id_samples():
    shares = array(np.tile([0.25, 0.0, 0.5, 0.25], (4000, 1)))

    def is_likely(found):
        counts = np.bincount(found, minlength=4) / len(found)
        assert found.dtype == "int64" and abs(counts - shares[0]).max() < 0.03

    yield call(shares, holds=is_likely)
    first = np.zeros(3, "int64")
    yield call(f64(3, 4, low=0.3, high=0.5), max=0.25, reference=lambda x, **_: first)
    yield call(f32(3, 4, low=0.3, high=0.5), min=2.5, max=3.0, reference=lambda x, **_: first + 3)
    yield fails(ShapeError, "x is float32[3], not a matrix of shares", f32(3))
    yield fails(ArgumentError, "there are no numbers from 2.0 to 1.0", f32(3, 4), min=2.0)
    yield fails(DtypeError, "int64[3, 4] is not of floating-point elements", i64(3, 4))


def shuffled(x, seed):
    """Each row where it goes, those places, and the next seed."""
    places = shuffled_rows.op.cpu(x, seed)
    out = np.empty_like(x)
    out.reshape(-1, x.shape[-1])[places] = x.reshape(-1, x.shape[-1])
    return out, places, seed * 16807 % 2147483647


@samples("shuffled_rows")
def shuffled_rows_samples():
    yield call(f32(30, 2), array([5], "int64"), holds=lambda p: sorted(p) == list(range(30)))
    yield fails(ShapeError, "seed has 2 elements, not one", f32(3, 2), i64(2))
    yield fails(DtypeError, "seed is float32, not of integers", f32(3, 2), f32(1))


@samples("shuffle_batch", reference=shuffled)
def shuffle_batch_samples():
    for x in (f32(20, 3), f64(4, 5, 2), i64(7, 1)):
        yield call(x, array([9], "int64"))
    yield fails(ShapeError, "seed has 2 elements, not one", f32(3, 2), i64(2))
