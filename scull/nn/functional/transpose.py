"""The transposes of convolutions."""

from typing import Any

from scull.core.dtype import int32
from scull.errors import ArgumentError
from scull.ir.told import holds_variables
from scull.ir.variable import Variable
from scull.nn.functional.convolution import spelt
from scull.nn.functional.naming import named
from scull.nn.functional.window import is_last, paddings, pair
from scull.ops import affine, transpose
from scull.ops.create import fill_constant
from scull.ops.elementwise import add
from scull.ops.like import squeeze, unsqueeze
from scull.tensor.size import integers, needs_tensor

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
        output_size (int | list[int] | Tensor, optional): how many rows and columns come out.
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
    needs_tensor(x, "conv2d_transpose")
    channels, attrs = spelt(x, stride, padding, dilation, groups, data_format)
    attrs["output_padding"] = ending(output_padding, output_size)
    attrs["output_size"] = sized(output_size)
    depthwise = channels == groups != 1 and weight.shape[1] == 1
    if bias is None:
        spread = transpose.depthwise_conv2d_transpose if depthwise else transpose.conv2d_transpose
        return spread(x, weight, **attrs, **named(name))
    spread = (
        affine.biased_depthwise_conv2d_transpose if depthwise else affine.biased_conv2d_transpose
    )
    return spread(x, weight, bias, **attrs, **named(name))


def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The sum of the filters, each spread from an element of the volumes, times it.

    Args:
        x (Tensor): volumes, in the order of `data_format`.
        weight (Tensor): filters, of shape ``[in, out / groups, depth, height, width]``.
        bias (Tensor, optional): of shape ``[out]``.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at the border; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end of all three axes.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        output_size (int | list[int], optional): the size of what comes out.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: volumes.

    Examples:
        >>> import scull as paddle
        >>> x, w = paddle.ones([1, 1, 1, 1, 2]), paddle.ones([1, 1, 1, 1, 2])
        >>> paddle.nn.functional.conv3d_transpose(x, w).flatten().tolist()
        [1.0, 2.0, 1.0]
    """
    needs_tensor(x, "conv3d_transpose")
    _, attrs = spelt(x, stride, padding, dilation, groups, data_format, 3)
    last = data_format == "NDHWC"
    attrs["data_format"] = "NHWC" if last else "NCHW"  # as Programs of the reference say
    attrs["output_padding"] = ending(output_padding, output_size, 3)
    attrs["output_size"] = sized(output_size, 3)
    if bias is None:
        return transpose.conv3d_transpose(x, weight, **attrs, **named(name))
    out = transpose.conv3d_transpose(x, weight, **attrs)
    return add(out, bias, axis=-1 if last else 1, **named(name))


def ending(output_padding: Any, output_size: Any, count: int = 2) -> tuple[int, ...]:
    """How much is added at the ends; nothing where the size is given."""
    if output_size is None:
        return () if output_padding == 0 else pair(output_padding, "output_padding", count)
    if output_padding not in (0, [0] * count, (0,) * count):
        raise ArgumentError(BOTH)
    return ()


def sized(output_size: Any, count: int = 2) -> Any:
    """The size of the output for each axis; nothing for None. Variables hold it themselves."""
    if output_size is None:
        return ()
    if holds_variables(output_size):
        several = isinstance(output_size, list | tuple)
        one = len(output_size) == 1 if several else output_size.shape in ((), (1,))
        alone = output_size[0] if several else output_size
        return [alone] * count if one else held(output_size) if several else output_size
    found = integers(output_size, "output_size")
    return pair(found[0] if len(found) == 1 else found, "output_size", count)


def held(sizes: Any) -> list[Any]:
    """Sizes, each in a Variable."""
    return [
        n if isinstance(n, Variable) else fill_constant(shape=(1,), value=float(n), dtype=int32)
        for n in sizes
    ]


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
    last = is_last(data_format, 1)
    sides, algorithm = paddings(padding, last, 1)
    wide = (*sides, 0, 0) if len(sides) == 2 else (*sides, 0)
    more, size = ending(output_padding, output_size, 1), sized(output_size, 1)
    axis = 2 if last else -1
    out = conv2d_transpose(
        unsqueeze(x, axes=(axis,)),
        unsqueeze(weight, axes=(-1,)),
        stride=(*pair(stride, "stride", 1), 1),
        padding=wide if algorithm == "EXPLICIT" else algorithm,
        output_padding=(*more, 0) if more else 0,
        dilation=(*pair(dilation, "dilation", 1), 1),
        groups=groups,
        output_size=(*size, 1) if size else None,
        data_format="NHWC" if last else "NCHW",
    )
    if bias is not None:
        out = add(out, bias, axis=3 if last else 1)
    return squeeze(out, axes=(axis,), **named(name))
