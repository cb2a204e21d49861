"""Convolution whose windows reach where offsets say."""

from typing import Any

from scull.core.attribute import Ints
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.convolution import conv2d
from scull.ops.grid import sampled
from scull.ops.half import placed
from scull.ops.join import stack
from scull.ops.like import unsqueeze
from scull.ops.move import flatten, reshape
from scull.ops.slicing import strided_slice
from scull.ops.window import pair

FAR = 2**31 - 1
ATTRIBUTES = ("strides", "paddings", "dilations")


@primitive
def window_points(
    like_meta: Meta, *, kernel: Ints, strides: Ints, paddings: Ints, dilations: Ints, axis: int
) -> Meta:
    """Where each element of each window lies along an axis, for windows counted as in `like`."""
    if like_meta.ndim != 4:
        raise ShapeError(f"like has {like_meta.ndim} axes, 4 are needed")
    return like_meta


@window_points.kernel
def window_points_kernel(
    xp: Any,
    like: Any,
    *,
    out: Any = None,
    kernel: Any,
    strides: Any,
    paddings: Any,
    dilations: Any,
    axis: int,
) -> Any:
    number = xp.indices(kernel)[axis].reshape(1, -1, 1, 1) * dilations[axis]
    steps = xp.arange(like.shape[2 + axis]) * strides[axis] - paddings[axis]
    found = number + (steps[:, None] if axis == 0 else steps)
    return placed(xp.array(xp.broadcast_to(found, like.shape)).astype(like.dtype), like.dtype, out)


window_points.no_grad("it reads no value")
window_points.no_lowering("it depends on the place alone, in pieces")


def check_deformed(
    input: Any, offset: Any, filter: Any, mask: Any, attrs: dict[str, Any], groups: int, parts: int
) -> None:
    """Refuse operands that do not go together."""
    floating(*map(meta_of, (input, offset, filter)))
    for name, m in (("input", input), ("offset", offset), ("filter", filter), ("mask", mask)):
        if m is not None and len(m.shape) != 4:
            raise ShapeError(f"{name} has {len(m.shape)} axes, 4 are needed")
    pair("strides", attrs["strides"])
    pair("paddings", attrs["paddings"], least=0)
    pair("dilations", attrs["dilations"])
    channels = filter.shape[1] * groups
    if groups < 1 or parts < 1 or channels % parts or filter.shape[0] % groups:
        law = "do not divide the channels"
        raise ArgumentError(f"groups {groups} and deformable_groups {parts} {law}")
    agree(input.shape[1], channels, "input has {} channels, filter is for {}")
    size = filter.shape[2] * filter.shape[3]
    agree(offset.shape[1], 2 * parts * size, "offset has {} channels, {} are needed")
    if mask is not None:
        agree(mask.shape[1], parts * size, "mask has {} channels, {} are needed")
    for i in (0, 1):
        reach = attrs["dilations"][i] * (filter.shape[2 + i] - 1) + 1
        room = input.shape[2 + i]
        if room != -1:
            count = (room + 2 * attrs["paddings"][i] - reach) // attrs["strides"][i] + 1
            agree(offset.shape[2 + i], count, "offset is for {} windows along an axis, {} fit")


def deformed(
    input: Any,
    offset: Any,
    filter: Any,
    mask: Any,
    attrs: dict[str, Any],
    groups: int,
    parts: int,
) -> Any:
    """The elements that offsets point at, weighed by `mask`, then a convolution of 1 by 1."""
    check_deformed(input, offset, filter, mask, attrs, groups, parts)
    kernel, channels = tuple(filter.shape[2:]), filter.shape[1] * groups
    size = kernel[0] * kernel[1]
    pairs = reshape(offset, shape=(-1, 2 * size, 0, 0))
    spots = []
    for axis in (1, 0):
        moved = strided_slice(pairs, axes=(1,), starts=(axis,), ends=(FAR,), strides=(2,))
        spots.append(moved + window_points(moved, kernel=kernel, axis=axis, **attrs))
    images = reshape(input, shape=(-1, channels // parts, 0, 0))
    columns = sampled(images, stack(spots, axis=4))
    if mask is not None:
        columns = columns * unsqueeze(reshape(mask, shape=(-1, size, 0, 0)), axes=(1,))
    whole = reshape(columns, shape=(-1, channels, size, 0, 0)) if parts > 1 else columns
    weights = reshape(filter, shape=(0, filter.shape[1] * size, 1, 1))
    return conv2d(flatten(whole, start_axis=1, stop_axis=2), weights, groups=groups)


@composite(outputs=("output",), prefix="deformable_conv")
def deformable_conv(
    input,
    offset,
    filter,
    mask,
    *,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    dilations: Ints = (1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 64,
):
    """Windows whose elements are read where `offset` moves them, each weighed by `mask`."""
    attrs = dict(zip(ATTRIBUTES, map(tuple, (strides, paddings, dilations)), strict=True))
    return deformed(input, offset, filter, mask, attrs, groups, deformable_groups)


@composite(outputs=("output",), prefix="deformable_conv")
def deformable_conv_v1(
    input,
    offset,
    filter,
    *,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    dilations: Ints = (1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    im2col_step: int = 64,
):
    """Windows whose elements are read where `offset` moves them."""
    attrs = dict(zip(ATTRIBUTES, map(tuple, (strides, paddings, dilations)), strict=True))
    return deformed(input, offset, filter, None, attrs, groups, deformable_groups)
