"""Samples of tests of numbers."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, c64, c128, call, f32, f64, fails, i64, samples, strided
from tests.ops.samples.math import anywhere

A = np.array([1.0, np.inf, np.nan, -np.inf, np.inf, 2.0], "float32")
B = np.array([1.0, np.inf, np.nan, np.inf, 1.0, 2.001], "float32")


@samples("isnan")
def isnan_samples():
    yield from anywhere(integers=True)


@samples("isinf")
def isinf_samples():
    yield from anywhere(integers=True)


@samples("isfinite")
def isfinite_samples():
    yield from anywhere(integers=True)


def closeness():
    """Calls that both tests take."""
    x = f32(3, 4)
    yield call(x, f32(3, 4))
    yield call(x, x)
    yield call(x, x + np.float32(0.02), rtol="0", atol="0.1")
    yield call(f32(), f32())
    yield call(f32(0), f32(0))
    yield call(strided(f64(2, 3)), f64(2, 3), rtol="1.0")
    yield call(A, B)
    yield call(A, B, equal_nan=True)
    yield call(A[:3], B[:3], equal_nan=True)
    yield call(x, x + np.float32(0.02), array([0.0]), array(0.1))
    z = c128(2, 3)
    yield call(z, z + 0.01 * 1j, rtol="0", atol="0.02")
    yield call(z, z.conj())
    yield call(c64(4), c64(4), rtol="1.0")
    yield call(A + 1j, B + 1j, equal_nan=True)
    yield fails(DtypeError, "x is complex128 and y is float64", z, z.real)
    yield fails(DtypeError, "one float is needed", i64(3), i64(3))
    yield fails(DtypeError, "x is float32 and y is float64", f32(3), f64(3))
    yield fails(ShapeError, "x has 2 axes and y has 1", f32(2, 3), f32(3))
    yield fails(ShapeError, "x has 3 elements along an axis and y has 4", f32(3), f32(4))


def close(x, y, rtol_tensor, atol_tensor, rtol, atol, equal_nan):
    """NumPy's own, with tolerances in tensors or texts."""
    r = float(rtol if rtol_tensor is None else rtol_tensor.item())
    a = float(atol if atol_tensor is None else atol_tensor.item())
    return np.isclose(x, y, r, a, equal_nan)


@samples("isclose")
def isclose_samples():
    for sample in closeness():
        yield sample if sample.error else compared(sample, close)


@samples("allclose")
def allclose_samples():
    for sample in closeness():
        yield sample if sample.error else compared(sample, lambda *a, **k: close(*a, **k).all())


def compared(sample, reference):
    """`sample` with a reference that takes all inputs, absent ones too."""
    inputs = (*sample.inputs, None, None)[:4]

    def understood(x, y, r=None, a=None, rtol="1e-5", atol="1e-8", equal_nan=False):
        return reference(x, y, r, a, rtol, atol, equal_nan)

    return call(*inputs, reference=understood, **sample.attrs)


@samples("equal_all", reference=np.array_equal)
def equal_all_samples():
    x = f32(3, 4)
    yield call(x, x)
    yield call(x, f32(3, 4))
    yield call(x, f32(4))
    yield call(f32(), f32())
    yield call(f32(0), f32(0))
    yield call(i64(3), i64(3))
    yield call(strided(x), x)
    yield fails(DtypeError, "x is float32 and y is int64; cast one", f32(3), i64(3))
