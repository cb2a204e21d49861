"""Principal components of a sparse matrix."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.ops import factor
from scull.ops import linear as dense
from scull.sparse.binary import matmul
from scull.sparse.order import transpose
from scull.sparse.tensor import SparseTensor, refuse_static
from scull.tensor.creation import zeros
from scull.tensor.random import randn
from scull.tensor.reduction import sum
from scull.tensor.size import integer


def pca_lowrank(
    x: Any, q: Any = None, center: bool = True, niter: int = 2, name: str | None = None
) -> Any:
    """The directions in which the rows of a sparse matrix vary most, from a random sketch.

    The matrix less the means of its columns is never made: products with it are those with the
    matrix less those with the means (Halko, Martinsson, Tropp: Finding structure with randomness).

    Args:
        x (Tensor): a sparse matrix ``[m, n]`` of float32 or float64.
        q (int, optional): how many directions; 6 or the lesser size when None.
        center (bool): whether the mean of each column is taken off first.
        niter (int): how often the sketch is made better.
        name (str, optional): not used.

    Returns:
        tuple[Tensor, Tensor, Tensor]: U, S and V: near ``U diag(S) V'``, S falling.

    Raises:
        ArgumentTypeError: `x` is no tensor, or dense.
        ShapeError: `x` is no matrix.
        ArgumentError: `q` or `niter` is out of range.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([4, 3]).to_sparse_coo(2)
        >>> u, s, v = paddle.sparse.pca_lowrank(x, 2, center=False)
        >>> u.shape, round(s[0].item(), 3), v.shape
        ([4, 2], 3.464, [3, 2])
    """
    refuse_static(x)
    if not isinstance(x, SparseTensor):
        kind = "dense" if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(f"Input must be sparse, but got {kind}")
    if len(x.sizes) != 2:
        raise ShapeError("input is expected to be 2-dimensional tensor")
    m, n = x.sizes
    q = min(6, m, n) if q is None else integer(q, "q")
    if not 0 < q <= min(m, n):
        raise ArgumentError(f"`q` is {q}, not from 1 to {min(m, n)}")
    niter = integer(niter, "niter")
    if niter < 0:
        raise ArgumentError(f"`niter` is {niter}, not 0 or more")
    means = sum_over_rows(x) / m if center else zeros([1, n], x.dtype)
    turned = transpose(x, [1, 0])

    def ahead(v: Tensor) -> Tensor:
        return matmul(x, v) - dense.matmul(means, v)

    def back(v: Tensor) -> Tensor:
        return matmul(turned, v) - dense.matmul(means, sum(v, 0, keepdim=True), transpose_x=True)

    there, again, wide = (back, ahead, n) if m < n or n > q else (ahead, back, m)
    sketch = randn([m if wide == n else n, q], x.dtype)
    found = factor.qr(there(sketch))[0]
    for _ in range(niter):
        found = factor.qr(there(factor.qr(again(found))[0]))[0]
    u, vh, s = factor.svd(again(found))
    far = dense.matmul(found, vh, transpose_y=True)
    return (u, s, far) if wide == n else (far, s, u)


def sum_over_rows(x: SparseTensor) -> Tensor:
    """The sums of the columns, ``[1, columns]``."""
    ones = zeros([1, x.sizes[0]], x.dtype) + 1.0
    found: Tensor = matmul(ones, x)
    return found
