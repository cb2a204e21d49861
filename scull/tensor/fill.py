"""Diagonals that are filled, blocks that are cut out, places of triangles, shards of indices."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.eager.change import in_place
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ops import crop as blocks
from scull.ops import fill, listing
from scull.ops.diagonal import length
from scull.ops.like import unsqueeze
from scull.tensor.size import integer, needs_tensor, shape_inputs


def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """A block of `x`.

    Args:
        x (Tensor): the elements.
        shape (list | tuple | Tensor, optional): its sizes, integers or tensors of one; -1 takes the
            rest of an axis. All of `x` when None.
        offsets (list | tuple | Tensor, optional): where it begins; at 0 when None.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of `shape` and the dtype of `x`.

    Raises:
        ArgumentError: an offset is below 0, or a size 0 or below -1.
        RangeError: the block reaches beyond `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), [1, 2], [1, 0]).tolist()
        [[3, 4]]
    """
    needs_tensor(x, "crop")
    sizes, size_list, size_numbers = shape_inputs(list(x.shape) if shape is None else shape)
    start = [0] * len(x.shape) if offsets is None else offsets
    starts, start_list, start_numbers = shape_inputs(start, "offsets")
    if size_list:  # a size that a tensor gives is spelt 0
        size_numbers = tuple([0 if n == -1 else n for n in size_numbers])
    how = {"shape": size_numbers, "offsets": start_numbers, "name": name}
    return blocks.crop_tensor(x, sizes, size_list, starts, start_list, **how)


def fill_diagonal_(
    x: Any, value: float, offset: int = 0, wrap: bool = False, name: str | None = None
) -> Any:
    """Make the elements of the diagonal of all axes `value`, in `x` itself.

    Args:
        x (Tensor): of at least 2 axes; of more than 2, all should be of one size.
        value (float): the number.
        offset (int): how far beside the diagonal, along the last axis.
        wrap (bool): whether the diagonal of a tall matrix starts again below each square.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Raises:
        ArgumentTypeError: `value` or `offset` is no number.
        ShapeError: `x` has fewer than 2 axes.

    Examples:
        >>> import scull as paddle
        >>> paddle.zeros([2, 3]).fill_diagonal_(1.0).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    needs_tensor(x, "fill_diagonal_")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentTypeError(f"`value` is a number, not {type(value).__name__}")
    offset = integer(offset, "offset")
    return in_place(fill.fill_diagonal)(x, value=float(value), offset=offset, wrap=bool(wrap))


def fill_diagonal_tensor(
    x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Any:
    """`x` with `y` on the diagonal of two axes. `y` has no gradient, as in Paddle.

    Args:
        x (Tensor): of at least 2 axes.
        y (Tensor): of the axes of `x` without the two, then one that runs along the diagonal.
        offset (int): the diagonal; above the main one when positive.
        dim1 (int): the axis of rows.
        dim2 (int): the axis of columns.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ShapeError: `y` does not fit the diagonal.
        DtypeError: `x` and `y` are of different dtypes.

    Examples:
        >>> import scull as paddle
        >>> paddle.zeros([2, 2]).fill_diagonal_tensor(paddle.to_tensor([1.0, 2.0])).tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """
    for value, parameter in ((x, "x"), (y, "y")):
        needs_tensor(value, "fill_diagonal_tensor", parameter)
    if len(y.shape) == 1 and len(x.shape) == 2:
        y = unsqueeze(y, axes=(0,))
    assert_diagonal(x, y, integer(offset, "offset"), dim1, dim2)
    how = {"offset": offset, "dim1": dim1, "dim2": dim2, "name": name}
    return fill.fill_diagonal_tensor(x, y, **how)


def assert_diagonal(x: Any, y: Any, offset: int, dim1: int, dim2: int) -> None:
    """Refuse axes that `x` lacks and a `y` that is not of the shape of the diagonal."""
    ndim, sizes = len(x.shape), list(x.shape)
    if not all(isinstance(a, int) and -ndim <= a < ndim for a in (dim1, dim2)):
        raise AssertError(f"axes {dim1} and {dim2} are not in [-{ndim}, {ndim}) of {x.meta}")
    if dim1 % ndim == dim2 % ndim:
        raise AssertError(f"axes {dim1} and {dim2} of {ndim} axes are the same")
    rows, columns = sizes[dim1], sizes[dim2]
    needed = [n for a, n in enumerate(sizes) if a not in (dim1 % ndim, dim2 % ndim)]
    needed.append(length(rows, columns, offset))
    found = list(y.shape)[-len(needed) :]
    known = -1 not in (rows, columns)
    if len(found) < len(needed) or any(
        m != n and -1 not in (m, n) and (known or i < len(needed) - 1)
        for i, (m, n) in enumerate(zip(found, needed, strict=True))
    ):
        raise AssertError(f"y is {y.meta}, and the shape of the diagonal is {needed}")


fill_diagonal_tensor_ = in_place(fill_diagonal_tensor)


def tril_indices(row: int, col: int, offset: int = 0, dtype: Any = "int64") -> Any:
    """The places of the elements on and below a diagonal of a matrix.

    Args:
        row (int): the number of its rows.
        col (int): the number of its columns.
        offset (int): the diagonal; above the main one when positive.
        dtype (str | DType): int32 or int64.

    Returns:
        Tensor: [2, places]: numbers of rows above numbers of columns.

    Raises:
        ArgumentTypeError: a number is no integer.
        ArgumentError: `row` or `col` is below 0.

    Examples:
        >>> import scull as paddle
        >>> paddle.tril_indices(2, 3).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    rows, cols, offset = triangle(row, row if col is None else col, offset)
    return listing.tril_indices(rows=rows, cols=cols, offset=offset, dtype=dtype_of(dtype))


def triu_indices(row: int, col: Any = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """The places of the elements on and above a diagonal of a matrix.

    Args:
        row (int): the number of its rows.
        col (int, optional): the number of its columns; `row` when None.
        offset (int): the diagonal; above the main one when positive.
        dtype (str | DType): int32 or int64.

    Returns:
        Tensor: [2, places]: numbers of rows above numbers of columns.

    Raises:
        ArgumentTypeError: a number is no integer.
        ArgumentError: `row` or `col` is below 0.

    Examples:
        >>> import scull as paddle
        >>> paddle.triu_indices(2, 3).tolist()
        [[0, 0, 0, 1, 1], [0, 1, 2, 1, 2]]
    """
    row, col, offset = triangle(row, row if col is None else col, offset)
    return listing.triu_indices(row=row, col=col, offset=offset, dtype=dtype_of(dtype))


def triangle(row: Any, col: Any, offset: Any) -> tuple[int, int, int]:
    """The sizes of a matrix and the number of a diagonal, all of which must be integers."""
    for value, parameter in ((row, "row"), (col, "col"), (offset, "offset")):
        if not isinstance(value, int) or isinstance(value, bool):
            raise ArgumentTypeError(f"`{parameter}` is an integer, not {type(value).__name__}")
    if row < 0 or col < 0:
        raise ArgumentError(f"{row} rows and {col} columns are no size")
    return row, col, offset


def shard_index(
    input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1
) -> Any:
    """Indices counted from the first of a shard; `ignore_value` for those of other shards.

    Args:
        input (Tensor): int32 or int64, of at least 2 axes, the last of size 1; from 0 to before
            `index_num`.
        index_num (int): how many indices there are.
        nshards (int): into how many shards of one size they are laid.
        shard_id (int): which of them this one is.
        ignore_value (int): what stands for indices of other shards.

    Returns:
        Tensor: of the shape and dtype of `input`.

    Raises:
        RangeError: `shard_id` or an index lies outside its range.

    Examples:
        >>> import scull as paddle
        >>> paddle.shard_index(paddle.to_tensor([[1], [16]]), 20, 2, 0).tolist()
        [[1], [-1]]
    """
    needs_tensor(input, "shard_index", "input")
    numbers = {"index_num": index_num, "nshards": nshards, "shard_id": shard_id}
    given = {n: integer(v, n) for n, v in numbers.items()}
    return listing.shard_index(input, **given, ignore_value=integer(ignore_value, "ignore_value"))
