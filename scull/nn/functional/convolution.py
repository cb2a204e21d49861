"""Convolutions."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.window import paddings, pair
from scull.ops import affine, convolution
from scull.ops.elementwise import add
from scull.ops.like import squeeze, unsqueeze

FORMATS = {"NCHW": 1, "NHWC": 3}  # the axis of the channels


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
    axis = FORMATS.get(data_format)
    if axis is None:
        raise ArgumentError(
            "Attr(data_format) should be 'NCHW' or 'NHWC'. "
            f"Received Attr(data_format): {data_format}."
        )
    channels = x.shape[axis] if len(x.shape) == 4 else 1
    if channels < 0:
        raise ArgumentError(f"the channels of x, of shape {list(x.shape)}, are not known")
    sides, algorithm = paddings(padding, axis == 3)
    attrs = {
        "strides": pair(stride, "stride"),
        "paddings": sides,
        "padding_algorithm": algorithm,
        "dilations": pair(dilation, "dilation"),
        "groups": groups,
        "data_format": data_format,
    }
    depthwise = channels == groups != 1 and weight.shape[0] % channels == 0
    if bias is None:
        convolve = convolution.depthwise_conv2d if depthwise else convolution.conv2d
        return convolve(x, weight, **attrs, **named(name))
    convolve = affine.biased_depthwise_conv2d if depthwise else affine.biased_conv2d
    return convolve(x, weight, bias, **attrs, **named(name))


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
    if data_format not in ("NCL", "NLC"):
        raise ArgumentError(
            "Attr(data_format) should be 'NCL' or 'NLC'. "
            f"Received Attr(data_format): {data_format}."
        )
    channel_last = data_format == "NLC"
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
