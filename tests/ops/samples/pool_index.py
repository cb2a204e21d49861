"""Samples of pooling that says where the largest elements are."""

from typing import Any

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples
from tests.ops.samples.pool import bounds


def largest(
    x: Any,
    *,
    ksize: Any,
    strides: Any = (),
    paddings: Any = (),
    global_pooling: bool = False,
    adaptive: bool = False,
) -> Any:
    """Each window by itself."""
    size, axes = x.shape[2:], range(x.ndim - 2)
    strides, paddings = strides or (1,) * len(axes), paddings or (0,) * len(axes)
    if global_pooling:
        ksize, paddings = size, (0,) * len(axes)
    counts = list(ksize) if adaptive else [
        (n + 2 * p - k) // s + 1
        for n, p, k, s in zip(size, paddings, ksize, strides, strict=True)
    ]  # fmt: skip
    out = np.zeros((*x.shape[:2], *counts))
    mask = np.zeros(out.shape, "int32")
    for n, c, *place in np.ndindex(*out.shape):
        ends = [
            bounds(size[a], place[a], ksize[a], strides[a], paddings[a], adaptive, counts[a])
            for a in axes
        ]
        starts = [max(first, 0) for first, _ in ends]
        window = x[(n, c, *[slice(s, last) for s, (_, last) in zip(starts, ends, strict=True)])]
        numbers = np.where(np.isnan(window), -np.inf, window)  # no number is no largest one
        best = np.unravel_index(numbers.argmax(), window.shape)
        out[(n, c, *place)] = window[best]
        spot = [s + i for s, i in zip(starts, best, strict=True)]
        mask[(n, c, *place)] = np.ravel_multi_index(spot, size)
    return out, mask


@samples("max_pool2d_with_index", reference=largest)
def max_pool2d_with_index_samples():
    yield call(f32(2, 3, 4, 6), ksize=(2, 2), strides=(2, 2))
    yield call(f64(1, 2, 5, 5), ksize=(3, 2), strides=(2, 1), paddings=(1, 0))
    yield call(f32(2, 2, 3, 4), ksize=(1, 1), global_pooling=True)
    yield call(f32(1, 2, 4, 6), ksize=(2, 3), adaptive=True)
    yield call(f32(1, 2, 5, 4), ksize=(3, 3), adaptive=True)
    yield call(f32(0, 2, 4, 4), ksize=(2, 2))
    yield call(f16(1, 1, 4, 4), ksize=(2, 2))
    yield call(array(np.ones((1, 1, 3, 3))), ksize=(2, 2), grad=False)
    nan, inf = np.nan, np.inf
    odd = array([[[[nan, inf, 1, nan], [1, 2, 3, 2], [nan, nan, -inf, nan], [4, nan, nan, inf]]]])
    yield call(odd, ksize=(2, 2), strides=(2, 2), grad=False, name_of_case="no numbers")
    yield call(odd, ksize=(3, 3), paddings=(1, 1), grad=False, name_of_case="no numbers, edges")
    none = array([[[[nan, -inf], [-inf, nan]]]])
    yield call(none, ksize=(2, 2), grad=False, holds=lambda f: f[0] < -1e38 and f[1] == -1)
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 4, 4), ksize=(2, 2))
    yield fails(DtypeError, "not of floating-point elements", i32(1, 1, 4, 4), ksize=(2, 2))


@samples("max_pool3d_with_index", reference=largest)
def max_pool3d_with_index_samples():
    yield call(f32(2, 2, 4, 2, 4), ksize=(2, 2, 2), strides=(2, 2, 2))
    yield call(f64(1, 1, 3, 4, 5), ksize=(3, 2, 2), strides=(1, 2, 2), paddings=(1, 0, 1))
    yield call(f32(1, 2, 3, 4, 2), ksize=(2, 3, 2), adaptive=True)
    yield call(f32(1, 2, 2, 2, 2), ksize=(1, 1, 1), global_pooling=True)
    yield call(f16(1, 1, 2, 3, 2), ksize=(2, 2, 2))
    yield fails(ShapeError, "x has 4 axes, 5 are needed", f32(1, 2, 4, 4), ksize=(2, 2, 2))


def scattered(like: Any, mask: Any, source: Any) -> Any:
    found = np.zeros((*like.shape[:2], like[0, 0].size))
    for n, c, i, j in np.ndindex(*mask.shape):
        found[n, c, mask[n, c, i, j]] += source[n, c, i, j]
    return found.reshape(like.shape)


@samples("scatter_pooled", reference=scattered)
def scatter_pooled_samples():
    places = array([[[[0, 5, 5]], [[3, 0, 1]]]], "int32")
    yield call(f32(1, 2, 2, 3), places, f32(1, 2, 1, 3))


@samples("gather_pooled")
def gather_pooled_samples():
    places = array([[[[0, 5, 5]]]], "int32")
    source = f32(1, 1, 2, 3)
    yield call(places, source, reference=lambda mask, x: x.reshape(-1)[mask])
