"""Activations that shrink, saturate or cut off, and those whose slope is learnt."""

from typing import Any

from scull.eager.change import in_place
from scull.errors import ArgumentError, AssertError
from scull.nn.functional.naming import named
from scull.ops import shrink as ops
from scull.tensor.size import is_one_of, needs_tensor, number


def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """Each element, and 0 where it is near 0.

    Args:
        x (Tensor): of floating-point numbers.
        threshold (float): how near.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.hardshrink(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-1.0, 0.0, 2.0]
    """
    return ops.hard_shrink(x, threshold=threshold, **named(name))


def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """Each element moved towards 0, and 0 where it is nearer.

    Args:
        x (Tensor): of floating-point numbers.
        threshold (float): how far; at least 0.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.softshrink(paddle.to_tensor([-1.0, 0.25, 2.0])).tolist()
        [-0.5, 0.0, 1.5]
    """
    if number(threshold, "threshold") < 0:
        raise ArgumentError(f"The threshold must be no less than zero. Received: {threshold}")
    return ops.softshrink(x, threshold=threshold, **named(name))


def tanhshrink(x: Any, name: str | None = None) -> Any:
    """Each element less its hyperbolic tangent.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.tanhshrink(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.0, 0.0]
    """
    return ops.tanh_shrink(x, **named(name))


def thresholded_relu(x: Any, threshold: float = 1.0, name: str | None = None) -> Any:
    """Each element above a threshold, and 0 elsewhere.

    Args:
        x (Tensor): of floating-point numbers.
        threshold (float): where it begins.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.thresholded_relu(paddle.to_tensor([-1.0, 0.5, 2.0])).tolist()
        [0.0, 0.0, 2.0]
    """
    return ops.thresholded_relu(x, threshold=threshold, **named(name))


def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """Each element kept within bounds.

    Args:
        x (Tensor): of floating-point numbers.
        min (float): the least result.
        max (float): the largest result.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.hardtanh(paddle.to_tensor([-3.0, 0.5, 2.0])).tolist()
        [-1.0, 0.5, 1.0]
    """
    return ops.brelu(x, t_min=min, t_max=max, **named(name))


def softsign(x: Any, name: str | None = None) -> Any:
    """Each element divided by 1 and its size: ``x / (1 + |x|)``.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.softsign(paddle.to_tensor([-1.0, 0.0, 3.0])).tolist()
        [-0.5, 0.0, 0.75]
    """
    return ops.softsign(x, **named(name))


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """The logarithm of the sigmoid of each element.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.log_sigmoid(paddle.to_tensor([100.0])).tolist()
        [0.0]
    """
    return ops.logsigmoid(x, **named(name))


def mish(x: Any, name: str | None = None) -> Any:
    """Each element times the hyperbolic tangent of its softplus.

    Args:
        x (Tensor): of floating-point numbers.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.mish(paddle.to_tensor([0.0, 50.0])).tolist()
        [0.0, 50.0]
    """
    return ops.mish(x, **named(name))


def selu(
    x: Any,
    scale: float = 1.0507009873554805,
    alpha: float = 1.6732632423543772,
    name: str | None = None,
) -> Any:
    """The exponential linear unit that keeps mean 0 and variance 1.

    Args:
        x (Tensor): of floating-point numbers.
        scale (float): a factor, above 1.
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.selu(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    needs_tensor(x, "selu")
    if number(scale, "scale") <= 1.0:
        raise ArgumentError(f"The scale must be greater than 1.0. Received: {scale}.")
    if number(alpha, "alpha") < 0:
        raise ArgumentError(f"The alpha must be no less than zero. Received: {alpha}.")
    return ops.selu(x, scale=scale, alpha=alpha, **named(name))


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """Each element above 0, and ``alpha * (e^(x / alpha) - 1)`` below.

    Args:
        x (Tensor): of floating-point numbers.
        alpha (float): how far down it goes.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.celu(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """
    if number(alpha, "alpha") == 0:
        raise ZeroDivisionError("alpha cannot be 0 for celu")
    return ops.celu(x, alpha=alpha, **named(name))


def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Each element above 0, and times a weight below.

    Args:
        x (Tensor): of floating-point numbers.
        weight (Tensor): one number, or one a channel.
        data_format (str): where the channels are: axis 1 ("NC", "NCL", "NCHW", "NCDHW") or the last
            one ("NLC", "NHWC", "NDHWC").
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x, slope = paddle.to_tensor([-2.0, 2.0]), paddle.to_tensor([0.5])
        >>> paddle.nn.functional.prelu(x, slope).tolist()
        [-1.0, 2.0]
    """
    needs_tensor(x, "prelu")
    needs_tensor(weight, "prelu", "weight")
    if len(weight.shape) > 1:
        raise AssertError("The dim count of weight shape should be 0 or 1 in prelu().")
    if list(weight.shape) in ([], [1]):
        return ops.prelu(x, weight, mode="all", **named(name))
    if not is_one_of(data_format, CHANNELS):
        raise ArgumentError(
            "data_format must be one of 'NC', 'NCL', 'NCHW', 'NCDHW', 'NLC', 'NHWC', 'NDHWC' "
            f"but receive {data_format}"
        )
    if len(x.shape) < 2:
        raise AssertError("The dim count of x should be equal or larger than 2 in prelu().")
    last = data_format[1] != "C"
    if weight.shape[0] != x.shape[-1 if last else 1]:
        raise AssertError("The weight size should be equal to x input channel in prelu().")
    layout = "NHWC" if last else "NCHW"
    return ops.prelu(x, weight, mode="channel", data_format=layout, **named(name))


CHANNELS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")
thresholded_relu_, hardtanh_ = in_place(thresholded_relu), in_place(hardtanh)
