"""Samples of the operators of one tensor, element by element."""

import numpy as np

from scull.errors import DtypeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided

EXTREMES = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 88.0, -104.0)


def anywhere(*, low=-2.0, high=2.0, integers=False):
    """Calls with numbers from `low` to `high`, and with the extremes of float32."""
    yield call(f32(3, 4, low=low, high=high))
    yield call(f32(low=low, high=high))
    yield call(f32(0, 3))
    yield call(f32(1, 3, 1, low=low, high=high))
    yield call(f32(4, 3, low=low, high=high).T)
    yield call(strided(f32(2, 3, low=low, high=high)))
    yield call(f64(3, low=low, high=high))
    yield call(array(EXTREMES), grad=False, name_of_case="extremes")
    if integers:
        yield call(i64(3, 4))
    else:
        yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))


@samples("negative")
def negative_samples():
    yield from anywhere(integers=True)


@samples("exp")
def exp_samples():
    yield from anywhere()


@samples("log")
def log_samples():
    yield from anywhere(low=0.1, high=4.0)


@samples("tanh")
def tanh_samples():
    yield from anywhere()


@samples("sqrt")
def sqrt_samples():
    yield from anywhere(low=0.1, high=4.0)


@samples("rsqrt", reference=lambda x: 1 / np.sqrt(x))
def rsqrt_samples():
    yield from anywhere(low=0.1, high=4.0)


@samples("sigmoid", reference=lambda x: 1 / (1 + np.exp(-x)))
def sigmoid_samples():
    yield from anywhere(low=-5.0, high=5.0)


@samples("relu", reference=lambda x: np.maximum(x, 0))
def relu_samples():
    yield from anywhere(integers=True)


@samples("square")
def square_samples():
    yield from anywhere(integers=True)


@samples("expm1")
def expm1_samples():
    yield from anywhere()


@samples("log1p")
def log1p_samples():
    yield from anywhere(low=-0.8, high=4.0)


@samples("log2")
def log2_samples():
    yield from anywhere(low=0.1, high=4.0)


@samples("log10")
def log10_samples():
    yield from anywhere(low=0.1, high=4.0)


@samples("reciprocal", reference=lambda x: 1 / x)
def reciprocal_samples():
    for sample in anywhere(low=0.3, high=4.0):
        if not sample.error:
            yield sample
