"""Spread and middle of elements."""

from typing import Any

from scull.ops import compare, elementwise, like, math, move, reduce, search
from scull.ops.compare import where
from scull.ops.promotion import cast_to
from scull.ops.slicing import slice
from scull.tensor.function import isnan
from scull.tensor.logic import any
from scull.tensor.reduction import sum
from scull.tensor.size import needs_tensor, reduced_axes


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
    count = like.size_of(x, axis=axes)
    if unbiased:
        count = elementwise.maximum(count - 1.0, 1.0 if count.dtype.is_float else 1)
    return elementwise.divide(total, count, name)


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
    axis %= max(len(x.shape), 1)
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
    rising, along = ordered(x, axis)
    size = rising.shape[along]
    half = slice(rising, axes=(along,), starts=((size - 1) // 2,), ends=(size // 2 + 1,))
    middle = reduce.reduce_mean(half, axis=(along,), keepdim=axis is not None and keepdim)
    unknown = any(isnan(x), axis, axis is not None and keepdim)
    if axis is None and keepdim:
        middle = move.reshape(middle, shape=(1,) * len(x.shape))
    return with_nan(middle, unknown)


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
    known = cast_to(compare.equal(x, x), x.dtype)
    total = sum(where(isnan(x), like.full_like(x, value=0.0), x), axis, None, keepdim)
    return elementwise.divide(total, sum(known, axis, None, keepdim), name)


def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """The element below which the part `q` of all lies, between neighbours in proportion.

    Args:
        x (Tensor): the elements.
        q (float): between 0 and 1.
        axis (int, optional): the axis; all elements when None.
        keepdim (bool): whether the axis stays, with size 1.

    Examples:
        >>> import scull as paddle
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), 0.5).item()
        2.0
    """
    needs_tensor(x, "quantile")
    rising, along = ordered(cast_to(x, "float64"), axis)
    last = rising.shape[along] - 1
    low = min(int(q * last), last)
    high, part = min(low + 1, last), q * last - low
    first, second = (slice(rising, axes=(along,), starts=(i,), ends=(i + 1,)) for i in (low, high))
    found = first * (1.0 - part) + second * part
    if keepdim:
        return found if axis is not None else move.reshape(found, shape=(1,) * len(x.shape))
    return like.squeeze(found, axes=(along,))
