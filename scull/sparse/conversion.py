"""From one kind of tensor to another, and what sparse tensors are made of."""

import math
from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.eager.property import tensor_of
from scull.errors import ArgumentError, RangeError
from scull.ops.move import reshape
from scull.sparse.place import coordinates, merged, picked, spots, spread
from scull.sparse.tensor import (
    CooTensor,
    CsrTensor,
    SparseTensor,
    coo,
    csr,
    needs_sparse,
    refuse_static,
)
from scull.tensor.size import integer, needs_tensor


def values(x: Any) -> Any:
    """The stored elements of a sparse tensor, with their gradient.

    Args:
        x (Tensor): a sparse tensor.

    Returns:
        Tensor: dense, ``[stored elements]`` and the dense axes behind.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0]]).to_sparse_coo(2).values().tolist()
        [2.0]
    """
    needs_sparse(x, "values")
    return tensor_of(x.held.array, x.held.node)


def indices(x: Any) -> Any:
    """The coordinates of the stored elements.

    Args:
        x (Tensor): a sparse tensor in coordinates.

    Returns:
        Tensor: integers, ``[sparse axes, stored elements]``.

    Raises:
        UnsupportedError: `x` is dense, or stored by rows.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0]]).to_sparse_coo(2).indices().tolist()
        [[0], [1]]
    """
    needs_sparse(x, "indices", CooTensor)
    return Tensor(x.places)


def crows(x: Any) -> Any:
    """Where each row begins among the stored elements, and where the last ends.

    Args:
        x (Tensor): a sparse tensor by rows.

    Returns:
        Tensor: integers, ``[rows + 1]``; of several matrices one such list behind another.

    Raises:
        UnsupportedError: `x` is dense, or in coordinates.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0]]).to_sparse_csr().crows().tolist()
        [0, 1]
    """
    needs_sparse(x, "crows", CsrTensor)
    return Tensor(x.starts)


def cols(x: Any) -> Any:
    """The column of each stored element.

    Args:
        x (Tensor): a sparse tensor by rows.

    Returns:
        Tensor: integers, ``[stored elements]``.

    Raises:
        UnsupportedError: `x` is dense, or in coordinates.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0]]).to_sparse_csr().cols().tolist()
        [1]
    """
    needs_sparse(x, "cols", CsrTensor)
    return Tensor(x.columns)


def nnz(x: Any) -> int:
    """How many elements are stored.

    Args:
        x (Tensor): a sparse tensor.

    Returns:
        int: their number; zeros that are stored count.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0]]).to_sparse_coo(2).nnz()
        1
    """
    needs_sparse(x, "nnz")
    return int(x.held.shape[0])


def rows_of(x: CsrTensor) -> Any:
    """The row of each stored element, counted through all matrices."""
    counts = np.diff(x.starts.reshape(-1, x.sizes[-2] + 1), axis=1).reshape(-1)
    return np.repeat(np.arange(len(counts)), counts)


def begun(rows: Any, sizes: Any, dtype: Any) -> Any:
    """Where each row begins in rising `rows`, which are counted through matrices of such sizes."""
    matrices, height = math.prod(sizes[:-2]), sizes[-2]
    each = np.bincount(rows, minlength=matrices * height).reshape(matrices, height)
    starts = np.zeros((len(each), height + 1), dtype)
    np.cumsum(each, axis=1, out=starts[:, 1:])
    return starts.reshape(-1)


def placed(x: SparseTensor) -> CooTensor:
    """A sparse tensor in coordinates."""
    if isinstance(x, CooTensor):
        return x
    assert isinstance(x, CsrTensor)
    rows, dtype = rows_of(x), x.columns.dtype
    lead = coordinates(rows, x.sizes[:-1], dtype)
    return coo(np.concatenate([lead, x.columns[None]]), x.held, x.sizes)


def by_rows(x: CooTensor) -> CsrTensor:
    """A sparse matrix, or several, row by row."""
    if len(x.sizes) not in (2, 3) or len(x.places) != len(x.sizes):
        raise ArgumentError(
            f"rows of numbers are stored of 2 or 3 sparse axes, not of {x.shape} with "
            f"{len(x.places)} sparse axes"
        )
    rows, held, columns = spots(x.places[:-1], x.sizes[:-1]), x.held, x.places[-1]
    if (rows[1:] < rows[:-1]).any():
        order = rows.argsort(kind="stable")
        rows, held, columns = rows[order], picked(held, order), columns[order]
    starts = begun(rows, x.sizes, columns.dtype)
    return csr(starts, columns, held, x.sizes)


def to_sparse_coo(x: Any, sparse_dim: int) -> Any:
    """The elements that are not 0, by their coordinates.

    Args:
        x (Tensor): a dense tensor, or a sparse one by rows.
        sparse_dim (int): how many axes are sparse, from the front; of rows all are.

    Returns:
        Tensor: sparse, in coordinates.

    Raises:
        RangeError: there are not so many axes.
        UnsupportedError: `x` is in coordinates.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_coo(1).values().tolist()
        [[0.0, 2.0]]
    """
    if isinstance(x, SparseTensor):
        needs_sparse(x, "to_sparse_coo", CsrTensor)
        return placed(x)
    count = needs_dense(x, "to_sparse_coo") and integer(sparse_dim, "sparse_dim")
    if not 0 < count <= len(x.shape):
        raise RangeError(f"sparse_dim is {count}, outside [1, {len(x.shape)}]")
    sizes, rest = x.array.shape[:count], x.array.shape[count:]
    places = np.array(x.array.any(tuple(range(count, x.array.ndim))).nonzero())
    flat = reshape(x, shape=(math.prod(sizes), *rest))
    return coo(places, picked(flat, spots(places, sizes)), (*sizes, *rest))


def to_sparse_csr(x: Any) -> Any:
    """The elements that are not 0, row by row.

    Args:
        x (Tensor): a dense tensor or a sparse one in coordinates, of 2 or 3 axes.

    Returns:
        Tensor: sparse, by rows.

    Raises:
        ArgumentError: `x` has other axes, or dense ones behind the sparse.
        UnsupportedError: `x` is stored by rows already.

    Examples:
        >>> import scull as paddle
        >>> paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse_csr().crows().tolist()
        [0, 1, 1]
    """
    if isinstance(x, SparseTensor):
        needs_sparse(x, "to_sparse_csr", CooTensor)
        return by_rows(x)
    needs_dense(x, "to_sparse_csr")
    if len(x.shape) not in (2, 3):
        raise ArgumentError(f"rows of numbers are stored of 2 or 3 axes, not of {x.shape}")
    return by_rows(to_sparse_coo(x, len(x.shape)))


def needs_dense(x: Any, function: str) -> bool:
    """Refuse what has no elements now: what is no tensor, and what a Program computes."""
    needs_tensor(x, function)
    refuse_static(x)
    return True


def to_dense(x: Any) -> Any:
    """All elements of a sparse tensor; of those stored for one place the last counts.

    Args:
        x (Tensor): a sparse tensor.

    Returns:
        Tensor: dense, of the same shape and dtype.

    Raises:
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> paddle.sparse.sparse_coo_tensor([[0, 2]], [1.0, 3.0]).to_dense().tolist()
        [1.0, 0.0, 3.0]
    """
    needs_sparse(x, "to_dense")
    found = placed(x)
    sizes = found.sizes[: len(found.places)]
    return reshape(spread(found.held, spots(found.places, sizes), math.prod(sizes)), shape=x.sizes)


def coalesce(x: Any, name: str | None = None) -> Any:
    """Coordinates in rising order, each once, with the sum of what was stored there.

    Args:
        x (Tensor): a sparse tensor in coordinates.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, in coordinates.

    Raises:
        UnsupportedError: `x` is dense, or stored by rows.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[2, 0, 2]], [1.0, 2.0, 4.0])
        >>> paddle.sparse.coalesce(x).values().tolist()
        [2.0, 5.0]
    """
    needs_sparse(x, "coalesce", CooTensor)
    sizes = x.sizes[: len(x.places)]
    numbers, held = merged(spots(x.places, sizes), x.held)
    return coo(coordinates(numbers, sizes, x.places.dtype), held, x.sizes)
