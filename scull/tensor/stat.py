"""Spread and middle of elements."""

from typing import Any

import numpy as np

from scull.core.door import shown_by
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ir.variable import Variable
from scull.ops import (
    compare,
    elementwise,
    like,
    math,
    move,
    reduce,
    reduce_given,
    rounding,
    search,
)
from scull.ops import median as middle
from scull.ops.compare import where
from scull.ops.promotion import cast_to
from scull.ops.slicing import slice
from scull.tensor.creation import assign
from scull.tensor.function import isnan
from scull.tensor.logic import any
from scull.tensor.reduction import sum
from scull.tensor.size import integer, integers, is_static, needs_tensor, number, reduced_axes


def var(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """The variance over axes.

    Args:
        x (Tensor): of floating-point elements.
        axis (int | list, optional): the axes; all of them when None.
        unbiased (bool): divide by one less than their number.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.var(paddle.to_tensor([1.0, 3.0])).item()
        2.0
    """
    needs_tensor(x, "var")
    axes, reduce_all = reduced_axes(axis, x)
    over = {"axis": axes, "reduce_all": reduce_all}
    centred = x - reduce.reduce_mean(x, keepdim=True, **over)
    total = reduce.reduce_sum(math.square(centred), keepdim=keepdim, **over)
    count = terms(x, total)
    if unbiased:
        count = elementwise.maximum(count - 1.0, 1.0)
    return elementwise.divide(total, cast_to(count, x.dtype), name)


def terms(x: Any, total: Any) -> Any:
    """How many elements of `x` each element of `total` was made of."""
    kind = "float64" if x.dtype.name == "float64" else "float32"
    return cast_to(search.numel(x), kind) / cast_to(search.numel(total), kind)


def std(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """The standard deviation over axes.

    Args:
        x (Tensor): of floating-point elements.
        axis (int | list, optional): the axes; all of them when None.
        unbiased (bool): divide by one less than their number.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.std(paddle.to_tensor([1.0, 1.0])).item()
        0.0
    """
    return math.sqrt(var(x, axis, unbiased, keepdim), name)


def ordered(x: Any, axis: Any) -> tuple[Any, int]:
    """`x` in rising order along an axis, or along all of them made one; and that axis."""
    if axis is None:
        x, axis = move.reshape(x, shape=(-1,)), 0
    axis = integer(axis, "axis") % max(len(x.shape), 1)
    return search.argsort(x, axis=axis)[0], axis


def median(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The middle element along an axis, or the mean of the two in the middle; NaN where one is.

    Args:
        x (Tensor): the elements.
        axis (int, optional): the axis; all elements when None.
        keepdim (bool): whether the axis stays, with size 1.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.median(paddle.to_tensor([1.0, 4.0, 2.0, 3.0])).item()
        2.5
    """
    needs_tensor(x, "median")
    if not x.dtype.is_float:
        x = cast_to(x, "float32")
    if not x.shape:
        check_no_axis(axis)
        axis = None
    rising, along = ordered(x, axis)
    size = rising.shape[along]
    half = slice(rising, axes=(along,), starts=((size - 1) // 2,), ends=(size // 2 + 1,))
    middle = reduce.reduce_mean(half, axis=(along,), keepdim=axis is not None and keepdim)
    unknown = any(isnan(x), axis, axis is not None and keepdim)
    if axis is None and keepdim:
        middle = move.reshape(middle, shape=(1,) * len(x.shape))
    return with_nan(middle, unknown)


def check_no_axis(axis: Any) -> None:
    """Refuse an axis of a tensor that has none, but for 0 and -1."""
    if axis is not None and (strange := set(integers(axis, "axis")) - {0, -1}):
        raise AssertError(f"a tensor of no axes has axis 0, -1 or None, not {strange.pop()}")


def with_nan(found: Any, unknown: Any) -> Any:
    """`found`, but NaN where `unknown` holds."""
    nan = like.full_like(found, value=float("nan"))
    return where(move.reshape(unknown, shape=tuple(found.shape)), nan, found)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean over axes of the elements that are not NaN.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])).item()
        2.0
    """
    needs_tensor(x, "nanmean")
    known = cast_to(compare.equal(x, x), x.dtype)
    total = sum(where(isnan(x), like.full_like(x, value=0.0), x), axis, None, keepdim)
    found = elementwise.divide(total, sum(known, axis, None, keepdim), name)
    return cast_to(found, total.dtype)


def nanmedian(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The middle of the elements that are not NaN, or the mean of the two in the middle.

    Args:
        x (Tensor): the elements.
        axis (int | list | tuple, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the dtype of `x`; NaN where all elements are.

    Examples:
        >>> import scull as paddle
        >>> paddle.nanmedian(paddle.to_tensor([1.0, float("nan"), 4.0, 2.0])).item()
        2.0
    """
    needs_tensor(x, "nanmedian")
    axes = () if axis is None else integers(axis, "axis")
    if axis is not None and not axes:
        raise ArgumentError("`axis` names no axis")
    if not x.shape:
        check_no_axis(axis)
        axes = ()
    return middle.nanmedian(x, axis=axes, keepdim=keepdim, name=name)[0]


def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """The element below which the part `q` of all lies, between neighbours in proportion.

    Args:
        x (Tensor): the elements.
        q (float | list | tuple): between 0 and 1.
        axis (int | list, optional): the axes; all elements when None.
        keepdim (bool): whether the axes stay, with size 1.

    Returns:
        Tensor: of float64; NaN where an element is. Of several `q` each gives one place of a new
        first axis.

    Examples:
        >>> import scull as paddle
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), 0.5).item()
        2.0
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), [0.0, 0.75]).tolist()
        [1.0, 2.5]
    """
    return quantiles(x, q, axis, keepdim, "quantile", False)


def nanquantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """As `quantile`, of the elements that are not NaN.

    Args:
        x (Tensor): the elements.
        q (float | list | tuple): between 0 and 1.
        axis (int | list, optional): the axes; all elements when None.
        keepdim (bool): whether the axes stay, with size 1.

    Returns:
        Tensor: of float64; NaN where all elements are. Of several `q` each gives one place of a
        new first axis.

    Examples:
        >>> import scull as paddle
        >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
        2.0
    """
    return quantiles(x, q, axis, keepdim, "nanquantile", True)


def parts_of(q: Any) -> list[float]:
    """The parts between 0 and 1 that a quantile is asked for."""
    if not isinstance(q, int | float | list | tuple):
        raise ArgumentTypeError(f"`q` is a number or a list of them, not {type(q).__name__}")
    parts = [number(v, "q") for v in (q if isinstance(q, list | tuple) else [q])]
    if not parts or not all(0 <= v <= 1 for v in parts):
        raise ArgumentError(f"`q` is {q!r}, not between 0 and 1")
    return parts


def quantiles(x: Any, q: Any, axis: Any, keepdim: bool, function: str, skip: bool) -> Any:
    """Quantiles of all elements, or with `skip` of those that are not NaN."""
    if not isinstance(x, Tensor | Variable):
        raise ArgumentTypeError(f"{function}(): `x` must be Tensor, but got {type(x).__name__}")
    parts, ndim = parts_of(q), len(x.shape)
    axes = tuple(range(ndim)) if axis is None else integers(axis, "axis")
    if not all(-ndim <= a < ndim for a in axes):
        raise ArgumentError(f"`axis` is {axis!r}, outside [-{ndim}, {ndim}) of {x.meta}")
    over = sorted({a % ndim for a in axes}) if axes else list(range(ndim))
    kept = [a for a in range(ndim) if a not in over]
    rows = move.transpose(x, perm=(*kept, *over)) if ndim > 1 else x
    last = len(kept)
    rows = (
        move.flatten(rows, start_axis=last, stop_axis=-1) if over else like.unsqueeze(x, axes=(0,))
    )
    known = compare.equal(rows, rows)
    reach = reduce.reduce_sum(cast_to(known, "float64"), axis=(last,), keepdim=True) - 1.0
    places = reach * constant(parts)
    if not skip:
        whole = reduce_given.reduce_all(known, axis=(last,), keepdim=True)
        end = cast_to(terms(rows, reach), "float64") - 1.0
        places = where(whole, places, end + like.full_like(places, value=0.0))
    rising = cast_to(search.argsort(rows, axis=last)[0], "float64")
    low, high = rounding.floor(places), rounding.ceil(places)
    below, above = (
        search.take_along_axis(rising, cast_to(v, "int64"), axis=last) for v in (low, high)
    )
    found = below + (above - below) * (places - low)
    if len(parts) == 1:
        found = like.squeeze(found, axes=(last,))
        return like.unsqueeze(found, axes=tuple(over)) if keepdim and over else found
    found = move.transpose(found, perm=(last, *range(last)))
    return like.unsqueeze(found, axes=tuple(a + 1 for a in over)) if keepdim and over else found


def constant(values: list[float]) -> Any:
    """A vector of float64."""
    array = np.array(values, "float64")
    return assign(array) if is_static() else Tensor(array)


__getattr__ = shown_by("scull.tensor")
