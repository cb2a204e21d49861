"""Samples of matrices taken apart; the references are NumPy's own.

Where the kernel reads one triangle and the gradient is symmetric, numeric gradients of one element
say nothing: tests/ops/test_factor.py asks for symmetric ones.
"""

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, c64, call, f32, f64, fails, i64, samples, strided


def definite(x):
    """Symmetric matrices with eigenvalues far from 0 and from each other."""
    size = x.shape[-1]
    return (x @ x.swapaxes(-1, -2) * 0.1 + np.diag(np.arange(1.0, size + 1))).astype(x.dtype)


def triangle(x, upper=False):
    """NumPy's `cholesky`, which reads the lower triangle; the upper one for `upper`."""
    if upper:
        return np.linalg.cholesky(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.linalg.cholesky(x)


@samples("cholesky", reference=triangle)
def cholesky_samples():
    yield call(definite(f32(3, 3)), grad=False)
    yield call(definite(f32(2, 3, 3)), upper=True, grad=False)
    yield call(array([[4, 9], [1, 3]]), grad=False)
    yield call(f32(0, 2, 2), grad=False)
    yield call(strided(definite(f32(3, 3))), grad=False)
    not_positive = array([[1, 2], [2, 1]])
    yield fails(ArgumentError, "is not positive definite", not_positive, by_value=True)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))
    yield fails(DtypeError, "not of floating-point elements", i64(2, 2))


@samples("eigh", reference=lambda x, uplo="L": tuple(np.linalg.eigh(x, uplo)))
def eigh_samples():
    yield call(definite(f32(3, 3)), grad=False)
    yield call(definite(f32(2, 3, 3)), uplo="U", grad=False)
    yield call(array([[1, 9], [1, 3]]), grad=False)
    yield call(c64(3, 3), grad=False)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


@samples("eigvalsh", reference=lambda x, uplo="L": tuple(np.linalg.eigh(x, uplo)))
def eigvalsh_samples():
    yield call(definite(f32(3, 3)), grad=False)
    yield call(array([[1, 9], [1, 3]]), uplo="U", grad=False)
    yield call(c64(2, 3, 3), uplo="U", grad=False)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


@samples("eig", reference=lambda x: tuple(np.linalg.eig(x.astype("complex128"))))
def eig_samples():
    yield call(array([[0, 1], [-1, 0]]), grad=False)
    yield call(array([[[2, 1], [0, 3]]], "float64"), grad=False)
    yield call(c64(2, 2), grad=False)
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


def values_in_order(x):
    """Eigenvalues in the order of the reference: as its library finds those of the transpose."""
    return np.linalg.eigvals(x.swapaxes(-1, -2).astype(np.promote_types(x.dtype, "float64")))


@samples("eigvals", reference=values_in_order)
def eigvals_samples():
    yield call(array([[0, 1], [-1, 0]]))
    yield call(f32(5, 5))
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3))


def singular(x, full_matrices=False):
    """NumPy's `svd`, with the values last."""
    u, s, vh = np.linalg.svd(x, full_matrices)
    return u, vh, s


@samples("svd", reference=singular)
def svd_samples():
    yield call(f32(3, 3))
    yield call(f32(3, 2))
    yield call(f32(2, 2, 3))
    yield call(f32(3, 2), full_matrices=True, grad=False)
    yield call(strided(f32(2, 2)))
    yield fails(ShapeError, "at least 2 are needed", f32(2))
    yield fails(ShapeError, "have no elements", f32(0, 2))


def orthogonal(x, mode="reduced"):
    """NumPy's `qr`; mode "r" leaves the first factor empty."""
    found = np.linalg.qr(x, mode)
    return (np.empty(0), found) if mode == "r" else tuple(found)


@samples("qr", reference=orthogonal)
def qr_samples():
    yield call(f32(3, 3))
    yield call(f32(3, 2))
    yield call(f32(2, 3), unknown_sizes=False)
    yield call(f32(2, 3, 2))
    yield call(f32(3, 2), mode="complete", grad=False)
    yield call(f32(3, 2), mode="r", grad=False)
    yield fails(ArgumentError, "mode is 'x'", f32(3, 2), mode="x")
    yield fails(ShapeError, "at least 2 are needed", f32(2))


def rank(x, tensor=None, tol=0.0, use_default_tol=True, hermitian=False):
    """NumPy's `matrix_rank`, for bounds on the values themselves."""
    if tensor is None and use_default_tol:
        return np.linalg.matrix_rank(x, hermitian=hermitian)
    values = abs(np.linalg.eigvalsh(x)) if hermitian else np.linalg.svd(x, compute_uv=False)
    bound = np.asarray(tol if tensor is None else tensor)
    return (values > bound[..., None]).sum(-1)


@samples("matrix_rank", reference=rank)
def matrix_rank_samples():
    yield call(f32(3, 2))
    yield call(f32(2, 3, 3), tol=1.0, use_default_tol=False)
    yield call(definite(f32(3, 3)), hermitian=True)
    yield call(f32(3, 3), array([0.5, 9.0]))
    yield fails(ShapeError, "have 2 rows and 3 columns", f32(2, 3), hermitian=True)


def nearest(x, y, driver="gels"):
    """NumPy's `lstsq`."""
    found, left, rank, values = np.linalg.lstsq(x, y)
    none = np.empty(0)
    return (
        found,
        left,
        none if driver == "gels" else rank,
        none if driver[-2:] in ("ls", "sy") else values,
    )


@samples("lstsq", reference=nearest)
def lstsq_samples():
    yield call(f32(4, 2), f32(4, 3), driver="gelsy")
    yield call(f32(4, 2), f32(4, 1), driver="gelsd")
    yield call(f32(2, 2), f32(2, 1))
    yield fails(ShapeError, "x has 4 rows and y has 3", f32(4, 2), f32(3, 1))
    yield fails(ArgumentError, "driver is 'x'", f32(4, 2), f32(4, 1), driver="x")
    yield fails(DtypeError, "differ in element type", f32(4, 2), f64(4, 1))
