"""Samples of the functions of angles and of hyperbolas."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, c64, call, f32, f64, fails, i64, samples, strided
from tests.ops.samples.math import anywhere


@samples("sin")
def sin_samples():
    yield from anywhere(low=-7.0, high=7.0)
    yield call(c64(3))


@samples("cos")
def cos_samples():
    yield from anywhere(low=-7.0, high=7.0)
    yield call(c64(3))


@samples("tan")
def tan_samples():
    yield from anywhere(low=-1.2, high=1.2)
    yield call(c64(3))


@samples("asin")
def asin_samples():
    yield from anywhere(low=-0.9, high=0.9)
    yield call(f64(100, low=-0.99, high=0.99))
    yield call(array([-1.0, 1.0, 1.5]), grad=False, name_of_case="limits")
    yield call(c64(3))


@samples("acos")
def acos_samples():
    yield from anywhere(low=-0.9, high=0.9)
    yield call(array([-1.0, 1.0, -1.5]), grad=False, name_of_case="limits")


@samples("atan")
def atan_samples():
    yield from anywhere()
    yield call(f64(100, low=-20.0, high=20.0))


@samples("sinh")
def sinh_samples():
    yield from anywhere()
    yield call(f64(20, low=-40.0, high=40.0), grad=False)
    yield call(array([1e-9, 709.9, -710.4], "float64"), grad=False, name_of_case="far and near")


@samples("cosh")
def cosh_samples():
    yield from anywhere()
    yield call(f64(20, low=-40.0, high=40.0), grad=False)


@samples("asinh")
def asinh_samples():
    yield from anywhere()
    yield call(array([1e-9, 1e200, -3e9], "float64"), grad=False, name_of_case="far and near")


@samples("acosh")
def acosh_samples():
    yield from anywhere(low=1.2, high=4.0)
    yield call(array([1.0, 1e200, 3e9, -1e20], "float64"), grad=False, name_of_case="far and near")


@samples("atanh")
def atanh_samples():
    yield from anywhere(low=-0.9, high=0.9)
    yield call(array([-1.0, 1.0, 1.5, 1e-30]), grad=False, name_of_case="limits")


@samples("atan2")
def atan2_samples():
    yield call(f32(3, 4), f32(3, 4))
    yield call(f32(), f32())
    yield call(f32(2, 0), f32(2, 0))
    yield call(f32(2, 3), f32(3))
    yield call(strided(f64(2, 3)), f64(2, 3))
    ends = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], "float32")
    yield call(np.repeat(ends, 7), np.tile(ends, 7), grad=False, name_of_case="extremes")
    yield fails(DtypeError, "not of floating-point elements", i64(3), i64(3))
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", f32(3), f32(4))


@samples("stanh", reference=lambda x, scale_a, scale_b: scale_b * np.tanh(x * scale_a))
def stanh_samples():
    yield call(f32(3, 4))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(strided(f64(2, 3)), scale_a=0.5, scale_b=3.0)
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))
