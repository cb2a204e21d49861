"""Samples of rows and elements picked by indices."""

import numpy as np

from scull.core.dtype import int64
from scull.core.tensor import Rows
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples, strided

PLACES = array([2, 0, 2], "int64")  # one of them twice


def taken(x, index, *_, axis=0):
    """NumPy's own, of an index with one axis."""
    return np.take(x, index.reshape(-1) if index.ndim == 2 else index, axis)


@samples("gather", reference=taken)
def gather_samples():
    yield call(f32(4, 5), PLACES)
    yield call(f32(4, 5), array([4, 0], "int32"), axis=1)
    yield call(f32(4, 5), array(3, "int64"), axis=-2)
    yield call(f32(4), array([[1], [0]], "int64"))
    yield call(f32(4, 3), array([], "int64"))
    yield call(i64(4), PLACES)
    yield call(strided(f32(4, 3)), PLACES)
    axis = array([1], "int32")
    yield call(f32(4, 5), PLACES, axis, reference=lambda x, index, _: np.take(x, index, 1))
    yield fails(RangeError, "index 4 is outside [0, 4)", f32(4), array([4], "int64"), by_value=True)
    yield fails(RangeError, "index -1 is outside", f32(4), array([-1], "int64"), by_value=True)
    yield fails(DtypeError, "is not of integers", f32(4), f32(2))
    yield fails(ShapeError, "neither a number nor a list", f32(4), array([[0, 1]], "int64"))
    yield fails(ShapeError, "has nothing to gather from", f32(), PLACES)


def added(x, index, like, *_, axis=0):
    """Zeros with the slices of `x` added, one after another."""
    out = np.zeros(like.shape)
    moved = np.moveaxis(out, axis, 0)
    for i, place in enumerate(index.reshape(-1)):
        moved[place] += np.moveaxis(x, axis, 0)[i] if index.ndim else x
    return out


@samples("scatter_axis", reference=added)
def scatter_axis_samples():
    yield call(f32(3, 5), PLACES, f32(4, 5))
    yield call(f32(4, 2), array([4, 0], "int32"), f32(4, 5), axis=1)
    yield call(f32(5), array(3, "int64"), f32(4, 5))
    yield call(f32(0, 5), array([], "int64"), f32(4, 5))
    yield call(f32(2), array([[1], [0]], "int64"), f32(4))


def at_places(x, index):
    """The parts of `x` at each place, one after another."""
    out = np.zeros(index.shape[:-1] + x.shape[index.shape[-1] :], x.dtype)
    for i in np.ndindex(index.shape[:-1]):
        out[i] = x[tuple(index[i])]
    return out


@samples("gather_nd", reference=at_places)
def gather_nd_samples():
    yield call(f32(3, 4), array([[2, 0], [1, 3], [2, 0]], "int64"), unknown_sizes=False)
    yield call(f32(3, 4), array([[2], [0]], "int32"), unknown_sizes=False)
    yield call(f32(3, 4), array([1], "int64"), unknown_sizes=False)
    yield call(f32(3, 4), array([[[1, 2]], [[0, 0]]], "int64"), unknown_sizes=False)
    yield call(f32(2, 2), array(np.zeros((2, 0)), "int64"), unknown_sizes=False)
    yield call(f32(3, 4), array(np.zeros((0, 2)), "int64"), unknown_sizes=False)
    yield call(f32(4, 3).T, array([[2, 0]], "int64"), unknown_sizes=False)
    place = array([[3]], "int64")
    yield fails(RangeError, "index 3 is outside [0, 3)", f32(3, 4), place, by_value=True)
    many = array([[0, 0, 0]], "int64")
    yield fails(ShapeError, "does not name places in float32[3, 4]", f32(3, 4), many)
    yield fails(DtypeError, "is not of integers", f32(3), f32(1))


def accumulated(x, index, updates):
    """`x` with each update added, one after another."""
    out = x.copy()
    for i in np.ndindex(index.shape[:-1]):
        out[tuple(index[i])] += updates[i]
    return out


@samples("scatter_nd_add", reference=accumulated)
def scatter_nd_add_samples():
    yield call(f32(3, 4), array([[2], [0], [2]], "int64"), f32(3, 4), unknown_sizes=False)
    yield call(f32(3, 4), array([[2, 1], [2, 1]], "int32"), f32(2), unknown_sizes=False)
    yield call(f32(3, 4), array([1], "int64"), f32(4), unknown_sizes=False)
    yield call(f32(2, 2), array(np.zeros((3, 0)), "int64"), f32(3, 2, 2), unknown_sizes=False)
    yield call(i64(3), array([[0], [0]], "int64"), i64(2), unknown_sizes=False)
    shape = "updates float32[2] do not have the shape of float32[1, 4]"
    yield fails(ShapeError, shape, f32(3, 4), array([[2]], "int64"), f32(2))
    yield fails(DtypeError, "updates are float64", f32(3), array([[2]], "int64"), f64(1))
    place = array([[3]], "int64")
    yield fails(RangeError, "index 3 is outside [0, 3)", f32(3), place, f32(1), by_value=True)


def replaced(x, ids, updates, overwrite):
    """`x` with rows replaced, one after another, or added up from zero."""
    out = x.copy()
    if not overwrite:
        out[ids.reshape(-1)] = 0
    for i, row in enumerate(ids.reshape(-1)):
        own = updates[i] if ids.ndim else updates
        out[row] = own if overwrite else out[row] + own
    return out


@samples("scatter", reference=replaced)
def scatter_samples():
    yield call(f32(4, 3), array([2, 0], "int64"), f32(2, 3))
    yield call(f32(4), array([[2], [0]], "int32"), f32(2))
    yield call(f32(4, 3), array(1, "int64"), f32(3))
    yield call(f32(4, 3), array([], "int64"), f32(0, 3))
    yield call(f32(4, 3), PLACES, f32(3, 3), grad=False, name_of_case="the last one wins")
    yield call(f32(4, 3), array([2, 0], "int64"), f32(2, 3), overwrite=False)
    yield call(f32(4, 3), PLACES, f32(3, 3), overwrite=False)
    yield call(i64(4), PLACES, i64(3), overwrite=False)
    yield fails(ShapeError, "updates have a size 2 where 3 are written", f32(4), PLACES, f32(2))
    yield fails(ShapeError, "are not the rows [3, 2]", f32(4, 2), PLACES, f32(3))
    place = array([4], "int64")
    yield fails(RangeError, "index 4 is outside [0, 4)", f32(4), place, f32(1), by_value=True)


def looked_up(ids, w, padding_idx):
    """The rows of the table, zeros for padding."""
    out = w[ids]
    if padding_idx != -1:
        out[ids == padding_idx] = 0
    return out


@samples("embedding", reference=looked_up)
def embedding_samples():
    yield call(array([[1, 0, 1], [4, 4, 2]], "int64"), f32(5, 3))
    yield call(array([2, 1, 2], "int32"), f32(5, 3), padding_idx=2)
    yield call(array(3, "int64"), f32(5, 3))
    yield call(array([], "int64"), f32(5, 3))
    yield call(PLACES, f32(5, 3), is_sparse=True, grad=False)
    yield call(PLACES, f32(3, 5).T)
    yield call(PLACES, bf16(5, 3))
    yield fails(
        RangeError, "index 5 is outside [0, 5)", array([5], "int64"), f32(5, 3), by_value=True
    )
    yield fails(RangeError, "index -1 is outside", array([-1], "int64"), f32(5, 3), by_value=True)
    yield fails(DtypeError, "is not of integers", f32(2), f32(5, 3))
    yield fails(ShapeError, "is not a matrix", PLACES, f32(5))


def rows_added(x, ids, like, padding_idx, is_sparse):
    """Zeros with each row added at its place, but for padding."""
    out = np.zeros(like.shape)
    for i in np.ndindex(ids.shape):
        if ids[i] != padding_idx or is_sparse:
            out[ids[i]] += x[i]
    return Rows(ids.reshape(-1), x.reshape(-1, x.shape[-1]), len(like)) if is_sparse else out


@samples("scatter_rows", reference=rows_added)
def scatter_rows_samples():
    yield call(f32(2, 3, 4), array([[1, 0, 1], [4, 4, 2]], "int64"), f32(5, 4))
    yield call(f32(3, 4), PLACES, f32(5, 4), padding_idx=2)
    yield call(f32(4), array(3, "int64"), f32(5, 4))
    yield call(f32(0, 4), array([], "int64"), f32(5, 4))
    yield call(f32(3, 4), PLACES, f32(5, 4), is_sparse=True, grad=False)


@samples("one_hot_v2", reference=lambda x, _=None, depth=5: np.eye(depth)[x])
def one_hot_v2_samples():
    yield call(array([1, 0, 3], "int64"), depth=5)
    yield call(array([[1], [4]], "int32"), depth=5, dtype=int64)
    yield call(array(2, "int64"), depth=5)
    yield call(array([], "int64"), depth=5)
    by_tensor = lambda x, depth: np.eye(5)[x]  # noqa: E731
    yield call(array([2], "int64"), array([5], "int32"), reference=by_tensor)
    some = lambda x: np.array([[1, 0], [0, 0], [0, 0]])  # noqa: E731
    yield call(array([0, 2, -1], "int64"), depth=2, allow_out_of_range=True, reference=some)
    yield fails(
        RangeError, "index 3 is outside [0, 3)", array([3], "int64"), depth=3, by_value=True
    )
    yield fails(ArgumentError, "depth 0 is not positive", array([3], "int64"), depth=0)
    yield fails(DtypeError, "is not of integers", f32(2), depth=3)
