"""Convolutions."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.window import is_last, paddings, pair
from scull.ops import affine, convolution
from scull.ops.elementwise import add
from scull.ops.like import squeeze, unsqueeze
from scull.tensor.size import needs_tensor


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The product of every window of the images with every filter.

    Args:
        x (Tensor): images, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[out, in / groups, height, width]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the zeros around the images, for both axes, each, or each side;
            "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images of as many channels as there are filters.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 4, 4]), paddle.ones([2, 1, 3, 3])
        >>> paddle.nn.functional.conv2d(x, w).tolist()[0][0]
        [[9.0, 9.0], [9.0, 9.0]]
    """
    needs_tensor(x, "conv2d")
    channels, attrs = spelt(x, stride, padding, dilation, groups, data_format)
    depthwise = channels == groups != 1 and weight.shape[0] % channels == 0
    if bias is None:
        convolve = convolution.depthwise_conv2d if depthwise else convolution.conv2d
        return convolve(x, weight, **attrs, **named(name))
    convolve = affine.biased_depthwise_conv2d if depthwise else affine.biased_conv2d
    return convolve(x, weight, bias, **attrs, **named(name))


def spelt(
    x: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
    axes: int = 2,
) -> tuple[int, dict[str, Any]]:
    """The channels of `x`, and the attributes of a convolution over `axes` inner axes."""
    last = is_last(data_format, axes)
    channels = x.shape[axes + 1 if last else 1] if len(x.shape) == axes + 2 else 1
    if channels < 0:
        raise ArgumentError(f"the channels of x, of shape {list(x.shape)}, are not known")
    sides, algorithm = paddings(padding, last, axes)
    return channels, {
        "strides": pair(stride, "stride", axes),
        "paddings": sides,
        "padding_algorithm": algorithm,
        "dilations": pair(dilation, "dilation", axes),
        "groups": groups,
        "data_format": data_format,
    }


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The product of every window of the volumes with every filter.

    Args:
        x (Tensor): volumes, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[out, in / groups, depth, height, width]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the zeros around the volumes, for all axes, each, or each side;
            "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: volumes of as many channels as there are filters.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 3, 3, 3]), paddle.ones([2, 1, 3, 3, 3])
        >>> paddle.nn.functional.conv3d(x, w).flatten().tolist()
        [27.0, 27.0]
    """
    needs_tensor(x, "conv3d")
    _, attrs = spelt(x, stride, padding, dilation, groups, data_format, 3)
    if bias is None:
        return convolution.conv3d(x, weight, **attrs, **named(name))
    return affine.biased_conv3d(x, weight, bias, **attrs, **named(name))


def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """The product of every window of the rows with every filter.

    Args:
        x (Tensor): rows, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[out, in / groups, length]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the zeros at both ends, or at each; "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        data_format (str): "NCL" or "NLC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of as many channels as there are filters.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 4]), paddle.ones([1, 1, 3])
        >>> paddle.nn.functional.conv1d(x, w).tolist()
        [[[3.0, 3.0]]]
    """
    channel_last = is_last(data_format, 1)
    sides, algorithm = paddings(padding, channel_last, 1)
    high = (0, 0, *sides) if len(sides) == 2 else (0, *sides)
    axis = 1 if channel_last else -2
    filters = unsqueeze(weight, axes=(-2,))
    out = conv2d(
        unsqueeze(x, axes=(axis,)),
        filters,
        None,
        (1, *pair(stride, "stride", 1)),
        high if algorithm == "EXPLICIT" else algorithm,
        (1, *pair(dilation, "dilation", 1)),
        groups,
        "NHWC" if channel_last else "NCHW",
    )
    if bias is not None:
        out = add(out, bias, axis=3 if channel_last else 1)
    return squeeze(out, axes=(axis,), **named(name))
