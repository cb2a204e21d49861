"""Samples of products of matrices."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples, strided


def product(x, y, transpose_x, transpose_y):
    """The product of the last two axes."""
    x = np.swapaxes(x, -1, -2) if transpose_x and x.ndim > 1 else x
    y = np.swapaxes(y, -1, -2) if transpose_y and y.ndim > 1 else y
    return x @ y


@samples("matmul", reference=product)
def matmul_samples():
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(3, 2), f32(3, 4), transpose_x=True)
    yield call(f32(2, 3), f32(4, 3), transpose_y=True)
    yield call(f32(3, 2), f32(4, 3), transpose_x=True, transpose_y=True)
    yield call(f32(3), f32(3))
    yield call(f32(3), f32(3, 4))
    yield call(f32(3), f32(4, 3), transpose_y=True)
    yield call(f32(2, 3), f32(3))
    yield call(f32(3, 2), f32(3), transpose_x=True)
    yield call(f32(2, 2, 3), f32(3))
    yield call(f32(3), f32(2, 3, 4))
    yield call(f32(2, 2, 3), f32(3, 4))
    yield call(f32(2, 1, 2, 3), f32(3, 3, 2), transpose_x=False)
    yield call(f32(2, 1, 3, 2), f32(3, 2, 3), transpose_x=True, transpose_y=True)
    yield call(f32(0, 3), f32(3, 4))
    yield call(f32(2, 0), f32(0, 4))
    yield call(f32(1, 1), f32(1, 1))
    yield call(strided(f32(2, 3)), f32(4, 3).T)
    yield call(f64(2, 3), f64(3, 4))
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 3))
    yield fails(ShapeError, "x has 3 columns and y has 4 rows", f32(3), f32(4))
    yield fails(ShapeError, "0 axes, at least 1 are needed", f32(), f32(3))
    yield fails(ShapeError, "shapes do not broadcast", f32(2, 2, 3), f32(3, 3, 2))


def scaled_product(x, y, transpose_x, transpose_y, alpha):
    """`alpha` times the product of the last two axes."""
    return (product(x, y, transpose_x, transpose_y) * alpha).astype(x.dtype)


@samples("scaled_matmul", reference=scaled_product)
def scaled_matmul_samples():
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(3, 2), f32(4, 3), transpose_x=True, transpose_y=True, alpha=0.5)
    yield call(f32(3), f32(3), alpha=2.0)
    yield call(f32(2, 2, 3), f32(3, 4), alpha=-3.0)
    yield call(f64(2, 3), f64(3, 4), alpha=2.0)
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 3), alpha=2.0)


def product_of_matrices(x, y, x_num_col_dims, y_num_col_dims):
    """The product of both as matrices."""
    inner = y.shape[:y_num_col_dims]
    rows = x.reshape(*x.shape[:x_num_col_dims], *inner)
    return np.tensordot(rows, y, len(inner))


@samples("mul", reference=product_of_matrices)
def mul_samples():
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(2, 3, 4), f32(12, 5))
    yield call(f32(2, 3, 4), f32(4, 5), x_num_col_dims=2)
    yield call(f32(2, 6), f32(2, 3, 4), y_num_col_dims=2)
    yield call(f32(2, 2, 6), f32(3, 2, 4, 2), x_num_col_dims=2, y_num_col_dims=2)
    yield call(f32(0, 3), f32(3, 4))
    yield call(f32(3, 2).T, strided(f32(3, 4)))
    yield call(f64(2, 3), f64(3, 4))
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 4))
    yield fails(DtypeError, "x is float32 and y is float64; cast one", f32(2, 3), f64(3, 4))
