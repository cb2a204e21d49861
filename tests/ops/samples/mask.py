"""Samples of elements picked by masks and by tensors of indices."""

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i64, samples, strided


@samples("masked_select", reference=lambda x, mask: x[np.broadcast_to(mask, x.shape)])
def masked_select_samples():
    yield call(f32(2, 3), boolean(2, 3))
    yield call(f32(2, 3), boolean(3))
    yield call(f32(3), boolean(2, 3), reference=lambda x, m: np.broadcast_to(x, m.shape)[m])
    yield call(f32(), array(True, "bool"))
    yield call(f32(0, 3), boolean(0, 3))
    yield call(f32(3), array([False] * 3, "bool"), name_of_case="nothing")
    yield call(strided(f32(2, 3)), boolean(2, 3))
    yield fails(DtypeError, "mask is int64, not bool", f32(3), i64(3))
    yield fails(ShapeError, "shapes do not broadcast", f32(2, 3), boolean(2))


MASK = array([[True, False, True], [False, False, True]], "bool")


def placed(x, mask, like):
    """Zeros with `x` where the mask holds, summed down to the shape of `like`."""
    out = np.zeros(mask.shape)
    out[mask] = x
    return out if mask.ndim == like.ndim else out.sum(0)


@samples("place_masked", reference=placed)
def place_masked_samples():
    yield call(f32(3), MASK, f32(2, 3), unknown_sizes=False)
    yield call(f32(3), MASK, f32(3), unknown_sizes=False)
    yield call(f32(0), MASK & False, f32(2, 3), name_of_case="nothing", unknown_sizes=False)


def picked(x, indices):
    """NumPy's own."""
    return x[tuple(indices)]


TWICE = array([2, 0, 2], "int64")


@samples("index_get", reference=picked)
def index_get_samples():
    yield call(f32(4, 5), [TWICE])
    yield call(f32(4, 5), [TWICE, array([1, 1, -1], "int32")])
    yield call(f32(4, 5), [array([[1], [0]], "int64"), array([0, 2], "int64")])
    yield call(f32(4, 5), [array(3, "int64")])
    yield call(f32(4, 5), [array([], "int64")])
    yield call(strided(f32(4, 5)), [TWICE])
    yield fails(
        RangeError, "outside [-4, 4) of axis 0", f32(4), [array([4], "int64")], by_value=True
    )
    yield fails(DtypeError, "neither of integers nor bool", f32(4), [f32(2)])
    yield fails(ShapeError, "2 indices are too many", f32(4), [TWICE, TWICE])
    yield fails(RangeError, "does not cover axes", f32(4), [boolean(3)])


def put(x, indices, value, accumulate):
    """NumPy's own."""
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), value)
    else:
        out[tuple(indices)] = value
    return out


@samples("index_put", reference=put)
def index_put_samples():
    once = array([2, 0, 1], "int64")
    yield call(f32(4, 5), [once], f32(3, 5))
    yield call(f32(4, 5), [once], f32())
    yield call(f32(4, 5), [once, array([1, 1, -1], "int32")], f32(3))
    yield call(f32(4, 5), [TWICE], f32(5), accumulate=True)
    yield call(f32(2, 3), [MASK], f32(), unknown_sizes=False)
    yield call(f32(2, 3), [MASK], f32(3), unknown_sizes=False)
    yield call(f32(2, 3), [array([True, False], "bool")], f32(3), unknown_sizes=False)
    yield call(i64(4), [TWICE], i64(), accumulate=True)
    yield call(f32(4, 5), [array([], "int64")], f32(0, 5))
    yield fails(ShapeError, "a value of shape [2] does not fit [3]", f32(4), [TWICE], f32(2))
    yield fails(DtypeError, "x is float32 and value is float64", f32(4), [TWICE], f64(3))
    place = [array([4], "int64")]
    yield fails(RangeError, "outside [-4, 4) of axis 0", f32(4), place, f32(1), by_value=True)
