"""Activations: functions of each element, and those that compare elements along an axis."""

from typing import Any

from scull.core.door import shown_by
from scull.core.dtype import dtype_of
from scull.eager.change import in_place
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.naming import named
from scull.ops import activation as ops
from scull.ops import affine, math
from scull.ops import softmax as softmaxes
from scull.ops.elementwise import multiply
from scull.ops.join import split
from scull.tensor.size import integer, needs_tensor


def relu(x: Any, name: str | None = None) -> Any:
    """The rectified linear unit, elementwise.

    .. math:: out = max(x, 0)

    At 0 the gradient is 0.

    Args:
        x (Tensor): of numbers, of any shape.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.relu(paddle.to_tensor([-1.0, 0.0, 2.0])).tolist()
        [0.0, 0.0, 2.0]
    """
    return math.relu(x, name)


def relu6(x: Any, name: str | None = None) -> Any:
    """The rectified linear unit that stops at 6, elementwise.

    .. math:: out = min(max(x, 0), 6)

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.relu6(paddle.to_tensor([-1.0, 3.0, 9.0])).tolist()
        [0.0, 3.0, 6.0]
    """
    return ops.relu6(x, **named(name))


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent, elementwise.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.tanh(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    return math.tanh(x, name)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """The logistic function, elementwise.

    .. math:: out = 1 / (1 + e^{-x})

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.sigmoid(paddle.zeros([2])).tolist()
        [0.5, 0.5]
    """
    return math.sigmoid(x, name)


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """e to the elements, divided by the sum of these along `axis`.

    Args:
        x (Tensor): of floating-point numbers.
        axis (int): along which elements add up to 1.
        dtype (str | DType, optional): `x` is cast to it first.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.softmax(paddle.zeros([4])).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    if dtype is not None:
        return affine.cast_softmax(x, dtype=dtype_of(dtype), axis=axis, **named(name))
    return softmaxes.softmax(x, axis=axis, **named(name))


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """The logarithm of the softmax along `axis`.

    Args:
        x (Tensor): of floating-point numbers.
        axis (int): along which elements of the softmax add up to 1.
        dtype (str | DType, optional): `x` is cast to it first.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.log_softmax(paddle.zeros([1])).tolist()
        [0.0]
    """
    if dtype is not None:
        return affine.cast_log_softmax(x, dtype=dtype_of(dtype), axis=axis, **named(name))
    return softmaxes.log_softmax(x, axis=axis, **named(name))


def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Each element times the chance that a standard normal number lies below it.

    Args:
        x (Tensor): of floating-point numbers.
        approximate (bool): by tanh instead of the error function.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.nn.functional.gelu(paddle.to_tensor(1.0)).item(), 4)
        0.8413
    """
    return ops.gelu(x, approximate=approximate, **named(name))


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """Each element above 0, and a small part of those below.

    .. math:: out = x if x > 0 else negative_slope * x

    Args:
        x (Tensor): of floating-point numbers.
        negative_slope (float): the slope below 0.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.leaky_relu(paddle.to_tensor([-2.0, 2.0]), 0.5).tolist()
        [-1.0, 2.0]
    """
    return ops.leaky_relu(x, alpha=negative_slope, **named(name))


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """Each element above 0, and an exponential below.

    .. math:: out = x if x > 0 else alpha * (e^x - 1)

    Args:
        x (Tensor): of floating-point numbers.
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.elu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    return ops.elu(x, alpha=alpha, **named(name))


def silu(x: Any, name: str | None = None) -> Any:
    """Each element times its sigmoid.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.silu(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    return ops.silu(x, name)


def swish(x: Any, name: str | None = None) -> Any:
    """Each element times its sigmoid: the same as `silu`.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.swish(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    return ops.swish(x, **named(name))


def hardswish(x: Any, name: str | None = None) -> Any:
    """Swish with straight lines.

    .. math:: out = x * min(max(x + 3, 0), 6) / 6

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.hardswish(paddle.to_tensor([0.0, 5.0])).tolist()
        [0.0, 5.0]
    """
    return ops.hard_swish(x, **named(name))


def hardsigmoid(
    x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None
) -> Any:
    """The sigmoid with straight lines.

    .. math:: out = min(max(slope * x + offset, 0), 1)

    Args:
        x (Tensor): of floating-point numbers.
        slope (float): of the middle part.
        offset (float): at 0.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.hardsigmoid(paddle.to_tensor([-4.0, 0.0, 5.0])).tolist()
        [0.0, 0.5, 1.0]
    """
    return ops.hard_sigmoid(x, slope=slope, offset=offset, **named(name))


def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Any:
    """A smooth rectified linear unit.

    .. math:: out = log(1 + e^{beta * x}) / beta, and x where beta * x > threshold

    Args:
        x (Tensor): of floating-point numbers.
        beta (float): how sharp the bend is.
        threshold (float): from where on it is straight.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> round(paddle.nn.functional.softplus(paddle.to_tensor(0.0)).item(), 4)
        0.6931
    """
    return ops.softplus(x, beta=beta, threshold=threshold, **named(name))


def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half of `x` along `axis` times the sigmoid of the second.

    Args:
        x (Tensor): of an even size along `axis`.
        axis (int): which axis is halved.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of half the size along `axis`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.glu(paddle.to_tensor([4.0, 0.0])).tolist()
        [2.0]
    """
    needs_tensor(x, "glu")
    ndim, axis = len(x.shape), integer(axis, "axis")
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"`axis` is {axis}, outside [-{ndim}, {ndim})")
    if x.shape[axis] % 2:
        raise ShapeError(f"x has {x.shape[axis]} elements along axis {axis}, an odd number")
    a, b = split(x, num=2, axis=axis % ndim)
    return multiply(a, math.sigmoid(b), name)


relu_, tanh_, softmax_ = in_place(relu), in_place(tanh), in_place(softmax)
leaky_relu_, elu_ = in_place(leaky_relu), in_place(elu)


__getattr__ = shown_by("scull.nn.functional")
