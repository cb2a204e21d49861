"""What a tensor is: its shape, axes and kind of elements."""

from typing import Any

from scull.core.door import shown_by
from scull.core.dtype import int32
from scull.core.meta import broadcast
from scull.core.tensor import Tensor
from scull.errors import UnsupportedError
from scull.ops import create, like, search
from scull.tensor.size import integers, needs_tensor


def shape(input: Any) -> Any:
    """The sizes as a tensor of int32.

    Args:
        input (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.shape(paddle.ones([2, 3])).tolist()
        [2, 3]
    """
    return like.shape(input)


def rank(input: Any) -> Any:
    """The number of axes as a 0-D tensor of int32.

    Args:
        input (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.rank(paddle.ones([2, 3])).item()
        2
    """
    needs_tensor(input, "rank", "input")
    ndim = len(input.shape)
    return create.assign_value(shape=(), dtype=int32, int32_values=(ndim,))


def numel(x: Any, name: str | None = None) -> Any:
    """The number of elements as a 0-D tensor of int64.

    Args:
        x (Tensor): the tensor.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.numel(paddle.ones([2, 3])).item()
        6
    """
    needs_tensor(x, "numel")
    return search.numel(x, name=name)


def is_floating_point(x: Any) -> bool:
    """Whether the elements are floating-point numbers.

    Args:
        x (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.is_floating_point(paddle.ones([1]))
        True
    """
    needs_tensor(x, "is_floating_point")
    return bool(x.dtype.is_float)


def is_integer(x: Any) -> bool:
    """Whether the elements are integers.

    Args:
        x (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.is_integer(paddle.arange(3))
        True
    """
    needs_tensor(x, "is_integer")
    return bool(x.dtype.is_integer)


def is_complex(x: Any) -> bool:
    """Whether the elements are complex numbers.

    Args:
        x (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.is_complex(paddle.ones([1]))
        False
    """
    needs_tensor(x, "is_complex")
    return bool(x.dtype.is_complex)


def broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape that two shapes stretch to.

    Args:
        x_shape (list[int]): one.
        y_shape (list[int]): the other.

    Examples:
        >>> import scull as paddle
        >>> paddle.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    return list(broadcast(integers(x_shape, "x_shape"), integers(y_shape, "y_shape")))


def tolist(x: Any) -> Any:
    """The elements as a number or nested lists.

    Args:
        x (Tensor): the tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.tolist(paddle.arange(3))
        [0, 1, 2]
    """
    needs_tensor(x, "tolist")
    if not isinstance(x, Tensor):
        raise UnsupportedError("a Variable has no elements before its Program runs: fetch it")
    return x.tolist()


__getattr__ = shown_by("scull.tensor")
