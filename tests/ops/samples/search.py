"""Samples of extremes, orders and running sums."""

import numpy as np

from scull.core.dtype import float32, int32
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, fails, i64, samples, strided


def place_of(find):
    """The reference of `argmax` and `argmin`."""

    def reference(x, axis, keepdims, flatten):
        return find(x, None if flatten or not x.ndim else axis, keepdims=keepdims)

    return reference


def extreme_samples():
    """Calls that both take."""
    yield call(f32(2, 3), axis=1)
    yield call(f32(2, 3), axis=-2, keepdims=True, dtype=int32)
    yield call(f32(2, 3), flatten=True)
    yield call(f32(2, 3), flatten=True, keepdims=True)
    yield call(f32())
    yield call(f32(0, 3), axis=1)
    yield call(i64(2, 3), axis=1)
    yield call(array([1.0, 1.0, 1.0]), name_of_case="the first of equal ones")
    yield call(strided(f32(2, 3)), axis=0)
    yield fails(ShapeError, "axis 0 of float32[0, 3] has no element to find", f32(0, 3))
    yield fails(RangeError, "axis 2 is outside", f32(2, 3), axis=2)
    yield fails(DtypeError, "places are int32 or int64", f32(2, 3), dtype=float32)


@samples("argmax", reference=place_of(np.argmax))
def argmax_samples():
    yield from extreme_samples()


@samples("argmin", reference=place_of(np.argmin))
def argmin_samples():
    yield from extreme_samples()


def first_ones(x, count=None, k=1, axis=-1, largest=True):
    """The first of the sorted elements, and their places; equal ones in their order."""
    if not x.ndim:
        return x, np.array(0)
    k = k if count is None else count.item()
    order = np.argsort(-x if largest else x, axis, kind="stable").take(range(k), axis)
    return np.take_along_axis(x, order, axis), order


@samples("topk", reference=first_ones)
def topk_samples():
    yield call(f32(2, 5), k=2)
    yield call(f32(2, 5), k=2, axis=0, largest=False, sorted=False)
    yield call(f32(2, 5), k=5)
    yield call(i64(2, 5), k=3, axis=1)
    yield call(f32())
    yield call(f32(0, 5), k=2)
    yield call(f32(2, 5), array([3], "int32"))
    yield call(array([1.0, 3.0, 3.0, 2.0, 3.0]), k=3, grad=False, name_of_case="equal ones")
    yield call(strided(f32(2, 5)), k=2)
    yield fails(ArgumentError, "k is 6 and axis 1 has 5 elements", f32(2, 5), k=6)
    yield fails(ArgumentError, "k is 0", f32(2, 5), k=0)
    yield fails(RangeError, "axis 2 is outside", f32(2, 5), axis=2)


def ordered(x, axis, descending):
    """The sorted elements and their places."""
    return first_ones(x, k=x.shape[axis] if x.ndim else 1, axis=axis, largest=descending)


@samples("argsort", reference=ordered)
def argsort_samples():
    yield call(f32(2, 5))
    yield call(f32(3, 2), axis=0, descending=True)
    yield call(f32())
    yield call(f32(0, 3), axis=0)
    yield call(i64(7), descending=True)
    yield call(array([1.0, 0.0, 1.0, 0.0]), grad=False, name_of_case="equal ones")
    yield call(strided(f32(2, 5)))
    yield fails(RangeError, "axis 2 is outside", f32(2, 5), axis=2)


@samples(
    "take_along_axis", reference=lambda x, i, axis: np.take_along_axis(x, i, axis) if x.ndim else x
)
def take_along_axis_samples():
    yield call(f32(2, 3), array([[2, 0], [1, 1]], "int64"), axis=1)
    yield call(f32(2, 3), array([[1, 0, 1]], "int32"), axis=0)
    yield call(f32(2, 3), array([[-1, 0], [1, -3]], "int64"), axis=1)
    yield call(f32(), array(0, "int64"), axis=0)
    yield call(f32(2, 3), array(np.zeros((2, 0)), "int64"), axis=1)
    yield fails(ShapeError, "does not have the axes of", f32(2, 3), array([0], "int64"), axis=0)
    yield fails(DtypeError, "is not of integers", f32(2, 3), f32(1, 3), axis=0)
    far = array([[6]], "int64")
    yield fails(RangeError, "index 6 is out of bounds", f32(2, 3), far, axis=0, by_value=True)


def spread(x, indices, like, axis):
    """Zeros with each element added at its place, one after another."""
    out = np.zeros(like.shape)
    for i in np.ndindex(x.shape):
        place = list(i)
        if i:
            place[axis] = indices[i]
        out[tuple(place)] += x[i]
    return out


@samples("place_along", reference=spread)
def place_along_samples():
    yield call(f32(2, 2), array([[2, 0], [1, 1]], "int64"), f32(2, 3), axis=1)
    yield call(f32(1, 3), array([[1, 0, 1]], "int32"), f32(2, 3), axis=0)
    yield call(f32(), array(0, "int64"), f32(), axis=0)


def running(x, axis, flatten, exclusive, reverse):
    """Sums of parts, each from the start."""
    x = x.reshape(-1) if flatten else x
    if not x.ndim:
        return np.zeros(()) if exclusive else x
    axis = 0 if flatten else axis
    x = np.flip(x, axis) if reverse else x
    out = np.cumsum(x, axis) - (x if exclusive else 0)
    return np.flip(out, axis) if reverse else out


@samples("cumsum", reference=running)
def cumsum_samples():
    yield call(f32(2, 3))
    yield call(f32(2, 3), axis=0, exclusive=True)
    yield call(f32(2, 3), reverse=True)
    yield call(f32(2, 3), flatten=True, exclusive=True, reverse=True)
    yield call(f32())
    yield call(f32(), flatten=True)
    yield call(f32(0, 3), axis=0, exclusive=True)
    yield call(i64(5))
    yield call(strided(f32(2, 3)), axis=1)
    yield fails(DtypeError, "is not of numbers", boolean(3))
    yield fails(RangeError, "axis 1 is outside", f32(3), axis=1)


@samples("nonzero", reference=np.argwhere)
def nonzero_samples():
    yield call(array([[1.0, 0.0], [0.0, -2.0]]))
    yield call(boolean(2, 3, 2))
    yield call(array([0, 0, 3], "int64"))
    yield call(f32(0, 3))
    yield call(array([False, False], "bool"), name_of_case="nothing")
    yield fails(ShapeError, "a 0-D tensor has no places", f32())


@samples("numel", reference=np.size)
def numel_samples():
    yield call(f32(2, 3))
    yield call(f32())
    yield call(f32(0, 3))
