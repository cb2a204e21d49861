"""The largest element, or the mean, of windows that divide a tensor into parts."""

from typing import Any

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.pooling import OPERATORS, PLACING
from scull.nn.functional.window import is_last, pair
from scull.ops.like import squeeze, unsqueeze
from scull.tensor.size import needs_tensor


def means(x: Any, output_size: Any, data_format: str, name: str | None, axes: int = 2) -> Any:
    """The means of windows along `axes` inner axes."""
    sizes = parts_of(x, output_size, is_last(data_format, axes), axes)
    return OPERATORS[axes](
        x, ksize=sizes, adaptive=True, pooling_type="avg", data_format=data_format, **named(name)
    )


def maxima(x: Any, output_size: Any, return_mask: bool, name: str | None, axes: int = 2) -> Any:
    """The largest elements of windows along `axes` inner axes, and their places if asked for."""
    sizes = parts_of(x, output_size, False, axes)
    out, mask = PLACING[axes](x, ksize=sizes, adaptive=True, **named(name))
    return (out, mask) if return_mask else out


def parts_of(x: Any, output_size: Any, last: bool, axes: int) -> list[int]:
    """How many parts there are along each axis; as many as `x` has elements for None."""
    needs_tensor(x, f"adaptive_pool{axes}d")
    if isinstance(output_size, Tensor | np.ndarray):
        output_size = output_size.tolist()
    if not isinstance(output_size, list | tuple):
        output_size = [output_size] * axes
    if len(output_size) != axes:
        raise ArgumentError(f"output_size is {list(output_size)}; {axes} sizes are needed")
    if len(x.shape) != axes + 2:
        return [1 if n is None else n for n in output_size]
    own = x.shape[1:-1] if last else x.shape[2:]
    return [n if m is None else m for n, m in zip(own, output_size, strict=True)]


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
    return means(x, output_size, data_format, name)


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
    return maxima(x, output_size, return_mask, name)


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


def adaptive_avg_pool3d(
    x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """The means of windows that divide the volumes into `output_size` parts.

    Args:
        x (Tensor): volumes, in the order of `data_format`.
        output_size (int | list[int | None]): the size of what comes out; None keeps that of `x`.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: volumes of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_avg_pool3d(paddle.ones([1, 1, 3, 5, 5]), 1).tolist()
        [[[[[1.0]]]]]
    """
    return means(x, output_size, data_format, name, 3)


def adaptive_max_pool3d(
    x: Any, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of windows that divide the volumes into `output_size` parts.

    Args:
        x (Tensor): volumes, with the channels on axis 1.
        output_size (int | list[int | None]): the size of what comes out; None keeps that of `x`.
        return_mask (bool): also the places of the maxima; in a volume row by row.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: volumes of `output_size`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.adaptive_max_pool3d(paddle.ones([1, 1, 3, 5, 5]), 1).tolist()
        [[[[[1.0]]]]]
    """
    return maxima(x, output_size, return_mask, name, 3)
