"""What is known of all elements up to each one along an axis."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.errors import ArgumentError
from scull.ops import cumulate
from scull.ops.promotion import cast_to
from scull.tensor.manipulation import flatten
from scull.tensor.size import integer, needs_tensor


def cumprod(x: Any, dim: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """The products of all elements up to each one.

    Args:
        x (Tensor): what is multiplied.
        dim (int): along which axis.
        dtype (str | DType, optional): the element type.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.cumprod(paddle.to_tensor([1, 2, 3]), 0).tolist()
        [1, 2, 6]
    """
    needs_tensor(x, "cumprod")
    if dim is None:
        raise ArgumentError("cumprod(): `dim` says along which axis, and is not None")
    if dtype is not None:
        x = cast_to(x, dtype)
    return cumulate.cumprod(x, axis=integer(dim, "dim"), name=name)


def logcumsumexp(x: Any, axis: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """The logarithm of the sum of the exponentials of all elements up to each one.

    Args:
        x (Tensor): the exponents.
        axis (int, optional): along which axis; over all elements in order when None.
        dtype (str | DType, optional): the element type.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.logcumsumexp(paddle.to_tensor([0.0, -float("inf")])).tolist()
        [0.0, 0.0]
    """
    needs_tensor(x, "logcumsumexp")
    if dtype is not None:
        x = cast_to(x, dtype)
    if axis is None:
        return cumulate.logcumsumexp(x, flatten=True, name=name)
    return cumulate.logcumsumexp(x, axis=integer(axis, "axis"), name=name)


def extremes(operator: Any, x: Any, axis: Any, dtype: Any, name: str | None) -> Any:
    """Running extremes along an axis, or of all elements in order."""
    needs_tensor(x, operator.op.name)
    if axis is None:
        x, axis = flatten(x), -1
    return operator(x, axis=integer(axis, "axis"), dtype=dtype_of(dtype), name=name)


def cummax(x: Any, axis: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """The greatest of all elements up to each one, and the last place where it stands.

    Args:
        x (Tensor): the elements.
        axis (int, optional): along which axis; over all elements in order when None.
        dtype (str | DType): of the places, int32 or int64.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> values, places = paddle.cummax(paddle.to_tensor([2, 1, 3]))
        >>> values.tolist(), places.tolist()
        ([2, 2, 3], [0, 0, 2])
    """
    return extremes(cumulate.cummax, x, axis, dtype, name)


def cummin(x: Any, axis: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """The least of all elements up to each one, and the last place where it stands.

    Args:
        x (Tensor): the elements.
        axis (int, optional): along which axis; over all elements in order when None.
        dtype (str | DType): of the places, int32 or int64.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> values, places = paddle.cummin(paddle.to_tensor([2, 1, 3]))
        >>> values.tolist(), places.tolist()
        ([2, 1, 1], [0, 1, 1])
    """
    return extremes(cumulate.cummin, x, axis, dtype, name)
