"""Sparse tensors with their elements elsewhere: axes changed about, cut, summed."""

import math
from typing import Any

import numpy as np

from scull.core.dtype import dtype_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, RangeError, ShapeError, UnsupportedError
from scull.sparse.conversion import begun, by_rows, placed, rows_of
from scull.sparse.place import coordinates, merged, picked, spots
from scull.sparse.tensor import CsrTensor, coo, csr, needs_sparse
from scull.tensor import function, manipulation, reduction
from scull.tensor.size import integers


def as_kind(x: Any, made: Any) -> Any:
    """What was made in coordinates, row by row where `x` is."""
    return by_rows(made) if isinstance(x, CsrTensor) else made


def axis_in(axis: int, ndim: int) -> int:
    """An axis counted from the front."""
    if not -ndim <= axis < ndim:
        raise RangeError(f"axis {axis} is outside [-{ndim}, {ndim})")
    return axis % ndim


def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """A sparse tensor with its axes in another order; dense axes stay behind the sparse ones.

    Args:
        x (Tensor): a sparse tensor.
        perm (list | tuple): of each axis of the result which of `x` it is.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, of the same kind.

    Raises:
        ShapeError: `perm` does not name each axis once.
        UnsupportedError: `x` is dense, or a dense axis would come before a sparse one.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 3.0])
        >>> paddle.sparse.transpose(x, [1, 0]).indices().tolist()
        [[2, 0], [0, 1]]
    """
    needs_sparse(x, "transpose")
    ndim = len(x.sizes)
    axes = [axis_in(a, ndim) for a in integers(perm, "perm")]
    if sorted(axes) != list(range(ndim)):
        raise ShapeError(f"`perm` {list(axes)} does not name each of {ndim} axes once")
    found = placed(x)
    count, held = len(found.places), found.held
    if max(axes[:count]) >= count:
        raise UnsupportedError("an axis whose elements are all stored stays behind the sparse ones")
    if axes[count:] != list(range(count, ndim)):
        held = manipulation.transpose(held, [0, *(a - count + 1 for a in axes[count:])])
    sizes = [x.sizes[a] for a in axes]
    return as_kind(x, coo(found.places[axes[:count]], held, sizes))


def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """A sparse tensor of another shape; its dense axes stay as they are.

    Args:
        x (Tensor): a sparse tensor.
        shape (list | tuple): the sizes; 0 is that of `x`, -1 what is left.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, of the same kind.

    Raises:
        ShapeError: `shape` holds another number of elements.
        UnsupportedError: `x` is dense, or its dense axes would change.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 3.0])
        >>> paddle.sparse.reshape(x, [3, -1]).indices().tolist()
        [[1, 1], [0, 1]]
    """
    needs_sparse(x, "reshape")
    found = placed(x)
    sizes = sizes_meant(integers(shape, "shape"), x.sizes)
    count = len(found.places)
    old, dense = x.sizes[:count], x.sizes[count:]
    new = sizes[: len(sizes) - len(dense)]
    if sizes[len(new) :] != list(dense) or not new:
        raise UnsupportedError(f"the axes {list(dense)} whose elements are all stored stay")
    places = coordinates(spots(found.places, old), new, found.places.dtype)
    return as_kind(x, coo(places, found.held, sizes))


def sizes_meant(shape: Any, old: Any) -> list[int]:
    """The sizes that a shape with 0 and -1 means for so many elements."""
    if any(n == 0 and i >= len(old) for i, n in enumerate(shape)):
        raise RangeError(f"`shape` {list(shape)} takes the size of an axis that {list(old)} lacks")
    sizes = [old[i] if n == 0 else n for i, n in enumerate(shape)]
    known = math.prod(n for n in sizes if n != -1)
    if -1 in sizes and known and math.prod(old) % known == 0:
        sizes[sizes.index(-1)] = math.prod(old) // known
    if any(n < 0 for n in sizes) or math.prod(sizes) != math.prod(old):
        raise ShapeError(f"`shape` {list(shape)} does not hold the elements of {list(old)}")
    return sizes


def slice(x: Any, axes: Any, starts: Any, ends: Any, name: str | None = None) -> Any:
    """Some of a sparse tensor, cut out along some axes.

    Args:
        x (Tensor): a sparse tensor.
        axes (list | tuple | Tensor): the axes that are cut.
        starts (list | tuple | Tensor): the first place that is kept of each; below 0 from the end.
        ends (list | tuple | Tensor): the first behind those that are kept of each.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, of the same kind.

    Raises:
        ArgumentError: the lists differ in length, or an end lies before its start.
        RangeError: there is no such axis.
        UnsupportedError: `x` is dense.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 3.0])
        >>> paddle.sparse.slice(x, [0], [1], [2]).to_dense().tolist()
        [[3.0, 0.0, 0.0]]
    """
    needs_sparse(x, "slice")
    names = {"axes": axes, "starts": starts, "ends": ends}
    lists = [integers(value, parameter) for parameter, value in names.items()]
    if len({len(value) for value in lists}) > 1:
        raise ArgumentError("`axes`, `starts` and `ends` are lists of one length")
    found = placed(x)
    places, held, sizes = found.places, found.held, list(x.sizes)
    keep = np.ones(places.shape[1], bool)
    places = places.copy()
    for axis, start, end in zip(*lists, strict=True):
        axis = axis_in(axis, len(sizes))
        first, last = (cut(n, x.sizes[axis]) for n in (start, end))
        if last < first:
            raise ArgumentError(f"the end {end} of axis {axis} lies before its start {start}")
        sizes[axis] = last - first
        if axis < len(places):
            keep &= (places[axis] >= first) & (places[axis] < last)
            places[axis] -= first
        else:
            held = manipulation.slice(held, [axis - len(places) + 1], [first], [last])
    if not keep.all():
        places, held = places[:, keep], picked(held, keep.nonzero()[0])
    return as_kind(x, coo(places, held, sizes))


def cut(place: int, size: int) -> int:
    """A place where an axis is cut."""
    return min(max(place + size if place < 0 else place, 0), size)


def sum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum over some axes; where all sparse axes are summed, one of size 1 is left.

    Args:
        x (Tensor): a sparse tensor; row by row the last axis or all are summed, and stay, of
            size 1.
        axis (int | list | tuple, optional): the axes; all when None.
        dtype (str | DType, optional): the element type of the sum; int64 for integers and bool
            when None.
        keepdim (bool): whether summed axes stay, of size 1.
        name (str, optional): not used.

    Returns:
        Tensor: sparse, of the same kind.

    Raises:
        RangeError: there is no such axis.
        UnsupportedError: `x` is dense, or stored by rows and summed along another axis.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [2, 2]], [1.0, 3.0])
        >>> paddle.sparse.sum(x, 0).to_dense().tolist()
        [0.0, 0.0, 4.0]
    """
    needs_sparse(x, "sum")
    axes = [] if axis is None else list(integers(axis, "axis"))
    summed = {axis_in(a, len(x.sizes)) for a in axes} or set(range(len(x.sizes)))
    held = x.held
    if dtype is not None or not (held.dtype.is_float or held.dtype.is_complex):
        held = function.cast(held, "int64" if dtype is None else dtype_of(dtype))
    if isinstance(x, CsrTensor):
        return sum_of_rows(x, held, axes)
    count, ndim = len(x.places), len(x.sizes)
    rest = [a for a in range(count) if a not in summed]
    behind = [a - count + 1 for a in range(count, ndim) if a in summed]
    if behind:
        held = reduction.sum(held, behind, keepdim=keepdim)
    shape = [x.sizes[a] for a in rest]
    numbers, held = merged(spots(x.places[rest], shape), held)
    if keepdim:
        shape = [1 if a in summed else x.sizes[a] for a in range(count)]
    shape = shape or [1]
    return coo(coordinates(numbers, shape, x.places.dtype), held, [*shape, *held.shape[1:]])


def sum_of_rows(x: CsrTensor, held: Tensor, axes: list[int]) -> CsrTensor:
    """The sum of a matrix row by row, or of all of it."""
    if axes not in ([], [-1]):
        raise UnsupportedError(f"of rows the last axis, -1, is summed or all, not {axes}")
    shape = [*x.sizes[:-1], 1] if axes else [1, 1]
    numbers, total = merged(rows_of(x) if axes else np.zeros(len(x.columns), np.int64), held)
    starts = begun(numbers, shape, x.starts.dtype)
    return csr(starts, np.zeros(len(numbers), x.columns.dtype), total, shape)
