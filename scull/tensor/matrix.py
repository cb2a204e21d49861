"""Matrices of a given form: diagonals, triangles, grids."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, ShapeError
from scull.ir.variable import Variable
from scull.ops import create, move, spread
from scull.ops import diagonal as ops
from scull.tensor.creation import to_tensor
from scull.tensor.size import called, dtype_or_default, integer, needs_tensor


def eye(num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Args:
        num_rows (int | Tensor): its rows.
        num_columns (int | Tensor, optional): its columns; as many as rows when None.
        dtype (str | DType, optional): the element type; the default one when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = size_of_side(num_rows, "num_rows")
    columns = rows if num_columns is None else size_of_side(num_columns, "num_columns")
    return create.eye(num_rows=rows, num_columns=columns, dtype=dtype_or_default(dtype), name=name)


def size_of_side(value: Any, name: str) -> Any:
    """How many rows or columns a matrix has: a number, or a Variable that holds it."""
    if isinstance(value, Variable):
        return value
    found = integer(value, name)
    if found < 0:
        raise ArgumentTypeError(f"{name} should be a non-negative int, not {found}")
    return found


def diagonal_of(x: Any, diagonal: Any, function: str) -> int:
    """The number of a diagonal; what has no triangles is refused."""
    needs_tensor(x, function)
    if len(x.shape) < 2:
        raise ShapeError(f"x shape in {function} must be at least 2-D, not {len(x.shape)}-D")
    return integer(diagonal, "diagonal")


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
    diagonal = diagonal_of(x, diagonal, "tril")
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
    diagonal = diagonal_of(x, diagonal, "triu")
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
    return spread.meshgrid(vectors, name=options.get("name"))


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
    needs_tensor(x, "diag")
    return ops.diag(x, offset=offset, padding_value=padding_value, name=name)


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
    needs_tensor(x, "diagonal")
    return ops.diagonal(x, offset=integer(offset, "offset"), axis1=axis1, axis2=axis2, name=name)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Zeros with the last axis on the diagonal of two new ones.

    Args:
        input (Tensor): the diagonals.
        offset (int): the diagonal; 1 lies above the main one.
        dim1 (int): the axis of rows.
        dim2 (int): the axis of columns.

    Examples:
        >>> import scull as paddle
        >>> paddle.diag_embed(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    return ops.diag_embed(tensor_of(input), offset=offset, dim1=dim1, dim2=dim2)


def tensor_of(value: Any) -> Any:
    """A tensor, made of an array or numbers where it is none."""
    return value if isinstance(value, Tensor | Variable) else to_tensor(value)


def diagflat(x: Any, offset: int = 0, name: str | None = None) -> Any:
    """All elements in order as the diagonal of a matrix.

    Args:
        x (Tensor): the elements.
        offset (int): the diagonal; 1 lies above the main one.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.diagflat(paddle.to_tensor([[1], [2]])).tolist()
        [[1, 0], [0, 2]]
    """
    needs_tensor(x, "diagflat")
    flat = x if len(x.shape) == 1 else move.flatten(x, start_axis=0, stop_axis=-1)
    return ops.diag(flat, offset=offset, padding_value=0.0, name=name)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The sum of the diagonal of two axes.

    Args:
        x (Tensor): of two axes or more.
        offset (int): the diagonal; 1 lies above the main one.
        axis1 (int): the axis of rows.
        axis2 (int): the axis of columns.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.trace(paddle.eye(3)).item()
        3.0
    """
    needs_tensor(x, "trace")
    return ops.trace(x, offset=integer(offset, "offset"), axis1=axis1, axis2=axis2, name=name)
