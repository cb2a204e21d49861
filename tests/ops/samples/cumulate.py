"""Samples of running products, sums of exponentials and extremes."""

import numpy as np

from scull.errors import DtypeError, RangeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i32, i64, samples, strided


def along(*, integers=True):
    """Calls that all of these operators take."""
    yield call(f32(3, 4), axis=0)
    yield call(f32(2, 3, 4), axis=-2)
    yield call(f32(0, 3), axis=1)
    yield call(f32(2, 0), axis=1)
    yield call(f32(), axis=0)
    yield call(f32(4, 3).T, axis=1)
    yield call(strided(f64(2, 3)), axis=1)
    if integers:
        yield call(i32(5), axis=0)
        yield call(i64(2, 3), axis=1)
        yield fails(DtypeError, "bool[3] is not of numbers", boolean(3), axis=0)
    else:
        yield fails(DtypeError, "int64[3] is not of floating-point", i64(3), axis=0)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=2)


@samples("cumprod", reference=lambda x, axis: np.cumprod(x, axis) if x.ndim else x)
def cumprod_samples():
    yield from along()
    yield call(array([[2.0, 0.0, 3.0, 0.0, 5.0], [0.0, 1.5, 2.0, 3.0, 0.0]]), axis=1)


def recurred(x, start, axis, reverse=False):
    """One place after another."""
    if not x.ndim:
        return start
    lines, found = (
        np.flip(np.moveaxis(v, axis, 0), 0) if reverse else np.moveaxis(v, axis, 0)
        for v in (x, start)
    )
    found = found.astype("float64")
    for i in range(1, len(lines)):
        found[i] += lines[i - 1 if reverse else i] * found[i - 1]
    return np.moveaxis(np.flip(found, 0) if reverse else found, 0, axis)


@samples("recurrence", reference=recurred)
def recurrence_samples():
    for reverse in (False, True):
        yield call(f32(3, 4), f32(3, 4), axis=1, reverse=reverse)
        yield call(f64(100, low=0.8, high=1.2), f64(100), axis=0, reverse=reverse)
        yield call(array([2.0, 0.0, 3.0]), f32(3), axis=0, reverse=reverse, name_of_case="a zero")
    yield call(f32(2, 3, 4), f32(2, 3, 4), axis=-2)
    yield call(f32(), f32(), axis=0)
    yield call(f32(0, 3), f32(0, 3), axis=0)
    yield call(strided(f32(2, 3)), f32(2, 3), axis=1)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), f32(2, 3), axis=2)


def summed(x, axis, flatten, exclusive, reverse):
    """The logarithms of running sums, the long way."""
    axis = 0 if flatten else axis
    x = np.reshape(x, -1) if flatten or not x.ndim else x
    x = np.flip(x, axis) if reverse else x
    total = np.cumsum(np.exp(x), axis)
    if exclusive:
        total = np.roll(total, 1, axis)
        total[(*(slice(None),) * (axis % x.ndim), slice(0, 1))] = 0
    found = np.log(total)
    return np.flip(found, axis) if reverse else found


def summed_in_shape(x, **attrs):
    """As `summed`, of a 0-D tensor too."""
    found = summed(x, **attrs)
    return found if x.ndim or attrs["flatten"] else found.reshape(())


@samples("logcumsumexp")
def logcumsumexp_samples():
    for sample in along(integers=False):
        if sample.error:
            yield sample
        else:
            yield call(*sample.inputs, reference=summed_in_shape, **sample.attrs)
    for attrs in ({"flatten": True}, {"reverse": True}, {"flatten": True, "reverse": True}):
        yield call(f32(3, 4), reference=summed_in_shape, **attrs)
    yield call(f32(3, 4), axis=1, exclusive=True, grad=False)
    yield call(f32(3, 4), axis=0, exclusive=True, reverse=True, grad=False)
    yield call(array([1.0, 2.0, -100.0, 100.0, 1000.0]), axis=0, name_of_case="far apart")
    infinite = array([-np.inf, -np.inf, 1.0, np.inf, 2.0, np.nan, 3.0])
    yield call(infinite, axis=0, grad=False)  # nothing is below the least finite number
    yield call(infinite[2:], reference=summed_in_shape, axis=0, grad=False)


def extremes():
    """Calls of both running extremes."""
    yield from along()
    yield call(i64(2, 5), axis=1, dtype="int32")
    yield call(array([1.0, 3.0, 3.0, np.nan, 5.0, np.nan, -1.0]), axis=0, grad=False)
    yield fails(DtypeError, "places are int32 or int64, not float32", f32(3), dtype="float32")


def last_place(x, found, axis):
    """Where the extremes stand last."""
    places = np.zeros(x.shape, "int64")
    for i in range(x.shape[axis] if x.ndim else 0):
        own = (*(slice(None),) * axis, slice(i, i + 1))
        before = (*(slice(None),) * axis, slice(i - 1, i))
        here = (x[own] == found[own]) | np.isnan(x[own])
        places[own] = np.where(here, i, places[before] if i else 0)
    return places


def running(ufunc):
    """The reference of a running extreme."""

    def reference(x, axis, dtype):
        axis = axis % max(x.ndim, 1)
        found = ufunc.accumulate(x, axis) if x.ndim else x
        return found, last_place(x, found, axis).astype(dtype.array)

    return reference


@samples("cummax", reference=running(np.maximum))
def cummax_samples():
    yield from extremes()


@samples("cummin", reference=running(np.minimum))
def cummin_samples():
    yield from extremes()
