"""Matrices taken apart into factors, and what is read off these."""

from typing import Any

from scull.core.dtype import dtype_of, int32
from scull.core.eager import primitive
from scull.core.meta import Meta, at_least, floating
from scull.errors import ArgumentError
from scull.ops.like import full_like, unsqueeze
from scull.ops.linear import matmul
from scull.ops.move import tril_triu
from scull.ops.join import concat
from scull.ops.slicing import slice
from scull.ops.solve import LIBRARY, called, held, inverse, same_type, square, triangular_solve
from scull.ops.solve import turned, wide


def matrices(x: Meta) -> tuple[int, int]:
    """The sizes of floating-point matrices."""
    floating(x)
    at_least(2, x)
    return x.shape[-2:]


def lesser(m: int, n: int) -> int:
    """The lesser of two sizes; unknown when one is."""
    return -1 if -1 in (m, n) else min(m, n)


def lower(x: Any, beside: int = 0) -> Any:
    """`x` with zeros above a diagonal."""
    return tril_triu(x, diagonal=beside, lower=True)


def scaled_columns(x: Any, factors: Any) -> Any:
    """Each column of `x` times its factor."""
    return x * unsqueeze(factors, axes=(-2,))


@primitive(infer_first=True)
def cholesky(x: Meta, *, upper: bool = False) -> Meta:
    """The lower triangle whose product with its transpose is `x`, or that transpose."""
    square(x)
    return x


@cholesky.kernel
def cholesky_kernel(xp: Any, x: Any, *, out: Any = None, upper: bool) -> Any:
    law = "a matrix is not positive definite"
    found = called(xp, "cholesky", x.swapaxes(-1, -2) if upper else x, law=law)
    return held(found.swapaxes(-1, -2) if upper else found, x, out)


@cholesky.grad
def cholesky_grad(out: Any, dout: Any, upper: bool) -> Any:
    """Symmetric, though the kernel reads one triangle only."""
    factor, dfactor = (turned(out), turned(dout)) if upper else (out, dout)
    product = matmul(factor, dfactor, transpose_x=True)
    halved = (lower(product) + lower(product, -1)) * 0.5
    how = {"upper": False, "transpose": True}
    rows = turned(triangular_solve(factor, halved, **how))
    found = triangular_solve(factor, rows, **how)
    return (found + turned(found)) * 0.5


cholesky.no_lowering(LIBRARY)


@primitive(attrs={"uplo": "UPLO"}, outputs=("eigenvalues", "eigenvectors"), infer_first=True)
def eigh(x: Meta, *, uplo: str = "L") -> tuple[Meta, Meta]:
    """The eigenvalues in rising order and the eigenvectors of symmetric matrices; one triangle is
    read.
    """
    square(x)
    return x.with_shape(x.shape[:-1]), x


@eigh.kernel
def eigh_kernel(xp: Any, x: Any, *, out: Any = None, uplo: str) -> Any:
    values, vectors = called(xp, "eigh", x, UPLO="U" if uplo == "U" else "L")
    return held(values, x, None), held(vectors, x, None)


def reciprocal_differences(x: Any) -> Any:
    """``1 / (x[j] - x[i])`` in row i and column j, zeros on the diagonal."""
    differences = unsqueeze(x, axes=(-2,)) - unsqueeze(x, axes=(-1,))
    ones = full_like(differences, value=1.0, dtype=None)
    diagonal = tril_triu(lower(ones), diagonal=0, lower=False)
    return (ones - diagonal) / (differences + diagonal)


@eigh.grad
def eigh_grad(
    eigenvalues: Any, eigenvectors: Any, deigenvalues: Any = None, deigenvectors: Any = None
) -> Any:
    vectors = eigenvectors
    dx = 0.0
    if deigenvalues is not None:
        dx = matmul(scaled_columns(vectors, deigenvalues), vectors, transpose_y=True)
    if deigenvectors is not None:
        turning = matmul(vectors, deigenvectors, transpose_x=True)
        inner = turning * reciprocal_differences(eigenvalues)
        dx = dx + matmul(matmul(vectors, inner), vectors, transpose_y=True)
    return dx


eigh.no_lowering(LIBRARY)


@primitive(
    attrs={"uplo": "UPLO"},
    outputs=("eigenvalues", "eigenvectors"),
    hidden=("eigenvectors",),
    fixed={"is_test": False},
    infer_first=True,
)
def eigvalsh(x: Meta, *, uplo: str = "L") -> tuple[Meta, Meta]:
    """The eigenvalues of symmetric matrices in rising order; one triangle is read."""
    return eigh.op.body(x, uplo=uplo)


eigvalsh.kernel(eigh_kernel)


@eigvalsh.grad
def eigvalsh_grad(eigenvectors: Any, deigenvalues: Any, deigenvectors: Any = None) -> Any:
    scaled = scaled_columns(eigenvectors, deigenvalues)
    return matmul(scaled, eigenvectors, transpose_y=True)


eigvalsh.no_lowering(LIBRARY)


def complex_of(x: Meta) -> Any:
    """The complex element type that holds `x`."""
    return dtype_of("complex128" if x.dtype.name in ("float64", "complex128") else "complex64")


@primitive(outputs=("eigenvalues", "eigenvectors"), infer_first=True)
def eig(x: Meta) -> tuple[Meta, Meta]:
    """The eigenvalues and eigenvectors of square matrices."""
    square(x)
    found = x.with_dtype(complex_of(x))
    return found.with_shape(x.shape[:-1]), found


@eig.kernel
def eig_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    dtype = "complex128" if x.dtype in ("float64", "complex128") else "complex64"
    return tuple([v.astype(dtype) for v in called(xp, "eig", x)])


eig.no_grad("complex derivatives are not there yet")
eig.no_lowering(LIBRARY)


@primitive(infer_first=True)
def eigvals(x: Meta) -> Meta:
    """The eigenvalues of square matrices."""
    return eig.op.body(x)[0]


@eigvals.kernel
def eigvals_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    return eig_kernel(xp, x)[0]


eigvals.no_grad("complex derivatives are not there yet")
eigvals.no_lowering(LIBRARY)


@primitive(slots={"vh": "VH"}, outputs=("u", "s", "vh"), infer_first=True)
def svd(x: Meta, *, full_matrices: bool = False) -> tuple[Meta, Meta, Meta]:
    """Orthogonal `u`, falling `s` and orthogonal `vh`, of which `x` is the product."""
    m, n = matrices(x)
    k, lead = lesser(m, n), x.shape[:-2]
    rows, columns = (m, n) if full_matrices else (k, k)
    return (
        x.with_shape((*lead, m, rows)),
        x.with_shape((*lead, k)),
        x.with_shape((*lead, columns, n)),
    )


@svd.kernel
def svd_kernel(xp: Any, x: Any, *, out: Any = None, full_matrices: bool) -> Any:
    found = called(xp, "svd", x, full_matrices=full_matrices)
    return tuple([held(v, x, None) for v in found])


@svd.grad
def svd_grad(
    x: Any,
    u: Any,
    s: Any,
    vh: Any,
    full_matrices: bool,
    du: Any = None,
    ds: Any = None,
    dvh: Any = None,
) -> Any:
    """The first columns and rows only count where `full_matrices` gives more."""
    m, n = x.shape[-2:]
    if full_matrices and m != n:
        k = min(m, n)
        u, du = first_columns(u, k), None if du is None else first_columns(du, k)
        vh, dvh = first_rows(vh, k), None if dvh is None else first_rows(dvh, k)
    dx = 0.0 if ds is None else matmul(scaled_columns(u, ds), vh)
    shares = reciprocal_differences(s * s) if du is not None or dvh is not None else None
    if du is not None:
        turning = matmul(u, du, transpose_x=True)
        inner = (turning - turned(turning)) * shares
        dx = dx + matmul(matmul(u, scaled_columns(inner, s)), vh)
        if m != n:
            outside = du - matmul(u, turning)
            dx = dx + matmul(scaled_columns(outside, 1.0 / s), vh)
    if dvh is not None:
        turning = matmul(vh, dvh, transpose_y=True)
        inner = (turning - turned(turning)) * shares * unsqueeze(s, axes=(-1,))
        dx = dx + matmul(matmul(u, inner), vh)
        if m != n:
            outside = dvh - matmul(turned(turning), vh)
            dx = dx + matmul(scaled_columns(u, 1.0 / s), outside)
    return dx


def first_columns(x: Any, count: int) -> Any:
    """The first columns of `x`."""
    return slice(x, axes=(len(x.shape) - 1,), starts=(0,), ends=(count,))


def first_rows(x: Any, count: int) -> Any:
    """The first rows of `x`."""
    return slice(x, axes=(len(x.shape) - 2,), starts=(0,), ends=(count,))


svd.no_lowering(LIBRARY)


@primitive(outputs=("q", "r"), infer_first=True)
def qr(x: Meta, *, mode: str = "reduced") -> tuple[Meta, Meta]:
    """Orthogonal `q` and upper triangular `r`, of which `x` is the product; `mode` "r" leaves `q`
    empty.
    """
    m, n = matrices(x)
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"mode is {mode!r}, not reduced, complete or r")
    k, lead = m if mode == "complete" else lesser(m, n), x.shape[:-2]
    q = x.with_shape((0,) if mode == "r" else (*lead, m, k))
    return q, x.with_shape((*lead, k, n))


@qr.kernel
def qr_kernel(xp: Any, x: Any, *, out: Any = None, mode: str) -> Any:
    found = called(xp, "qr", x, mode=mode)
    q, r = (xp.empty(0, x.dtype), found) if mode == "r" else found
    return held(q, x, None), held(r, x, None)


@qr.grad
def qr_grad(
    x: Any, q: Any, r: Any, mode: str, dq: Any = None, dr: Any = None
) -> Any:
    """Of a wide matrix the first columns decide `q`; the others follow from it."""
    m, n = x.shape[-2:]
    if mode == "r" or (mode == "complete" and m > n):
        raise ArgumentError(f"mode {mode!r} leaves out what the gradient needs; use reduced")
    if m >= n:
        return square_qr_grad(q, r, dq, dr)
    axis, ends = len(x.shape) - 1, {"starts": (m,), "ends": (n,)}
    if dr is None:
        zeros = full_like(x, value=0.0, dtype=None)
        rest, first = slice(zeros, axes=(axis,), **ends), None
    else:
        tail = slice(dr, axes=(axis,), **ends)
        rest, first = matmul(q, tail), first_columns(dr, m)
        turning = matmul(slice(x, axes=(axis,), **ends), tail, transpose_y=True)
        dq = turning if dq is None else dq + turning
    return concat([square_qr_grad(q, first_columns(r, m), dq, first), rest], axis=axis)


def square_qr_grad(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    """The gradient where `r` is square."""
    skew = 0.0 if dr is None else matmul(r, dr, transpose_y=True)
    if dq is not None:
        skew = skew - matmul(dq, q, transpose_x=True)
    inner = matmul(q, lower(skew) + turned(lower(skew, -1)))
    whole = inner if dq is None else dq + inner
    return turned(triangular_solve(r, turned(whole), upper=True))


qr.no_lowering(LIBRARY)
