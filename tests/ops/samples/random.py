"""Samples of random operators: what is true of every draw, and of many numbers together."""

import numpy as np
from scipy import stats

from scull.core.dtype import bfloat16, float16, float64, int32, int64
from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples

MANY = (200, 100)


def between(low, high):
    """Every number lies in [low, high)."""
    return lambda x: bool(np.all((x >= low) & (x < high)))


def like(distribution):
    """The numbers are drawn from `distribution`, as far as Kolmogorov and Smirnov can tell."""
    return lambda x: stats.kstest(x.astype("float64").ravel(), distribution.cdf).pvalue > 1e-3


@samples("uniform")
def uniform_samples():
    yield call(shape=(2, 3), holds=between(-1, 1))
    yield call(shape=(), min=2.0, max=3.0, holds=between(2, 3))
    yield call(shape=(0, 3), holds=lambda x: x.size == 0)
    yield call(shape=MANY, holds=like(stats.uniform(-1, 2)))
    yield call(shape=MANY, dtype=float64, min=0.0, holds=like(stats.uniform(0, 1)))
    yield call(shape=(5,), seed=3, holds=between(-1, 1))
    yield call(shape=(5,), dtype=bfloat16, holds=lambda x: x.dtype.name == "bfloat16")
    diagonal = lambda x: bool(np.all(np.diag(x) == 9))  # noqa: E731
    yield call(shape=(3, 3), diag_num=3, diag_step=3, diag_val=9.0, holds=diagonal)
    two = array([2], "int32"), array([3], "int32")
    yield call(array([2, 3], "int32"), holds=between(-1, 1), unknown_sizes=False)
    yield call(None, list(two), shape=(-1, 3), holds=between(-1, 1))
    yield fails(DtypeError, "random numbers of int64 have no fractions", shape=(2,), dtype=int64)
    yield fails(ArgumentError, "shape [-1] has a negative size", shape=(-1,))


@samples("uniform_random_batch_size_like")
def uniform_like_samples():
    yield call(f32(5, 3), shape=(-1, 4), holds=lambda x: x.shape == (5, 4) and abs(x).max() <= 1)
    which = {"input_dim_idx": 1, "output_dim_idx": -1, "min": 2.0, "max": 3.0}
    yield call(f32(5, 3), shape=(2, 7), **which, dtype=float64, holds=between(2, 3))
    law = "shape [-1, -2] has a negative size beside axis 0"
    yield fails(ArgumentError, law, f32(5, 3), shape=(-1, -2))
    yield fails(DtypeError, "int64 have no fractions", f32(5), shape=(-1,), dtype=int64)


@samples("gaussian")
def gaussian_samples():
    yield call(shape=(2, 3), holds=lambda x: bool(np.isfinite(x).all()))
    yield call(shape=(), holds=lambda x: x.shape == ())
    yield call(shape=MANY, holds=like(stats.norm()))
    yield call(shape=MANY, mean=2.0, std=3.0, dtype=float64, holds=like(stats.norm(2, 3)))
    yield call(shape=(5,), seed=3, dtype=float16, holds=lambda x: x.dtype == np.float16)
    yield call(array([2, 3], "int32"), holds=lambda x: x.shape == (2, 3), unknown_sizes=False)
    yield fails(DtypeError, "random numbers of int64 have no fractions", shape=(2,), dtype=int64)


@samples("truncated_gaussian_random")
def truncated_gaussian_random_samples():
    yield call(shape=(2, 3), holds=lambda x: bool(np.all(np.abs(x) <= 2)))
    yield call(shape=(), holds=lambda x: x.shape == ())
    yield call(shape=MANY, holds=like(stats.truncnorm(-2, 2)))
    yield call(shape=MANY, mean=1.0, std=0.5, holds=like(stats.truncnorm(-2, 2, 1, 0.5)))
    yield fails(ArgumentError, "shape [-1] has a negative size", shape=(-1,))


@samples("randint")
def randint_samples():
    yield call(shape=(2, 3), low=0, high=5, holds=between(0, 5))
    yield call(shape=(), low=-3, high=-2, dtype=int32, holds=lambda x: x == -3)
    yield call(shape=MANY, low=0, high=4, holds=lambda x: np.bincount(x.ravel()).min() > 4700)
    yield call(array([2, 3], "int32"), low=0, high=5, holds=between(0, 5), unknown_sizes=False)
    yield fails(ArgumentError, "no integer from 5 to before 5", shape=(2,), low=5, high=5)


@samples("seed")
def seed_samples():
    yield call(seed=5, holds=lambda x: x.tolist() == [5] and x.dtype == "int32")
    yield call(holds=lambda x: x.shape == (1,) and x[0] >= 0)


@samples("randperm")
def randperm_samples():
    whole = lambda x: sorted(x.tolist()) == list(range(x.size))  # noqa: E731
    yield call(n=10, holds=whole)
    yield call(n=1, dtype=int32, holds=whole)
    yield call(n=0, holds=whole)
    yield call(n=200, dtype=float64, holds=lambda x: whole(x) and list(x) != sorted(x))
    yield fails(ArgumentError, "-1 is no count", n=-1)


@samples("bernoulli")
def bernoulli_samples():
    yield call(array([0.0, 1.0, 0.0, 1.0]), holds=lambda x: list(x) == [0, 1, 0, 1])
    yield call(f32(low=0.1, high=0.9), holds=lambda x: x in (0, 1))
    yield call(f32(0, 3), holds=lambda x: x.size == 0)
    yield call(f64(2, 3, low=0.0, high=1.0), holds=lambda x: set(x.ravel()) <= {0, 1})
    yield call(bf16(3, low=0.0, high=1.0), holds=lambda x: x.dtype.name == "bfloat16")
    yield call(array(np.full(MANY, 0.25)), holds=lambda x: abs(x.mean() - 0.25) < 0.02)
    outside = "a probability lies outside [0, 1]"
    yield fails(ArgumentError, outside, array([1.5]), by_value=True)
    yield fails(DtypeError, "is not of floating-point elements", i64(3))


@samples("multinomial")
def multinomial_samples():
    certain = array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    yield call(certain, holds=lambda x: x.tolist() == [[1], [0]])
    yield call(certain, num_samples=4, replacement=True, holds=lambda x: (x == [[1], [0]]).all())
    whole = lambda x: sorted(x.tolist()) == [0, 1, 2, 3]  # noqa: E731
    yield call(f32(4, low=0.1, high=1.0), num_samples=4, holds=whole)
    often = lambda x: abs((x == 1).mean() - 0.75) < 0.02  # noqa: E731
    yield call(array([1.0, 3.0]), num_samples=20000, replacement=True, holds=often)
    first = lambda x: abs((x[:, 0] == 1).mean() - 0.75) < 0.02  # noqa: E731
    yield call(array(np.tile([1.0, 3.0], (20000, 1))), num_samples=2, holds=first)
    yield call(bf16(3, low=0.5, high=1.0), holds=lambda x: x.dtype == "int64")
    few = array([0.0, 1.0])
    yield fails(ArgumentError, "only 1 places have a weight", few, num_samples=2, by_value=True)
    yield fails(ArgumentError, "a weight is below 0", array([-1.0, 2.0]), by_value=True)
    yield fails(ArgumentError, "3 of 2 places", array([1.0, 2.0]), num_samples=3)
    yield fails(ShapeError, "weights are a row or a table", f32(2, 2, 2))
    yield fails(DtypeError, "is not of floating-point elements", i64(3))
