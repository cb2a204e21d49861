"""Samples of the middle element."""

import math

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f16, f32, f64, fails, i64, samples, strided

GAPS = array([[1, np.nan, 3, 2], [4, 4, 1, np.nan], [np.nan] * 4])


def middle(x, axis=(), keepdim=True):
    """The mean of the two in the middle of those that are not NaN, and where they stand."""
    axes = sorted(a % x.ndim for a in axis) or list(range(x.ndim))
    rest = [a for a in range(x.ndim) if a not in axes]
    together = math.prod(x.shape[a] for a in axes)
    rows = x.transpose(*rest, *axes).reshape(*(x.shape[a] for a in rest), together)
    found, places = [], []
    for row in rows.reshape(-1, rows.shape[-1]):
        order = sorted((v, k) for k, v in enumerate(row.tolist()) if v == v)
        if not order:
            found.append(np.nan)
            places.append((-1, -1))
            continue
        pair = order[(len(order) - 1) // 2], order[len(order) // 2]
        found.append((pair[0][0] + pair[1][0]) / 2)
        places.append((pair[0][1], pair[1][1]))
    shape = [1 if a in axes else n for a, n in enumerate(x.shape)] if keepdim else rows.shape[:-1]
    return np.array(found, x.dtype).reshape(shape), np.array(places).reshape(*shape, 2)


@samples("nanmedian", reference=middle)
def nanmedian_samples():
    yield call(f32(3, 4))
    yield call(f32(3, 4), keepdim=False)
    yield call(f32(2, 3, 4), axis=(1,), keepdim=False)
    yield call(f32(2, 3, 4), axis=(-1, 0))
    yield call(f32(2, 3, 4), axis=(0, 2), keepdim=False)
    yield call(f64(3, 5), axis=(1,))
    yield call(GAPS, axis=(1,), grad=False)
    yield call(GAPS, axis=(0,), grad=False, keepdim=False)
    yield call(f32(), keepdim=False)
    yield call(array([4, 1, 3, 2], "int64"), keepdim=False)
    yield call(f16(5), axis=(0,))
    yield call(strided(f32(2, 5)), axis=(1,), keepdim=False)
    yield call(f32(0, 3), axis=(1,))
    yield fails(ShapeError, "has no element in the middle", f32(0, 3))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=(2,))
    yield fails(DtypeError, "is not of numbers that have an order", boolean(3))
    yield call(i64(3, 3), axis=(1,), keepdim=False)
