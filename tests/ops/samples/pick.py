"""Samples of elements picked along one axis, and written there."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, bf16, call, f32, f64, fails, i64, samples, strided

PLACES = array([2, 0, 2], "int64")
AXIS = (RangeError, "axis 3 is outside")


@samples("index_select", reference=lambda x, index, axis=0: x.take(index.reshape(-1), axis))
def index_select_samples():
    yield call(f32(4, 3), PLACES)
    yield call(f32(2, 3, 4), array([1, 1], "int32"), axis=-2)
    yield call(f32(4), array([[3], [1]], "int64"))
    yield call(i64(3, 2), array([], "int64"))
    yield call(strided(f32(4, 3)), PLACES, axis=1)
    yield call(bf16(3), PLACES)
    yield fails(RangeError, "index 2 is outside [0, 2)", f32(2), PLACES, by_value=True)
    yield fails(RangeError, "index -1 is outside", f32(2), array([-1], "int64"), by_value=True)
    yield fails(ShapeError, "is not a list of places", f32(2), array(1, "int64"))
    yield fails(ShapeError, "has no axis to pick from", f32(), PLACES)
    yield fails(DtypeError, "is not of integers", f32(2), f32(1))
    yield fails(*AXIS, f32(4), PLACES, axis=3)


def added(x, index, value, axis=0):
    """`x` with slices added one after another."""
    out = np.moveaxis(x.copy(), axis, 0)
    for place, row in zip(index.reshape(-1), np.moveaxis(value, axis, 0), strict=True):
        out[place] += row
    return np.moveaxis(out, 0, axis)


@samples("index_add", reference=added)
def index_add_samples():
    yield call(f32(4, 3), PLACES, f32(3, 3))
    yield call(f32(2, 4, 2), array([1, 1], "int32"), f32(2, 2, 2), axis=1)
    yield call(i64(4), PLACES, i64(3))
    yield call(f32(4), array([], "int64"), f32(0))
    yield call(f32(4), array([[3], [1]], "int64"), f32(2))
    yield call(strided(f32(4, 3)), PLACES, f32(4, 3), axis=-1)
    yield fails(
        ShapeError, "slices of size 2 do not fit where the size is 3", f32(4), PLACES, f32(2)
    )
    yield fails(ShapeError, "is not of the 1 axes", f32(4), PLACES, f32(3, 1))
    yield fails(RangeError, "index 2 is outside", f32(2), PLACES, f32(3), by_value=True)
    yield fails(DtypeError, "differ in element type", f32(4), PLACES, f64(3))
    yield fails(*AXIS, f32(4), PLACES, f32(3), axis=3)


@samples("index_sample", reference=lambda x, index: np.take_along_axis(x, index, 1))
def index_sample_samples():
    yield call(f32(2, 4), array([[3, 0, 0], [1, 2, 1]], "int64"))
    yield call(i64(2, 2), array([[1], [0]], "int32"))
    yield call(f32(2, 3), array([[], []], "int64"))
    yield call(strided(f32(1, 3)), array([[2, 1]], "int64"))
    two = array([[2], [0]], "int64")
    yield fails(RangeError, "index 2 is outside [0, 2)", f32(2, 2), two, by_value=True)
    yield fails(ShapeError, "x has 3 rows and the index has 2", f32(3, 2), two)
    yield fails(ShapeError, "is not a matrix", f32(3), two)
    yield fails(DtypeError, "is not of integers", f32(2, 2), f32(2, 1))


COMBINED = {"add": sum, "mean": sum, "mul": np.prod, "amin": min, "amax": max}


def put(x, index, value, axis, reduce="assign", include_self=True):
    """Values written or combined one place after another."""
    found = {}
    for i in np.ndindex(index.shape):
        place = list(i)
        place[axis] = int(index[i])
        found.setdefault(tuple(place), []).append(value[i])
    out = x.copy()
    for place, values in found.items():
        values = values + [x[place]] * include_self
        if reduce == "assign":
            out[place] = found[place][-1]
        else:
            out[place] = COMBINED[reduce](values) / (len(values) if reduce == "mean" else 1)
    return out


@samples("put_along_axis", reference=put)
def put_along_axis_samples():
    places = array([[0, 0, 2], [1, 1, 1]], "int64")
    for reduce in ("assign", "add", "mul", "mean", "amin", "amax"):
        yield call(f32(2, 3), places, f32(2, 3), axis=1, reduce=reduce)
        yield call(f32(2, 3), places, f32(2, 3), axis=1, reduce=reduce, include_self=False)
    few = array([[1, 0]], "int32")
    yield call(f32(2, 3), few, f32(1, 2), axis=0)
    yield call(i64(2, 3), few, i64(1, 2), axis=-1, reduce="add")
    yield call(f32(3), array([], "int64"), f32(0), axis=0)
    yield call(strided(f32(2, 3)), places, f32(2, 3), axis=1)
    six = array([[6]], "int64")
    yield fails(
        RangeError, "index 6 is outside [0, 2)", f32(2, 3), six, f32(1, 1), axis=0, by_value=True
    )
    yield fails(ArgumentError, "reduce is 'foo'", f32(2, 3), few, f32(1, 2), axis=0, reduce="foo")
    yield fails(ShapeError, "differ in their number of axes", f32(2), few, f32(1, 2), axis=0)
    yield fails(
        ShapeError, "of the index and of value has sizes", f32(2, 3), few, f32(1, 3), axis=0
    )
    yield fails(DtypeError, "differ in element type", f32(2, 3), few, f64(1, 2), axis=0)


def last(index, like, axis):
    """Whether each place is not named again."""
    out = np.ones(index.shape)
    for i in np.ndindex(index.shape):
        later = np.take(np.moveaxis(index, axis, 0), range(i[axis] + 1, index.shape[axis]), 0)
        out[i] = index[i] not in later[(slice(None), *i[:axis], *i[axis + 1 :])]
    return out


@samples("last_along", reference=last)
def last_along_samples():
    yield call(array([[0, 0, 2], [1, 1, 1]], "int64"), f32(2, 3), axis=1)
    yield call(array([[1, 0], [1, 1]], "int32"), f32(2, 3), axis=0)
    yield call(array([], "int64"), f32(3), axis=0)


def greatest(x, tensor=None, k=1):
    """The greatest elements of each row and their places, by sorting."""
    order = np.argsort(-x, -1, "stable")[..., : k if tensor is None else int(tensor.item())]
    return np.take_along_axis(x, order, -1), order


@samples("top_k", reference=greatest)
def top_k_samples():
    yield call(f32(3, 4), k=2)
    yield call(f32(4))
    yield call(i64(2, 3), k=3)
    yield call(f32(0, 3))
    yield call(strided(f32(2, 4)), k=2)
    yield call(f32(3, 4), array([2], "int32"))
    yield fails(ArgumentError, "k is 5 and axis 1 has 4 elements", f32(3, 4), k=5)
    yield fails(ShapeError, "has no axis to pick from", f32())


@samples("multiplex", reference=lambda x, ids: np.stack([x[j][i] for i, j in enumerate(ids[:, 0])]))
def multiplex_samples():
    yield call([f32(3, 2), f32(3, 2)], array([[1], [0], [1]], "int32"))
    yield call([i64(2, 2, 2)] * 3, array([[2], [2]], "int64"))
    yield call([f32(3, 2), f32(3, 2)], array([[1]], "int32"))
    two = array([[2]], "int32")
    yield fails(RangeError, "index 2 is outside [0, 2)", [f32(1, 1)] * 2, two, by_value=True)
    yield fails(ArgumentError, "2 tensors or more to choose from, not 1", [f32(1, 1)], two)
    yield fails(ShapeError, "are not a column", [f32(1, 1)] * 2, array([1], "int32"))
    yield fails(ShapeError, "are not of one shape", [f32(1, 1), f32(1, 2)], two)
    yield fails(ShapeError, "has more rows", [f32(1, 1)] * 2, array([[1], [1]], "int32"))
    yield fails(DtypeError, "is not of integers", [f32(1, 1)] * 2, f32(1, 1))


def chosen(x, ids, like=None, number=0):
    """The rows whose number is chosen, zeros elsewhere."""
    count = len(ids) if like is None else len(like)
    out = np.zeros((count, *x.shape[1:]))
    for i, j in enumerate(ids[:, 0]):
        out[i] = x[i] if j == number else 0
    return out


@samples("place_chosen", reference=chosen)
def place_chosen_samples():
    yield call(f32(2, 3), array([[1], [0]], "int32"), f32(4, 3), number=1)


@samples("take_chosen", reference=chosen)
def take_chosen_samples():
    yield call(f32(4, 3), array([[1], [0]], "int32"), number=1)
