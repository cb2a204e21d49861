"""Samples of softmax, its logarithm, and the logarithm of a sum of exponentials."""

import numpy as np
from scipy import special

from scull.errors import DtypeError, RangeError
from tests.ops.sample import array, bf16, call, f16, f32, f64, fails, i32, samples, strided
from tests.ops.samples.reduce import reduction


def normal_samples():
    yield call(f32(3, 4))
    yield call(f64(2, 3, 2), axis=1)
    yield call(f32(2, 3), axis=0)
    yield call(f32(3, 1))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(strided(f32(2, 3)))
    yield call(array([[1000.0, 1001.0], [-1000.0, -1001.0]]), grad=False, name_of_case="far out")
    yield call(f16(2, 3))
    yield call(bf16(2, 3))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)
    yield fails(DtypeError, "not of floating-point elements", i32(3))


@samples(
    "softmax",
    reference=lambda x, *, axis=-1: special.softmax(x, axis=axis) if x.ndim else x * 0 + 1,
)
def softmax_samples():
    yield from normal_samples()


@samples(
    "log_softmax",
    reference=lambda x, *, axis=-1: special.log_softmax(x, axis=axis) if x.ndim else np.zeros(()),
)
def log_softmax_samples():
    yield from normal_samples()


def log_of_sum(x, axis, keepdim, reduce_all):
    """SciPy's own."""
    return special.logsumexp(x, None if reduce_all or not x.ndim else axis, keepdims=keepdim)


@samples("logsumexp", reference=log_of_sum)
def logsumexp_samples():
    yield from reduction(empty=False, integers=False)
    yield call(array([1000.0, 1001.0]), name_of_case="far out")
    yield call(array([[-np.inf, -np.inf], [np.inf, 1.0]]), axis=(1,), grad=False)
    yield fails(DtypeError, "not of floating-point elements", i32(3))
