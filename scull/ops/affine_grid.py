"""Grids of points that affine maps of images make."""

from typing import Any

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, ShapeError, UnsupportedError
from scull.ops.half import placed, wide_at, widening


def grid_shape(theta: Any, sizes: Any) -> tuple[int, ...]:
    """The shape of the grid for images of `sizes`, the images and channels included."""
    axes = len(sizes) - 2
    if axes not in (2, 3):
        raise ShapeError(f"output_shape has {len(sizes)} sizes, 4 or 5 are needed")
    if len(theta.shape) != 3:
        raise ShapeError(f"theta has {len(theta.shape)} axes, 3 are needed")
    agree(theta.shape[1], axes, "a map has {} rows, output_shape {} axes behind the channels")
    agree(theta.shape[2], axes + 1, "a map has {} columns, {} are needed")
    if any(int(n) < -1 for n in sizes[2:]):
        raise ArgumentError(f"output_shape {list(sizes)} has a negative size")
    return (theta.shape[0], *sizes[2:], axes)


def base_points(xp: Any, sizes: Any, dtype: Any, align_corners: bool) -> Any:
    """The points (column, row, ..., 1) of a grid that maps nothing, a row each."""
    lines = []
    for n in sizes:
        steps = xp.arange(n, dtype=dtype) * 2 + (1 - n)
        lines.append(steps / max(n - 1 if align_corners else n, 1))
    axes = xp.meshgrid(*lines, indexing="ij")[::-1]
    return xp.stack([*axes, xp.ones(tuple(sizes), dtype)], -1).reshape(-1, len(lines) + 1)


@primitive(
    enlarges=("output_shape",),
    outputs=("output",),
    slots={"output_shape_tensor": "OutputShape"},
    fixed={"use_cudnn": False},
)
def affine_grid(
    theta: Meta,
    output_shape_tensor: Meta = None,
    *,
    output_shape: Ints = (),
    align_corners: bool = True,
) -> Meta:
    """Where an affine map of each image takes the points of a grid of `output_shape`."""
    floating(theta)
    if output_shape_tensor is None:
        return theta.with_shape(grid_shape(theta, output_shape))
    if output_shape_tensor.ndim != 1 or theta.ndim != 3:
        raise ShapeError(f"output_shape is {output_shape_tensor} and theta {theta}")
    axes = theta.shape[1]
    count = output_shape_tensor.shape[0] if axes == -1 else axes + 2
    return theta.with_shape(grid_shape(theta, (UNKNOWN,) * int(count)))


def mapped(xp: Any, theta: Any, sizes: Any, align_corners: bool, out: Any) -> Any:
    """The points of a grid of `sizes`, mapped."""
    base = base_points(xp, sizes, theta.dtype, align_corners)
    found = base @ theta.swapaxes(1, 2)
    return placed(found.reshape(len(theta), *sizes, len(sizes)), theta.dtype, out)


@affine_grid.kernel
@widening
def affine_grid_kernel(
    xp: Any,
    theta: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    output_shape: Any,
    align_corners: bool,
) -> Any:
    sizes = output_shape if tensor is None else tuple(tensor.reshape(-1).tolist())
    _, *sizes, _ = grid_shape(theta, sizes)
    if any(n < 0 for n in sizes):
        raise ArgumentError(f"output_shape has a negative size among {sizes}")
    return mapped(xp, theta, sizes, align_corners, out)


@primitive
def affine_points(theta: Meta, like_meta: Meta, *, align_corners: bool = True) -> Meta:
    """Where an affine map takes the points of a grid like `like`."""
    return theta.with_shape(like_meta.shape)


@affine_points.kernel
@widening
def affine_points_kernel(
    xp: Any, theta: Any, like: Any, *, out: Any = None, align_corners: bool
) -> Any:
    return mapped(xp, theta, like.shape[1:-1], align_corners, out)


@primitive
def affine_grid_back(source: Meta, like_meta: Meta, *, align_corners: bool = True) -> Meta:
    """The gradient of the maps: how each moved point goes with the one it was made of."""
    return source.with_shape(like_meta.shape)


@affine_grid_back.kernel
@widening
def affine_grid_back_kernel(
    xp: Any, source: Any, like: Any, *, out: Any = None, align_corners: bool
) -> Any:
    base = base_points(xp, source.shape[1:-1], source.dtype, align_corners)
    moved = source.reshape(len(source), len(base), source.shape[-1])
    return placed(moved.swapaxes(1, 2) @ base, source.dtype, out)


def theta_grad(theta_meta: Any, dout: Any, align_corners: bool) -> Any:
    return affine_grid_back(dout, theta_meta, align_corners=align_corners)


affine_grid.grad("theta")(
    lambda theta_meta, output_shape_tensor, doutput, align_corners: theta_grad(
        theta_meta, doutput, align_corners
    )
)
affine_points.grad("theta")(theta_grad)
affine_grid_back.grad("source")(
    lambda source_meta, dout, align_corners: affine_points(
        dout, source_meta, align_corners=align_corners
    )
)


# As lowerings: each number of a point on its own.


def base_at(spot: Any, sizes: Any, dtype: str, align_corners: bool) -> list[Any]:
    """The numbers (column, row, ..., 1) of a point of a grid that maps nothing."""
    found = []
    for i, n in zip(reversed(spot), reversed(sizes), strict=True):
        share = lang.constant(1 / max(n - 1 if align_corners else n, 1), dtype)
        found.append(lang.cast(i * 2 + (1 - n), dtype) * share)
    return [*found, lang.constant(1.0, dtype)]


def mapped_at(index: Any, theta: Any, sizes: Any, align_corners: bool) -> Any:
    """One number of a mapped point."""
    n, *spot, j = index
    dtype = wide_at(theta[n, 0, 0]).dtype
    base = base_at(spot, sizes, dtype, align_corners)
    total = wide_at(theta[n, j, len(base) - 1])
    for k, number in enumerate(base[:-1]):
        total = total + number * wide_at(theta[n, j, k])
    return lang.cast(total, theta.dtype)


@affine_grid.lower
def affine_grid_at(
    index: Any, theta: Any, tensor: Any, output_shape: Any, align_corners: bool
) -> Any:
    if tensor is not None:
        raise UnsupportedError("a tensor says the size, so how far apart points lie is not known")
    return mapped_at(index, theta, output_shape[2:], align_corners)


@affine_points.lower
def affine_points_at(index: Any, theta: Any, like: Any, align_corners: bool) -> Any:
    return mapped_at(index, theta, like.shape[1:-1], align_corners)


@affine_grid_back.lower
def affine_grid_back_at(index: Any, source: Any, like: Any, align_corners: bool) -> Any:
    n, j, k = index
    spot = [lang.axis(m) for m in source.shape[1:-1]]
    value = wide_at(source[(n, *spot, j)])
    base = base_at(spot, source.shape[1:-1], value.dtype, align_corners)
    number = base[-1]
    for i, other in enumerate(base[:-1]):
        number = lang.select(lang.equal(k, i), other, number)
    return lang.cast(lang.sum(value * number, over=spot), source.dtype)
