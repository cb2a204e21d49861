"""Samples of elements told apart, counted and placed, by NumPy or by plain loops."""

import numpy as np

from scull.core.dtype import float32, int32, int64
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i64, samples, strided

TWICE = array([3, 1, 3, 2, 1], "int64")
ROWS = array([[2, 1], [3, 1], [2, 1]])
SORTED = {"is_sorted": True}


def distinct(x, axis=(), is_sorted=False):
    """The distinct elements, their first places, the inverse and the counts, by comparison."""
    rows = np.moveaxis(x, axis[0], 0) if axis else x.reshape(-1)
    keys = [tuple(np.ravel(r)) for r in rows]
    found = sorted(set(keys)) if is_sorted else list(dict.fromkeys(keys))
    first = [keys.index(k) for k in found]
    out = rows[np.array(first, int)]
    inverse = np.array([found.index(k) for k in keys], int)
    counts = np.array([keys.count(k) for k in found], int)
    return np.moveaxis(out, 0, axis[0]) if axis else out, np.array(first, int), inverse, counts


@samples("unique", reference=distinct)
def unique_samples():
    yield call(TWICE, **SORTED)
    yield call(TWICE)
    yield call(ROWS, **SORTED, axis=(0,), dtype=int32)
    yield call(ROWS, **SORTED, axis=(-1,))
    yield call(ROWS, axis=(1,))
    yield call(ROWS, **SORTED)
    yield call(f32(), **SORTED)
    yield call(f32(0), **SORTED)
    yield call(boolean(5), **SORTED)
    yield call(strided(f32(4)), **SORTED)
    yield fails(RangeError, "axis 4 is outside", f32(2), axis=(4,))
    yield fails(DtypeError, "places are int32 or int64", f32(2), dtype=float32)


def runs(x, axis=()):
    """The runs of alike elements, by comparison."""
    rows = np.moveaxis(x, axis[0], 0) if axis else x.reshape(-1)
    found, index = [], []
    for i, r in enumerate(rows):
        if not i or (r != rows[i - 1]).any():
            found.append(r)
        index.append(len(found) - 1)
    counts = np.array([index.count(i) for i in range(len(found))], int)
    out = np.array(found).reshape(-1, *rows.shape[1:])
    return np.moveaxis(out, 0, axis[0]) if axis else out, np.array(index, int), counts


@samples("unique_with_counts")
def unique_with_counts_samples():
    for dtype, name in ((int32, "int32"), (int64, "int64")):
        expected = [array([3, 1, 2], "int64"), array([0, 1, 0, 2, 1], name), array([2, 2, 1], name)]
        yield call(TWICE, dtype=dtype, reference=lambda x, e=expected, **_: tuple(e))
    first = [array([0.5, 2.0]), array([0, 1, 0], "int64"), array([2, 1], "int64")]
    yield call(array([0.5, 2.0, 0.5]), dtype=int64, reference=lambda x, **_: tuple(first))
    yield fails(ShapeError, "x has 2 axes, 1 is needed", f32(2, 2), dtype=int64)
    yield fails(DtypeError, "places are int32 or int64, not float32", f32(2), dtype=float32)


@samples("unique_consecutive", reference=runs)
def unique_consecutive_samples():
    yield call(array([1, 1, 2, 2, 2, 1], "int64"), dtype=int64)
    yield call(array([[1, 1, 2], [1, 1, 2]]), axis=(0,))
    yield call(array([[1, 1, 2], [1, 1, 2]]), axis=(-1,), dtype=int32)
    yield call(f32())
    yield call(f32(0))
    yield fails(RangeError, "axis 4 is outside", f32(2), axis=(4,))


def places(sequence, values, right=False):
    """How many elements of each row lie before each value."""
    rows = np.broadcast_to(sequence, (*values.shape[:-1], sequence.shape[-1]))
    before = np.less_equal if right else np.less
    return before(rows[..., None, :], np.expand_dims(values, -1)).sum(-1).reshape(values.shape)


@samples("searchsorted", reference=places)
def searchsorted_samples():
    rising = array([-1.5, 0.0, 0.0, 1.0])
    yield call(rising, f32(2, 3))
    yield call(rising, array([0.0, 1.0, 5.0]), right=True)
    yield call(rising, array([0.0, 1.0, -5.0]), right=False, out_int32=True)
    yield call(array([1, 3, 5], "int64"), i64(4))
    yield call(rising, array(0.5))
    yield call(array([[1, 3], [2, 4]]), array([[3, 9, 0], [3, 9, 0]]), right=True)
    yield call(f32(0), f32(2))
    nan = array([1.0, np.nan])
    for right in (False, True):
        exact = lambda s, v, right=right: np.searchsorted(s, v, "right" if right else "left")  # noqa: E731
        yield call(nan, nan, right=right, reference=exact, name_of_case=f"NaN {right}")
    yield fails(ShapeError, "does not have a row", array([[1, 3], [2, 4]]), f32(2))
    yield fails(ShapeError, "a 0-D tensor is no sequence", f32(), f32(2))
    yield call(rising, f64(2))
    yield call(rising, i64(3))


@samples("bincount", reference=lambda x, w=None, minlength=0: np.bincount(x, w, minlength))
def bincount_samples():
    yield call(TWICE)
    yield call(TWICE, minlength=7)
    yield call(TWICE, f32(5))
    yield call(array([1, 0, 1], "int32"), i64(3))
    yield call(array([], "int64"))
    below = array([1, -1], "int64")
    yield fails(ArgumentError, "-1 is below 0", below, by_value=True)
    yield fails(ArgumentError, "minlength -1 is below 0", TWICE, minlength=-1)
    yield fails(DtypeError, "is not of integers", f32(3))
    yield fails(ShapeError, "is not a list of numbers", i64(2, 2))
    yield fails(ShapeError, "there are 5 numbers and 2 weights", TWICE, f32(2))


def parts(x, bins=100, min=0, max=0):
    """NumPy's histogram."""
    return np.histogram(x, bins, None if min == max else (min, max))[0]


@samples("histogram", reference=parts)
def histogram_samples():
    yield call(f32(20), bins=4)
    yield call(f32(4, 5), bins=3, min=-1, max=1)
    yield call(i64(9), bins=5, min=0, max=5)
    yield call(strided(f32(20)), bins=4)
    same = lambda x, **_: np.array([0, 0, 3, 0])  # noqa: E731
    yield call(array([1.0, 1.0, 1.0]), bins=4, reference=same, name_of_case="all alike")
    yield call(f32(0), bins=2, reference=lambda x, **_: np.zeros(2), name_of_case="nothing")
    yield fails(ArgumentError, "bins is 0, not at least 1", f32(3), bins=0)
    yield fails(ArgumentError, "max 1 is below min 3", f32(3), min=3, max=1)
    nan = array([1.0, np.nan])
    yield fails(ArgumentError, "reach from nan to nan", nan, by_value=True)
