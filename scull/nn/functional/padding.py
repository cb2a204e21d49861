"""Tensors made larger at their edges."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, UnsupportedError
from scull.ops import padding as ops
from scull.ops.join import concat
from scull.ops.move import flip
from scull.ops.slicing import slice

MODES = ("constant", "reflect", "replicate", "circular")
SPATIAL = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}


def pad(
    x: Any,
    pad: Any,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """`x` made larger at its edges.

    Args:
        x (Tensor): of any shape; of 3 to 5 axes where `pad` speaks of the inner ones only.
        pad (int | list[int]): by how much before and after: of each axis in order where there are
            twice as many as axes, else of the inner axes, the last first.
        mode (str): what is put there: "constant", "reflect", "replicate" or "circular".
        value (float): the constant.
        data_format (str): the order of axes, where `pad` speaks of the inner ones.
        name (str, optional): not used.

    Returns:
        Tensor: the larger tensor.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.pad(paddle.ones([2]), [1, 2]).tolist()
        [0.0, 1.0, 1.0, 0.0, 0.0]
    """
    if mode not in MODES:
        raise ArgumentError(
            f"mode should be one of constant, reflect, replicate, circular, but got {mode}."
        )
    sides = sides_of(x, pad, mode, data_format)
    if mode == "constant" and all(before >= 0 <= after for _, before, after in sides):
        return filled(x, sides, value)
    for axis, before, after in sides:
        x = widened(x, axis, before, after, mode, value)
    return x


def filled(x: Any, sides: list[tuple[int, int, int]], value: float) -> Any:
    """`x` with `value` at its edges, by one operator."""
    sizes = [0] * (2 * len(x.shape))
    for axis, before, after in sides:
        sizes[2 * axis : 2 * axis + 2] = before, after
    return ops.pad(x, paddings=sizes, pad_value=float(value))


def sides_of(x: Any, pad: Any, mode: str, data_format: str) -> list[tuple[int, int, int]]:
    """The axes that grow, and by how much before and after."""
    ndim = len(x.shape)
    sizes = pad.array.tolist() if isinstance(pad, Tensor) else pad
    if mode == "constant" and isinstance(sizes, list | tuple) and len(sizes) == 2 * ndim:
        axes = list(range(ndim))
    else:
        formats = SPATIAL.get(ndim, ())
        data_format = formats[0] if formats and data_format == "NCHW" else data_format
        if data_format not in formats:
            raise ArgumentError(f"data_format is {data_format} and x has {ndim} axes")
        first = 2 if data_format == formats[0] else 1
        axes = list(range(first, first + ndim - 2))[::-1]
        sizes = [sizes] * (2 * len(axes)) if isinstance(sizes, int) else list(sizes)
    if len(sizes) % 2 or len(sizes) > 2 * len(axes):
        raise ArgumentError(f"pad has {len(sizes)} sizes for {len(axes)} axes")
    pairs = zip(axes, sizes[::2], sizes[1::2], strict=False)
    return [(axis, before, after) for axis, before, after in pairs if before or after]


def widened(x: Any, axis: int, before: int, after: int, mode: str, value: float) -> Any:
    """`x` with more elements before and after along one axis; fewer where a size is negative."""
    size = x.shape[axis]
    if size < 0:
        raise UnsupportedError(
            f"axis {axis} of x has a size known only when run: it cannot be padded"
        )
    start, end = max(-before, 0), size - max(-after, 0)
    if (start, end) != (0, size):
        x, size = part(x, axis, start, end), end - start
    before, after = max(before, 0), max(after, 0)
    if mode == "constant":
        return filled(x, [(axis, before, after)], value)
    reach = {"reflect": size - 1, "circular": size, "replicate": max(before, after)}[mode]
    if max(before, after) > reach or not size:
        raise ArgumentError(f"axis {axis} of size {size} cannot grow by {max(before, after)}")
    first = [edge(x, axis, before, size, mode, True)] if before else []
    last = [edge(x, axis, after, size, mode, False)] if after else []
    return concat([*first, x, *last], axis=axis) if first or last else x


def part(x: Any, axis: int, start: int, end: int) -> Any:
    """The elements of `x` from `start` to before `end` along one axis."""
    return slice(x, axes=(axis,), starts=(start,), ends=(end,))


def edge(x: Any, axis: int, count: int, size: int, mode: str, before: bool) -> Any:
    """What is put at one end of an axis."""
    if mode == "replicate":
        one = part(x, axis, 0, 1) if before else part(x, axis, size - 1, size)
        return concat([one] * count, axis=axis) if count > 1 else one
    if mode == "circular":
        return part(x, axis, size - count, size) if before else part(x, axis, 0, count)
    inner = part(x, axis, 1, count + 1) if before else part(x, axis, size - count - 1, size - 1)
    return flip(inner, axis=(axis,))


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Images with zeros around them.

    Args:
        x (Tensor): of 4 axes.
        padding (int | list[int]): by how much to the left, right, top and bottom.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): not used.

    Returns:
        Tensor: the larger images.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.functional.zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 0]).tolist()
        [[[[0.0, 1.0]]]]
    """
    return pad(x, padding, "constant", 0.0, data_format, name)
