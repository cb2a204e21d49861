"""Matrices of a given form: diagonals, triangles, grids."""

from typing import Any

import numpy as np

from scull.errors import ShapeError
from scull.ops import create, move
from scull.ops.index import gather_nd, scatter_nd_add
from scull.tensor.creation import constant, full
from scull.tensor.size import called, dtype_or_default, integer, tensor_like


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Args:
        num_rows (int): its rows.
        num_columns (int, optional): its columns; as many as rows when None.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = integer(num_rows, "num_rows")
    columns = rows if num_columns is None else integer(num_columns, "num_columns")
    return create.eye(num_rows=rows, num_columns=columns, dtype=dtype_or_default(dtype), name=name)


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """`x` with zeros above a diagonal of its last two axes.

    Args:
        x (Tensor): of two axes or more.
        diagonal (int): the diagonal; 1 lies above the main one.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tril(paddle.ones([2, 2])).tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return move.tril_triu(x, diagonal=diagonal, lower=True, name=called(name, "tril"))


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """`x` with zeros below a diagonal of its last two axes.

    Args:
        x (Tensor): of two axes or more.
        diagonal (int): the diagonal; 1 lies above the main one.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.triu(paddle.ones([2, 2])).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    return move.tril_triu(x, diagonal=diagonal, lower=False, name=called(name, "triu"))


def meshgrid(*args: Any, **options: Any) -> list[Any]:
    """Each of several vectors stretched over the grid they span.

    Args:
        args (Tensor): vectors, or one list of them.
        name (str, optional): the name of the outputs in a Program.

    Returns:
        list[Tensor]: one for each vector, all of the shape of the grid.

    Examples:
        >>> import scull as paddle
        >>> a, b = paddle.meshgrid(paddle.arange(2), paddle.arange(3))
        >>> a.tolist()
        [[0, 0, 0], [1, 1, 1]]
    """
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
    shape = [v.shape[0] if len(v.shape) else 1 for v in vectors]
    columns = [
        move.reshape(v, shape=[-1 if i == j else 1 for j in range(len(vectors))])
        for i, v in enumerate(vectors)
    ]
    return [move.expand(c, shape=shape, name=options.get("name")) for c in columns]


def diag(x: Any, offset: int = 0, padding_value: Any = 0, name: str | None = None) -> Any:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix.

    Args:
        x (Tensor): a vector or a matrix.
        offset (int): the diagonal; 1 lies above the main one.
        padding_value (number): what stands beside the diagonal.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.diag(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    if len(x.shape) == 2:
        return diagonal(x, offset, name=name)
    if len(x.shape) != 1:
        raise ShapeError(f"diag() takes a vector or a matrix, not {len(x.shape)} axes")
    size = x.shape[0] + abs(offset)
    around = full([size, size], padding_value, x.dtype)
    rows = np.arange(x.shape[0]) + max(-offset, 0)
    places = np.stack([rows, rows + offset], 1)
    beside = tensor_like(padding_value, x)
    return scatter_at(around, places, x - beside, name)


def scatter_at(x: Any, places: Any, updates: Any, name: str | None) -> Any:
    """`x` with `updates` added at `places`."""
    return scatter_nd_add(x, constant(places), updates, name=name)


def diagonal(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """The diagonal of two axes, which go; it is the last axis of the result.

    Args:
        x (Tensor): of two axes or more.
        offset (int): the diagonal; 1 lies above the main one.
        axis1 (int): the axis of rows.
        axis2 (int): the axis of columns.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    ndim = len(x.shape)
    first, second = axis1 % ndim, axis2 % ndim
    rest = [a for a in range(ndim) if a not in (first, second)]
    turned = move.transpose(x, perm=[first, second, *rest])
    count = min(x.shape[first] + min(offset, 0), x.shape[second] - max(offset, 0))
    rows = np.arange(max(count, 0)) + max(-offset, 0)
    found = gather_nd(turned, constant(np.stack([rows, rows + offset], 1)))
    return move.transpose(found, perm=[*range(1, ndim - 1), 0], name=name)
