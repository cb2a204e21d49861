"""Regions of images made images of one size: by their mean, their largest elements, their parts."""

import math
from typing import Any

import numpy as np

from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, floating
from scull.core.op import meta_of
from scull.core.tensor import add_at
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.half import placed, single
from scull.ops.window import asking

MANY = 256  # regions whose shares are held at a time
EXTENT = "how far a region reaches is a matter of its values"


def check_regions(x: Any, rois: Any, rois_num: Any, height: int, width: int) -> None:
    """Refuse regions that do not lie in images like `x`."""
    floating(meta_of(x), meta_of(rois))
    if len(x.shape) != 4:
        raise ShapeError(f"x has {len(x.shape)} axes, 4 are needed")
    if len(rois.shape) != 2:
        raise ShapeError(f"rois has {len(rois.shape)} axes, 2 are needed")
    agree(rois.shape[1], 4, "a region has {} numbers, {} are needed")
    if x.dtype != rois.dtype:
        raise DtypeError(f"{meta_of(x)} and {meta_of(rois)} differ in element type; cast one")
    if height < 1 or width < 1:
        raise ArgumentError(f"the output is {height} by {width}; both are to be above 0")
    if rois_num is None:
        agree(x.shape[0], 1, "x has {} images; which regions are whose is known for {} only")
        return
    if not meta_of(rois_num).dtype.is_integer or len(rois_num.shape) != 1:
        raise ShapeError(f"rois_num is {meta_of(rois_num)}, not a list of integers")
    agree(rois_num.shape[0], x.shape[0], "there are {} numbers of regions and {} images")


def images_of(rois: Any, rois_num: Any) -> Any:
    """Which image each region lies in."""
    if rois_num is None:
        return np.zeros(len(rois), "int64")
    if (rois_num.size and rois_num.min() < 0) or rois_num.sum() != len(rois):
        raise RangeError(f"rois_num {rois_num.tolist()} does not sum up to {len(rois)} regions")
    return np.repeat(np.arange(len(rois_num)), rois_num)


# The mean of points between the elements.


def shares(begins: Any, sizes: Any, count: int, ratio: int, length: int) -> tuple[Any, Any, Any]:
    """How much each element along an axis counts for each bin of regions; from which to which."""
    steps = sizes / count
    points = np.full(len(steps), ratio)
    if ratio <= 0:
        if not np.isfinite(steps).all():
            raise RangeError("a region is of no finite size, so that nothing says how many points")
        points = np.ceil(steps).astype("int64")
    found, bins = np.zeros((len(steps), count, length)), np.arange(count)[:, None]
    first, last = np.zeros((2, len(steps)), "int64")
    for number in np.unique(points[points > 0]) if length else ():
        own = (points == number).nonzero()[0]
        regions = own[:, None, None]
        spots = begins[regions] + steps[regions] * (bins + (np.arange(number) + 0.5) / number)
        inside = (spots >= -1) & (spots <= length)
        spots = np.clip(np.where(inside, spots, 0), 0, length - 1)
        low = spots.astype("int64")
        high = np.minimum(low + 1, length - 1)
        np.add.at(found, (regions, bins, low), (1 - (spots - low)) * inside / number)
        np.add.at(found, (regions, bins, high), (spots - low) * inside / number)
        first[own], last[own] = low.min((1, 2)), high.max((1, 2)) + 1
    return found, first, last


def averaging(x: Any, rois: Any, rois_num: Any, attrs: dict[str, Any]) -> Any:
    """For each region: its image, and the shares of rows and of columns."""
    images, kind, ratio = images_of(rois, rois_num), wide(x), attrs["sampling_ratio"]
    edge = 0.5 if attrs["aligned"] else 0.0
    corners = rois.astype("float64") * attrs["spatial_scale"] - edge
    sizes = corners[:, 2:] - corners[:, :2]
    if not attrs["aligned"]:
        sizes = np.maximum(sizes, 1.0)
    for start in range(0, len(rois), MANY):
        some = slice(start, start + MANY)
        sides = []
        for axis, name in ((1, "pooled_height"), (0, "pooled_width")):
            given = (corners[some, axis], sizes[some, axis], attrs[name], ratio, x.shape[3 - axis])
            own = zip(*shares(*given), strict=True)
            sides.append([(s[:, a:b].astype(kind), slice(a, b)) for s, a, b in own])
        yield from zip(images[some], *sides, strict=True)


ALIGNED = ("pooled_height", "pooled_width", "spatial_scale", "sampling_ratio", "aligned")


@primitive(slots={"rois": "ROIs"}, infer_first=True)
def roi_align(
    x: Meta,
    rois: Meta,
    rois_num: Meta = None,
    *,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Meta:
    """Regions (left, top, right, bottom) divided into bins: the mean of points in each."""
    check_regions(x, rois, rois_num, pooled_height, pooled_width)
    return x.with_shape((rois.shape[0], x.shape[1], pooled_height, pooled_width))


@roi_align.kernel
def roi_align_kernel(
    xp: Any, x: Any, rois: Any, rois_num: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    kind = wide(x)
    shape = (len(rois), x.shape[1], attrs["pooled_height"], attrs["pooled_width"])
    found = xp.empty(shape, kind)
    for k, (i, rows, columns) in enumerate(averaging(x, rois, rois_num, attrs)):
        part = x[i, :, rows[1], columns[1]].astype(kind, copy=False)
        found[k] = rows[0] @ part @ columns[0].T
    return placed(found, x.dtype, out)


def wide(x: Any) -> Any:
    """The element type means are computed in."""
    return np.dtype("float64" if x.dtype == np.float64 else "float32")


@primitive(infer_first=True)
def roi_align_back(
    source: Meta,
    rois: Meta,
    rois_num: Meta | None,
    like_meta: Meta,
    *,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sampling_ratio: int,
    aligned: bool,
) -> Meta:
    """The means of regions given back to the elements they were made of."""
    return source.with_shape(like_meta.shape)


@roi_align_back.kernel
def roi_align_back_kernel(
    xp: Any, source: Any, rois: Any, rois_num: Any, like: Any, *, out: Any = None, **attrs: Any
) -> Any:
    kind = wide(source)
    found = xp.zeros(like.shape, kind)
    for k, (i, rows, columns) in enumerate(averaging(like, rois, rois_num, attrs)):
        part = rows[0].T @ source[k].astype(kind) @ columns[0]
        found[i, :, rows[1], columns[1]] += part
    return placed(found, source.dtype, out)


roi_align.grad("x")(
    asking(
        ALIGNED,
        lambda x_meta, rois, rois_num, dout, attrs: roi_align_back(
            dout, rois, rois_num, x_meta, **attrs
        ),
    )
)
roi_align_back.grad("source")(
    asking(ALIGNED, lambda rois, rois_num, dout, attrs: roi_align(dout, rois, rois_num, **attrs))
)
roi_align.no_lowering(EXTENT)
roi_align_back.no_lowering(EXTENT)


# The mean of a bin, each in channels of its own.


def bins_of_means(
    rois: Any, scale: float, height: int, width: int, size: tuple[int, int]
) -> list[Any]:
    """Where the bins of each region begin and end, as `bins` gives them."""
    spots = np.trunc(rois + np.copysign(rois.dtype.type(0.5), rois))
    spots = (spots + np.array([0, 0, 1, 1], rois.dtype)) * rois.dtype.type(scale)
    found = []
    for first, count, length in ((1, height, size[0]), (0, width, size[1])):
        begin = spots[:, first, None]
        step = np.maximum(spots[:, first + 2, None] - begin, rois.dtype.type(0.1)) / count
        places = np.arange(count, dtype=rois.dtype)
        ends = [np.floor(places * step + begin), np.ceil((places + 1) * step + begin)]
        found.append(np.clip(np.stack(ends, -1), 0, length).astype("int64"))
    return found


def filled_bins(x: Any, rois: Any, rois_num: Any, attrs: dict[str, Any]) -> Any:
    """Of each region and bin that holds elements: its number, its place, and which they are."""
    count = attrs["pooled_height"], attrs["pooled_width"]
    rows, columns = bins_of_means(rois, attrs["spatial_scale"], *count, x.shape[2:])
    for k, i in enumerate(images_of(rois, rois_num)):
        for h, (top, bottom) in enumerate(rows[k].tolist()):
            for w, (left, right) in enumerate(columns[k].tolist()):
                if top < bottom and left < right:
                    yield (k, h, w), (i, slice(None), h, w, slice(top, bottom), slice(left, right))


def by_bins(x: Any, attrs: dict[str, Any]) -> Any:
    """Images whose channels stand apart by bins: ``[image, channel, bin, bin, row, column]``."""
    places = attrs["output_channels"], attrs["pooled_height"], attrs["pooled_width"]
    return x.reshape(x.shape[0], *places, *x.shape[2:])


@primitive(slots={"rois": "ROIs"}, infer_first=True)
def psroi_pool(
    x: Meta,
    rois: Meta,
    rois_num: Meta = None,
    *,
    pooled_height: int = 1,
    pooled_width: int = 1,
    output_channels: int = 1,
    spatial_scale: float = 1.0,
) -> Meta:
    """Regions divided into bins: the mean of each, in channels that belong to that bin.

    Of an empty bin it is 0.
    """
    check_regions(x, rois, rois_num, pooled_height, pooled_width)
    many = output_channels * pooled_height * pooled_width
    agree(x.shape[1], many, "x has {} channels, and {} are needed: one for each result of a bin")
    return x.with_shape((rois.shape[0], output_channels, pooled_height, pooled_width))


@psroi_pool.kernel
def psroi_pool_kernel(
    xp: Any, x: Any, rois: Any, rois_num: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    shape = attrs["output_channels"], attrs["pooled_height"], attrs["pooled_width"]
    found, parts = xp.zeros((len(rois), *shape), wide(x)), by_bins(x, attrs)
    for (k, h, w), part in filled_bins(x, rois, rois_num, attrs):
        found[k, :, h, w] = parts[part].mean((1, 2), dtype=found.dtype)
    return placed(found, x.dtype, out)


@primitive(infer_first=True)
def psroi_pool_back(
    source: Meta,
    rois: Meta,
    rois_num: Meta | None,
    like_meta: Meta,
    *,
    pooled_height: int,
    pooled_width: int,
    output_channels: int,
    spatial_scale: float,
) -> Meta:
    """The means of bins given back to the elements they were made of."""
    return source.with_shape(like_meta.shape)


@psroi_pool_back.kernel
def psroi_pool_back_kernel(
    xp: Any, source: Any, rois: Any, rois_num: Any, like: Any, *, out: Any = None, **attrs: Any
) -> Any:
    found = xp.zeros(like.shape, wide(source))
    parts = by_bins(found, attrs)  # a view
    for (k, h, w), part in filled_bins(like, rois, rois_num, attrs):
        size = parts[part].shape[1] * parts[part].shape[2]
        parts[part] += (single(source[k, :, h, w]) / size)[:, None, None]
    return placed(found, source.dtype, out)


BY_BINS = ("pooled_height", "pooled_width", "output_channels", "spatial_scale")
psroi_pool.grad("x")(
    asking(
        BY_BINS,
        lambda x_meta, rois, rois_num, dout, attrs: psroi_pool_back(
            dout, rois, rois_num, x_meta, **attrs
        ),
    )
)
psroi_pool_back.grad("source")(
    asking(BY_BINS, lambda rois, rois_num, dout, attrs: psroi_pool(dout, rois, rois_num, **attrs))
)
psroi_pool.no_lowering(EXTENT)
psroi_pool_back.no_lowering(EXTENT)


# The largest element.


def bins(rois: Any, scale: float, height: int, width: int, size: tuple[int, int]) -> list[Any]:
    """Where the bins of each region begin and end: of rows and of columns, ``[region, bin, 2]``."""
    spots = rois.astype("float32") * np.float32(scale)
    spots = np.trunc(spots + np.copysign(np.float32(0.5), spots))
    found = []
    for first, count, length in ((1, height, size[0]), (0, width, size[1])):
        begin = spots[:, first]
        step = (np.maximum(spots[:, first + 2] - begin + 1, 1) / np.float32(count))[:, None]
        places = np.arange(count, dtype="float32")
        ends = np.stack([np.floor(places * step), np.ceil((places + 1) * step)], -1)
        found.append(np.clip(ends + begin[:, None, None], 0, length).astype("int64"))
    return found


@primitive(outputs=("out", "argmax"), slots={"rois": "ROIs"}, hidden=("argmax",), infer_first=True)
def roi_pool(
    x: Meta,
    rois: Meta,
    rois_num: Meta = None,
    *,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
) -> tuple[Meta, Meta]:
    """Regions divided into bins: the largest element of each, and its place in the image.

    Of an empty bin they are 0 and -1.
    """
    check_regions(x, rois, rois_num, pooled_height, pooled_width)
    found = x.with_shape((rois.shape[0], x.shape[1], pooled_height, pooled_width))
    return found, found.with_dtype(int64)


@roi_pool.kernel
def roi_pool_kernel(
    xp: Any,
    x: Any,
    rois: Any,
    rois_num: Any = None,
    *,
    out: Any = None,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
) -> Any:
    out, argmax = out or (None, None)
    _, channels, height, width = x.shape
    found = xp.zeros((len(rois), channels, pooled_height, pooled_width), x.dtype)
    places = xp.full(found.shape, -1)
    rows, columns = bins(rois, spatial_scale, pooled_height, pooled_width, (height, width))
    for k, i in enumerate(images_of(rois, rois_num)):
        for h, (top, bottom) in enumerate(rows[k].tolist()):
            for w, (left, right) in enumerate(columns[k].tolist()):
                if top >= bottom or left >= right:
                    continue
                part = x[i, :, top:bottom, left:right].reshape(channels, -1)
                at = part.argmax(1)
                found[k, :, h, w] = part[xp.arange(channels), at]
                size = right - left
                places[k, :, h, w] = (top + at // size) * width + left + at % size
    return placed(found, x.dtype, out), placed(places, places.dtype, argmax)


@primitive
def scatter_regions(argmax: Meta, rois_num: Meta | None, like_meta: Meta, source: Meta) -> Meta:
    """`source` given back to the places in images that `argmax` names, but for those below 0."""
    return source.with_shape(like_meta.shape)


def spots_of(argmax: Any, rois_num: Any, shape: tuple[int, ...]) -> Any:
    """The places in the flat images, and which there are."""
    planes = images_of(argmax, rois_num)[:, None] * shape[1] + np.arange(shape[1])
    size = math.prod(shape[2:])
    return np.maximum(argmax, 0) + planes[:, :, None, None] * size, argmax >= 0


@scatter_regions.kernel
def scatter_regions_kernel(
    xp: Any, argmax: Any, rois_num: Any, like: Any, source: Any, *, out: Any = None
) -> Any:
    flat = xp.zeros(math.prod(like.shape), source.dtype)
    spots, there = spots_of(argmax, rois_num, like.shape)
    add_at(xp, flat, spots[there], source[there])
    return placed(flat.reshape(like.shape), source.dtype, out)


@primitive
def gather_regions(argmax: Meta, rois_num: Meta | None, source: Meta) -> Meta:
    """The elements of images at the places that `argmax` names; 0 for those below 0."""
    return source.with_shape(argmax.shape)


@gather_regions.kernel
def gather_regions_kernel(
    xp: Any, argmax: Any, rois_num: Any, source: Any, *, out: Any = None
) -> Any:
    spots, there = spots_of(argmax, rois_num, source.shape)
    found = xp.where(there, source.reshape(-1).take(spots, mode="clip"), 0)
    return placed(found.astype(source.dtype), source.dtype, out)


roi_pool.grad("x")(
    lambda x_meta, rois_meta, rois_num, argmax, dout, dargmax=None: scatter_regions(
        argmax, rois_num, x_meta, dout
    )
)
scatter_regions.grad("source")(
    lambda argmax, rois_num, dout: gather_regions(argmax, rois_num, dout)
)
gather_regions.grad("source")(
    lambda argmax, rois_num, source_meta, dout: scatter_regions(argmax, rois_num, source_meta, dout)
)
for function in (roi_pool, scatter_regions, gather_regions):
    function.no_lowering(EXTENT)
