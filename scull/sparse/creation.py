"""Sparse tensors made of places and values."""

import math
from typing import Any

import numpy as np

from scull.core.dtype import dtype_of
from scull.core.tensor import Tensor
from scull.eager.property import tensor_of
from scull.errors import ArgumentError, ArgumentTypeError, RangeError, ShapeError
from scull.sparse.tensor import coo, csr, refuse_static
from scull.tensor.creation import to_tensor
from scull.tensor.size import integers

INTEGERS = ("int8", "int16", "int32", "int64")


def numbers(value: Any) -> Any:
    """Places as an array of integers."""
    array = (value if isinstance(value, Tensor) else to_tensor(value)).array
    if array.dtype.name not in INTEGERS:
        raise ArgumentTypeError(
            f"the dtype of indices must be {' or '.join(map(repr, INTEGERS))}, not {array.dtype}"
        )
    return array


def elements(value: Any, dtype: Any, place: Any, stop_gradient: bool) -> Tensor:
    """Values as a Tensor that has a gradient, that of the Tensor given too, or that has none."""
    if not isinstance(value, Tensor):
        made: Any = to_tensor(value, dtype, place)
    else:
        to_tensor(0, place=place)  # refuses what is no place
        given: Any = value
        made = given if dtype is None or dtype_of(dtype) is given.dtype else given.astype(dtype)
    if stop_gradient:
        return tensor_of(made.array)
    if made.node is None:
        made.stop_gradient = False
    return made


def within(places: Any, sizes: Any, name: str) -> None:
    """Refuse places outside of a tensor."""
    if places.size and ((places < 0).any() or (places.max(1) >= sizes).any()):
        raise RangeError(f"`{name}` holds places outside of the shape {list(map(int, sizes))}")


def sparse_coo_tensor(
    indices: Any,
    values: Any,
    shape: Any = None,
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A sparse tensor of elements by their coordinates.

    Args:
        indices (list | tuple | ndarray | Tensor): integers, ``[sparse axes, stored elements]``.
        values (list | tuple | ndarray | Tensor): the elements, ``[stored elements]``, with dense
            axes behind where each is a tensor.
        shape (list | tuple, optional): the sizes of the sparse axes, then of the dense ones; the
            least that hold all elements when None.
        dtype (str | DType, optional): the element type; that of `values` when None.
        place (str | Place, optional): where the elements live.
        stop_gradient (bool): whether no gradient is wanted; else a Tensor given as `values` gets
            its own, too.

    Returns:
        Tensor: sparse; several elements of one place stand for their sum once they are coalesced.

    Raises:
        ArgumentTypeError: `indices` are not integers.
        ShapeError: `indices` have not two axes, or the numbers of elements differ.
        ArgumentError: `shape` has other axes, or is too small.
        RangeError: an index is below 0.

    Examples:
        >>> import scull as paddle
        >>> paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 3.0]).to_dense().tolist()
        [[0.0, 0.0, 1.0], [3.0, 0.0, 0.0]]
    """
    refuse_static(indices, values)
    places, held = numbers(indices), elements(values, dtype, place, stop_gradient)
    if places.ndim != 2:
        raise ShapeError("'indices' must be 2-D.")
    axes, count = places.shape
    if not held.shape or held.shape[0] != count:
        found = held.shape[0] if held.shape else "one 0-D value"
        raise ShapeError(
            f"the indices and values must have same number of non-zero, but get {count} and {found}"
        )
    least = [*(places.max(1).astype("int64") + 1 if count else np.zeros(axes, int)).tolist()]
    sizes = [*least, *held.shape[1:]] if shape is None else [*integers(shape, "shape")]
    if len(sizes) != axes + len(held.shape) - 1:
        raise ArgumentError(
            f"the number of dimensions must be sparse_dim({axes}) + dense_dim"
            f"({len(held.shape) - 1}), but get {len(sizes)}"
        )
    if any(n < m for n, m in zip(sizes, least, strict=False)) or sizes[axes:] != held.shape[1:]:
        raise ArgumentError(
            f"the minimum shape required is {[*least, *held.shape[1:]]}, but get {sizes}"
        )
    within(places, sizes[:axes], "indices")
    return coo(places, held, sizes)


def sparse_csr_tensor(
    crows: Any,
    cols: Any,
    values: Any,
    shape: Any,
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A sparse matrix, or several of one shape, with its elements row by row.

    Args:
        crows (list | tuple | ndarray | Tensor): integers, ``[rows + 1]``: where the elements of
            each row begin, and where the last end; of several matrices one list behind another.
        cols (list | tuple | ndarray | Tensor): integers: the column of each element.
        values (list | tuple | ndarray | Tensor): the elements.
        shape (list | tuple): ``[rows, columns]`` or ``[matrices, rows, columns]``.
        dtype (str | DType, optional): the element type; that of `values` when None.
        place (str | Place, optional): where the elements live.
        stop_gradient (bool): whether no gradient is wanted; else a Tensor given as `values` gets
            its own, too.

    Returns:
        Tensor: sparse, by rows.

    Raises:
        ArgumentTypeError: `crows` or `cols` are not integers.
        ShapeError: the lists have other lengths or axes.
        ArgumentError: `shape` is not that of matrices, or `crows` does not rise from 0 on.
        RangeError: a column is outside.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 3.0], [2, 3])
        >>> x.to_dense().tolist()
        [[0.0, 0.0, 1.0], [3.0, 0.0, 0.0]]
    """
    refuse_static(crows, cols, values)
    starts, columns = numbers(crows), numbers(cols)
    held = elements(values, dtype, place, stop_gradient)
    sizes = [*integers(shape, "shape")]
    if len(sizes) not in (2, 3):
        raise ArgumentError(
            f"SparseCsrTensor only support 2-D or 3-D matrix. but get shape {sizes}"
        )
    if not starts.ndim == columns.ndim == len(held.shape) == 1:
        raise ShapeError("The 'crows', 'cols' and 'values' must be 1-D.")
    if len(columns) != held.shape[0]:
        raise ShapeError("the length of cols must be same as length of values")
    matrices, rows = math.prod(sizes[:-2]), sizes[-2]
    if len(starts) != matrices * (rows + 1):
        raise ShapeError(
            f"The length({len(starts)}) of crows must be equal to the rows({rows})+1 of matrix"
            + (f" times {matrices}." if len(sizes) == 3 else ".")
        )
    each = starts.reshape(matrices, rows + 1)
    if each[:, 0].any() or (np.diff(each, axis=1) < 0).any():
        raise ArgumentError("the 0th value of crows must be 0, and the others rise from there")
    if each[:, -1].sum() != len(columns):
        raise ArgumentError("the last value of crows must be equal the number of non-zero")
    within(columns[None], sizes[-1:], "cols")
    return csr(starts, columns, held, sizes)
