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
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    global_pooling: bool = False,
    adaptive: bool = False,
) -> Any:
    """Each window by itself."""
    size = x.shape[2:]
    if global_pooling:
        ksize, paddings = size, (0, 0)
    counts = list(ksize) if adaptive else [
        (n + 2 * p - k) // s + 1
        for n, p, k, s in zip(size, paddings, ksize, strides, strict=True)
    ]  # fmt: skip
    out = np.zeros((*x.shape[:2], *counts))
    mask = np.zeros(out.shape, "int32")
    for n, c, i, j in np.ndindex(*out.shape):
        top, bottom = bounds(size[0], i, ksize[0], strides[0], paddings[0], adaptive, counts[0])
        left, right = bounds(size[1], j, ksize[1], strides[1], paddings[1], adaptive, counts[1])
        top, left = max(top, 0), max(left, 0)
        window = x[n, c, top:bottom, left:right]
        row, column = np.unravel_index(window.argmax(), window.shape)
        out[n, c, i, j] = window[row, column]
        mask[n, c, i, j] = (top + row) * size[1] + left + column
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
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 4, 4), ksize=(2, 2))
    yield fails(DtypeError, "not of floating-point elements", i32(1, 1, 4, 4), ksize=(2, 2))


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
