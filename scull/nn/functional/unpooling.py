"""Elements of pooled tensors put back to where they were the largest."""

from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.functional.naming import named
from scull.nn.functional.window import FORMATS, pair
from scull.ops.like import squeeze, unsqueeze
from scull.ops.unpool import unpool, unpool3d
from scull.tensor.size import integers, is_one_of, needs_tensor


def spelt(
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    output_size: Any,
    axes: int,
) -> dict[str, Any]:
    """The attributes of unpooling over `axes` inner axes."""
    needs_tensor(x, f"max_unpool{axes}d")
    if not is_one_of(data_format, FORMATS[axes][:1]):
        raise ArgumentError(
            f"Attr(data_format) should be '{FORMATS[axes][0]}'. "
            f"Received Attr(data_format): {data_format!r}."
        )
    if len(x.shape) != axes + 2:
        raise ArgumentError(
            f"The x should have [N, C, ...] with {axes + 2} axes, but received {list(x.shape)}."
        )
    size = pair(kernel_size, "kernel_size", axes)
    step = size if stride is None else pair(stride, "stride", axes)
    sides = pair(padding, "padding", axes)
    wanted = sized(x.shape[2:], step, sides, size, output_size)
    return {
        "ksize": size,
        "strides": step,
        "paddings": sides,
        "output_size": wanted,
        "data_format": data_format,
    }


def sized(own: Any, step: Any, sides: Any, size: Any, output_size: Any) -> list[int]:
    """The size of the images: the one asked for, less than a stride away from the usual one."""
    usual = [
        (n - 1) * s - 2 * p + k if n >= 0 else None
        for n, s, p, k in zip(own, step, sides, size, strict=True)
    ]
    if output_size is None:
        if None in usual:
            raise ArgumentError(f"output_size is needed: x has unknown sizes, {list(own)}")
        return usual
    if not isinstance(output_size, list | tuple):
        raise ArgumentTypeError(
            f"Required output_size is None|list|tuple, but received {output_size}"
        )
    axes, wanted = len(usual), list(integers(output_size, "output_size"))
    if len(wanted) not in (axes, axes + 2):
        raise ArgumentError(
            f"output_size should be a sequence containing {axes} or {axes + 2} elements, "
            f"but it has a length of '{len(wanted)}'"
        )
    wanted = wanted[-axes:]
    for i, (n, m, s) in enumerate(zip(wanted, usual, step, strict=True)):
        if m is not None and not m - s < n < m + s:
            raise ArgumentError(
                f'invalid output_size "{wanted}" (dim {i} must be between {m - s} and {m + s})'
            )
    return wanted


def max_unpool1d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """Elements put back to where `max_pool1d` found them; zeros elsewhere.

    Args:
        x (Tensor): of shape ``[batch, channels, length]``.
        indices (Tensor): int32 or int64, of that shape: places in the rows that come out.
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border at both ends.
        data_format (str): "NCL".
        output_size (list[int], optional): how many elements come out, where several sizes are
            pooled to that of `x`; or the whole shape.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows; of several elements for one place the last one stays.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[1.0, 4.0, 3.0, 2.0]]])
        >>> out, places = paddle.nn.functional.max_pool1d(x, 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool1d(out, places, 2).tolist()
        [[[0.0, 4.0, 3.0, 0.0]]]
    """
    attrs = spelt(x, kernel_size, stride, padding, data_format, rows_of(output_size), 1)
    edges = {"ksize": 1, "strides": 1, "paddings": 0, "output_size": 1}
    high = {n: (edge, *attrs[n]) for n, edge in edges.items()}
    flat = (unsqueeze(x, axes=(2,)), unsqueeze(indices, axes=(2,)))
    return squeeze(unpool(*flat, unpooling_type="max", **high), axes=(2,), **named(name))


def rows_of(output_size: Any) -> Any:
    """The size of rows that may be said to be images one row high, as Paddle's function has it."""
    if not isinstance(output_size, list | tuple) or len(output_size) not in (2, 4):
        return output_size
    return output_size[-1:]


def max_unpool2d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """Elements put back to where `max_pool2d` found them; zeros elsewhere.

    Args:
        x (Tensor): images, with the channels on axis 1.
        indices (Tensor): int32 or int64, of that shape: places in the images that come out, row
            by row.
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border around the images.
        data_format (str): "NCHW".
        output_size (list[int], optional): how many rows and columns come out, where several sizes
            are pooled to that of `x`; or the whole shape.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images; of several elements for one place the last one stays.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [4.0, 3.0]]]])
        >>> out, places = paddle.nn.functional.max_pool2d(x, 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool2d(out, places, 2).tolist()
        [[[[0.0, 0.0], [4.0, 0.0]]]]
    """
    attrs = spelt(x, kernel_size, stride, padding, data_format, output_size, 2)
    return unpool(x, indices, unpooling_type="max", **attrs, **named(name))


def max_unpool3d(
    x: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Any:
    """Elements put back to where `max_pool3d` found them; zeros elsewhere.

    Args:
        x (Tensor): volumes, with the channels on axis 1.
        indices (Tensor): int32 or int64, of that shape: places in the volumes that come out, row
            by row.
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border around the volumes.
        data_format (str): "NCDHW".
        output_size (list[int], optional): the size of what comes out, where several sizes are
            pooled to that of `x`; or the whole shape.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: volumes; of several elements for one place the last one stays.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[[1.0, 2.0]], [[4.0, 3.0]]]]])
        >>> out, places = paddle.nn.functional.max_pool3d(x, [2, 1, 2], return_mask=True)
        >>> paddle.nn.functional.max_unpool3d(out, places, [2, 1, 2]).flatten().tolist()
        [0.0, 0.0, 4.0, 0.0]
    """
    attrs = spelt(x, kernel_size, stride, padding, data_format, output_size, 3)
    return unpool3d(x, indices, **attrs, **named(name))
