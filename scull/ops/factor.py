"""Matrices taken apart into factors, and what is read off these."""

from typing import Any

from scull.core.dtype import dtype_of, int32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, at_least, broadcast, floating
from scull.errors import ArgumentError
from scull.ops.compare import equal, where
from scull.ops.complex import REAL, real
from scull.ops.conjugate import conj, is_complex
from scull.ops.conjugate import turned as conjugated
from scull.ops.diagonal import diag_embed
from scull.ops.join import concat
from scull.ops.like import unsqueeze
from scull.ops.linear import matmul
from scull.ops.move import tril_triu
from scull.ops.product import same_type
from scull.ops.reduce import reduce_sum
from scull.ops.slicing import slice
from scull.ops.solve import (
    LIBRARY,
    called,
    filled,
    held,
    solve,
    square,
    triangular_solve,
    turned,
    wide,
)


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
    """The eigenvalues, which are real and rise, and the eigenvectors of Hermitian matrices; one
    triangle is read.
    """
    square(x)
    return Meta(x.shape[:-1], REAL.get(x.dtype, x.dtype)), x


@eigh.kernel
def eigh_kernel(xp: Any, x: Any, *, out: Any = None, uplo: str) -> Any:
    values, vectors = called(xp, "eigh", x, UPLO="U" if uplo == "U" else "L")
    return held(values, x.real, None), held(vectors, x, None)


def reciprocal(x: Any) -> Any:
    """``1 / x``, but 0 for 0."""
    nothing = equal(x, 0.0)
    return where(nothing, 0.0, 1.0 / where(nothing, 1.0, x))


def reciprocal_differences(x: Any) -> Any:
    """``1 / (x[j] - x[i])`` in row i and column j; 0 where these are equal."""
    return reciprocal(unsqueeze(x, axes=(-2,)) - unsqueeze(x, axes=(-1,)))


@eigh.grad
def eigh_grad(eigenvalues: Any, eigenvectors: Any, deigenvalues: Any, deigenvectors: Any) -> Any:
    """Hermitian, though the kernel reads one triangle only."""
    vectors, others = eigenvectors, conjugated(eigenvectors)
    turning = matmul(others, deigenvectors, transpose_x=True)
    inner = matmul(vectors, turning * reciprocal_differences(eigenvalues))
    found = matmul(inner, others, transpose_y=True)
    own = matmul(scaled_columns(vectors, deigenvalues), others, transpose_y=True)
    return own + (found + turned(conjugated(found))) * 0.5


eigh.no_lowering(LIBRARY)


@primitive(
    attrs={"uplo": "UPLO"},
    outputs=("eigenvalues", "eigenvectors"),
    hidden=("eigenvectors",),
    fixed={"is_test": False},
    infer_first=True,
)
def eigvalsh(x: Meta, *, uplo: str = "L") -> tuple[Meta, Meta]:
    """The eigenvalues of Hermitian matrices, which are real and rise; one triangle is read."""
    return eigh.op.body(x, uplo=uplo)


eigvalsh.kernel(eigh_kernel)


@eigvalsh.grad
def eigvalsh_grad(eigenvectors: Any, deigenvalues: Any, deigenvectors: Any = None) -> Any:
    scaled = scaled_columns(eigenvectors, deigenvalues)
    return matmul(scaled, conjugated(eigenvectors), transpose_y=True)


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


@eig.grad
def eig_grad(
    x_meta: Any, eigenvalues: Any, eigenvectors: Any, deigenvalues: Any, deigenvectors: Any
) -> Any:
    """For eigenvectors of length 1, whose phase nothing may depend on; of real matrices real."""
    vectors, adjoint = eigenvectors, conj(turned(eigenvectors))
    inner = matmul(adjoint, deigenvectors)
    own = reduce_sum(conj(vectors) * deigenvectors, axis=(-2,))
    inner = inner - scaled_columns(matmul(adjoint, vectors), (own + conj(own)) * 0.5)
    inner = inner * conj(reciprocal_differences(eigenvalues)) + diag_embed(deigenvalues)
    found = solve(adjoint, matmul(inner, adjoint))
    return found if is_complex(x_meta) else real(found)


eig.no_lowering(LIBRARY)


@primitive(infer_first=True)
def eigvals(x: Meta) -> Meta:
    """The eigenvalues of square matrices."""
    return eig.op.body(x)[0]


@eigvals.kernel
def eigvals_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    """Of the transposes: in the order in which the reference has them."""
    dtype = "complex128" if x.dtype in ("float64", "complex128") else "complex64"
    return called(xp, "eigvals", x.swapaxes(-1, -2)).astype(dtype)


eigvals.no_grad("complex derivatives are not there yet")
eigvals.no_lowering(LIBRARY)


@primitive(slots={"vh": "VH"}, outputs=("u", "vh", "s"), infer_first=True)
def svd(x: Meta, *, full_matrices: bool = False) -> tuple[Meta, Meta, Meta]:
    """Orthogonal `u` and `vh` and falling `s`: `x` is the product ``u diag(s) vh``."""
    m, n = matrices(x)
    filled(x)
    k, lead = lesser(m, n), x.shape[:-2]
    rows, columns = (m, n) if full_matrices else (k, k)
    return (
        x.with_shape((*lead, m, rows)),
        x.with_shape((*lead, columns, n)),
        x.with_shape((*lead, k)),
    )


@svd.kernel
def svd_kernel(xp: Any, x: Any, *, out: Any = None, full_matrices: bool) -> Any:
    u, s, vh = called(xp, "svd", x, full_matrices=full_matrices)
    return tuple([held(v, x, None) for v in (u, vh, s)])


@svd.grad
def svd_grad(
    x: Any, u: Any, s: Any, vh: Any, full_matrices: bool, du: Any, ds: Any, dvh: Any
) -> Any:
    """The first columns and rows only count where `full_matrices` gives more."""
    m, n = x.shape[-2:]
    if full_matrices and m != n:
        k = min(m, n)
        u, du, vh, dvh = (
            *(first_columns(v, k) for v in (u, du)),
            *(first_rows(v, k) for v in (vh, dvh)),
        )
    shares, inverses = reciprocal_differences(s * s), reciprocal(s)
    left, right = matmul(u, du, transpose_x=True), matmul(vh, dvh, transpose_y=True)
    inner = scaled_columns((left - turned(left)) * shares, s)
    inner = inner + (right - turned(right)) * shares * unsqueeze(s, axes=(-1,))
    dx = matmul(matmul(u, inner) + scaled_columns(u, ds), vh)
    if m != n:
        outside = matmul(scaled_columns(du - matmul(u, left), inverses), vh)
        below = matmul(scaled_columns(u, inverses), dvh - matmul(turned(right), vh))
        dx = dx + outside + below
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
def qr_grad(x: Any, q: Any, r: Any, mode: str, dq: Any, dr: Any) -> Any:
    """Of a wide matrix the first columns decide `q`; the others follow from it."""
    m, n = x.shape[-2:]
    if mode == "r" or (mode == "complete" and m > n):
        raise ArgumentError(f"mode {mode!r} leaves out what the gradient needs; use reduced")
    if m >= n:
        return square_qr_grad(q, r, dq, dr)
    axis = len(x.shape) - 1
    behind = {"axes": (axis,), "starts": (m,), "ends": (n,)}
    tail = slice(dr, **behind)
    dq = dq + matmul(slice(x, **behind), tail, transpose_y=True)
    first = square_qr_grad(q, first_columns(r, m), dq, first_columns(dr, m))
    return concat([first, matmul(q, tail)], axis=axis)


def square_qr_grad(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    """The gradient where `r` is square."""
    skew = matmul(r, dr, transpose_y=True) - matmul(dq, q, transpose_x=True)
    whole = dq + matmul(q, lower(skew) + turned(lower(skew, -1)))
    return turned(triangular_solve(r, turned(whole), upper=True))


qr.no_lowering(LIBRARY)


@primitive(slots={"tol_tensor": "TolTensor"}, infer_first=True)
def matrix_rank(
    x: Meta,
    tol_tensor: Meta = None,
    *,
    tol: float = 0.0,
    use_default_tol: bool = True,
    hermitian: bool = False,
) -> Meta:
    """How many singular values (sizes of eigenvalues if `hermitian`) lie above a bound."""
    matrices(x)
    if hermitian:
        square(x)
    lead = x.shape[:-2]
    return Meta(lead if tol_tensor is None else broadcast(lead, tol_tensor.shape), int32)


@matrix_rank.kernel
def matrix_rank_kernel(
    xp: Any,
    x: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    tol: float,
    use_default_tol: bool,
    hermitian: bool,
) -> Any:
    if hermitian:
        values = abs(called(xp, "eigvalsh", x))
    else:
        values = called(xp, "svd", x, compute_uv=False)
    if tensor is not None:
        bound = tensor
    elif use_default_tol:
        greatest = xp.maximum.reduce(values, -1, initial=0)
        bound = greatest * (max(x.shape[-2:]) * xp.finfo(values.dtype).eps)
    else:
        bound = xp.asarray(tol)
    return xp.asarray((values > bound[..., None]).sum(-1), "int32")


matrix_rank.no_grad("a count is not differentiable")
matrix_rank.no_lowering(LIBRARY)


@primitive(
    outputs=("solution", "residuals", "rank", "singular_values"),
    slots={"singular_values": "SingularValues"},
    infer_first=True,
)
def lstsq(
    x: Meta, y: Meta, *, rcond: float = 0.0, driver: str = "gels"
) -> tuple[Meta, Meta, Meta, Meta]:
    """What times the matrices `x` comes nearest to `y`; the squares of the distances, the ranks
    and singular values.
    """
    m, n = matrices(x)
    same_type(x, y)
    at_least(2, y)
    agree(m, y.shape[-2], "x has {} rows and y has {}")
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise ArgumentError(f"driver is {driver!r}, not gels, gelsy, gelsd or gelss")
    lead = broadcast(x.shape[:-2], y.shape[:-2])
    values = (*lead, lesser(m, n)) if driver in ("gelsd", "gelss") else (0,)
    return (
        x.with_shape((*lead, n, y.shape[-1])),
        x.with_shape((UNKNOWN,) * (len(lead) + 1)),
        Meta(lead if driver != "gels" else (0,), int32),
        x.with_shape(values),
    )


@lstsq.kernel
def lstsq_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, rcond: float, driver: str) -> Any:
    m, n = x.shape[-2:]
    u, s, vh = called(xp, "svd", x, full_matrices=False)
    kept = s > rcond * xp.maximum.reduce(s, -1, initial=0)[..., None]
    weights = xp.where(kept, 1 / xp.where(kept, s, 1), 0)[..., None]
    found = vh.swapaxes(-1, -2) @ (weights * (u.swapaxes(-1, -2) @ wide(y)))
    lead, rank = found.shape[:-2], kept.sum(-1)
    whole = bool((rank == n).all()) and m > n
    left = ((wide(y) - wide(x) @ found) ** 2).sum(-2) if whole else xp.empty((*lead[:-1], 0))
    ranks = xp.broadcast_to(rank, lead) if driver != "gels" else xp.empty(0)
    values = (
        xp.broadcast_to(s, (*lead, s.shape[-1])) if driver[-2:] in ("sd", "ss") else xp.empty(0)
    )
    return held(found, x, None), held(left, x, None), ranks.astype("int32"), held(values, x, None)


lstsq.no_grad("the reference has none")
lstsq.no_lowering(LIBRARY)
