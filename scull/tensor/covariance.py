"""How rows vary together, how far they lie apart, and the directions in which they vary most."""

from typing import Any

from scull.core.dtype import float64
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, AssertError, DtypeError, ShapeError
from scull.ops import clip as bounds
from scull.ops import factor, like, math, reduce, slicing
from scull.ops.conjugate import conj
from scull.ops.distance import p_norm
from scull.ops.linear import matmul
from scull.ops.promotion import cast_to
from scull.ops.solve import turned
from scull.tensor.matrix import diag, eye, tril
from scull.tensor.random import randn
from scull.tensor.reduction import mean
from scull.tensor.size import integer, is_one_of, needs_tensor, number

FEW = 25  # rows up to which differences are formed one by one


def adjoint(x: Any) -> Any:
    """The matrices `x` transposed, and conjugated where they are complex."""
    return conj(turned(x)) if x.dtype.is_complex else turned(x)


def weights_of(weights: Any, number: int, name: str, dtype: Any) -> Any:
    """One weight an observation."""
    needs_tensor(weights, "cov", name)
    if len(weights.shape) > 1 or tuple(weights.shape) != (number,):
        raise ShapeError(f"`{name}` are {weights.meta}, one for each of {number} is needed")
    if isinstance(weights, Tensor) and (weights.array < 0).any():
        raise ArgumentError(f"`{name}` hold a number below 0")
    return cast_to(weights, dtype)


def cov(
    x: Any,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Any = None,
    aweights: Any = None,
    name: str | None = None,
) -> Any:
    """How much each two variables vary together.

    Args:
        x (Tensor): a vector, or a matrix with a variable in each row.
        rowvar (bool): False where the variables are columns.
        ddof (bool): divide by one less than the number of observations.
        fweights (Tensor, optional): how often each observation was made, of integers.
        aweights (Tensor, optional): how much each observation counts.
        name (str, optional): of no effect.

    Returns:
        Tensor: a square matrix; 0-D for one variable.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.cov(paddle.to_tensor([[0.0, 2.0], [2.0, 0.0]])).tolist()
        [[2.0, -2.0], [-2.0, 2.0]]
    """
    needs_tensor(x, "cov")
    if len(x.shape) not in (1, 2):
        raise ShapeError(f"{x.meta} has {len(x.shape)} axes, not 1 or 2")
    if x.dtype.is_integer:
        x = cast_to(x, float64)
    if x.dtype.name not in ("float32", "float64"):
        raise DtypeError(f"{x.meta} has neither float32 nor float64 elements")
    rows = like.unsqueeze(x, axes=(0,)) if len(x.shape) == 1 else x
    rows = turned(rows) if not rowvar and rows.shape[0] != 1 else rows
    number = int(rows.shape[1])
    weights, total, divisor = None, float(number), float(number - bool(ddof))
    if fweights is not None:
        weights = weights_of(fweights, number, "fweights", x.dtype)
        if not fweights.dtype.is_integer:
            raise ArgumentError("`fweights` are integers: how often each observation was made")
    if aweights is not None:
        each = weights_of(aweights, number, "aweights", x.dtype)
        weights = each if weights is None else weights * each
    if weights is not None:
        total = reduce.reduce_sum(weights, axis=(0,))
        divisor = total - float(bool(ddof))
        if aweights is not None and ddof:
            divisor = total - reduce.reduce_sum(weights * each, axis=(0,)) / total
    weighted = rows if weights is None else rows * weights
    centred = rows - reduce.reduce_sum(weighted, axis=(1,), keepdim=True) / total
    weighted = centred if weights is None else centred * weights
    found = matmul(centred, weighted, transpose_y=True)
    return like.squeeze(found / limited(divisor, found), axes=())


def limited(divisor: Any, like_this: Any) -> Any:
    """`divisor`, or 0 where it is below."""
    if isinstance(divisor, float):
        return like.full_like(like_this, value=max(divisor, 0.0))
    return bounds.clip(divisor, min=0.0, max=3.4e38)


def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> Any:
    """How much each two variables vary together, as a part of how much they vary: from -1 to 1.

    Args:
        x (Tensor): a vector, or a matrix with a variable in each row.
        rowvar (bool): False where the variables are columns.
        name (str, optional): of no effect.

    Returns:
        Tensor: a square matrix; 0-D for one variable.

    Examples:
        >>> import scull as paddle
        >>> paddle.linalg.corrcoef(paddle.to_tensor([[0.0, 2.0], [2.0, 0.0]])).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
    """
    found = cov(x, rowvar)
    if not found.shape:
        return found / found
    deviation = math.sqrt(diag(found))
    found = found / like.unsqueeze(deviation, axes=(1,)) / like.unsqueeze(deviation, axes=(0,))
    return bounds.clip(found, min=-1.0, max=1.0)


MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


def cdist(x: Any, y: Any, p: float = 2.0, compute_mode: str = MODES[0], name: Any = None) -> Any:
    """The distance of each row of `x` from each row of `y`.

    Args:
        x (Tensor): matrices of float32 or float64.
        y (Tensor): matrices of the same type, with as many columns; other axes stretch.
        p (float): the order of the norm, 0 or more.
        compute_mode (str): whether distances of order 2 come from a product of matrices, which is
            faster and less exact: from 26 rows on, always, or never.
        name (str, optional): of no effect.

    Returns:
        Tensor: with a row for each of `x` and a column for each of `y`.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.0, 0.0], [3.0, 0.0]]), paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.cdist(x, y).tolist()
        [[5.0], [4.0]]
    """
    needs_tensor(x, "cdist")
    needs_tensor(y, "cdist", "y")
    if not is_one_of(compute_mode, MODES):
        raise ArgumentError(f"`compute_mode` is one of {', '.join(MODES)}, not {compute_mode!r}")
    p = number(p, "p")
    if not p >= 0:
        raise AssertError(f"`p` is a number from 0 on, not {p!r}")
    for m in (x, y):
        if len(m.shape) < 2:
            raise AssertError(f"{m.meta} has {len(m.shape)} axes, at least 2 are needed")
        if m.dtype.name not in ("float32", "float64"):
            raise DtypeError(f"{m.meta} has neither float32 nor float64 elements")
    if x.shape[-1] != y.shape[-1]:
        raise AssertError(f"x has {x.shape[-1]} columns and y has {y.shape[-1]}")
    many = x.shape[-2] > FEW or y.shape[-2] > FEW
    if p == 2.0 and (compute_mode == MODES[1] or (compute_mode == MODES[0] and many)):
        squares = [reduce.reduce_sum(v * v, axis=(-1,), keepdim=True) for v in (x, y)]
        found = matmul(x, y, transpose_y=True) * -2.0 + turned(squares[1]) + squares[0]
        return math.sqrt(bounds.clip(found, min=0.0, max=3.4e38))
    apart = like.unsqueeze(x, axes=(-2,)) - like.unsqueeze(y, axes=(-3,))
    return p_norm(apart, porder=float(p), axis=-1)


def householder_product(x: Any, tau: Any, name: str | None = None) -> Any:
    """The first columns of a product of reflections, as `qr` of LAPACK stores them.

    Args:
        x (Tensor): below the diagonal of each matrix the vectors, which have 1 on it.
        tau (Tensor): the factor of each reflection.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape and dtype of `x`, its columns of length 1 and upright to each other.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[0.0], [1.0]])
        >>> paddle.linalg.householder_product(x, paddle.to_tensor([1.0])).tolist()
        [[0.0], [-1.0]]
    """
    needs_tensor(x, "householder_product")
    needs_tensor(tau, "householder_product", "tau")
    if x.dtype is not tau.dtype or not (x.dtype.is_float or x.dtype.is_complex):
        raise DtypeError(f"x {x.meta} and tau {tau.meta} are not of one floating-point type")
    if len(x.shape) < 2 or tuple(x.shape[:-2]) != tuple(tau.shape[:-1]) or not tau.shape:
        raise ShapeError(f"tau {tau.meta} does not hold one number a column of x {x.meta}")
    (m, n), k = x.shape[-2:], tau.shape[-1]
    if m < n or n < k:
        raise ShapeError(f"x has {m} rows and {n} columns and tau {k} factors; none may be more")
    first = cast_to(eye(int(m), int(n)), x.dtype)
    vectors, found = tril(x, -1) + first, first
    axes = (len(x.shape) - 1, len(tau.shape) - 1)
    for i in range(int(k) - 1, -1, -1):
        v = slicing.slice(vectors, axes=axes[:1], starts=(i,), ends=(i + 1,))
        factor_i = slicing.slice(tau, axes=axes[1:], starts=(i,), ends=(i + 1,))
        reflected = matmul(v, matmul(adjoint(v), found))
        found = found - reflected * like.unsqueeze(factor_i, axes=(-1,))
    return found


def range_of(x: Any, q: int, niter: int) -> Any:
    """`q` upright vectors that span what `x` makes of most vectors."""
    found = factor.qr(matmul(x, randn([int(x.shape[-1]), q], x.dtype)))[0]
    for _ in range(niter):
        found = factor.qr(matmul(adjoint(x), found))[0]
        found = factor.qr(matmul(x, found))[0]
    return found


def pca_lowrank(
    x: Any, q: Any = None, center: bool = True, niter: int = 2, name: str | None = None
) -> Any:
    """The directions in which rows vary most, from a random sketch.

    Args:
        x (Tensor): matrices of float32 or float64.
        q (int, optional): how many directions; 6 or the lesser size when None.
        center (bool): whether the mean of each column is taken off first.
        niter (int): how often the sketch is made better.
        name (str, optional): of no effect.

    Returns:
        tuple[Tensor, Tensor, Tensor]: U, S and V: near ``U diag(S) V'``, S falling.

    Examples:
        >>> import scull as paddle
        >>> u, s, v = paddle.linalg.pca_lowrank(paddle.ones([4, 3]), 2, center=False)
        >>> u.shape, round(s[0].item(), 3), v.shape
        ([4, 2], 3.464, [3, 2])
    """
    needs_tensor(x, "pca_lowrank")
    if len(x.shape) < 2:
        raise ShapeError(f"{x.meta} has {len(x.shape)} axes, at least 2 are needed")
    m, n = map(int, x.shape[-2:])
    q = min(6, m, n) if q is None else integer(q, "q")
    if not 0 <= q <= min(m, n):
        raise ArgumentError(f"`q` is {q}, not from 0 to {min(m, n)}")
    if integer(niter, "niter") < 0:
        raise ArgumentError(f"`niter` is {niter}, not 0 or more")
    x = x - mean(x, -2, keepdim=True) if center else x
    if m < n or n > q:
        across = range_of(adjoint(x), q, niter)
        u, vh, s = factor.svd(matmul(x, across))
        return u, s, matmul(across, adjoint(vh))
    along = range_of(x, q, niter)
    u, vh, s = factor.svd(matmul(adjoint(along), x))
    return matmul(along, u), s, adjoint(vh)
