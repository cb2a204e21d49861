"""Matrices taken apart: factors, eigenvalues, and what is read off them."""

import math
from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.ir.variable import Variable
from scull.ops import factor, like, linear, triangle
from scull.ops import solve as solve_ops
from scull.ops.compare import where
from scull.ops.promotion import cast_to
from scull.tensor.function import abs
from scull.tensor.reduction import max, min
from scull.tensor.size import is_one_of, needs_tensor, tensor_like


def cholesky(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The triangle whose product with its transpose is `x`.

    Args:
        x (Tensor): symmetric positive definite matrices.
        upper (bool): the upper triangle, the transpose coming first.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0]])).tolist()
        [[2.0]]
    """
    needs_tensor(x, "cholesky")
    return factor.cholesky(x, upper=upper, name=name)


def svd(x: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """The singular values of matrices, between the orthogonal factors.

    Args:
        x (Tensor): matrices.
        full_matrices (bool): whether the factors are square.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> u, s, vh = paddle.linalg.svd(paddle.to_tensor([[0.0, 2.0], [1.0, 0.0]]))
        >>> s.tolist()
        [2.0, 1.0]
    """
    needs_tensor(x, "svd")
    u, vh, s = factor.svd(x, full_matrices=full_matrices)
    return u, s, vh


def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """An orthogonal factor and an upper triangle, of which `x` is the product.

    Args:
        x (Tensor): matrices.
        mode (str): `reduced`, `complete`, or `r` for the triangle alone.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> q, r = paddle.linalg.qr(paddle.ones([3, 2]))
        >>> q.shape, r.shape
        ([3, 2], [2, 2])
    """
    needs_tensor(x, "qr")
    found = factor.qr(x, mode=mode)
    return found[1] if mode == "r" else found


def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues, in rising order, and eigenvectors of symmetric matrices.

    Args:
        x (Tensor): square matrices in the last two axes.
        UPLO (str): which triangle is read, `L` or `U`.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> values, vectors = paddle.linalg.eigh(paddle.to_tensor([[3.0, 0.0], [0.0, 1.0]]))
        >>> values.tolist()
        [1.0, 3.0]
    """
    needs_tensor(x, "eigh")
    return factor.eigh(x, uplo=triangle_read(UPLO))


def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues of symmetric matrices, in rising order.

    Args:
        x (Tensor): square matrices in the last two axes.
        UPLO (str): which triangle is read, `L` or `U`.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.eigvalsh(paddle.to_tensor([[3.0, 0.0], [0.0, 1.0]])).tolist()
        [1.0, 3.0]
    """
    needs_tensor(x, "eigvalsh")
    return factor.eigvalsh(x, uplo=triangle_read(UPLO))[0]


def triangle_read(uplo: str) -> str:
    """Which triangle is read, once it is known to be one."""
    if not is_one_of(uplo, ("L", "U")):
        raise ArgumentError(f"UPLO must be L or U. But received UPLO is: {uplo}")
    return uplo


def eig(x: Any, name: str | None = None) -> Any:
    """The eigenvalues and eigenvectors of square matrices, as complex numbers.

    Args:
        x (Tensor): square matrices in the last two axes.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> values, vectors = paddle.linalg.eig(paddle.to_tensor([[2.0]]))
        >>> values.tolist()
        [(2+0j)]
    """
    needs_tensor(x, "eig")
    return factor.eig(x)


def eigvals(x: Any, name: str | None = None) -> Any:
    """The eigenvalues of square matrices, as complex numbers.

    Args:
        x (Tensor): square matrices in the last two axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0]])).tolist()
        [(2+0j)]
    """
    needs_tensor(x, "eigvals")
    return factor.eigvals(x, name=name)


def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """The triangles of which matrices are the product, in one, and the exchanges of rows.

    Args:
        x (Tensor): matrices.
        pivot (bool): whether rows are exchanged.
        get_infos (bool): also which pivot was 0 first, counted from 1.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> both, exchanges = paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]]))
        >>> both.tolist(), exchanges.tolist()
        ([[2.0, 2.0], [0.5, 1.0]], [2, 2])
    """
    needs_tensor(x, "lu")
    found = triangle.lu(x, pivot=pivot)
    return found if get_infos else found[:2]


def lu_unpack(
    x: Any,
    y: Any,
    unpack_ludata: bool = True,
    unpack_pivots: bool = True,
    name: str | None = None,
) -> Any:
    """The permutation and the two triangles in what `lu` found.

    Args:
        x (Tensor): the triangles in one.
        y (Tensor): the exchanges of rows.
        unpack_ludata (bool): whether the triangles are wanted.
        unpack_pivots (bool): whether the permutation is wanted.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(paddle.ones([2, 2])))
        >>> l.tolist(), u.tolist()
        ([[1.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]])
    """
    wanted = {"unpack_ludata": unpack_ludata, "unpack_pivots": unpack_pivots}
    return triangle.lu_unpack(x, y, **wanted)


def matrix_rank(x: Any, tol: Any = None, hermitian: bool = False, name: str | None = None) -> Any:
    """How many singular values of each matrix count as more than 0.

    Args:
        x (Tensor): matrices.
        tol (float | Tensor, optional): what they must lie above.
        hermitian (bool): look at the sizes of eigenvalues; `x` is symmetric.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.matrix_rank(paddle.ones([2, 2])).item()
        1
    """
    needs_tensor(x, "matrix_rank")
    if tol is None:
        return factor.matrix_rank(x, hermitian=hermitian, name=name)
    given = {"use_default_tol": False, "hermitian": hermitian, "name": name}
    if isinstance(tol, Tensor | Variable):
        return factor.matrix_rank(x, cast_to(tol, x.dtype), **given)
    return factor.matrix_rank(x, tol=tol, **given)


def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverses of matrices.

    Args:
        x (Tensor): matrices.
        rcond (float | Tensor): singular values below so many times the greatest count as 0.
        hermitian (bool): take eigenvalues; `x` is symmetric.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.pinv(paddle.to_tensor([[2.0], [0.0]])).tolist()
        [[0.5, 0.0]]
    """
    needs_tensor(x, "pinv")
    if hermitian:
        values, left = factor.eigh(x)
        right, sizes = left, abs(values)
    else:
        left, rows, values = factor.svd(x)
        right, sizes = solve_ops.turned(rows), values
    bound = max(sizes, -1, True) * tensor_like(rcond, x)
    inverses = where(sizes > bound, 1.0 / values, like.full_like(values, value=0.0))
    scaled = right * like.unsqueeze(inverses, axes=(-2,))
    return linear.matmul(scaled, left, transpose_y=True)


def cond(x: Any, p: Any = None, name: str | None = None) -> Any:
    """The condition numbers of matrices: how much they stretch, times how much they shrink.

    Args:
        x (Tensor): matrices; square ones unless `p` is 2 or -2.
        p (float | str, optional): the norm: 2, -2, 1, -1, inf, -inf, `fro` or `nuc`; 2 when None.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.cond(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).item()
        2.0
    """
    needs_tensor(x, "cond")
    if p in (None, 2, -2):
        values = factor.svd(x)[2]
        greatest, least = max(values, -1), min(values, -1)
        return least / greatest if p == -2 else greatest / least
    return size_of_matrix(x, p) * size_of_matrix(solve_ops.inverse(x), p)


def size_of_matrix(x: Any, p: Any) -> Any:
    """The norm of matrices that goes by the name `p`."""
    if p == "fro":
        return (x * x).sum([-2, -1]) ** 0.5
    if p == "nuc":
        return factor.svd(x)[2].sum(-1)
    if p not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(f"unsupported {p} for p, none of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf")
    lines = abs(x).sum(-2 if p in (1, -1) else -1)
    return max(lines, -1) if p > 0 else min(lines, -1)
