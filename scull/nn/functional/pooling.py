"""The largest element, or the mean, of every window."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.window import paddings, pair
from scull.ops.like import squeeze, unsqueeze
from scull.ops.pool import pool2d
from scull.ops.pool_index import max_pool2d_with_index


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
) -> Any:
    """`pool2d` with its attributes as users spell them."""
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(
            "Attr(data_format) should be 'NCHW' or 'NHWC'. "
            f"Received Attr(data_format): {data_format}."
        )
    size = pair(kernel_size, "kernel_size")
    sides, algorithm = paddings(padding, data_format == "NHWC")
    if ceil_mode and algorithm == "VALID":
        raise ArgumentError(
            "When Attr(padding) is 'VALID', Attr(ceil_mode) must be False. "
            "Received ceil_mode: True."
        )
    return pool2d(
        x,
        ksize=size,
        strides=size if stride is None else pair(stride, "stride"),
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


def with_places(
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    name: str | None,
) -> Any:
    """The largest element of every window, and where it is; as Paddle's, without "SAME"."""
    if data_format != "NCHW":
        raise ArgumentError(
            "When setting return_mask to true, data_format must be set to NCHW in API:max_pool2d"
        )
    size = pair(kernel_size, "kernel_size")
    sides, _ = paddings(padding, False)
    return max_pool2d_with_index(
        x,
        ksize=size,
        strides=size if stride is None else pair(stride, "stride"),
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
    if divisor_override is None:
        return out
    height, width = pair(kernel_size, "kernel_size")
    return out * (height * width) / divisor_override


def adapted(x: Any, kind: str, output_size: Any, data_format: str, name: str | None) -> Any:
    """`pool2d` with windows that divide the images into `output_size` parts."""
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(
            "Attr(data_format) should be 'NCHW' or 'NHWC'. "
            f"Received Attr(data_format): {data_format}."
        )
    sizes = parts_of(x, output_size, data_format)
    return pool2d(
        x, ksize=sizes, adaptive=True, pooling_type=kind, data_format=data_format, **named(name)
    )


def parts_of(x: Any, output_size: Any, data_format: str) -> list[int]:
    """How many rows and columns come out; those of `x` for None."""
    own = x.shape[2:4] if data_format == "NCHW" else x.shape[1:3]
    sizes = [output_size] * 2 if isinstance(output_size, int) else list(output_size)
    return [n if m is None else m for n, m in zip(own, sizes, strict=True)]


def adaptive_avg_pool2d(
    x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """The means of windows that divide the images into `output_size` parts.

    Args:
        x (Tensor): images, in the order of `data_format`.
        output_size (int | list[int | None]): how many rows and columns come out; None keeps theirs.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_avg_pool2d(paddle.ones([1, 1, 5, 5]), 1).tolist()
        [[[[1.0]]]]
    """
    return adapted(x, "avg", output_size, data_format, name)


def adaptive_max_pool2d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of windows that divide the images into `output_size` parts.

    Args:
        x (Tensor): images, channels before rows.
        output_size (int | list[int | None]): how many rows and columns come out; None keeps theirs.
        return_mask (bool): also the places of the maxima; in an image row by row.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_max_pool2d(paddle.ones([1, 1, 5, 5]), 1).tolist()
        [[[[1.0]]]]
    """
    sizes = parts_of(x, output_size, "NCHW")
    out, mask = max_pool2d_with_index(x, ksize=sizes, adaptive=True, **named(name))
    return (out, mask) if return_mask else out


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


def adaptive_avg_pool1d(x: Any, output_size: int, name: str | None = None) -> Any:
    """The means of windows that divide the rows into `output_size` parts.

    Args:
        x (Tensor): of shape ``[batch, channels, length]``.
        output_size (int): how many elements come out.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_avg_pool1d(paddle.ones([1, 1, 5]), 1).tolist()
        [[[1.0]]]
    """
    sizes = (1, *pair(output_size, "output_size", 1))
    out = adaptive_avg_pool2d(unsqueeze(x, axes=(2,)), sizes)
    return squeeze(out, axes=(2,), **named(name))


def adaptive_max_pool1d(
    x: Any, output_size: int, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of windows that divide the rows into `output_size` parts.

    Args:
        x (Tensor): of shape ``[batch, channels, length]``.
        output_size (int): how many elements come out.
        return_mask (bool): also the places of the maxima; in an image row by row.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_max_pool1d(paddle.ones([1, 1, 5]), 1).tolist()
        [[[1.0]]]
    """
    sizes = (1, *pair(output_size, "output_size", 1))
    out = adaptive_max_pool2d(unsqueeze(x, axes=(2,)), sizes, return_mask)
    if return_mask:
        return tuple(squeeze(v, axes=(2,)) for v in out)
    return squeeze(out, axes=(2,), **named(name))
