"""Samples of operators of older Programs."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i32, i64, samples, strided


@samples("plain_reshape", reference=lambda x, *_, shape: x.reshape(shape))
def plain_reshape_samples():
    yield call(f32(2, 3), shape=(3, 2))
    yield call(f64(2, 6), shape=(-1, 4))
    yield call(f32(0, 3), shape=(0, 3))
    yield call(strided(i64(2, 3)), shape=(6,))
    by_tensor = {"reference": lambda x, *_: x.reshape(3, 2), "unknown_sizes": False}
    yield call(f32(2, 3), array([3, 2], "int32"), **by_tensor)
    law = "[2, 3] does not fill the shape [4]"
    yield fails(ShapeError, law, f32(2, 3), shape=(4,))


@samples("plain_transpose", reference=lambda x, *, perm: x.transpose(perm))
def plain_transpose_samples():
    yield call(f32(2, 3), perm=(1, 0))
    yield call(f64(2, 3, 4), perm=(-1, 0, 1))
    yield call(f32(), perm=())
    yield fails(ArgumentError, "perm [0, 0] is no order of 2 axes", f32(2, 3), perm=(0, 0))


@samples("as_matrix")
def as_matrix_samples():
    for axis in range(4):
        wanted = ((1, 24), (2, 12), (6, 4), (24, 1))[axis]
        yield call(f32(2, 3, 4), axis=axis, reference=lambda x, wanted=wanted: x.reshape(wanted))
    yield call(f32(), axis=0, reference=lambda x: x.reshape(1, 1))
    yield call(f32(0, 3), reference=lambda x: x)
    yield fails(RangeError, "axis 3 is outside [0, 2]", f32(2, 3), axis=3)
    yield fails(RangeError, "axis -1 is outside", f32(2, 3), axis=-1)


@samples("minus", reference=lambda x, y: x - y)
def minus_samples():
    yield call(f32(2, 3), f32(2, 3))
    yield call(f64(), f64())
    yield call(i32(0, 3), i32(0, 3))
    law = "x has 2 elements along axis 0, y has 3"
    yield fails(ShapeError, law, f32(2), f32(3))
    yield fails(ShapeError, "x has 2 axes and y 1", f32(2, 3), f32(3))


@samples("reverse", reference=lambda x, *, axis: np.flip(x, axis))
def reverse_samples():
    yield call(f32(2, 3), axis=(1,))
    yield call(f64(2, 3), axis=(0, -1))
    yield call(i64(0, 3), axis=(1,))
    yield fails(RangeError, "axis 2 is outside", f32(2, 3), axis=(2,))


def looked_up(w, ids, *, padding_idx=-1, is_sparse=False):
    rows = ids[..., 0]
    return np.where((rows == padding_idx)[..., None] & (padding_idx != -1), 0, w[rows])


@samples("lookup_table", reference=looked_up)
def lookup_table_samples():
    ids = array([[0], [2], [2], [1]], "int64")
    yield call(f32(4, 3), ids)
    yield call(f64(4, 3), ids[None], padding_idx=2)
    yield call(f32(4, 3), ids, is_sparse=True, grad=False)
    yield call(f32(4, 3), i64(0, 1))
    yield fails(ShapeError, "is not of size 1", f32(4, 3), i64(2))
    yield fails(ShapeError, "the table float32[4] is not a matrix", f32(4), ids)
    yield fails(DtypeError, "", f32(4, 3), f32(2, 1))
    yield fails(RangeError, "", f32(2, 3), ids, by_value=True)


@samples("lod_reset", reference=lambda x, *_: x)
def lod_reset_samples():
    yield call(f32(5, 3), target_lod=(0, 2, 5))
    yield call(f64(3), array([0, 3], "int32"), append=True, grad=("x",))
    yield fails(ArgumentError, "neither y nor target_lod", f32(5, 3))
