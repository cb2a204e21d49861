"""Samples of diagonals; the references are NumPy's own."""

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import bf16, boolean, call, f32, fails, i32, i64, samples, strided

UPPER = {"offset": 1, "axis1": -1, "axis2": 0}


@samples("diagonal", reference=np.diagonal)
def diagonal_samples():
    yield call(f32(3, 4))
    yield call(f32(2, 3, 4), **UPPER)
    yield call(f32(2, 3, 4), offset=-1, axis1=1, axis2=2)
    yield call(f32(3, 4), offset=7)
    yield call(f32(0, 3))
    yield call(i64(3, 3))
    yield call(boolean(2, 2))
    yield call(strided(f32(3, 4)), offset=2)
    yield fails(ShapeError, "at least 2 are needed", f32(3))
    yield fails(ArgumentError, "axes 0 and -2 of 2 axes are the same", f32(3, 3), axis2=-2)
    yield fails(RangeError, "axis 2 is outside", f32(3, 3), axis2=2)


@samples("trace", reference=np.trace)
def trace_samples():
    yield call(f32(3, 4))
    yield call(f32(2, 3, 4), **UPPER)
    yield call(f32(3, 4), offset=7)
    yield call(i32(3, 3))
    yield call(strided(f32(3, 4)), offset=-1)
    yield fails(ShapeError, "at least 2 are needed", f32(3))


def on_diagonal(x, like, offset=0, axis1=0, axis2=1):
    """Zeros with `x` on a diagonal."""
    out = np.zeros(like.shape)
    view = np.diagonal(out, offset, axis1, axis2)
    view.flags.writeable = True
    view[...] = x
    return out


@samples("place_diagonal", reference=on_diagonal)
def place_diagonal_samples():
    yield call(f32(3), f32(3, 4))
    yield call(f32(3, 1), f32(2, 3, 4), **UPPER)
    yield call(f32(0), f32(3, 4), offset=7)
    yield call(i64(2), i64(3, 3), offset=-1)


def diagonal_matrix(x, offset=0, padding_value=0.0):
    """NumPy's `diag`, with a value beside the diagonal."""
    if x.ndim == 2:
        return np.diag(x, offset)
    around = np.diag(np.full(x.size, 1.0), offset)
    return np.where(around == 1, np.diag(x.reshape(-1), offset), padding_value)


@samples("diag", reference=diagonal_matrix)
def diag_samples():
    yield call(f32(3))
    yield call(f32(3), offset=1, padding_value=2.5)
    yield call(f32(2), offset=-2)
    yield call(f32(3, 4), offset=1)
    yield call(f32(3, 4), offset=-2)
    yield call(f32())
    yield call(f32(0))
    yield call(i64(3), padding_value=4.0)
    yield call(strided(f32(3)))
    yield fails(ShapeError, "has 3 axes; a vector or a matrix", f32(2, 2, 2))


def embedded(x, offset=0, dim1=-2, dim2=-1):
    """Each vector of the last axis on a diagonal of two new axes."""
    whole = np.zeros((*x.shape[:-1], *(x.shape[-1] + abs(offset),) * 2))
    view = np.diagonal(whole, offset, -2, -1)
    view.flags.writeable = True
    view[...] = x
    return np.moveaxis(whole, (-2, -1), (dim1, dim2))


@samples("diag_embed", reference=embedded)
def diag_embed_samples():
    yield call(f32(3))
    yield call(f32(2, 3), offset=1)
    yield call(f32(2, 3), offset=-1, dim1=0, dim2=2)
    yield call(f32(2, 3), dim1=-1, dim2=0)
    yield call(i64(3))
    yield call(bf16(3))
    yield call(f32(2, 0))
    yield call(strided(f32(2, 3)))
    yield fails(RangeError, "axis -2 is outside", f32())
    yield fails(ArgumentError, "are the same", f32(3), dim1=0, dim2=0)
