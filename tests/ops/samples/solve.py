"""Samples of systems of linear equations; the references are NumPy's own."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided

SINGULAR = array([[1, 2], [2, 4]])


def regular(x, gain=4.0):
    """Square matrices that are far from singular."""
    return (x + gain * np.eye(x.shape[-1])).astype(x.dtype)


@samples("inverse", reference=np.linalg.inv)
def inverse_samples():
    yield call(regular(f32(3, 3)))
    yield call(regular(f32(2, 1, 3, 3)))
    yield call(f32(0, 2, 2))
    yield call(strided(regular(f32(3, 3))))
    yield fails(ArgumentError, "a matrix has no inverse", SINGULAR, by_value=True)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))
    yield fails(ShapeError, "at least 2 are needed", f32(2))
    yield fails(DtypeError, "not of floating-point elements", i64(2, 2))


@samples("determinant", reference=np.linalg.det)
def determinant_samples():
    yield call(regular(f32(3, 3)))
    yield call(regular(f32(2, 2, 2)))
    yield call(SINGULAR, grad=False)
    yield call(f32(0, 2, 2))
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


@samples("slogdet", reference=lambda x: np.stack(np.linalg.slogdet(x)))
def slogdet_samples():
    yield call(regular(f32(3, 3)))
    yield call(-regular(f32(2, 3, 3)))
    yield call(f32(0, 2, 2))
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


def solved(x, y):
    """NumPy's `solve`, with vectors as the operator knows them."""
    vector = y.ndim == 1 or y.shape == x.shape[:-1]
    found = np.linalg.solve(x, y[..., None] if vector else y)
    return found[..., 0] if vector else found


@samples("solve", reference=solved)
def solve_samples():
    yield call(regular(f32(3, 3)), f32(3, 2))
    yield call(regular(f32(3, 3)), f32(3))
    yield call(regular(f32(2, 3, 3)), f32(2, 3))
    yield call(regular(f32(2, 3, 3)), f32(3))
    yield call(regular(f32(4, 2, 2)), f32(2, 3))
    yield call(regular(f32(2, 2)), f32(4, 2, 1))
    yield call(strided(regular(f32(3, 3))), f32(3, 0))
    yield fails(ArgumentError, "a matrix has no inverse", SINGULAR, f32(2), by_value=True)
    yield fails(ShapeError, "x has 2 columns and y has 3 rows", regular(f32(2, 2)), f32(3, 1))
    yield fails(DtypeError, "differ in element type", regular(f32(2, 2)), f64(2))


def solved_triangle(x, y, upper=True, transpose=False, unitriangular=False):
    """NumPy's `solve` with one triangle."""
    a = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        a = a - a * np.eye(len(x[0])) + np.eye(a.shape[-1])
    return np.linalg.solve(a.swapaxes(-1, -2) if transpose else a, y)


@samples("triangular_solve", reference=solved_triangle)
def triangular_solve_samples():
    yield call(regular(f32(3, 3)), f32(3, 2))
    yield call(regular(f32(3, 3)), f32(3, 2), upper=False)
    yield call(regular(f32(5, 5)), f32(5, 1), transpose=True)
    yield call(regular(f32(3, 3)), f32(2, 3, 1), upper=False, transpose=True)
    yield call(f32(2, 3, 3), f32(3, 2), unitriangular=True)
    yield call(strided(regular(f32(4, 4))), f32(4, 0))
    infinite = lambda x, y: np.array([[np.nan], [np.inf]])  # noqa: E731
    zeros, ones = array([[0, 0], [0, 0]]), array([[1], [1]])
    yield call(zeros, ones, grad=False, reference=infinite, name_of_case="singular")
    yield fails(ShapeError, "at least 2 are needed", regular(f32(2, 2)), f32(2))
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3), f32(2, 1))


def from_factor(x, y, upper=False):
    """What the product of the factor and its transpose solves."""
    a = (
        np.triu(y).swapaxes(-1, -2) @ np.triu(y)
        if upper
        else np.tril(y) @ np.tril(y).swapaxes(-1, -2)
    )
    return np.linalg.solve(a, x)


@samples("cholesky_solve", reference=from_factor)
def cholesky_solve_samples():
    yield call(f32(3, 2), regular(f32(3, 3)))
    yield call(f32(3, 2), regular(f32(3, 3)), upper=True)
    yield call(f32(2, 3, 1), regular(f32(3, 3)))
    yield fails(ShapeError, "at least 2 are needed", f32(2), regular(f32(2, 2)))


@samples("matrix_power", reference=lambda x, n: np.linalg.matrix_power(x, n))
def matrix_power_samples():
    for n in (3, 1, 0, -2):
        yield call(regular(f32(2, 2), 2.0), n=n)
    yield call(f32(2, 3, 3), n=2)
    yield fails(ArgumentError, "a matrix has no inverse", SINGULAR, n=-1, by_value=True)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3), n=2)
    yield fails(ShapeError, "have no elements", f32(1, 0, 0), n=2)


@samples("multi_dot", reference=lambda x: np.linalg.multi_dot(x))
def multi_dot_samples():
    yield call([f32(2, 3), f32(3, 4), f32(4, 2)])
    yield call([f32(3), f32(3, 4), f32(4)])
    yield call([f32(2, 3), f32(3)])
    yield fails(ArgumentError, "2 matrices or more to be multiplied, not 1", [f32(2, 2)])
    yield fails(ShapeError, "operand 1 has 1 axes", [f32(2, 2), f32(2), f32(2, 2)])
