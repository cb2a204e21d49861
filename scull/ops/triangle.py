"""Matrices as products of a lower and an upper triangle."""

from typing import Any

from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import Meta, agree
from scull.errors import DtypeError, RangeError, ShapeError
from scull.ops.factor import first_columns, first_rows, lesser, lower, matrices
from scull.ops.join import concat
from scull.ops.like import full_like
from scull.ops.linear import matmul
from scull.ops.move import tril_triu
from scull.ops.slicing import slice
from scull.ops.solve import LIBRARY, held, triangular_solve, turned, wide

END = 2**31 - 1  # behind any axis


@primitive(outputs=("out", "pivots", "infos"), attrs={"pivot": "pivots"}, infer_first=True)
def lu(x: Meta, *, pivot: bool = True) -> tuple[Meta, Meta, Meta]:
    """Lower and upper triangle of which a matrix with its rows exchanged is the product, in one;
    with which each row was exchanged, counted from 1; and the first pivot that is 0.
    """
    m, n = matrices(x)
    k = lesser(m, n)
    return x, Meta((*x.shape[:-2], k), int32), Meta(x.shape[:-2] or (1,), int32)


@lu.kernel
def lu_kernel(xp: Any, x: Any, *, out: Any = None, pivot: bool) -> Any:
    found, count = xp.array(wide(x)), min(x.shape[-2:])
    pivots = xp.empty((*x.shape[:-2], count), "int32")
    infos = xp.zeros(x.shape[:-2] or (1,), "int32")
    for place in xp.ndindex(x.shape[:-2]):
        a, info = found[place], 0
        for i in range(count):
            chosen = i + int(abs(a[i:, i]).argmax()) if pivot else i
            a[[i, chosen]] = a[[chosen, i]]
            pivots[(*place, i)] = chosen + 1
            if a[i, i] == 0:
                info = info or i + 1
                continue
            a[i + 1 :, i] /= a[i, i]
            a[i + 1 :, i + 1 :] -= a[i + 1 :, i : i + 1] * a[i, i + 1 :]
        infos[place or 0] = info
    return held(found, x, None), pivots, infos


@lu.grad
def lu_grad(x_meta: Any, out: Any, pivots: Any, dout: Any) -> Any:
    """Through the square part of both triangles, which decides what lies beside or below it."""
    m, n = x_meta.shape[-2:]
    k = lesser(m, n)
    exchanged = lu_unpack(out, pivots)[0]
    left, dleft = (tril_triu(first_columns(v, k), diagonal=-1, lower=True) for v in (out, dout))
    right, dright = (tril_triu(first_rows(v, k)) for v in (out, dout))
    square_left, dsquare_left = first_rows(left, k), first_rows(dleft, k)
    square_right, dsquare_right = first_columns(right, k), first_columns(dright, k)
    beside, below = None, None
    if n > k:
        beside = solved_left(square_left, other_columns(dright, k))
        lost = matmul(beside, other_columns(right, k), transpose_y=True)
        dsquare_left = dsquare_left - lost
    if m > k:
        below = solved_right(other_rows(dleft, k), square_right)
        dsquare_right = dsquare_right - matmul(other_rows(left, k), below, transpose_x=True)
    # the left triangle has ones on its diagonal, which are not stored
    inner_left = matmul(square_left, dsquare_left, transpose_x=True) + dsquare_left
    inner = lower(inner_left, -1) + tril_triu(matmul(dsquare_right, square_right, transpose_y=True))
    found = solved_right(solved_left(square_left, inner), square_right)
    if beside is not None:
        found = concat([found, beside], axis=len(x_meta.shape) - 1)
    if below is not None:
        found = concat([found, below], axis=len(x_meta.shape) - 2)
    return matmul(exchanged, found)


def solved_left(left: Any, x: Any) -> Any:
    """What the transposed lower triangle, with ones on its diagonal, times gives `x`."""
    return triangular_solve(left, x, upper=False, transpose=True, unitriangular=True)


def solved_right(x: Any, right: Any) -> Any:
    """What times the transposed upper triangle gives `x`."""
    return turned(triangular_solve(right, turned(x), upper=True))


def other_columns(x: Any, start: int) -> Any:
    """The columns from `start` on."""
    return slice(x, axes=(len(x.shape) - 1,), starts=(start,), ends=(END,))


def other_rows(x: Any, start: int) -> Any:
    """The rows from `start` on."""
    return slice(x, axes=(len(x.shape) - 2,), starts=(start,), ends=(END,))


lu.no_lowering(LIBRARY)


@primitive(outputs=("pmat", "l", "u"), infer_first=True)
def lu_unpack(
    x: Meta, pivots: Meta, *, unpack_ludata: bool = True, unpack_pivots: bool = True
) -> tuple[Meta, Meta, Meta]:
    """The permutation, the lower and the upper triangle in what `lu` found."""
    m, n = matrices(x)
    k, lead = lesser(m, n), x.shape[:-2]
    law = f"the pivots {pivots} are not one for each of {int(k)} rows of the matrices {x}"
    if not pivots.dtype.is_integer:
        raise DtypeError(f"the pivots {pivots} are not of integers")
    if pivots.ndim != x.ndim - 1:
        raise ShapeError(law)
    for a, b in zip(pivots.shape, (*lead, k), strict=True):
        agree(a, b, law)
    return (
        x.with_shape((*lead, m, m)),
        x.with_shape((*lead, m, k)),
        x.with_shape((*lead, k, n)),
    )


@lu_unpack.kernel
def lu_unpack_kernel(xp: Any, x: Any, pivots: Any, *, out: Any = None, **_: Any) -> Any:
    m, n = x.shape[-2:]
    k = min(m, n)
    if not ((pivots >= 1) & (pivots <= m)).all():
        raise RangeError(f"a pivot is outside [1, {m}]")
    order = xp.zeros((*x.shape[:-2], m), "int64")
    for place in xp.ndindex(x.shape[:-2]):
        rows = list(range(m))
        for i, other in enumerate(pivots[place].tolist()):
            rows[i], rows[other - 1] = rows[other - 1], rows[i]
        order[place] = rows
    exchanged = xp.eye(m, dtype=x.dtype)[order].swapaxes(-1, -2)
    below = xp.tril(x[..., :k], -1) + xp.eye(m, k, dtype=x.dtype)
    return exchanged, below, xp.triu(x[..., :k, :])


@lu_unpack.grad("x")
def lu_unpack_grad(
    x_meta: Any,
    pivots_meta: Any,
    pmat_meta: Any,
    l_meta: Any,
    u_meta: Any,
    dl: Any,
    du: Any,
    dpmat: Any = None,
) -> Any:
    """Each triangle to its own place."""
    m, n = x_meta.shape[-2:]
    ndim = len(x_meta.shape)
    left, right = lower(dl, -1), tril_triu(du)
    if m > n:
        nothing = full_like(other_rows(left, n), value=0.0)
        return left + concat([right, nothing], axis=ndim - 2)
    if n > m:
        nothing = full_like(other_columns(right, m), value=0.0)
        return concat([left, nothing], axis=ndim - 1) + right
    return left + right


lu_unpack.no_lowering(LIBRARY)
