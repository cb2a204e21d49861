"""Samples of cutting images into windows and dealing their elements to channels."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples


def places(size: Any, attrs: dict[str, Any]) -> Any:
    """For each element of a window and each window: where it is."""
    pads = attrs["paddings"]
    top, left, bottom, right = pads if len(pads) == 4 else [*pads, *pads]
    (s, r), (d, e), (h, w) = attrs["strides"], attrs["dilations"], attrs["kernel_sizes"]
    rows = (size[0] + top + bottom - d * (h - 1) - 1) // s + 1
    columns = (size[1] + left + right - e * (w - 1) - 1) // r + 1
    for i, j, row, column in np.ndindex(h, w, rows, columns):
        y, x = row * s + i * d - top, column * r + j * e - left
        inside = 0 <= y < size[0] and 0 <= x < size[1]
        yield i * w + j, row * columns + column, (y, x) if inside else None


def cut(x: Any, **attrs: Any) -> Any:
    n, c = x.shape[:2]
    found = list(places(x.shape[2:], attrs))
    out = np.zeros((n, c, found[-1][0] + 1, found[-1][1] + 1))
    for element, window, spot in found:
        if spot:
            out[:, :, element, window] = x[:, :, spot[0], spot[1]]
    return out.reshape(n, -1, out.shape[3])


def joined(x: Any, *, output_sizes: Any, **attrs: Any) -> Any:
    area = np.prod(attrs["kernel_sizes"])
    x = x.reshape(len(x), -1, area, x.shape[2])
    out = np.zeros((*x.shape[:2], *output_sizes))
    for element, window, spot in places(output_sizes, attrs):
        if spot:
            out[:, :, spot[0], spot[1]] += x[:, :, element, window]
    return out


PLAIN = {"strides": (1, 1), "paddings": (0, 0), "dilations": (1, 1)}
WIDE = {"strides": (2, 1), "paddings": (1, 0, 2, 1), "dilations": (1, 2)}


@samples("unfold", reference=cut)
def unfold_samples():
    yield call(f32(1, 2, 4, 5), kernel_sizes=(2, 3), **PLAIN)
    yield call(f64(2, 1, 4, 5), kernel_sizes=(2, 3), **WIDE)
    yield call(f16(1, 1, 3, 3), kernel_sizes=(2, 2), **PLAIN)
    yield fails(
        ShapeError, "x has 3 axes, 4 are needed", f32(2, 4, 5), kernel_sizes=(2, 2), **PLAIN
    )
    law = "paddings is [-1, 0]; two or four numbers from 0 on are needed"
    wrong = PLAIN | {"paddings": (-1, 0)}
    yield fails(ArgumentError, law, f32(1, 2, 4, 5), kernel_sizes=(2, 2), **wrong)


@samples("fold", reference=joined)
def fold_samples():
    yield call(f32(1, 12, 9), output_sizes=(4, 5), kernel_sizes=(2, 3), **PLAIN)
    yield call(f64(2, 6, 6), output_sizes=(4, 5), kernel_sizes=(2, 3), **WIDE)
    law = "x has 8 columns, 9 windows fit"
    yield fails(ShapeError, law, f32(1, 12, 8), output_sizes=(4, 5), kernel_sizes=(2, 3), **PLAIN)
    law = "x has 11 rows, of which windows of 6 elements make no channels"
    yield fails(ShapeError, law, f32(1, 11, 9), output_sizes=(4, 5), kernel_sizes=(2, 3), **PLAIN)


def last_to_first(x: Any, data_format: str) -> Any:
    return x if data_format == "NCHW" else np.moveaxis(x, -1, 1)


def first_to_last(x: Any, data_format: str) -> Any:
    return x if data_format == "NCHW" else np.moveaxis(x, 1, -1)


def larger(x: Any, *, upscale_factor: int = 1, data_format: str = "NCHW") -> Any:
    x, r = last_to_first(x, data_format), upscale_factor
    n, c, h, w = x.shape
    out = np.zeros((n, c // r**2, h * r, w * r))
    for k, i, j in np.ndindex(out.shape[1:]):
        out[:, k, i, j] = x[:, k * r * r + i % r * r + j % r, i // r, j // r]
    return first_to_last(out, data_format)


def smaller(x: Any, *, downscale_factor: int = 1, data_format: str = "NCHW") -> Any:
    x, r = last_to_first(x, data_format), downscale_factor
    n, c, h, w = x.shape
    out = np.zeros((n, c * r * r, h // r, w // r))
    for k, i, j in np.ndindex(c, h, w):
        out[:, k * r * r + i % r * r + j % r, i // r, j // r] = x[:, k, i, j]
    return first_to_last(out, data_format)


@samples("pixel_shuffle", reference=larger)
def pixel_shuffle_samples():
    yield call(f32(2, 8, 2, 3), upscale_factor=2)
    yield call(f64(1, 2, 3, 9), upscale_factor=3, data_format="NHWC")
    yield call(i32(1, 4, 1, 2), upscale_factor=2)
    law = "4 does not divide 6 channels"
    yield fails(ArgumentError, law, f32(1, 6, 2, 2), upscale_factor=2)
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(4, 2, 2), upscale_factor=2)


@samples("pixel_unshuffle", reference=smaller)
def pixel_unshuffle_samples():
    yield call(f32(2, 2, 4, 6), downscale_factor=2)
    yield call(f64(1, 3, 6, 2), downscale_factor=3, data_format="NHWC")
    yield call(f16(1, 1, 2, 2), downscale_factor=2)
    law = "2 does not divide 3 elements along an axis"
    yield fails(ArgumentError, law, f32(1, 1, 3, 4), downscale_factor=2)


def dealt(x: Any, *, groups: int = 1, data_format: str = "NCHW") -> Any:
    x = last_to_first(x, data_format)
    n, c, h, w = x.shape
    found = x.reshape(n, groups, c // groups, h, w).swapaxes(1, 2).reshape(x.shape)
    return first_to_last(found, data_format)


@samples("channel_shuffle", reference=dealt)
def channel_shuffle_samples():
    yield call(f32(2, 6, 2, 2), groups=3)
    yield call(f64(1, 2, 2, 6), groups=2, data_format="NHWC")
    yield fails(ArgumentError, "4 does not divide 6 channels", f32(1, 6, 2, 2), groups=4)
