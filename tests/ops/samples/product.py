"""Samples of products of vectors and matrices; the references are NumPy's own."""

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import bf16, call, f32, f64, fails, i32, i64, samples, strided


@samples("bmm", reference=np.matmul)
def bmm_samples():
    yield call(f32(2, 3, 4), f32(2, 4, 5))
    yield call(f32(2, 0, 4), f32(2, 4, 5))
    yield call(f32(0, 3, 4), f32(0, 4, 5))
    yield call(strided(f32(2, 3, 4)), f32(2, 4, 5))
    yield call(bf16(2, 3, 4), bf16(2, 4, 1))
    yield fails(ShapeError, "x has 2 matrices and y has 1", f32(2, 3, 4), f32(1, 4, 5))
    yield fails(ShapeError, "x has 4 columns and y has 3 rows", f32(2, 3, 4), f32(2, 3, 5))
    yield fails(ShapeError, "has 2 axes, not 3", f32(3, 4), f32(2, 4, 5))
    yield fails(DtypeError, "not of floating-point elements", i64(2, 3, 4), i64(2, 4, 5))
    yield fails(DtypeError, "differ in element type", f32(2, 3, 4), f64(2, 4, 5))


@samples("mv", reference=np.matmul)
def mv_samples():
    yield call(f32(3, 4), f32(4))
    yield call(f32(0, 4), f32(4))
    yield call(strided(f32(3, 4)), strided(f32(4)))
    yield fails(ShapeError, "x has 4 columns and vec has 3 elements", f32(3, 4), f32(3))
    yield fails(ShapeError, "has 1 axes, not 2", f32(4), f32(4))
    yield fails(ShapeError, "has 2 axes, not 1", f32(3, 4), f32(4, 1))


@samples("dot", reference=lambda x, y: (x * y).sum(-1))
def dot_samples():
    yield call(f32(4), f32(4))
    yield call(f32(3, 4), f32(3, 4))
    yield call(i32(4), i32(4))
    yield call(f32(0), f32(0))
    yield call(strided(f32(3, 4)), f32(3, 4))
    yield fails(ShapeError, "are not of one shape", f32(4), f32(1))
    yield fails(ShapeError, "are not of one shape", f32(3, 4), f32(4))
    yield fails(ShapeError, "has 0 axes, not 1 or 2", f32(), f32())
    yield fails(DtypeError, "differ in element type", f32(4), i64(4))


def added(input, x, y, beta=1.0, alpha=1.0):
    """`addmm` in double precision."""
    return beta * input + alpha * (x @ y)


@samples("addmm", reference=added)
def addmm_samples():
    yield call(f32(2, 4), f32(2, 3), f32(3, 4))
    yield call(f32(2, 4), f32(2, 3), f32(3, 4), beta=0.5, alpha=2.0)
    yield call(f32(4), f32(2, 3), f32(3, 4), alpha=0.5)
    yield call(f32(1, 4), f32(2, 3), f32(3, 4), beta=-1.0)
    yield call(f32(2, 1), f32(2, 0), f32(0, 4))
    yield fails(ShapeError, "does not stretch to [2, 4]", f32(3, 1), f32(2, 3), f32(3, 4))
    yield fails(ShapeError, "has 0 axes, not 1 or 2", f32(), f32(2, 3), f32(3, 4))
    yield fails(ShapeError, "x has 3 columns and y has 4 rows", f32(4), f32(2, 3), f32(4, 4))


@samples("kron", reference=np.kron)
def kron_samples():
    yield call(f32(2, 3), f32(4, 2))
    yield call(f32(2), f32(3, 2))
    yield call(f32(), f32(3))
    yield call(f32(), f32())
    yield call(f32(0, 2), f32(1, 2))
    yield call(i64(2), i64(3))
    yield call(strided(f32(2, 3)), f32(2))
    yield fails(DtypeError, "differ in element type", f32(2), i64(2))


@samples("join_pairs", reference=lambda x: x.reshape([a * b for a, b in pairs_of(x.shape)]))
def join_pairs_samples():
    yield call(f32(2, 3, 1, 4))
    yield call(f32())
    yield call(f32(0, 3))


def pairs_of(sizes):
    """Every two sizes that stand side by side."""
    return zip(sizes[::2], sizes[1::2], strict=True)


def crossed(x, y, axis=9):
    """NumPy's vector product; 9 stands for the first axis of size 3."""
    return np.cross(x, y, axis=x.shape.index(3) if axis == 9 else axis)


@samples("cross", reference=crossed)
def cross_samples():
    yield call(f32(3, 2), f32(3, 2))
    yield call(f32(2, 3), f32(2, 3), axis=-1)
    yield call(f32(3, 3), f32(3, 3), axis=1)
    yield call(i64(3), i64(3))
    yield call(f32(0, 3), f32(0, 3))
    yield call(strided(f32(2, 3)), f32(2, 3))
    yield fails(ShapeError, "no axis of [2, 2] has size 3", f32(2, 2), f32(2, 2))
    yield fails(ShapeError, "axis 1 has size 2, not 3", f32(3, 2), f32(3, 2), axis=1)
    yield fails(ShapeError, "are not of one shape", f32(3, 1), f32(3, 2))
    yield fails(RangeError, "axis 4 is outside", f32(3, 2), f32(3, 2), axis=4)
