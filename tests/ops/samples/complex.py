"""Samples of the operators of complex numbers."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import (
    array,
    boolean,
    c64,
    c128,
    call,
    f32,
    f64,
    fails,
    i32,
    i64,
    samples,
    strided,
    u8,
)
from tests.ops.samples.math import anywhere


def complexes():
    """Calls with complex numbers, and one with none."""
    yield call(c64(3, 4))
    yield call(c64())
    yield call(c64(0, 3))
    yield call(strided(c128(2, 3)))


@samples("real", reference=np.real)
def real_samples():
    yield from complexes()
    yield fails(DtypeError, "float32[3] is not of complex elements", f32(3))


@samples("imag", reference=np.imag)
def imag_samples():
    yield from complexes()
    yield fails(DtypeError, "float32[3] is not of complex elements", f32(3))


@samples("conj", reference=np.conj)
def conj_samples():
    yield from complexes()
    yield call(f32(3))
    yield call(i64(3))


@samples("complex", reference=lambda x, y: x + 1j * y)
def complex_samples():
    yield call(f32(3, 4), f32(3, 4))
    yield call(f32(), f32())
    yield call(f32(2, 1), f32(3))
    yield call(f32(0), f32(0))
    yield call(strided(f64(2, 3)), f64(2, 3))
    yield fails(DtypeError, "int64[3] has neither float32 nor float64 elements", i64(3), i64(3))
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", f32(3), f32(4))


@samples("as_complex", reference=lambda x: x[..., 0] + 1j * x[..., 1])
def as_complex_samples():
    yield call(f32(3, 2))
    yield call(f64(2))
    yield call(f32(0, 2))
    yield call(f32(2, 3).T)
    yield fails(ShapeError, "float32[3] does not end with an axis of size 2", f32(3))
    yield fails(DtypeError, "int64[2] has neither float32 nor float64 elements", i64(2))


@samples("as_real", reference=lambda x: np.stack([x.real, x.imag], -1))
def as_real_samples():
    yield from complexes()
    yield fails(DtypeError, "float32[3] is not of complex elements", f32(3))


@samples("abs", reference=np.abs)
def abs_samples():
    yield from anywhere(integers=True)
    yield from complexes()
    yield call(array([0j, 3 + 4j], "complex64"), grad=False, name_of_case="no direction")


@samples("sign", reference=np.sign)
def sign_samples():
    yield from anywhere(integers=True)
    yield call(u8(3))
    yield call(i32(3))
    yield fails(DtypeError, "bool[3] is not of real numbers", boolean(3))
    yield fails(DtypeError, "complex64[3] is not of real numbers", c64(3))


@samples("angle", reference=lambda x: np.angle(x) if x.dtype.kind == "c" else (x < 0) * np.pi)
def angle_samples():
    yield from complexes()
    yield call(f32(3, 4))
    yield call(f32())
    yield call(f32(0, 3))
    yield fails(DtypeError, "int64[3] is not of floating-point or complex elements", i64(3))
