"""Sums, means, extremes and running sums over axes."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.core.meta import axis_of
from scull.core.tensor import Tensor
from scull.errors import DtypeError, ShapeError
from scull.ops import (
    classify,
    compare,
    elementwise,
    join,
    logic,
    reduce,
    reduce_given,
    search,
    slicing,
    softmax,
)
from scull.ops.promotion import cast_to
from scull.tensor.creation import full_like
from scull.tensor.size import axis_held, integer, needs_tensor, reduced_axes


def sum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum over axes; bool and int32 are summed as int64.

    Args:
        x (Tensor): what is summed.
        axis (int | list, optional): the axes; all of them when None.
        dtype (str | DType, optional): the element type of the sum.
        keepdim (bool): whether the axes stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sum(paddle.to_tensor([[1, 2], [3, 4]]), axis=0).tolist()
        [4, 6]
    """
    needs_tensor(x, "sum")
    axes, _ = reduced_axes(axis, x)
    attrs: dict[str, Any] = {"axis": axes, "keepdim": keepdim}
    if dtype is not None:
        attrs |= {"out_dtype": dtype_of(dtype), "in_dtype": x.dtype}
    return reduce.reduce_sum(x, **attrs, name=name)


def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean over axes.

    Args:
        x (Tensor): of floating-point elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.mean(paddle.to_tensor([1.0, 2.0])).item()
        1.5
    """
    needs_tensor(x, "mean")
    if isinstance(x, Tensor) and x.dtype.array.kind in "iub":  # a Program takes none
        return cast_to(mean(cast_to(x, "float64"), axis, keepdim), x.dtype)
    axes, reduce_all = reduced_axes(axis, x)
    return reduce.reduce_mean(x, axis=axes, keepdim=keepdim, reduce_all=reduce_all, name=name)


def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The greatest element over axes; equal ones each get the whole gradient.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.max(paddle.to_tensor([1, 3, 2])).item()
        3
    """
    needs_tensor(x, "max")
    axes, reduce_all = reduced_axes(axis, x)
    return reduce.reduce_max(x, axis=axes, keepdim=keepdim, reduce_all=reduce_all, name=name)


def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The least element over axes; equal ones each get the whole gradient.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.min(paddle.to_tensor([1, 3, 2])).item()
        1
    """
    needs_tensor(x, "min")
    axes, reduce_all = reduced_axes(axis, x)
    return reduce.reduce_min(x, axis=axes, keepdim=keepdim, reduce_all=reduce_all, name=name)


def amax(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The greatest element over axes; equal ones share the gradient.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.amax(paddle.to_tensor([1.0, 3.0])).item()
        3.0
    """
    needs_tensor(x, "amax")
    axes, whole = reduced_axes(axis, x)
    return reduce_given.reduce_amax(x, axis=axes, keepdim=keepdim, reduce_all=whole, name=name)


def amin(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The least element over axes; equal ones share the gradient.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.amin(paddle.to_tensor([1.0, 3.0])).item()
        1.0
    """
    needs_tensor(x, "amin")
    axes, whole = reduced_axes(axis, x)
    return reduce_given.reduce_amin(x, axis=axes, keepdim=keepdim, reduce_all=whole, name=name)


def prod(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None
) -> Any:
    """The product over axes.

    Args:
        x (Tensor): what is multiplied.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        dtype (str | DType, optional): the element type of the product.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.prod(paddle.to_tensor([2, 3, 4])).item()
        24
    """
    needs_tensor(x, "prod")
    if dtype is not None:
        x = cast_to(x, dtype)
    if x.dtype.name == "bool":
        raise DtypeError("truth values have no product; use `all`, or give another `dtype`")
    axes, reduce_all = reduced_axes(axis, x)
    return reduce.reduce_prod(x, axis=axes, keepdim=keepdim, reduce_all=reduce_all, name=name)


def cumsum(x: Any, axis: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """The sums of all elements up to each one.

    Args:
        x (Tensor): what is summed.
        axis (int, optional): along which axis; over all elements in order when None.
        dtype (str | DType, optional): the element type.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.cumsum(paddle.to_tensor([1, 2, 3])).tolist()
        [1, 3, 6]
    """
    needs_tensor(x, "cumsum")
    if dtype is not None and dtype_of(dtype) is not x.dtype:
        x = cast_to(x, dtype)
    if axis is None:
        return search.cumsum(x, flatten=True, name=name)
    return search.cumsum(x, axis=axis_held(axis), name=name)


def logsumexp(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The logarithm of the sum of exponentials, without overflow.

    Args:
        x (Tensor): the exponents.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logsumexp(paddle.zeros([1])).item()
        0.0
    """
    needs_tensor(x, "logsumexp")
    axes, reduce_all = reduced_axes(axis, x)
    return softmax.logsumexp(x, axis=axes, keepdim=keepdim, reduce_all=reduce_all, name=name)


def nansum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum over axes, where NaN counts as 0.

    Args:
        x (Tensor): what is summed.
        axis (int | list, optional): the axes; all of them when None.
        dtype (str | DType, optional): the element type of the sum.
        keepdim (bool): whether the axes stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan")])).item()
        1.0
    """
    needs_tensor(x, "nansum")
    zeros = full_like(x, 0.0)
    return sum(compare.where(classify.isnan(x), zeros, x), axis, dtype, keepdim, name)


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """How many elements over axes are not 0.

    Args:
        x (Tensor): the elements.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.count_nonzero(paddle.to_tensor([0, 3, 4])).item()
        2
    """
    needs_tensor(x, "count_nonzero")
    return sum(cast_to(x, "bool"), axis, "int64", keepdim, name)


def diff(
    x: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
    name: str | None = None,
) -> Any:
    """The differences of neighbours along an axis, `n` times.

    Args:
        x (Tensor): the elements.
        n (int): how many times.
        axis (int): along which axis.
        prepend (Tensor, optional): put before `x`.
        append (Tensor, optional): put behind `x`.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.diff(paddle.to_tensor([1, 4, 9])).tolist()
        [3, 5]
    """
    needs_tensor(x, "diff")
    if not len(x.shape):
        raise ShapeError("a 0-D tensor has no neighbouring elements")
    n, axis = integer(n, "n"), integer(axis, "axis")
    parts = [v for v in (prepend, x, append) if v is not None]
    x = join.concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        axis = axis_of(axis, len(x.shape))
        if not x.shape[axis]:
            break
        above = slicing.slice(x, axes=(axis,), starts=(1,), ends=(2**31 - 1,))
        below = slicing.slice(x, axes=(axis,), starts=(0,), ends=(-1,))
        if x.dtype.name == "bool":
            x = logic.logical_xor(above, below)
        else:
            x = elementwise.subtract(above, below, name)
    return x
