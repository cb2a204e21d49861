"""Images read at any points, and at those of grids."""

import math
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import by_body, placed, wide_at, widening
from scull.ops.join import stack, unbind
from scull.ops.reduce import reduce_sum
from scull.ops.resize import summed
from scull.ops.rounding import floor

# An image read at points: the mean of the elements around each, the nearer the more, 0 outside.


def check_points(x: Any, points: Any) -> None:
    """Refuse points that do not lie in images like `x`."""
    axes = len(x.shape) - 2
    if len(points.shape) < 2:
        raise ShapeError(f"points has {len(points.shape)} axes, at least 2 are needed")
    agree(x.shape[0], points.shape[0], "x has {} images and points are of {}")
    agree(points.shape[-1], axes, "a point has {} numbers and x has {} axes behind the channels")


def corners(xp: Any, shape: tuple[int, ...], points: Any, nearest: bool) -> list[tuple[Any, ...]]:
    """What the results are made of: places in an image, row by row, shares, and what lies outside.

    A point is (column, row, ...): the last axis of the image comes first.
    """
    sizes = shape[:1:-1]
    if nearest:
        spots = xp.trunc(points + xp.copysign(points.dtype.type(0.5), points))
        return [placed_corner(xp, sizes, spots, None)]
    low = xp.floor(points)
    high = points - low
    found = []
    for number in range(1 << len(sizes)):
        bits = np.array([number >> i & 1 for i in range(len(sizes))], bool)
        shares = xp.multiply.reduce(xp.where(bits, high, 1 - high), -1)
        found.append(placed_corner(xp, sizes, low + bits.astype(low.dtype), shares))
    return found


def placed_corner(xp: Any, sizes: Any, spots: Any, shares: Any) -> tuple[Any, Any, Any]:
    """Whole points as places in an image, each's share, and which of them lie outside."""
    inside = xp.logical_and.reduce((spots >= 0) & (spots < np.array(sizes)), -1)
    whole = xp.where(inside[..., None], spots, 0).astype("int64")
    steps = np.cumprod((1, *sizes[:-1]))
    places = (whole * steps).sum(-1).reshape(len(spots), -1)
    shares = xp.ones(inside.shape, spots.dtype) if shares is None else shares
    return places, shares.reshape(-1, 1), ~inside.reshape(-1)


def weighed(lines: Any, shares: Any, outside: Any) -> Any:
    """Lines times their shares; nothing of those outside, whatever stands there."""
    found = lines * shares
    found[outside] = 0
    return found


@primitive
def sampled(x: Meta, points: Meta, *, nearest: bool = False) -> Meta:
    """Each channel of `x` at points counted in elements; 0 outside."""
    floating(x, points)
    if len(x.shape) < 3:
        raise ShapeError(f"x has {len(x.shape)} axes, at least 3 are needed")
    check_points(x, points)
    return x.with_shape((*x.shape[:2], *points.shape[1:-1]))


@sampled.kernel
@widening
def sampled_kernel(xp: Any, x: Any, points: Any, *, out: Any = None, nearest: bool) -> Any:
    check_points(x, points)
    images, channels = x.shape[:2]
    size = math.prod(x.shape[2:])
    shape = (images, channels, *points.shape[1:-1])
    if not size or not math.prod(shape):
        return placed(xp.zeros(shape, x.dtype), x.dtype, out)
    lines = x.reshape(images, channels, size).swapaxes(1, 2).reshape(-1, channels)
    begin, total = xp.arange(images).reshape(-1, 1) * size, None
    for places, *each in corners(xp, x.shape, points, nearest):
        part = weighed(lines.take((places + begin).reshape(-1), 0), *each)
        total = part if total is None else xp.add(total, part, out=total)
    found = total.reshape(images, -1, channels).swapaxes(1, 2).reshape(shape)
    return placed(xp.ascontiguousarray(found), x.dtype, out)


@primitive
def spread_sampled(source: Meta, points: Meta, like_meta: Meta, *, nearest: bool = False) -> Meta:
    """What was read at points given back to the elements around them."""
    return source.with_shape(like_meta.shape)


@spread_sampled.kernel
@widening
def spread_sampled_kernel(
    xp: Any, source: Any, points: Any, like: Any, *, out: Any = None, nearest: bool
) -> Any:
    images, channels = like.shape[:2]
    size = math.prod(like.shape[2:])
    flat = xp.zeros(images * size * channels, source.dtype)
    if flat.size and source.size:
        lines = source.reshape(images, channels, -1).swapaxes(1, 2).reshape(-1, channels)
        begin = xp.arange(images).reshape(-1, 1) * size
        for places, *each in corners(xp, like.shape, points, nearest):
            spots = (places + begin).reshape(-1, 1) * channels + xp.arange(channels)
            xp.add.at(flat, spots.reshape(-1), weighed(lines, *each).reshape(-1))
    found = flat.reshape(images, size, channels).swapaxes(1, 2).reshape(like.shape)
    return placed(xp.ascontiguousarray(found), source.dtype, out)


def slope(x: Any, points: Any, dout: Any, nearest: bool) -> Any:
    """The gradient of the points: between two elements the value changes evenly."""
    if nearest:
        return points * 0.0
    axis = len(points.shape) - 1
    parts = unbind(points, axis=axis)
    found = []
    for i, part in enumerate(parts):
        low = floor(part)
        ends = [stack([*parts[:i], low + by, *parts[i + 1 :]], axis=axis) for by in (1.0, 0.0)]
        rise = sampled(x, ends[0]) - sampled(x, ends[1])
        found.append(reduce_sum(dout * rise, axis=(1,)))
    return stack(found, axis=axis)


sampled.grad("x")(
    lambda x_meta, points, dout, nearest: spread_sampled(dout, points, x_meta, nearest=nearest)
)
sampled.grad("points")(slope)
spread_sampled.grad("source")(lambda points, dout, nearest: sampled(dout, points, nearest=nearest))
spread_sampled.grad("points")(
    lambda source, points, dout, nearest: slope(dout, points, source, nearest)
)


@sampled.lower
def sampled_at(index: Any, x: Any, points: Any, nearest: bool) -> Any:
    n, c, *spot = index
    axes = len(x.shape) - 2
    given = [point_at(points[(n, *spot, i)], x.shape[-1 - i]) for i in reversed(range(axes))]
    choices = []
    for point in given:
        if nearest:
            choices.append([(whole_at(point), None)])
        else:
            low = lang.floor(point)
            choices.append([(low, 1.0 - (point - low)), (low + 1.0, point - low)])
    return lang.cast(summed(x, [n, c, *given], list(range(2, len(x.shape))), choices), x.dtype)


@spread_sampled.lower
def spread_sampled_at(index: Any, source: Any, points: Any, like: Any, nearest: bool) -> Any:
    n, c, *spot = over = [lang.axis(m) for m in source.shape]
    value, places = wide_at(source[tuple(over)]), []
    corner = lang.axis(1 if nearest else 1 << len(like.shape) - 2)
    for i in range(len(like.shape) - 2):
        point = point_at(points[(n, *spot, i)], like.shape[-1 - i])
        if nearest:
            place = whole_at(point)
        else:
            low, high = lang.floor(point), lang.equal((corner >> i) & 1, 1)
            place = lang.select(high, low + 1.0, low)
            share = lang.select(high, point - low, 1.0 - (point - low))
            value = value * lang.cast(share, value.dtype)
        places.append(lang.cast(place, "int64"))
    where = (n, c, *reversed(places))
    return lang.scatter_add(like.shape, where, value, (*over, corner), dtype=source.dtype)


def point_at(number: Any, size: int) -> Any:
    """One number of a point, for lowerings: just outside where it is far outside, or none."""
    point = wide_at(number)
    far = lang.constant(-2.0, point.dtype)
    return lang.select((point > far) & (point < size + 1.0), point, far)


def whole_at(point: Any) -> Any:
    """The number nearest to a point, for lowerings; halves go away from 0."""
    return lang.trunc(lang.select(point < 0.0, point - 0.5, point + 0.5))


# Grids: points from -1 at the first element to 1 at the last, or at the edges of the image.

PADDINGS = ("zeros", "border", "reflection")


def check_grid(x: Any, grid: Any, mode: str, padding_mode: str) -> None:
    """Refuse a grid that does not lie in images like `x`."""
    if mode not in ("bilinear", "nearest"):
        raise ArgumentError(f"mode is {mode!r}, neither bilinear nor nearest")
    if padding_mode not in PADDINGS:
        raise ArgumentError(f"padding_mode is {padding_mode!r}, not one of {', '.join(PADDINGS)}")
    if len(x.shape) not in (4, 5):
        raise ShapeError(f"x has {len(x.shape)} axes, 4 or 5 are needed")
    if len(grid.shape) != len(x.shape):
        raise ShapeError(f"x has {len(x.shape)} axes and grid {len(grid.shape)}")
    if x.dtype != grid.dtype:
        law = "differ in element type; cast one"
        raise DtypeError(f"{meta_of(x)} and {meta_of(grid)} {law}")
    check_points(x, grid)


@primitive
def grid_points(
    grid: Meta, x_meta: Meta, *, padding_mode: str = "zeros", align_corners: bool = True
) -> Meta:
    """The points of a grid counted in elements of `x`, brought inside as `padding_mode` says."""
    return grid


@grid_points.kernel
@widening
def grid_points_kernel(xp: Any, grid: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
    return placed(brought_inside(xp, grid, x.shape, **attrs)[0], grid.dtype, out)


def brought_inside(
    xp: Any, grid: Any, shape: Any, padding_mode: str, align_corners: bool
) -> tuple[Any, Any]:
    """The points counted in elements, and how they change with the grid."""
    sizes = np.array(shape[:1:-1], grid.dtype)
    last = sizes - 1
    factor = 0.5 * (last if align_corners else sizes)
    points = (grid + 1) * factor
    if not align_corners:
        points -= points.dtype.type(0.5)
    factor = xp.broadcast_to(factor, points.shape)
    if padding_mode == "zeros":
        return points, factor
    if padding_mode == "reflection":
        points, turned = reflected(xp, points, 0 if align_corners else 0.5, last)
        factor = factor * turned
    return xp.clip(points, 0, last), xp.where((points < 0) | (points > last), 0, factor)


def reflected(xp: Any, points: Any, beyond: float, last: Any) -> tuple[Any, Any]:
    """Points mirrored at the edges, `beyond` the outer elements, and whether they turned round."""
    edge = points.dtype.type(beyond)
    period = xp.maximum(2 * (last + 2 * edge), 1)
    shifted = points + edge
    rest = xp.abs(shifted) % period
    turned = xp.where(rest <= period - rest, 1, -1) * xp.where(shifted < 0, -1, 1)
    return xp.minimum(rest, period - rest) - edge, turned.astype(points.dtype)


@primitive
def grid_factor(
    grid: Meta, x_meta: Meta, *, padding_mode: str = "zeros", align_corners: bool = True
) -> Meta:
    """How many elements a point moves while the grid moves by 1; 0 where it is held at an edge."""
    return grid


@grid_factor.kernel
@widening
def grid_factor_kernel(xp: Any, grid: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
    found = brought_inside(xp, grid, x.shape, **attrs)[1]
    return placed(xp.array(found), grid.dtype, out)


grid_factor.no_grad("it is constant almost everywhere")


def brought_at(
    index: Any, grid: Any, x: Any, padding_mode: str, align_corners: bool
) -> tuple[Any, Any]:
    """As `brought_inside`, for lowerings: of one number of a point."""
    number, edge = wide_at(grid[index]), 0.0 if align_corners else 0.5

    def of_axis(values: list[float]) -> Any:
        *others, found = [lang.constant(v, number.dtype) for v in values]
        for k, value in reversed(list(enumerate(others))):
            found = lang.select(lang.equal(index[-1], k), value, found)
        return found

    sizes = x.shape[:1:-1]
    factor = of_axis([0.5 * n - 0.5 + edge for n in sizes])
    point = (number + 1.0) * factor - edge
    if padding_mode == "zeros":
        return point, factor
    if padding_mode == "reflection":
        period = of_axis([max(2.0 * (n - 1 + 2 * edge), 1.0) for n in sizes])
        shifted = point + edge
        rest = abs(shifted) % period
        factor = lang.select(lang.equal(rest <= period - rest, shifted < 0.0), -factor, factor)
        point = lang.minimum(rest, period - rest) - edge
    last, zero = of_axis([n - 1.0 for n in sizes]), lang.constant(0.0, number.dtype)
    held = (point < 0.0) | (point > last)
    return lang.minimum(lang.maximum(point, zero), last), lang.select(held, zero, factor)


@grid_points.lower
def grid_points_at(index: Any, grid: Any, x: Any, **attrs: Any) -> Any:
    return lang.cast(brought_at(index, grid, x, **attrs)[0], grid.dtype)


@grid_factor.lower
def grid_factor_at(index: Any, grid: Any, x: Any, **attrs: Any) -> Any:
    return lang.cast(brought_at(index, grid, x, **attrs)[1], grid.dtype)


@grid_points.grad("grid")
def grid_points_grad(
    grid: Any, x_meta: Any, dout: Any, padding_mode: str, align_corners: bool
) -> Any:
    attrs = {"padding_mode": padding_mode, "align_corners": align_corners}
    return dout * grid_factor(grid, x_meta, **attrs)


@composite(outputs=("output",), prefix="grid_sample", fixed={"use_cudnn": False})
def grid_sampler(
    x,
    grid,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
):
    """Each channel of `x` at the points of `grid`."""
    check_grid(x, grid, mode, padding_mode)
    points = grid_points(grid, x, padding_mode=padding_mode, align_corners=align_corners)
    return sampled(x, points, nearest=mode == "nearest")


by_body(grid_sampler)
