"""The transposes of convolutions."""

from typing import Any

from scull.core.tensor import Methods
from scull.errors import ArgumentError
from scull.nn.functional.convolution import FORMATS
from scull.nn.functional.naming import named
from scull.nn.functional.window import paddings, pair
from scull.ops import affine, transpose
from scull.ops.elementwise import add
from scull.ops.like import squeeze, unsqueeze

BOTH = "output_padding option is mutually exclusive with output_size"


def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The sum of the filters, each spread from an element of the images, times it.

    Args:
        x (Tensor): images, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[in, out / groups, height, width]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at the border; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end of both axes.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        output_size (int | list[int], optional): how many rows and columns come out.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 2, 2]), paddle.ones([1, 1, 2, 2])
        >>> paddle.nn.functional.conv2d_transpose(x, w).tolist()[0][0]
        [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
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
        "output_padding": ending(output_padding, output_size),
        "output_size": sized(output_size),
        "dilations": pair(dilation, "dilation"),
        "groups": groups,
        "data_format": data_format,
    }
    depthwise = channels == groups != 1 and weight.shape[1] == 1
    if bias is None:
        spread = transpose.depthwise_conv2d_transpose if depthwise else transpose.conv2d_transpose
        return spread(x, weight, **attrs, **named(name))
    spread = (
        affine.biased_depthwise_conv2d_transpose if depthwise else affine.biased_conv2d_transpose
    )
    return spread(x, weight, bias, **attrs, **named(name))


def ending(output_padding: Any, output_size: Any, count: int = 2) -> tuple[int, ...]:
    """How much is added at the ends; nothing where the size is given."""
    if output_size is None:
        return () if output_padding == 0 else pair(output_padding, "output_padding", count)
    if output_padding not in (0, [0] * count, (0,) * count):
        raise ArgumentError(BOTH)
    return ()


def sized(output_size: Any, count: int = 2) -> tuple[int, ...]:
    """The size of the output for each axis; nothing for None."""
    if output_size is None:
        return ()
    if isinstance(output_size, Methods):
        output_size = output_size.tolist()
    if isinstance(output_size, list | tuple):
        output_size = [int(n) for n in output_size]
    return pair(output_size, "output_size", count)


def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """The sum of the filters, each spread from an element of the rows, times it.

    Args:
        x (Tensor): rows, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[in, out / groups, length]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at both ends; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        output_size (int | list[int], optional): how many elements come out.
        data_format (str): "NCL" or "NLC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 2]), paddle.ones([1, 1, 2])
        >>> paddle.nn.functional.conv1d_transpose(x, w).tolist()
        [[[1.0, 2.0, 1.0]]]
    """
    if data_format not in ("NCL", "NLC"):
        raise ArgumentError(
            "Attr(data_format) should be 'NCL' or 'NLC'. "
            f"Received Attr(data_format): {data_format}."
        )
    last = data_format == "NLC"
    sides, algorithm = paddings(padding, last, 1)
    wide = (*sides, 0, 0) if len(sides) == 2 else (*sides, 0)
    more, size = ending(output_padding, output_size, 1), sized(output_size, 1)
    axis = 2 if last else -1
    out = conv2d_transpose(
        unsqueeze(x, axes=(axis,)),
        unsqueeze(weight, axes=(-1,)),
        None,
        (*pair(stride, "stride", 1), 1),
        wide if algorithm == "EXPLICIT" else algorithm,
        (*more, 0) if more else 0,
        (*pair(dilation, "dilation", 1), 1),
        groups,
        (*size, 1) if size else None,
        "NHWC" if last else "NCHW",
    )
    if bias is not None:
        out = add(out, bias, axis=3 if last else 1)
    return squeeze(out, axes=(axis,), **named(name))
