"""Activations that choose: the largest of a group of channels, a drawn slope, a drawn class."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.functional.naming import named
from scull.ops import noise as ops
from scull.ops.channel import maxout as largest
from scull.ops.create import assign
from scull.ops.elementwise import add, subtract
from scull.ops.like import full_like
from scull.ops.pick import put_along_axis
from scull.ops.search import argmax
from scull.tensor.size import needs_tensor


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The largest of every `groups` channels that lie side by side.

    Args:
        x (Tensor): floating-point images, of 4 axes.
        groups (int): from how many channels one is made; at least 2.
        axis (int): where the channels are: 1, or 3 or -1.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the dtype of `x`, with a `groups`-th of its channels.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, 4.0, 3.0, 2.0]).reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.maxout(x, 2).flatten().tolist()
        [4.0, 3.0]
    """
    needs_tensor(x, "maxout")
    return largest(x, groups=groups, axis=3 if axis == -1 else axis, **named(name))


def rrelu(
    x: Any,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """`x` where it is not below 0, else times a slope drawn for each element.

    .. math:: out = x, if x >= 0, else a * x with a drawn between lower and upper

    Args:
        x (Tensor): of floating-point numbers.
        lower (float): the least slope; from 0 to 1.
        upper (float): the greatest slope; from `lower` to 1.
        training (bool): whether slopes are drawn; if not, all are the middle one.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([1.0, -2.0])
        >>> paddle.nn.functional.rrelu(x, 0.25, 0.75, training=False).tolist()
        [1.0, -1.0]
    """
    needs_tensor(x, "rrelu")
    received = f"Received: lower {lower}, upper {upper}."
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise ArgumentTypeError(f"The lower and upper values must be float type. {received}")
    if not 0 <= lower <= 1:
        raise ArgumentError(
            f"The lower value must be no less than zero or greater than one. Received: {lower}."
        )
    if upper < lower:
        raise ArgumentError(f"The upper value must be greater than lower value. {received}")
    if upper > 1:
        raise ArgumentError(f"The upper value must be no greater than one. Received: {upper}.")
    return ops.rrelu(x, lower=lower, upper=upper, is_test=not training, **named(name))[0]


def gumbel_softmax(
    x: Any,
    temperature: float = 1.0,
    hard: bool = False,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """Chances drawn with the logarithmic weights `x`, nearly all on one class where it is cold.

    With `hard` the drawn class is 1 and all others 0, and the gradient is that of the chances: the
    Programs of Paddle give none then.

    Args:
        x (Tensor): of floating-point numbers.
        temperature (float): how even the chances are; above 0.
        hard (bool): whether a class is drawn, not chances.
        axis (int): along which the classes lie.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`; along `axis` the elements sum up to 1.

    Examples:
        >>> import scull as paddle
        >>> drawn = paddle.nn.functional.gumbel_softmax(paddle.zeros([2, 3]), hard=True)
        >>> drawn.sum(-1).tolist()
        [1.0, 1.0]
    """
    needs_tensor(x, "gumbel_softmax")
    attrs = {"temperature": temperature, "axis": axis}
    chances = ops.gumbel_softmax(x, **attrs, **({} if hard else named(name)))
    if not hard or not len(x.shape):
        return chances
    fixed = assign(chances)
    fixed.stop_gradient = True
    place = argmax(fixed, axis=axis, keepdims=True)
    one = full_like(place, value=1.0, dtype=fixed.dtype)
    chosen = put_along_axis(full_like(fixed, value=0.0), place, one, axis=axis)
    return add(subtract(chosen, fixed), chances)
