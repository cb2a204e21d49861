"""Samples of norms, distances and vectors of length 1."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided
from tests.ops.samples.reduce import over, reduction


def length(x, porder, axis, keepdim, asvector):
    """NumPy's own norm of vectors."""
    if asvector or not x.ndim:
        found = np.linalg.norm(x.reshape(-1), porder)
        return found.reshape((1,) * x.ndim) if keepdim else found
    return np.linalg.norm(x, porder, axis, keepdim)


@samples("p_norm", reference=length)
def p_norm_samples():
    for porder in (0.0, 1.0, 2.0, 3.0, 0.5, np.inf, -np.inf, -1.0):
        yield call(f32(3, 4), porder=porder, axis=1)
        yield call(f64(3, 4), porder=porder, asvector=True)
    yield call(f32(2, 3, 4), axis=-2, keepdim=True)
    yield call(f32(2, 3), asvector=True, keepdim=True)
    yield call(f32(), asvector=True)
    yield call(f32(0, 3), axis=1)
    yield call(strided(f64(2, 3)), axis=0)
    yield call(array([0.0, 0.0]), grad=False)
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)


@samples("frobenius_norm", reference=over(lambda x, **k: np.sqrt(np.sum(x * x, **k))))
def frobenius_norm_samples():
    yield from reduction(integers=False)
    yield call(array([0.0, 0.0]), grad=False)
    yield fails(DtypeError, "int64[3] is not of floating-point elements", i64(3))


@samples("dist", reference=lambda x, y, p: np.linalg.norm((x - y).reshape(-1), p))
def dist_samples():
    yield call(f32(3, 4), f32(3, 4))
    yield call(f32(), f32())
    yield call(f32(2, 3), f32(3), p=1.0)
    yield call(f32(2, 1), f32(3), p=3.0)
    yield call(f32(0, 3), f32(3))
    yield call(strided(f64(2, 3)), f64(2, 3), p=np.inf)
    yield call(f32(2, 3), f32(2, 3), p=0.0)
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", f32(3), f32(4))


def unit(x, axis, epsilon):
    """The lengths and the vectors divided by them."""
    norm = np.sqrt(np.sum(x * x, axis, keepdims=True) + epsilon)
    return norm, x / norm


@samples("l2_normalize", reference=unit)
def l2_normalize_samples():
    yield call(f32(3, 4), axis=1)
    yield call(f32(2, 3, 4), axis=-2, epsilon=0.1)
    yield call(f32(0, 3), axis=1)
    yield call(f32(3), axis=0, is_test=True)
    yield call(strided(f64(2, 3)), axis=0)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)


def shortened(x, p, axis, max_norm):
    """Each slice along the axis by itself."""
    found = np.moveaxis(x, axis, 0).copy()
    for row in found:
        length = np.sum(np.abs(row) ** p) ** (1 / p)
        row *= max_norm / (length + 1e-7) if length > max_norm else 1
    return np.moveaxis(found, 0, axis)


@samples("renorm", reference=shortened)
def renorm_samples():
    yield call(f32(3, 4), p=2.0, axis=0, max_norm=1.0)
    yield call(f32(3, 4), p=2.0, axis=0, max_norm=3.0)
    yield call(f32(2, 3, 4), p=1.0, axis=-1, max_norm=2.0)
    yield call(f64(2, 3), p=3.0, axis=1, max_norm=0.5)
    yield call(f32(3, 4) * 0, p=2.0, axis=0, max_norm=1.0, grad=False, name_of_case="zeros")
    yield call(f32(0, 3), p=2.0, axis=1, max_norm=1.0)
    yield call(strided(f32(2, 3)), p=2.0, axis=0, max_norm=1.0)
    yield fails(ArgumentError, "p is 0.0", f32(2, 3), p=0.0, axis=0, max_norm=1.0)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), p=2.0, axis=2, max_norm=1.0)
