"""Diagonals: read as views, written, summed."""

from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta, at_least, axis_of
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import gathered
from scull.ops.reduce import reduce_sum


def two_axes(ndim: int, axis1: int, axis2: int) -> tuple[int, int]:
    """The axes of rows and columns, counted from 0."""
    first, second = axis_of(axis1, ndim), axis_of(axis2, ndim)
    if first == second:
        raise ArgumentError(f"axes {axis1} and {axis2} of {ndim} axes are the same")
    return first, second


def length(rows: int, columns: int, offset: int) -> int:
    """How many elements a diagonal has."""
    if -1 in (rows, columns):
        return UNKNOWN
    return max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)


def diagonal_index(ndim: int, axes: tuple[int, int], place: Any, offset: int) -> list[Any]:
    """The index of the element at `place` of a diagonal; other axes are whole."""
    index: list[Any] = [slice(None)] * ndim
    index[axes[0]], index[axes[1]] = place + max(-offset, 0), place + max(offset, 0)
    return index


def diagonal_view(xp: Any, x: Any, offset: int, first: int, second: int) -> Any:
    """The diagonal as a view that can be written to where `x` can."""
    offset = max(-x.shape[first], min(offset, x.shape[second]))  # NumPy's is an int of C
    view = x.diagonal(offset, first, second)
    view.flags.writeable = x.flags.writeable
    return view


@primitive(slots={"x": "Input"}, views={"out": "x"}, infer_first=True)
def diagonal(x: Meta, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Meta:
    """The diagonal of two axes, which go; it is the last axis."""
    at_least(2, x)
    axes = two_axes(x.ndim, axis1, axis2)
    rest = [n for i, n in enumerate(x.shape) if i not in axes]
    return x.with_shape((*rest, length(x.shape[axes[0]], x.shape[axes[1]], offset)))


@diagonal.kernel
def diagonal_kernel(
    xp: Any, x: Any, *, out: Any = None, offset: int, axis1: int, axis2: int
) -> Any:
    return diagonal_view(xp, x, offset, *two_axes(x.ndim, axis1, axis2))


@diagonal.grad
def diagonal_grad(x_meta: Any, dout: Any, offset: int, axis1: int, axis2: int) -> Any:
    return place_diagonal(dout, x_meta, offset=offset, axis1=axis1, axis2=axis2)


@diagonal.lower
def diagonal_at(index: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    *rest, place = index
    axes = two_axes(x.ndim, axis1, axis2)
    return x[filled(diagonal_index(x.ndim, axes, place, offset), rest)]


def filled(index: list[Any], rest: Any) -> tuple[Any, ...]:
    """`index` with the places `rest` for its whole axes."""
    places = iter(rest)
    return tuple([next(places) if isinstance(i, slice) else i for i in index])


@primitive
def place_diagonal(
    x: Meta, like_meta: Meta, *, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Meta:
    """Zeros in the shape of `like` with `x` on the diagonal."""
    return Meta(like_meta.shape, x.dtype)


@place_diagonal.kernel
def place_diagonal_kernel(
    xp: Any, x: Any, like: Any, *, out: Any = None, offset: int, axis1: int, axis2: int
) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    diagonal_view(xp, out, offset, *two_axes(out.ndim, axis1, axis2))[...] = x
    return out


@place_diagonal.grad("x")
def place_diagonal_grad(dout: Any, offset: int, axis1: int, axis2: int) -> Any:
    return diagonal(dout, offset=offset, axis1=axis1, axis2=axis2)


@place_diagonal.lower
def place_diagonal_at(index: Any, x: Any, like: Any, offset: int, axis1: int, axis2: int) -> Any:
    return on_diagonal(index, x, two_axes(like.ndim, axis1, axis2), offset, 0)


def on_diagonal(index: Any, x: Any, axes: tuple[int, int], offset: int, beside: float) -> Any:
    """The element of the diagonal `x` that stands at `index`, or what stands beside it."""
    zero = lang.constant(False if x.dtype == "bool" else beside, x.dtype)
    if 0 in x.shape:
        return zero
    row, column = (index[a] for a in axes)
    rest = [p for i, p in enumerate(index) if i not in axes]
    place = row if offset >= 0 else column
    inside = lang.both(lang.equal(row + offset, column), place < x.shape[-1])
    return lang.guarded(inside, x[(*rest, place)], zero)


@composite(slots={"x": "Input"})
def trace(x, *, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """The sum of a diagonal of two axes, which go."""
    found = diagonal(x, offset=offset, axis1=axis1, axis2=axis2)
    kind = meta_of(x).dtype  # also of integers, of which a sum is wider
    return reduce_sum(found, axis=(-1,), out_dtype=None if kind is bool_ else kind)


@trace.kernel
def trace_kernel(xp: Any, x: Any, *, out: Any = None, offset: int, axis1: int, axis2: int) -> Any:
    found = diagonal_kernel(xp, x, offset=offset, axis1=axis1, axis2=axis2)
    kind = xp.dtype("int64") if x.dtype.kind == "b" else None
    return gathered(xp.add, found, -1, dtype=kind, out=out)


@primitive(enlarges=("offset",), type="diag_v2", infer_first=True)
def diag(x: Meta, *, offset: int = 0, padding_value: float = 0.0) -> Meta:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix."""
    if x.ndim == 2:
        return x.with_shape((length(*x.shape, offset),))
    if x.ndim > 2:
        raise ShapeError(f"{x} has {x.ndim} axes; a vector or a matrix has a diagonal")
    size = x.shape[0] if x.ndim else 1
    return x.with_shape((UNKNOWN if size == -1 else size + abs(offset),) * 2)


@diag.kernel
def diag_kernel(xp: Any, x: Any, *, out: Any = None, offset: int, padding_value: float) -> Any:
    if x.ndim == 2:
        found = diagonal_view(xp, x, offset, 0, 1)
        return found.copy() if out is None else copied(found, out)
    size = (x.shape[0] if x.ndim else 1) + abs(offset)
    out = xp.empty((size, size), x.dtype) if out is None else out
    out[...] = padding_value
    diagonal_view(xp, out, offset, 0, 1)[...] = x
    return out


def copied(x: Any, out: Any) -> Any:
    """`out` with the elements of `x`."""
    out[...] = x
    return out


@diag.grad
def diag_grad(x_meta: Any, dout: Any, offset: int) -> Any:
    if len(x_meta.shape) == 2:
        return place_diagonal(dout, x_meta, offset=offset)
    found = diagonal(dout, offset=offset)
    return found if len(x_meta.shape) else reduce_sum(found, axis=(0,))


@diag.lower
def diag_at(index: Any, x: Any, offset: int, padding_value: float) -> Any:
    if x.ndim == 2:
        return x[tuple(diagonal_index(2, (0, 1), index[0], offset))]
    beside = padding_value if "float" in x.dtype else int(padding_value)
    if x.ndim:
        return on_diagonal(index, x, (0, 1), offset, beside)
    place = index[0] if offset >= 0 else index[1]
    inside = lang.both(lang.equal(index[0] + offset, index[1]), place < 1)
    return lang.select(inside, x[()], lang.constant(beside, x.dtype))


@primitive(enlarges=("offset",), slots={"x": "Input"}, inline_gradient=True, infer_first=True)
def diag_embed(x: Meta, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Meta:
    """Zeros with the last axis of `x` on the diagonal of two new axes."""
    first, second = two_axes(x.ndim + 1, dim1, dim2)
    size = UNKNOWN if x.shape[-1] == -1 else x.shape[-1] + abs(offset)
    sizes = list(x.shape[:-1])
    for axis in sorted((first, second)):
        sizes.insert(axis, size)
    return x.with_shape(sizes)


@diag_embed.kernel
def diag_embed_kernel(
    xp: Any, x: Any, *, out: Any = None, offset: int, dim1: int, dim2: int
) -> Any:
    first, second = two_axes(x.ndim + 1, dim1, dim2)
    sizes = list(x.shape[:-1])
    for axis in sorted((first, second)):
        sizes.insert(axis, x.shape[-1] + abs(offset))
    out = xp.empty(sizes, x.dtype) if out is None else out
    out[...] = 0
    diagonal_view(xp, out, offset, first, second)[...] = x
    return out


@diag_embed.grad
def diag_embed_grad(dout: Any, offset: int, dim1: int, dim2: int) -> Any:
    return diagonal(dout, offset=offset, axis1=dim1, axis2=dim2)


@diag_embed.lower
def diag_embed_at(index: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    return on_diagonal(index, x, two_axes(x.ndim + 1, dim1, dim2), offset, 0)
