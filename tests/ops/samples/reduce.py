"""Samples of reductions over axes."""

import numpy as np

from scull.errors import RangeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i32, i64, samples, strided


def over(function):
    """The reference of a reduction: NumPy's own over the axes that are meant."""

    def reduced(x, axis, keepdim, reduce_all):
        every = reduce_all or not axis or not x.ndim
        return function(x, axis=None if every else axis, keepdims=keepdim)

    return reduced


def reduction(*, empty=True, integers=True):
    """Calls that any reduction takes; `empty` when it is defined for no elements at all."""
    yield call(f32(2, 3), axis=(0,))
    yield call(f32(2, 3), axis=(-1,), keepdim=True)
    yield call(f32(2, 3, 4), axis=(0, 2))
    yield call(f32(2, 3, 4), axis=(2, -3), keepdim=True)
    yield call(f32(2, 3), axis=(), reduce_all=True)
    yield call(f32(2, 3), axis=(0,), reduce_all=True, keepdim=True)
    yield call(f32(), axis=())
    yield call(f32(), axis=(-1,))
    yield call(f32(0, 3), axis=(1,))
    if empty:
        yield call(f32(0, 3), axis=(0,))
    yield call(f32(3, 2).T, axis=(0,))
    yield call(strided(f32(2, 3)), axis=(1,))
    yield call(f64(2, 3), axis=(1,))
    if integers:
        yield call(i32(2, 3), axis=(1,))
        yield call(i64(2, 3), axis=(0,))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=(2,))


@samples("reduce_sum", reference=over(np.sum))
def reduce_sum_samples():
    yield from reduction()
    yield call(i32(2, 3), axis=(0,), out_dtype="int64")
    yield call(boolean(2, 3), axis=(0,), out_dtype="int64")
    yield call(f32(2, 3), axis=(0,), out_dtype="float64")


@samples("reduce_max", reference=over(np.max))
def reduce_max_samples():
    yield from reduction(empty=False)


@samples("reduce_min", reference=over(np.min))
def reduce_min_samples():
    yield from reduction(empty=False)


@samples("reduce_prod", reference=over(np.prod))
def reduce_prod_samples():
    yield from reduction()
    yield call(i32(2, 3), axis=(0,), out_dtype="int64")
    yield call(array([[0.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), axis=(1,))
    yield call(array([2.0, 0.0, 3.0]), axis=(), reduce_all=True, keepdim=True)


@samples("reduce_mean", reference=over(np.mean))
def reduce_mean_samples():
    yield from reduction(empty=False, integers=False)


@samples("mean", reference=lambda x: np.mean(x))
def mean_samples():
    yield call(f32(2, 3))
    yield call(f32())
    yield call(f32(3, 2).T)
    yield call(f64(4))
