"""Samples of single elements by their order or number."""

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided


def ranked(x, k, axis, keepdim):
    """The k-th least element by sorting."""
    if not x.ndim:
        return x, np.zeros((), "int64")
    order = np.take(np.argsort(x, axis, kind="stable"), [k - 1], axis)
    found = np.take_along_axis(x, order, axis)
    return (found, order) if keepdim else (found.squeeze(axis), order.squeeze(axis))


@samples("kthvalue", reference=ranked)
def kthvalue_samples():
    yield call(f32(3, 4), k=2)
    yield call(f32(2, 3, 4), k=3, axis=1)
    yield call(f32(2, 3, 4), k=1, axis=-3, keepdim=True)
    yield call(f32())
    yield call(f32(0, 3), k=3)
    yield call(strided(f64(2, 3)), k=2)
    yield call(array([[3, 1, 2, 1]], "int64"), k=2)
    yield fails(ArgumentError, "k is 0 and axis 1 has 3 elements", f32(2, 3), k=0)
    yield fails(ArgumentError, "k is 4 and axis 1 has 3 elements", f32(2, 3), k=4)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)
    yield fails(ShapeError, "axis 1 of float32[2, 0] has no element to find", f32(2, 0))


def commonest(x, axis, keepdim):
    """The most frequent element of each line, by counting."""
    if not x.ndim:
        return x, np.zeros((), "int64")
    lines = np.moveaxis(x, axis, -1)
    found, places = np.empty(lines.shape[:-1], x.dtype), np.empty(lines.shape[:-1], "int64")
    for i in np.ndindex(found.shape):
        values, counts = np.unique(lines[i], return_counts=True)
        found[i] = values[counts.argmax()]
        places[i] = np.flatnonzero(lines[i] == found[i])[-1]
    if keepdim:
        return np.expand_dims(found, axis), np.expand_dims(places, axis)
    return found, places


@samples("mode", reference=commonest)
def mode_samples():
    yield call(f32(3, 4))
    yield call(i64(4, 30, high=3), axis=1)
    yield call(i64(2, 5, 3, low=0, high=3), axis=-2, keepdim=True)
    yield call(array([[3.0, 1.0, 3.0, 1.0], [2.0, 2.0, 2.0, 1.0]]), grad=False)
    yield call(f32())
    yield call(f32(0, 3))
    yield call(strided(f64(2, 3)), axis=0)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)
    yield fails(ShapeError, "axis 1 of float32[2, 0] has no element to find", f32(2, 0))
