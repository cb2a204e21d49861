"""Samples of tensors that are filled."""

import numpy as np

from scull.core.dtype import bool_, int64
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i64, samples, strided


@samples("empty")
def empty_samples():
    yield call(shape=(2, 3), reference=lambda: np.zeros((2, 3)))
    yield call(shape=(), dtype=int64, reference=lambda: np.zeros(()))
    yield call(shape=(0, 3), dtype=bool_, reference=lambda: np.zeros((0, 3)))
    shape = {"reference": lambda *_: np.zeros((2, 3)), "unknown_sizes": False}
    yield call(array([2, 3], "int32"), **shape)
    yield call(None, [array([2], "int32"), array(3, "int64")], **shape)
    yield fails(ArgumentError, "shape [2, -3] has a negative size", shape=(2, -3))


@samples("fill_any", reference=lambda x, *, value=0.0: np.full(x.shape, value))
def fill_any_samples():
    yield call(f32(2, 3), value=2.5)
    yield call(f64())
    yield call(i64(0, 3), value=2.0)
    yield call(boolean(3), value=1.0)


def on_diagonal(x, *, value=0.0, offset=0, wrap=False):
    out, columns = x.copy(), x.shape[1]
    step = sum(int(np.prod(x.shape[i + 1 :])) for i in range(x.ndim))
    stop = x.size if wrap or x.ndim > 2 else min(x.size, columns**2)
    for place in range(0, stop, step):
        if 0 <= place % columns + offset < columns and place + offset < x.size:
            out.reshape(-1)[place + offset] = value
    return out


@samples("fill_diagonal", reference=on_diagonal)
def fill_diagonal_samples():
    yield call(f32(3, 4), value=2.5)
    yield call(f64(7, 3), value=1.0, wrap=True)
    yield call(f32(7, 3), value=1.0, offset=1, wrap=True)
    yield call(f32(7, 3), value=1.0, offset=-1)
    yield call(f32(3, 3, 3), value=1.0, offset=1)
    yield call(f32(4, 2, 3), value=1.0)
    yield call(strided(i64(3, 4)), value=7.0, offset=9)
    yield call(f32(0, 3), value=1.0)
    yield fails(ShapeError, "has 1 axes; a diagonal needs 2", f32(3))


def put(x, y, *, offset=0, dim1=0, dim2=1):
    out = np.moveaxis(x.copy(), (dim1, dim2), (-2, -1))
    count = np.diagonal(out, offset, -2, -1).shape[-1]
    k = np.arange(count)
    out[..., k + max(-offset, 0), k + max(offset, 0)] = y.reshape((*out.shape[:-2], count))
    return np.moveaxis(out, (-2, -1), (dim1, dim2))


@samples("fill_diagonal_tensor", reference=put)
def fill_diagonal_tensor_samples():
    yield call(f32(3, 4), f32(3), grad=("x",))
    yield call(f64(3, 4), f64(1, 2), offset=-1, grad=("x",))
    yield call(f32(2, 3, 4), f32(4, 2), grad=("x",))
    yield call(f32(2, 3, 4), f32(2, 3), dim1=-1, dim2=1, grad=("x",))
    yield call(i64(3, 4), i64(0), offset=9)
    yield fails(ShapeError, "y has 2 elements where the diagonal has 3", f32(3, 4), f32(2))
    yield fails(ShapeError, "y has 1 axes, 2 are needed", f32(2, 3, 4), f32(2))
    yield fails(DtypeError, "x is float32 and y is float64", f32(3, 4), f64(3))
    yield fails(ArgumentError, "are the same", f32(3, 4), f32(3), dim1=1)
    yield fails(RangeError, "axis 2 is outside", f32(3, 4), f32(3), dim2=2)


def cleared(x, *, offset=0, dim1=0, dim2=1):
    return put(
        x, np.zeros_like(np.diagonal(x, offset, dim1, dim2)), offset=offset, dim1=dim1, dim2=dim2
    )


@samples("clear_diagonal", reference=cleared)
def clear_diagonal_samples():
    yield call(f32(3, 4))
    yield call(f64(2, 3, 4), offset=-1, dim1=-1, dim2=1)
    yield call(f32(0, 3))
    yield fails(ArgumentError, "are the same", f32(3, 4), dim1=1)
