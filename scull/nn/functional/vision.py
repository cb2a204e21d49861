"""Images of other sizes, cut into windows, and with their elements dealt to channels."""

from typing import Any

import numpy as np

from scull.core.door import shown_by
from scull.core.dtype import int32
from scull.core.meta import UNKNOWN
from scull.core.tensor import Methods, Tensor
from scull.errors import ArgumentError, ArgumentTypeError, ShapeError
from scull.nn.functional.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from scull.nn.functional.grid import affine_grid as affine_grid
from scull.nn.functional.grid import grid_sample as grid_sample
from scull.nn.functional.naming import named
from scull.nn.functional.window import pair
from scull.ops import resize
from scull.ops import unfold as ops
from scull.ops.create import fill_constant
from scull.tensor.size import is_one_of, needs_tensor, number, several, whole

MODES = ("linear", "bilinear", "trilinear", "nearest", "bicubic", "area")
FORMATS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
AXES = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}


def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Images of another size.

    Args:
        x (Tensor): of floating-point numbers, of 3 axes ("linear"), 4 ("nearest", "bilinear",
            "bicubic", "area") or 5 ("trilinear", "nearest", "area").
        size (list[int | Tensor] | Tensor, optional): the sizes of the axes that are resized.
        scale_factor (float | list[float] | Tensor, optional): how much larger they become.
        mode (str): how elements between those of `x` are found.
        align_corners (bool): whether the first and the last elements stay where they are.
        align_mode (int): 1 to begin at the first element, 0 half an element before it.
        data_format (str): "NCW", "NWC", "NCHW", "NHWC", "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of as many axes as `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0]]]])
        >>> paddle.nn.functional.interpolate(x, scale_factor=2).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """
    needs_tensor(x, "interpolate")
    mode = mode.lower() if isinstance(mode, str) else mode
    check_interpolation(x, size, scale_factor, mode, align_corners, align_mode, data_format)
    count = len(x.shape) - 2
    if mode == "area":
        pool = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}[count]
        sizes = [whole(n, "size") for n in several(size, "size")]
        return pool(x, sizes[0] if count == 1 else sizes, name=name)
    sizes, out_size, parts = asked_sizes(size, count)
    scales, scale_tensor = asked_scales(None if size is not None else scale_factor, count)
    by_axis = dict(zip(("out_w", "out_h", "out_d"), reversed(sizes), strict=False))
    return resize.BY_METHOD[mode](
        x,
        out_size,
        parts,
        scale_tensor,
        **{"out_d": -1, "out_h": -1, "out_w": -1} | by_axis,
        scale=scales,
        data_layout="NCHW" if data_format[1] == "C" else "NHWC",
        interp_method=mode,
        align_corners=align_corners,
        align_mode=align_mode,
        **named(name),
    )


def check_interpolation(
    x: Any,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool,
    align_mode: int,
    data_format: str,
) -> None:
    """Refuse what does not go together."""
    if not is_one_of(mode, MODES):
        raise ArgumentError(
            "The 'resample' of image_resize can only be 'area', 'linear', 'bilinear', "
            "'trilinear', 'bicubic', or 'nearest' currently."
        )
    if mode in AXES and len(x.shape) != AXES[mode]:
        raise ShapeError(f"'{mode}' only support {AXES[mode]}-D tensor.")
    if size is None and scale_factor is None:
        raise ArgumentError("One of size and scale_factor must not be None.")
    if size is not None and scale_factor is not None:
        raise ArgumentError("Only one of size or scale_factor should be defined.")
    if mode == "area" and size is None:
        raise ArgumentError("size is not None when mode is 'area'")
    if not isinstance(align_corners, bool):
        raise ArgumentTypeError("Attr align_corners should be a bool value")
    if align_mode not in (0, 1):
        raise ArgumentError("align_mode can only be 0 or 1")
    if align_corners and mode == "nearest":
        raise ArgumentError(
            "align_corners option can only be set with the interpolating modes: "
            "linear | bilinear | bicubic | trilinear"
        )
    known = FORMATS.get(len(x.shape))
    if known is None:
        raise ShapeError(f"x has {len(x.shape)} axes, 3 to 5 are needed")
    if not is_one_of(data_format, known):
        raise ArgumentError(
            f"Got wrong value for param `data_format`: {data_format} received but only "
            f"`{known[0]}` or `{known[1]}` supported for {len(x.shape)}-D input."
        )


def asked_sizes(size: Any, count: int) -> tuple[list[int], Any, Any]:
    """The sizes known now, a tensor of all of them, and a list of tensors where some are."""
    if size is None:
        return [], None, None
    if isinstance(size, Methods) and (len(size.shape) != 1 or size.shape[0] not in (-1, count)):
        raise ShapeError(f"size is of shape {list(size.shape)}, [{count}] is needed")
    if isinstance(size, Methods) and not isinstance(size, Tensor):
        return [], size, None
    sizes = size.tolist() if isinstance(size, Tensor | np.ndarray) else size
    sizes = list(sizes) if isinstance(sizes, list | tuple) else [sizes] * count
    if len(sizes) != count:
        raise ArgumentError(f"size length should be {count} for input {count + 2}-D tensor.")
    sizes = [int(n.item()) if isinstance(n, Tensor) else n for n in sizes]
    if any(isinstance(n, Methods) for n in sizes):
        parts = [n if isinstance(n, Methods) else filled(n) for n in sizes]
        return [UNKNOWN if isinstance(n, Methods) else n for n in sizes], None, parts
    return [whole(n, "size") for n in sizes], None, None


def filled(number: int) -> Any:
    """`number` as a variable."""
    return fill_constant(shape=(1,), value=number, dtype=int32)


def asked_scales(scale: Any, count: int) -> tuple[list[float], Any]:
    """The factors known now, or a tensor of them."""
    if scale is None:
        return [], None
    if isinstance(scale, Methods) and not isinstance(scale, Tensor):
        return [], scale
    scales = scale.tolist() if isinstance(scale, Tensor) else scale
    scales = list(scales) if isinstance(scales, list | tuple) else [scales] * count
    scales = scales * count if len(scales) == 1 else scales
    if len(scales) != count:
        raise ArgumentError(f"scale_shape length should be {count} for input {count + 2}-D tensor.")
    factors = [number(s, "scale_factor") for s in scales]
    if any(s <= 0 for s in factors):
        raise ArgumentError("Attr(scale) should be greater than zero.")
    return factors, None


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Images of another size: the same as `interpolate`.

    Args:
        x (Tensor): of floating-point numbers.
        size (list[int | Tensor] | Tensor, optional): the sizes of the axes that are resized.
        scale_factor (float | list[float] | Tensor, optional): how much larger they become.
        mode (str): "nearest", "linear", "bilinear", "trilinear", "bicubic" or "area".
        align_corners (bool): whether the first and the last elements stay where they are.
        align_mode (int): 1 to begin at the first element, 0 half an element before it.
        data_format (str): the order of the axes.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of as many axes as `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.upsample(paddle.ones([1, 1, 2, 2]), [3, 4]).shape
        [1, 1, 3, 4]
    """
    needs_tensor(x, "upsample")
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format, name)


def check_images(x: Any, data_format: str) -> None:
    """Refuse what is no batch of images."""
    if len(x.shape) != 4:
        raise ShapeError(f"Input x should be 4D tensor, but received x with the shape of {x.shape}")
    if not is_one_of(data_format, ("NCHW", "NHWC")):
        raise ArgumentError(
            "Attr(data_format) should be 'NCHW' or 'NHWC'."
            f"But recevie Attr(data_format): {data_format} "
        )


def pixel_shuffle(
    x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Larger images of fewer channels: groups of channels become squares of elements.

    Args:
        x (Tensor): images.
        upscale_factor (int): the side of a square.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.pixel_shuffle(paddle.ones([2, 9, 4, 4]), 3).shape
        [2, 1, 12, 12]
    """
    needs_tensor(x, "pixel_shuffle")
    if not isinstance(upscale_factor, int):
        raise ArgumentTypeError("upscale factor must be int type")
    check_images(x, data_format)
    attrs = {"upscale_factor": upscale_factor, "data_format": data_format}
    return ops.pixel_shuffle(x, **attrs, **named(name))


def pixel_unshuffle(
    x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """Smaller images of more channels: squares of elements become groups of channels.

    Args:
        x (Tensor): images.
        downscale_factor (int): the side of a square.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.pixel_unshuffle(paddle.ones([2, 1, 12, 12]), 3).shape
        [2, 9, 4, 4]
    """
    needs_tensor(x, "pixel_unshuffle")
    if not isinstance(downscale_factor, int):
        raise ArgumentTypeError("Downscale factor must be int type")
    if downscale_factor <= 0:
        raise ArgumentError("Downscale factor must be positive")
    check_images(x, data_format)
    attrs = {"downscale_factor": downscale_factor, "data_format": data_format}
    return ops.pixel_unshuffle(x, **attrs, **named(name))


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The channels dealt anew: the first of every group, then the second of every group.

    Args:
        x (Tensor): images.
        groups (int): how many groups there are.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.arange(4.0).reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    needs_tensor(x, "channel_shuffle")
    if not isinstance(groups, int):
        raise ArgumentTypeError("groups must be int type")
    if groups <= 0:
        raise ArgumentError("groups must be positive")
    check_images(x, data_format)
    return ops.channel_shuffle(x, groups=groups, data_format=data_format, **named(name))


def sides_of(paddings: Any) -> tuple[int, ...]:
    """The paddings above, left, below and right."""
    if isinstance(paddings, int):
        return (paddings,) * 4
    if isinstance(paddings, list | tuple) and len(paddings) in (2, 4):
        return tuple(paddings) * (4 // len(paddings))
    raise ArgumentError(
        f"paddings should either be an integer or a list of 2 or 4 integers. Received: {paddings!r}"
    )


def unfold(
    x: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """The elements of every window of the images as a column.

    Args:
        x (Tensor): images, channels before rows.
        kernel_sizes (int | list[int]): the size of a window.
        strides (int | list[int]): how far apart windows lie.
        paddings (int | list[int]): the zeros around: of all sides, of both axes, or above, left,
            below and right.
        dilations (int | list[int]): how far apart the elements of a window lie.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[batch, channels * elements of a window, windows]``.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.unfold(paddle.ones([1, 3, 4, 4]), 2).shape
        [1, 12, 9]
    """
    return ops.unfold(
        x,
        kernel_sizes=pair(kernel_sizes, "kernel_sizes"),
        strides=pair(strides, "strides"),
        paddings=sides_of(paddings),
        dilations=pair(dilations, "dilations"),
        **named(name),
    )


def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """Images put together from columns, which add up where they overlap.

    Args:
        x (Tensor): of shape ``[batch, channels * elements of a window, windows]``.
        output_sizes (int | list[int]): the size of the images.
        kernel_sizes (int | list[int]): the size of a window.
        strides (int | list[int]): how far apart windows lie.
        paddings (int | list[int]): what lies around the images.
        dilations (int | list[int]): how far apart the elements of a window lie.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: images.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.fold(paddle.ones([1, 12, 9]), [4, 4], 2).shape
        [1, 3, 4, 4]
    """
    return ops.fold(
        x,
        output_sizes=pair(output_sizes, "output_sizes"),
        kernel_sizes=pair(kernel_sizes, "kernel_sizes"),
        strides=pair(strides, "strides"),
        paddings=sides_of(paddings),
        dilations=pair(dilations, "dilations"),
        **named(name),
    )


__getattr__ = shown_by("scull.nn.functional")
