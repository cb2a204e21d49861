"""Samples of images read at points, and of grids."""

from itertools import product
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, samples


def read(image: Any, point: Any, nearest: bool) -> Any:
    """The channels of one image at one point (column, row, ...)."""
    spot = point[::-1]
    if not (np.abs(spot) < 1e6).all():
        return np.zeros(len(image))
    if nearest:
        whole = np.trunc(spot + np.copysign(0.5, spot)).astype(int)
        inside = all(0 <= i < n for i, n in zip(whole, image.shape[1:], strict=True))
        return image[(slice(None), *whole)] if inside else np.zeros(len(image))
    total = np.zeros(len(image))
    for bits in product((0, 1), repeat=len(spot)):
        whole = (np.floor(spot) + bits).astype(int)
        share = np.prod([t if b else 1 - t for b, t in zip(bits, spot % 1, strict=True)])
        if all(0 <= i < n for i, n in zip(whole, image.shape[1:], strict=True)):
            total += share * image[(slice(None), *whole)]
    return total


def reading(x: Any, points: Any, *, nearest: bool = False) -> Any:
    found = np.zeros((*x.shape[:2], *points.shape[1:-1]))
    for n in range(len(x)):
        for spot in np.ndindex(points.shape[1:-1]):
            found[(n, slice(None), *spot)] = read(x[n], points[(n, *spot)], nearest)
    return found


def hollow() -> Any:
    """An image whose first element is no number."""
    return array([[[[np.nan, 1.0, 2.0], [3.0, 4.0, 5.0]]]])


def wild() -> Any:
    """Points outside, far outside and that are none."""
    odd = [[2.6, 1.0], [-5.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [-np.inf, 1.0], [1e30, 1.0]]
    return array([[*odd, [1.5, 0.5]]])


@samples("sampled", reference=reading)
def sampled_samples():
    yield call(f32(2, 3, 4, 5), f32(2, 6, 2, low=-1.6, high=5.3))
    yield call(f64(1, 2, 3, 4), f64(1, 2, 3, 2, low=-1, high=4))
    yield call(f32(1, 2, 5), f32(1, 7, 1, low=-1, high=5))
    yield call(f32(1, 2, 3, 2, 2), f32(1, 2, 2, 3, low=-1, high=3))
    yield call(f32(1, 2, 3, 4), f32(1, 8, 2, low=-1, high=4), nearest=True)
    yield call(f32(2, 3, 4, 5), f32(2, 0, 2))
    yield call(f32(1, 3, 0, 5), f32(1, 2, 2))
    yield call(f16(1, 2, 3, 3), f16(1, 4, 2, low=0.0, high=2.0))
    for nearest in (False, True):
        yield call(hollow(), wild(), nearest=nearest, grad=False, name_of_case=f"outside {nearest}")
    yield fails(ShapeError, "x has 2 images and points are of 3", f32(2, 1, 3, 3), f32(3, 4, 2))
    yield fails(ShapeError, "a point has 3 numbers and x has 2", f32(1, 1, 3, 3), f32(1, 4, 3))


def giving(source: Any, points: Any, like: Any, *, nearest: bool = False) -> Any:
    found = np.zeros(like.shape)
    for spot in np.ndindex(like.shape[2:]):
        one = np.zeros((len(like), 1, *like.shape[2:]))
        one[(slice(None), 0, *spot)] = 1
        shares = reading(one, points, nearest=nearest)
        given = np.where(shares == 0, 0, shares * source)  # nothing of what lies elsewhere
        found[(slice(None), slice(None), *spot)] = given.sum(tuple(range(2, source.ndim)))
    return found


@samples("spread_sampled", reference=giving)
def spread_sampled_samples():
    yield call(f32(2, 3, 6), f32(2, 6, 2, low=-1.6, high=5.3), f32(2, 3, 4, 5))
    yield call(f64(1, 2, 2, 2), f64(1, 2, 2, 3, low=-1, high=3), f64(1, 2, 3, 2, 2))
    yield call(f32(1, 2, 8), f32(1, 8, 2, low=-1, high=4), f32(1, 2, 3, 4), nearest=True)
    given = array([[[np.nan, np.inf, np.nan, 1.0, 1.0, np.nan, 2.0]]])
    yield call(given, wild(), f32(1, 1, 2, 3), grad=False, name_of_case="outside")


def folded(p: float, n: int, beyond: float) -> float:
    """A number mirrored at the edges until it lies between them."""
    low, high = -beyond, n - 1 + beyond
    for _ in range(100):
        p = 2 * low - p if p < low else 2 * high - p if p > high else p
    return p if low < high else low + beyond


def counted(grid: Any, x: Any, *, padding_mode: str = "zeros", align_corners: bool = True) -> Any:
    sizes = np.array(x.shape[:1:-1])
    points = (grid + 1) / 2 * (sizes - 1) if align_corners else ((grid + 1) * sizes - 1) / 2
    if padding_mode == "zeros":
        return points
    if padding_mode == "reflection":
        beyond = 0 if align_corners else 0.5
        for spot in np.ndindex(points.shape):
            points[spot] = folded(points[spot], int(sizes[spot[-1]]), beyond)
    return np.clip(points, 0, sizes - 1)


@samples("grid_points", reference=counted)
def grid_points_samples():
    for padding in ("zeros", "border", "reflection"):
        for corners in (True, False):
            given = {"padding_mode": padding, "align_corners": corners}
            yield call(f32(2, 3, 4, 2, low=-4.0, high=4.0), f32(2, 1, 4, 5), **given)
    yield call(f64(1, 2, 2, 2, 3), f64(1, 1, 4, 5, 2), padding_mode="reflection")
    yield call(f32(1, 2, 2, 2), f32(1, 2, 1, 3), padding_mode="reflection", name_of_case="one row")


@samples("grid_factor")
def grid_factor_samples():
    yield call(array([[[[0.5, 0.5]]]]), f32(1, 1, 4, 5), holds=lambda f: (f == [2, 1.5]).all())
    held = {"padding_mode": "border", "align_corners": False}
    yield call(
        array([[[[5.0, 0.5]]]]), f32(1, 1, 4, 5), holds=lambda f: (f == [0, 2]).all(), **held
    )
    turned = lambda f: (f == [-2, 1.5]).all()  # noqa: E731
    some = array([[[[1.25, 0.5]]]])
    yield call(some, f32(1, 1, 4, 5), holds=turned, padding_mode="reflection")


def looked_up(
    x: Any,
    grid: Any,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
) -> Any:
    points = counted(grid, x, padding_mode=padding_mode, align_corners=align_corners)
    return reading(x, points, nearest=mode == "nearest")


@samples("grid_sampler", reference=looked_up)
def grid_sampler_samples():
    for padding in ("zeros", "border", "reflection"):
        for corners in (True, False):
            given = {"padding_mode": padding, "align_corners": corners}
            yield call(f32(2, 3, 4, 5), f32(2, 3, 2, 2), **given)
    yield call(f64(1, 2, 3, 4), f64(1, 2, 2, 2), mode="nearest")
    yield call(f32(1, 2, 3, 4, 2), f32(1, 2, 2, 2, 3))
    yield call(f32(1, 2, 3, 4), f32(1, 0, 2, 2))
    yield fails(ShapeError, "x has 3 axes, 4 or 5 are needed", f32(1, 3, 4), f32(1, 3, 2))
    yield fails(ShapeError, "x has 4 axes and grid 3", f32(1, 1, 3, 4), f32(1, 3, 2))
    yield fails(ShapeError, "a point has 3 numbers", f32(1, 1, 3, 4), f32(1, 2, 2, 3))
    law = "mode is 'cubic', neither"
    yield fails(ArgumentError, law, f32(1, 1, 3, 4), f32(1, 2, 2, 2), mode="cubic")
    law = "padding_mode is 'same', not one of"
    yield fails(ArgumentError, law, f32(1, 1, 3, 4), f32(1, 2, 2, 2), padding_mode="same")
    law = "differ in element type"
    yield fails(DtypeError, law, f32(1, 1, 3, 4), f64(1, 2, 2, 2))


def grid_of(theta: Any, sizes: Any, align_corners: bool) -> Any:
    found = np.zeros((len(theta), *sizes, len(sizes)))
    for spot in np.ndindex(*sizes):
        point = [
            (2 * i + 1 - n) / max(n - 1 if align_corners else n, 1)
            for i, n in zip(spot[::-1], sizes[::-1], strict=True)
        ]
        found[(slice(None), *spot)] = theta @ np.array([*point, 1.0])
    return found


def affine(
    theta: Any, given: Any = None, *, output_shape: Any = (), align_corners: bool = True
) -> Any:
    sizes = output_shape if given is None else tuple(given.tolist())
    return grid_of(theta, sizes[2:], align_corners)


@samples("affine_grid", reference=affine)
def affine_grid_samples():
    for corners in (True, False):
        yield call(f32(2, 2, 3), output_shape=(2, 1, 3, 4), align_corners=corners)
        yield call(f64(1, 3, 4), output_shape=(1, 1, 2, 3, 2), align_corners=corners)
    yield call(f32(1, 2, 3), output_shape=(1, 1, 1, 2), name_of_case="one row")
    yield call(f32(1, 2, 3), output_shape=(1, 1, 0, 2), name_of_case="no row")
    given = array([1, 1, 2, 3], "int32")
    yield call(f32(1, 2, 3), given, unknown_sizes=False)
    law = "output_shape has 3 sizes, 4 or 5 are needed"
    yield fails(ShapeError, law, f32(1, 2, 3), output_shape=(1, 2, 3))
    law = "a map has 3 rows, output_shape 2 axes behind the channels"
    yield fails(ShapeError, law, f32(1, 3, 3), output_shape=(1, 1, 2, 3))
    law = "a map has 2 columns, 3 are needed"
    yield fails(ShapeError, law, f32(1, 2, 2), output_shape=(1, 1, 2, 3))
    law = "output_shape [1, 1, -2, 3] has a negative size"
    yield fails(ArgumentError, law, f32(1, 2, 3), output_shape=(1, 1, -2, 3))


def along(theta: Any, like: Any, *, align_corners: bool = True) -> Any:
    return grid_of(theta, like.shape[1:-1], align_corners)


@samples("affine_points", reference=along)
def affine_points_samples():
    yield call(f32(2, 2, 3), f32(2, 3, 4, 2))
    yield call(f64(1, 3, 4), f64(1, 2, 2, 3, 3), align_corners=False)


def back(source: Any, like: Any, *, align_corners: bool = True) -> Any:
    found = np.zeros(like.shape)
    for j, k in np.ndindex(like.shape[1:]):
        one = np.zeros((1, *like.shape[1:]))
        one[0, j, k] = 1
        points = grid_of(one, source.shape[1:-1], align_corners)
        found[:, j, k] = (points * source).sum(tuple(range(1, source.ndim)))
    return found


@samples("affine_grid_back", reference=back)
def affine_grid_back_samples():
    yield call(f32(2, 3, 4, 2), f32(2, 2, 3))
    yield call(f64(1, 2, 2, 3, 3), f64(1, 3, 4), align_corners=False)
