"""Samples of regions of images."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples

ROIS = array([[0.5, 1, 4, 3.5], [2, 0.5, 6.5, 5.5], [4, 4, 1, 1], [-3, -3, 20, 20]])
NUMBERS = array([1, 3], "int32")
IMAGES = (0, 1, 1, 1)


def between(image: Any, y: float, x: float) -> Any:
    """The channels of an image between its elements; 0 more than one outside."""
    h, w = image.shape[1:]
    if not (-1 <= y <= h and -1 <= x <= w):
        return np.zeros(len(image))
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    i, j = int(y), int(x)
    k, m = min(i + 1, h - 1), min(j + 1, w - 1)
    top = image[:, i, j] * (1 - x + j) + image[:, i, m] * (x - j)
    bottom = image[:, k, j] * (1 - x + j) + image[:, k, m] * (x - j)
    return top * (1 - y + i) + bottom * (y - i)


def aligned_regions(x: Any, rois: Any, numbers: Any = None, **attrs: Any) -> Any:
    height, width = attrs["pooled_height"], attrs["pooled_width"]
    images = np.zeros(len(rois), int) if numbers is None else np.repeat([0, 1], numbers)
    found = np.zeros((len(rois), x.shape[1], height, width))
    for k, roi in enumerate(rois * attrs["spatial_scale"] - 0.5 * attrs["aligned"]):
        rows, columns = roi[3] - roi[1], roi[2] - roi[0]
        if not attrs["aligned"]:
            rows, columns = max(rows, 1), max(columns, 1)
        bin_rows, bin_columns = rows / height, columns / width
        ratio = attrs["sampling_ratio"]
        m, n = (ratio if ratio > 0 else math.ceil(b) for b in (bin_rows, bin_columns))
        for h, w in np.ndindex(height, width):
            for i, j in np.ndindex(max(m, 0), max(n, 0)):
                y = roi[1] + (h + (i + 0.5) / m) * bin_rows
                at = roi[0] + (w + (j + 0.5) / n) * bin_columns
                found[k, :, h, w] += between(x[images[k]], y, at) / (m * n)
    return found


@samples("roi_align", reference=aligned_regions)
def roi_align_samples():
    size = {"pooled_height": 2, "pooled_width": 3}
    for aligned in (True, False):
        yield call(f32(2, 3, 6, 7), ROIS, NUMBERS, aligned=aligned, grad=("x",), **size)
    ratio = {"sampling_ratio": 2, "spatial_scale": 0.5}
    double = ROIS.astype("float64")
    yield call(f64(2, 1, 4, 4), double, NUMBERS, grad=("x",), **size, **ratio)
    yield call(f32(1, 2, 5, 5), ROIS[:2], grad=("x",))
    yield call(f32(2, 2, 5, 5), ROIS[:0], array([0, 0], "int32"), grad=False)
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 5, 5), ROIS, NUMBERS)
    yield fails(ShapeError, "a region has 3 numbers", f32(2, 1, 5, 5), ROIS[:, :3], NUMBERS)
    law = "the output is 0 by 1"
    yield fails(ArgumentError, law, f32(2, 1, 5, 5), ROIS, NUMBERS, pooled_height=0)
    law = "x has 2 images; which regions"
    yield fails(ShapeError, law, f32(2, 1, 5, 5), ROIS)
    yield fails(DtypeError, "differ in element type", f64(2, 1, 5, 5), ROIS, NUMBERS)
    law = "rois_num [1, 2] does not sum up to 4 regions"
    short = array([1, 2], "int32")
    yield fails(RangeError, law, f32(2, 1, 5, 5), ROIS, short, by_value=True)
    endless = ROIS.astype("float32") * np.float32(np.inf)
    yield fails(RangeError, "no finite size", f32(2, 1, 5, 5), endless, NUMBERS, by_value=True)


def given_back(source: Any, rois: Any, numbers: Any, like: Any, **attrs: Any) -> Any:
    found = np.zeros(like.shape)
    for spot in np.ndindex(like.shape[2:]):
        one = np.zeros(like.shape)
        one[(slice(None), slice(None), *spot)] = 1
        shares = aligned_regions(one, rois, numbers, **attrs) * source
        for k, image in enumerate(IMAGES):
            found[(image, slice(None), *spot)] += shares[k].sum((1, 2))
    return found


@samples("roi_align_back", reference=given_back)
def roi_align_back_samples():
    attrs = {"pooled_height": 2, "pooled_width": 3, "sampling_ratio": -1, "aligned": True}
    given = ROIS, NUMBERS, f32(2, 1, 4, 5)
    yield call(f32(4, 1, 2, 3), *given, spatial_scale=1.0, grad=("source",), **attrs)


def mean_of_bins(x: Any, rois: Any, numbers: Any = None, **attrs: Any) -> Any:
    height, width, channels = (
        attrs[n] for n in ("pooled_height", "pooled_width", "output_channels")
    )
    images = np.zeros(len(rois), int) if numbers is None else np.repeat([0, 1], numbers)
    found = np.zeros((len(rois), channels, height, width))
    for k, roi in enumerate(rois):
        left, top, right, bottom = (math.copysign(math.floor(abs(v) + 0.5), v) for v in roi)
        left, top, right, bottom = (
            v * attrs["spatial_scale"] for v in (left, top, right + 1, bottom + 1)
        )
        rows, columns = max(bottom - top, 0.1) / height, max(right - left, 0.1) / width
        for c, h, w in np.ndindex(channels, height, width):
            spots = [
                x[images[k], (c * height + h) * width + w, i, j]
                for i, j in np.ndindex(x.shape[2:])
                if math.floor(h * rows + top) <= i < math.ceil((h + 1) * rows + top)
                and math.floor(w * columns + left) <= j < math.ceil((w + 1) * columns + left)
            ]
            found[k, c, h, w] = np.mean(spots) if spots else 0
    return found


@samples("psroi_pool", reference=mean_of_bins)
def psroi_pool_samples():
    size = {"pooled_height": 2, "pooled_width": 3, "output_channels": 2}
    yield call(f32(2, 12, 6, 7), ROIS, NUMBERS, grad=("x",), **size)
    double = ROIS.astype("float64")
    half = {"spatial_scale": 0.5, "output_channels": 3}
    yield call(f64(2, 3, 4, 4), double, NUMBERS, grad=("x",), **half)
    yield call(f32(1, 12, 5, 5), ROIS[:2], grad=("x",), **size)
    yield call(f32(2, 1, 5, 5), ROIS[:0], array([0, 0], "int32"), grad=False)
    law = "x has 5 channels, and 12 are needed"
    yield fails(ShapeError, law, f32(2, 5, 5, 5), ROIS, NUMBERS, **size)


def given_to_bins(source: Any, rois: Any, numbers: Any, like: Any, **attrs: Any) -> Any:
    found = np.zeros(like.shape)
    for spot in np.ndindex(like.shape):
        one = np.zeros(like.shape)
        one[spot] = 1
        found[spot] = (mean_of_bins(one, rois, numbers, **attrs) * source).sum()
    return found


@samples("psroi_pool_back", reference=given_to_bins)
def psroi_pool_back_samples():
    attrs = {"pooled_height": 2, "pooled_width": 1, "output_channels": 2, "spatial_scale": 1.0}
    yield call(f32(4, 2, 2, 1), ROIS, NUMBERS, f32(2, 4, 4, 5), grad=("source",), **attrs)


def largest_of(x: Any, rois: Any, numbers: Any = None, **attrs: Any) -> Any:
    height, width = attrs["pooled_height"], attrs["pooled_width"]
    images = np.zeros(len(rois), int) if numbers is None else np.repeat([0, 1], numbers)
    values = np.zeros((len(rois), x.shape[1], height, width))
    places = np.full(values.shape, -1)
    corners = rois * attrs["spatial_scale"]
    corners = np.trunc(corners + np.copysign(0.5, corners)).astype(int)
    for k, (left, top, right, bottom) in enumerate(corners):
        rows, columns = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for h, w in np.ndindex(height, width):
            begin = top + math.floor(h * rows / height), left + math.floor(w * columns / width)
            end = top + math.ceil((h + 1) * rows / height)
            ends = end, left + math.ceil((w + 1) * columns / width)
            for c in range(x.shape[1]):
                for i, j in np.ndindex(x.shape[2:]):
                    if begin[0] <= i < ends[0] and begin[1] <= j < ends[1]:
                        value = x[images[k], c, i, j]
                        if places[k, c, h, w] < 0 or value > values[k, c, h, w]:
                            values[k, c, h, w] = value
                            places[k, c, h, w] = i * x.shape[3] + j
    return values, places


@samples("roi_pool", reference=largest_of)
def roi_pool_samples():
    size = {"pooled_height": 2, "pooled_width": 2}
    yield call(f32(2, 3, 6, 7), ROIS, NUMBERS, grad=("x",), **size)
    yield call(f64(2, 1, 4, 4), ROIS.astype("float64"), NUMBERS, spatial_scale=0.5, grad=("x",))
    yield call(f32(1, 2, 5, 5), ROIS[:2], grad=("x",), **size)
    yield fails(ShapeError, "rois has 1 axes, 2 are needed", f32(2, 1, 5, 5), ROIS[0], NUMBERS)


CHOSEN = array([[[[3, 0], [-1, 3]]], [[[1, 1], [2, 5]]]], "int64")
ONE_EACH = array([1, 1], "int32")


def scattered(chosen: Any, numbers: Any, like: Any, source: Any) -> Any:
    found = np.zeros((2, 1, 6))
    for spot in np.ndindex(chosen.shape):
        if chosen[spot] >= 0:
            found[spot[0], 0, chosen[spot]] += source[spot]
    return found.reshape(like.shape)


@samples("scatter_regions", reference=scattered)
def scatter_regions_samples():
    yield call(CHOSEN, ONE_EACH, f32(2, 1, 2, 3), f32(2, 1, 2, 2), grad=("source",))


def gathered(chosen: Any, numbers: Any, source: Any) -> Any:
    flat = source.reshape(2, 1, 6)
    found = np.take_along_axis(flat, np.maximum(chosen, 0).reshape(2, 1, 4), 2)
    return np.where(chosen >= 0, found.reshape(chosen.shape), 0)


@samples("gather_regions", reference=gathered)
def gather_regions_samples():
    yield call(CHOSEN, ONE_EACH, f32(2, 1, 2, 3), grad=("source",))
