"""Samples of resizing."""

import itertools
import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, i64, samples


def shares(
    method: str, k: int, size: int, count: int, ratio: float, corners: bool, mode: int
) -> Any:
    """Which elements of a line element `k` of the resized one is made of, and how much."""
    gap = 0.0
    if count > 1:
        gap = (size - 1) / (count - 1) if corners else ratio
    if method == "nearest":
        return [(min(math.floor(gap * k + 0.5 * corners + 1e-6), size - 1), 1.0)]
    middle = gap * (k + 0.5) - 0.5
    if method == "bicubic":
        source = gap * k if corners else middle
        base = math.floor(source + 1e-6)
        return [
            (min(max(base + i, 0), size - 1), curve(abs(source - base - i))) for i in range(-1, 3)
        ]
    source = gap * k if corners or mode else max(middle, 0)
    low = math.floor(source + 1e-6)
    return [(low, 1 - source + low), (min(low + 1, size - 1), source - low)]


def curve(t: float, a: float = -0.75) -> float:
    """The cubic convolution kernel."""
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a


def resized(
    x: Any,
    out_size: Any = None,
    size_tensor: Any = (),
    scale_tensor: Any = None,
    *,
    data_layout: str = "NCHW",
    out_d: int = 0,
    out_h: int = 0,
    out_w: int = 0,
    scale: Any = (),
    interp_method: str,
    align_corners: bool = True,
    align_mode: int = 1,
) -> Any:
    """Each element by itself."""
    x = np.moveaxis(x, -1, 1) if data_layout[1] != "C" else x
    own = x.shape[2:]
    sizes = [out_d, out_h, out_w][-len(own) :]
    factors = scale if scale_tensor is None else scale_tensor.tolist()
    ratios = [n / m if m else 0 for n, m in zip(own, sizes, strict=True)]
    if factors:
        factors = list(factors) * (len(own) if len(factors) == 1 else 1)
        sizes = [int(n * f) for n, f in zip(own, factors, strict=True)]
        ratios = [1 / f for f in factors]
    if out_size is not None or size_tensor:
        sizes = np.concatenate(size_tensor).tolist() if out_size is None else out_size.tolist()
        ratios = [n / m for n, m in zip(own, sizes, strict=True)]
    out = np.zeros((*x.shape[:2], *sizes))
    for spot in np.ndindex(*sizes):
        lines = [
            shares(interp_method, k, *line, align_corners, align_mode)
            for k, *line in zip(spot, own, sizes, ratios, strict=True)
        ]
        for taps in itertools.product(*lines):
            weight = math.prod(w for _, w in taps)
            out[(..., *spot)] += weight * x[(..., *[i for i, _ in taps])]
    return np.moveaxis(out, 1, -1) if data_layout[1] != "C" else out


def ways(method: str, *shape: int) -> Any:
    """Calls of one method on images of `shape`."""
    names = ("out_d", "out_h", "out_w")[-len(shape) + 2 :]
    more = dict(zip(names, [2 * n - 1 for n in shape[2:]], strict=True))
    double = dict(zip(names, [2 * n for n in shape[2:]], strict=True))
    last = {**more, "interp_method": method}  # ratios that float32 holds
    yield call(f32(*shape), **last, align_corners=True)
    for mode in (0, 1):
        half = {**double, "interp_method": method, "align_corners": False, "align_mode": mode}
        yield call(f32(*shape), **half)
    twice = {"interp_method": method, "align_corners": False, "align_mode": 0}
    yield call(f64(*shape), scale=(2.0,), **twice)
    yield call(f16(*shape), scale=(2.0,), **twice)
    turned = (shape[0], *shape[2:], shape[1])
    layout = {3: "NWC", 4: "NHWC", 5: "NDHWC"}[len(shape)]
    yield call(f32(*turned), **last, data_layout=layout)
    yield call(f32(*shape), **dict.fromkeys(names, 1), interp_method=method)


@samples("nearest_interp_v2", reference=resized)
def nearest_samples():
    yield from ways("nearest", 1, 2, 3, 3)
    yield from ways("nearest", 1, 1, 2, 3, 2)
    how = {"interp_method": "nearest", "out_h": 3, "out_w": 5, "align_corners": False}
    yield call(i64(1, 2, 2, 4), **how)
    yield call(i32(1, 1, 2, 4), **how)
    yield fails(
        ShapeError, "x has 3 axes, nearest needs 4 or 5", f32(1, 2, 3), interp_method="nearest"
    )


@samples("linear_interp_v2", reference=resized)
def linear_samples():
    yield from ways("linear", 2, 2, 4)


@samples("bilinear_interp_v2", reference=resized)
def bilinear_samples():
    yield from ways("bilinear", 1, 2, 3, 4)
    size = array([3, 5], "int32")
    yield call(f32(1, 1, 2, 3), size, interp_method="bilinear", grad=("x",))
    parts = [array([3], "int32"), array([5], "int32")]
    yield call(f32(1, 1, 2, 3), None, parts, interp_method="bilinear", grad=("x",))
    factor = array([2.0, 1.0])
    given = {"interp_method": "bilinear", "align_corners": False, "grad": ("x",)}
    yield call(f32(1, 1, 2, 2), None, None, factor, **given)
    yield call(f32(1, 1, 4, 4), scale=(0.5, 0.25), interp_method="bilinear", align_corners=False)
    yield fails(DtypeError, "not of floating-point elements", i32(1, 1, 2, 2), out_h=2, out_w=2)
    law = "axis 2 is to have 0 elements"
    yield fails(ArgumentError, law, f32(1, 1, 2, 2))
    law = "interp_method is 'sinc'"
    yield fails(ArgumentError, law, f32(1, 1, 2, 2), interp_method="sinc")
    law = "data_layout is 'HWCN', of no known order"
    yield fails(ArgumentError, law, f32(1, 1, 2, 2), data_layout="HWCN")
    law = "every factor is to be above 0"
    yield fails(ArgumentError, law, f32(1, 1, 2, 2), scale=(-1.0,))


@samples("trilinear_interp_v2", reference=resized)
def trilinear_samples():
    yield from ways("trilinear", 1, 1, 2, 2, 3)


@samples("bicubic_interp_v2", reference=resized)
def bicubic_samples():
    yield from ways("bicubic", 1, 1, 3, 4)


@samples("resized_back")
def resized_back_samples():
    """The transpose: its product with any image is that of the image resized with `source`."""
    attrs = {"data_layout": "NCHW", "out_d": 0, "out_h": 2, "out_w": 3, "scale": ()}
    attrs |= {"interp_method": "bilinear", "align_corners": True, "align_mode": 1}

    def back(like: Any, size: Any, sizes: Any, factor: Any, source: Any, **attrs: Any) -> Any:
        found = np.zeros(like.shape)
        for spot in np.ndindex(*like.shape):
            one = np.zeros(like.shape)
            one[spot] = 1
            found[spot] = (resized(one, **attrs) * source).sum()
        return found

    yield call(f32(1, 1, 3, 2), None, None, None, f32(1, 1, 2, 3), reference=back, **attrs)
