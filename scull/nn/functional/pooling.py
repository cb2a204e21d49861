"""The largest element, or the mean, of every window."""

import math
from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.window import FORMATS, is_last, paddings, pair
from scull.ops.like import squeeze, unsqueeze
from scull.ops.pool import pool2d, pool3d
from scull.ops.pool_index import max_pool2d_with_index, max_pool3d_with_index

OPERATORS = {2: pool2d, 3: pool3d}
PLACING = {2: max_pool2d_with_index, 3: max_pool3d_with_index}


def pooled(
    x: Any,
    kind: str,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
    name: str | None,
    exclusive: bool = True,
    axes: int = 2,
) -> Any:
    """`pool2d` or `pool3d` with its attributes as users spell them."""
    last = is_last(data_format, axes)
    size = pair(kernel_size, "kernel_size", axes)
    sides, algorithm = paddings(padding, last, axes)
    if ceil_mode and algorithm == "VALID":
        raise ArgumentError(
            "When Attr(padding) is 'VALID', Attr(ceil_mode) must be False. "
            "Received ceil_mode: True."
        )
    return OPERATORS[axes](
        x,
        ksize=size,
        strides=size if stride is None else pair(stride, "stride", axes),
        paddings=sides,
        padding_algorithm=algorithm,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
        pooling_type=kind,
        data_format=data_format,
        **named(name),
    )


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element of every window.

    Args:
        x (Tensor): images, in the order of `data_format`.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border around the images, which no maximum is taken from.
        return_mask (bool): also the places of the maxima; in an image row by row.
        ceil_mode (bool): whether windows that reach over the edge count.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> paddle.nn.functional.max_pool2d(x, 2).tolist()
        [[[[4.0]]]]
    """
    if return_mask:
        return with_places(x, kernel_size, stride, padding, data_format, name)
    return pooled(x, "max", kernel_size, stride, padding, ceil_mode, data_format, name)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The largest element of every window.

    Args:
        x (Tensor): volumes, in the order of `data_format`.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border around the volumes, which no maximum is taken from.
        return_mask (bool): also the places of the maxima; in a volume row by row.
        ceil_mode (bool): whether windows that reach over the edge count.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[[1.0, 2.0]], [[3.0, 4.0]]]]])
        >>> paddle.nn.functional.max_pool3d(x, [2, 1, 2]).tolist()
        [[[[[4.0]]]]]
    """
    if return_mask:
        return with_places(x, kernel_size, stride, padding, data_format, name, 3)
    args = (kernel_size, stride, padding, ceil_mode, data_format, name, False, 3)
    return pooled(x, "max", *args)


def with_places(
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    name: str | None,
    axes: int = 2,
) -> Any:
    """The largest element of every window, and where it is; as Paddle's, without "SAME"."""
    if is_last(data_format, axes):
        raise ArgumentError(
            f"When setting return_mask to true, data_format must be set to {FORMATS[axes][0]} "
            f"in API:max_pool{axes}d"
        )
    size = pair(kernel_size, "kernel_size", axes)
    sides, _ = paddings(padding, False, axes)
    return PLACING[axes](
        x,
        ksize=size,
        strides=size if stride is None else pair(stride, "stride", axes),
        paddings=sides,
        **named(name),
    )


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of every window.

    Args:
        x (Tensor): images, in the order of `data_format`.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros around the images.
        ceil_mode (bool): whether windows that reach over the edge count.
        exclusive (bool): whether the mean leaves the border out.
        divisor_override (float, optional): what sums are divided by, instead of their count.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 6.0]]]])
        >>> paddle.nn.functional.avg_pool2d(x, 2).tolist()
        [[[[3.0]]]]
    """
    out = pooled(x, "avg", kernel_size, stride, padding, ceil_mode, data_format, name, exclusive)
    return divided(out, kernel_size, divisor_override, 2)


def avg_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The mean of every window.

    Args:
        x (Tensor): volumes, in the order of `data_format`.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros around the volumes.
        ceil_mode (bool): whether windows that reach over the edge count.
        exclusive (bool): whether the mean leaves the border out.
        divisor_override (float, optional): what sums are divided by, instead of their count.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[[1.0, 2.0]], [[3.0, 6.0]]]]])
        >>> paddle.nn.functional.avg_pool3d(x, [2, 1, 2]).tolist()
        [[[[[3.0]]]]]
    """
    args = (kernel_size, stride, padding, ceil_mode, data_format, name, exclusive, 3)
    return divided(pooled(x, "avg", *args), kernel_size, divisor_override, 3)


def divided(mean: Any, kernel_size: Any, divisor: float | None, axes: int) -> Any:
    """Means as sums of whole windows, divided by something else; as they are for None."""
    if divisor is None:
        return mean
    return mean * math.prod(pair(kernel_size, "kernel_size", axes)) / divisor


def flat_window(kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, Any, Any]:
    """Size, stride and paddings of a window over rows, as those of images one row high."""
    size = (1, *pair(kernel_size, "kernel_size", 1))
    step = size if stride is None else (1, *pair(stride, "stride", 1))
    sides, algorithm = paddings(padding, False, 1)
    high = (0, 0, *sides) if len(sides) == 2 else (0, *sides)
    return size, step, high if algorithm == "EXPLICIT" else algorithm


def max_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The largest element of every window.

    Args:
        x (Tensor): of shape ``[batch, channels, length]``.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border at both ends, which no maximum is taken from.
        return_mask (bool): also the places of the maxima; in an image row by row.
        ceil_mode (bool): whether windows that reach over the end count.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 2.0, 4.0, 3.0]]]), 2).tolist()
        [[[2.0, 4.0]]]
    """
    size, step, sides = flat_window(kernel_size, stride, padding)
    out = max_pool2d(unsqueeze(x, axes=(2,)), size, step, sides, return_mask, ceil_mode)
    if return_mask:
        return tuple(squeeze(v, axes=(2,)) for v in out)
    return squeeze(out, axes=(2,), **named(name))


def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of every window.

    Args:
        x (Tensor): of shape ``[batch, channels, length]``.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros at both ends.
        exclusive (bool): whether the mean leaves the border out.
        ceil_mode (bool): whether windows that reach over the end count.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an element a window.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.avg_pool1d(paddle.to_tensor([[[1.0, 2.0, 4.0, 3.0]]]), 2).tolist()
        [[[1.5, 3.5]]]
    """
    size, step, sides = flat_window(kernel_size, stride, padding)
    out = avg_pool2d(unsqueeze(x, axes=(2,)), size, step, sides, ceil_mode, exclusive)
    return squeeze(out, axes=(2,), **named(name))


__getattr__ = shown_by("scull.nn.functional")
