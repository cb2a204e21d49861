"""Regions of images divided into bins that lie where offsets move them."""

from typing import Any, NamedTuple

import numpy as np

from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, floating
from scull.core.tensor import add_at
from scull.errors import ArgumentError, RangeError, ShapeError, UnsupportedError
from scull.ops.box import four, one_type, rounded
from scull.ops.half import placed, widening
from scull.ops.level import begun, segments, unpacked
from scull.ops.region import EXTENT
from scull.ops.window import asking

MANY = 64  # regions whose points are held at a time
ONCE = "moved bins are differentiated once, as in the reference"
BINS = (
    *("no_trans", "spatial_scale", "output_dim", "group_size", "pooled_height", "pooled_width"),
    *("part_size", "sample_per_part", "trans_std"),
)


@primitive(
    outputs=("output", "top_count"),
    slots={"rois": "ROIs", "levels": "ROIs@LOD"},
    unsaid=("ROIs@LOD",),
    infer_first=True,
)
def deformable_psroi_pooling(
    input: Meta,
    rois: Meta,
    trans: Meta,
    levels: Meta = None,
    *,
    no_trans: bool,
    spatial_scale: float,
    output_dim: int,
    group_size: Ints,
    pooled_height: int,
    pooled_width: int,
    part_size: Ints,
    sample_per_part: int,
    trans_std: float,
) -> tuple[Meta, Meta]:
    """The mean of points in each bin of regions, in channels that belong to that bin.

    `trans` says for each class, and part of a region, how far its bins are moved; with the means
    come the numbers of points within the image.
    """
    for name, m in (("input", input), ("trans", trans)):
        floating(m)
        if m.ndim != 4:
            raise ShapeError(f"{name} has {m.ndim} axes, 4 are needed")
    four(rois, "rois", 2)
    one_type(input, rois, trans)
    for name, numbers in (("group_size", group_size), ("part_size", part_size)):
        if len(numbers) != 2 or min(numbers) < 1:
            raise ArgumentError(f"{name} is {list(numbers)}; two numbers from 1 on are needed")
    least = min(output_dim, pooled_height, pooled_width, sample_per_part)
    if least < 1:
        raise ArgumentError("output_dim, the pooled sizes and sample_per_part are to be above 0")
    many = output_dim * group_size[0] * group_size[1]
    agree(input.shape[1], many, "input has {} channels, {} are needed: one for each of a group")
    if not no_trans:
        agree(trans.shape[0], rois.shape[0], "trans is for {} regions, there are {}")
        for axis in (0, 1):
            agree(trans.shape[2 + axis], part_size[axis], "trans has {} parts, part_size {}")
        classes = trans.shape[1]
        if classes != -1 and (classes < 2 or classes % 2 or output_dim % (classes // 2)):
            law = "two for each class, whose number divides output_dim"
            raise ShapeError(f"trans has {classes} channels, not {law}, {output_dim}")
    found = input.with_shape((rois.shape[0], output_dim, pooled_height, pooled_width))
    return found, found


class Points(NamedTuple):
    """Points of some regions, ``[region, class, bin row, bin column, row, column]``."""

    image: Any
    group: tuple[Any, Any]
    corners: list[tuple[Any, Any, Any]]  # row, column, and share of the elements around
    shares: tuple[Any, Any]  # of the higher row and the right column
    inside: Any
    sizes: Any  # of the regions
    parts: tuple[Any, Any]  # of a region, by bin

    def spots(self, shape: tuple[int, ...], row: Any, column: Any) -> Any:
        """Where some places lie among the rows of a table, ``[image, class, group, place]``."""
        classes = np.arange(shape[1])[:, None, None, None, None]
        found = self.image * shape[1] + classes
        for size, at in zip(shape[2:], (*self.group, row, column), strict=True):
            found = found * size + at
        return found


def points_of(rois: Any, trans: Any, images: Any, image: Any, attrs: dict[str, Any]) -> Points:
    """The points of regions in bins that are moved."""
    kind, count = rois.dtype.type, (attrs["pooled_height"], attrs["pooled_width"])
    corners = rounded(rois) + np.array([0, 0, 1, 1], rois.dtype)
    corners = corners * kind(attrs["spatial_scale"]) - kind(0.5)
    sizes = np.maximum(corners[:, 2:] - corners[:, :2], kind(0.1))
    each, spots = attrs["sample_per_part"], []
    bins = [np.arange(n) for n in count]
    part = [b * size // n for b, n, size in zip(bins, count, attrs["part_size"], strict=True)]
    group = [b * size // n for b, n, size in zip(bins, count, attrs["group_size"], strict=True)]
    for axis in (0, 1):  # rows, then columns
        size = sizes[:, 1 - axis].reshape(-1, 1, 1, 1)
        begin = corners[:, 1 - axis].reshape(-1, 1, 1, 1)
        place = bins[axis].astype(rois.dtype).reshape((-1, 1) if axis == 0 else (1, -1))
        begin = place * (size / count[axis]) + begin
        if not attrs["no_trans"]:
            moved = trans[:, 1 - axis :: 2][:, :, part[0][:, None], part[1]]
            begin = begin + moved * kind(attrs["trans_std"]) * size
        step = (size / count[axis] / each)[..., None, None]
        number = np.arange(each, dtype=rois.dtype).reshape((-1, 1) if axis == 0 else (1, -1))
        spots.append(begin[..., None, None] + number * step)
    height, width = image[2:]
    there = [(s >= -0.5) & (s <= n - 0.5) for s, n in zip(spots, (height, width), strict=True)]
    row, column = (np.clip(s, 0, n - 1) for s, n in zip(spots, (height, width), strict=True))
    top, left = np.floor(row).astype("int64"), np.floor(column).astype("int64")
    down, right = np.ceil(row).astype("int64"), np.ceil(column).astype("int64")
    high, beside = (row - top).astype(rois.dtype), (column - left).astype(rois.dtype)
    inside = there[0] & there[1]
    above, before = (1 - high) * inside, 1 - beside
    below = high * inside
    corners_of = [
        (top, left, above * before),
        (top, right, above * beside),
        (down, left, below * before),
        (down, right, below * beside),
    ]
    groups = group[0][:, None, None, None], group[1][:, None, None]
    owner = images.reshape(-1, 1, 1, 1, 1, 1)
    return Points(owner, groups, corners_of, (high, beside), inside, sizes, tuple(part))


def images_by(levels: Any, rois: Any, count: int) -> Any:
    """The image of each region: as levels of detail tell, or the only one."""
    found = unpacked(levels) if levels is not None else []
    ends = found[-1] if found else begun([len(rois)])
    agree(int(ends[-1]), len(rois), "levels of detail tell of {} regions, not {}")
    if len(ends) - 1 != count:
        raise RangeError(f"regions are of {len(ends) - 1} images, and input has {count}")
    return segments(ends)


def in_groups(x: Any, trans: Any, attrs: dict[str, Any]) -> tuple[Any, tuple[int, ...]]:
    """The elements of images, a row for each place of a group, and how the rows are ordered.

    They are by image, class, group row and column, row and column.
    """
    classes = 1 if attrs["no_trans"] else trans.shape[1] // 2
    each = attrs["output_dim"] // classes
    parts = x.reshape(x.shape[0], classes, each, *attrs["group_size"], *x.shape[2:])
    parts = np.moveaxis(parts, 2, -1)
    return parts.reshape(-1, each), parts.shape[:-1]


def some_points(input: Any, rois: Any, trans: Any, levels: Any, attrs: dict[str, Any]) -> Any:
    """Some regions after the others, and their points."""
    images = images_by(levels, rois, len(input))
    for start in range(0, len(rois), MANY):
        some = slice(start, start + MANY)
        yield some, points_of(rois[some], trans[some], images[some], input.shape, attrs)


@deformable_psroi_pooling.kernel
@widening
def deformable_psroi_pooling_kernel(
    xp: Any,
    input: Any,
    rois: Any,
    trans: Any,
    levels: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    means, numbers = out or (None, None)
    shape = len(rois), attrs["output_dim"], attrs["pooled_height"], attrs["pooled_width"]
    found, counts = xp.zeros(shape, input.dtype), xp.zeros(shape, input.dtype)
    table, order = in_groups(input, trans, attrs)
    for some, points in some_points(input, rois, trans, levels, attrs):
        total = sum(
            xp.einsum("...ijd,...ij->...d", table[points.spots(order, row, column)], share)
            for row, column, share in points.corners
        )
        count = points.inside.sum((4, 5))[..., None]
        mean = xp.moveaxis(total / xp.maximum(count, 1), -1, 2)
        found[some] = mean.reshape(-1, *shape[1:])
        counts[some] = xp.moveaxis(count.repeat(table.shape[1], -1), -1, 2).reshape(-1, *shape[1:])
    return placed(found, input.dtype, means), placed(counts, input.dtype, numbers)


@primitive(outputs=("dinput", "dtrans"), infer_first=True)
def shifted_regions_back(
    input: Meta,
    rois: Meta,
    trans: Meta,
    levels: Meta | None,
    source: Meta,
    *,
    no_trans: bool,
    spatial_scale: float,
    output_dim: int,
    group_size: Ints,
    pooled_height: int,
    pooled_width: int,
    part_size: Ints,
    sample_per_part: int,
    trans_std: float,
) -> tuple[Meta, Meta]:
    """The means of moved bins given back to what they were made of, and to what moved them."""
    return input, trans


@shifted_regions_back.kernel
@widening
def shifted_regions_back_kernel(
    xp: Any,
    input: Any,
    rois: Any,
    trans: Any,
    levels: Any,
    source: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    dtrans = xp.zeros(trans.shape, trans.dtype)
    table, order = in_groups(input, trans, attrs)
    found, each = xp.zeros(table.size, input.dtype), xp.arange(table.shape[1])
    for some, points in some_points(input, rois, trans, levels, attrs):
        count = xp.maximum(points.inside.sum((4, 5)), 1)[..., None]
        given = source[some].reshape(-1, order[1], len(each), *source.shape[2:])
        given = (xp.moveaxis(given, 2, -1) / count)[:, :, :, :, None, None]
        given = given * points.inside[..., None]
        for row, column, share in points.corners:
            at = points.spots(order, row, column)[..., None] * len(each) + each
            add_at(xp, found, at.reshape(-1), (given * share[..., None]).reshape(-1))
        if not attrs["no_trans"]:
            steps = slopes(points, (table, order), given, trans.dtype.type(attrs["trans_std"]))
            region = xp.arange(some.start, some.start + len(given))[:, None, None, None]
            label = xp.arange(order[1])[:, None, None]
            place = points.parts[0][:, None], points.parts[1]
            for axis, step in enumerate(steps):
                np.add.at(dtrans, (region, 2 * label + axis, *place), step)
    dinput = xp.moveaxis(found.reshape(*order, len(each)), -1, 2).reshape(input.shape)
    return dinput, dtrans


def slopes(points: Points, told: tuple[Any, Any], given: Any, factor: Any) -> tuple[Any, Any]:
    """How a shift of bins along columns, and along rows, changes what is given back."""
    table, order = told
    a, b, c, d = (table[points.spots(order, row, column)] for row, column, _ in points.corners)
    high, beside = (share[..., None] for share in points.shares)
    across = (b - a) * (1 - high) + (d - c) * high
    along = (c - a) * (1 - beside) + (d - b) * beside
    sizes = points.sizes.T[:, :, None, None, None] * factor
    pairs = zip((across, along), sizes, strict=True)
    return tuple((given * step).sum((4, 5, 6)) * size for step, size in pairs)


deformable_psroi_pooling.grad("input", "trans")(
    asking(
        BINS,
        lambda input, rois, trans, levels, doutput, attrs: shifted_regions_back(
            input, rois, trans, levels, doutput, **attrs
        ),
    )
)
deformable_psroi_pooling.op.missing["second"] = ONCE


@shifted_regions_back.grad
def shifted_regions_twice(input: Any, ddinput: Any, ddtrans: Any) -> Any:
    raise UnsupportedError(ONCE)


deformable_psroi_pooling.no_lowering(EXTENT)
shifted_regions_back.no_lowering(EXTENT)
