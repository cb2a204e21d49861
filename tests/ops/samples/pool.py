"""Samples of pooling."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples, strided


def bounds(
    n: int, i: int, k: int, s: int, before: int, adaptive: bool, count: int
) -> tuple[int, int]:
    """Where window `i` begins and ends on an axis of `n`, padding included."""
    if adaptive:
        return i * n // count, -(-(i + 1) * n // count)
    return i * s - before, min(i * s - before + k, n + before)


def reference(
    x: Any,
    *,
    ksize: Any,
    strides: Any = (1, 1),
    paddings: Any = (0, 0),
    ceil_mode: bool = False,
    exclusive: bool = True,
    data_format: str = "NCHW",
    pooling_type: str,
    global_pooling: bool = False,
    adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
) -> Any:
    """Each window by itself."""
    if data_format == "NHWC":
        x = x.transpose(0, 3, 1, 2)
    size = x.shape[2:]
    if global_pooling:
        ksize, paddings = size, (0, 0)
    pads = [(n, n) for n in paddings] if len(paddings) == 2 else [paddings[:2], paddings[2:]]
    if padding_algorithm == "SAME":
        need = [
            max((-(-n // s) - 1) * s + k - n, 0)
            for n, k, s in zip(size, ksize, strides, strict=True)
        ]
        pads = [(n // 2, n - n // 2) for n in need]
    if padding_algorithm == "VALID":
        pads = [(0, 0), (0, 0)]
    round_up = [s - 1 if ceil_mode else 0 for s in strides]
    counts = list(ksize) if adaptive else [
        (n + sum(p) - k + r) // s + 1
        for n, p, k, r, s in zip(size, pads, ksize, round_up, strides, strict=True)
    ]  # fmt: skip
    out = np.zeros((*x.shape[:2], *counts))
    for i, j in np.ndindex(*counts):
        top, bottom = bounds(size[0], i, ksize[0], strides[0], pads[0][0], adaptive, counts[0])
        left, right = bounds(size[1], j, ksize[1], strides[1], pads[1][0], adaptive, counts[1])
        area = (bottom - top) * (right - left)
        window = x[:, :, max(top, 0) : bottom, max(left, 0) : right]
        if exclusive:
            area = window.shape[2] * window.shape[3]
        whole = window.max((2, 3)) if pooling_type == "max" else window.sum((2, 3)) / area
        out[:, :, i, j] = whole
    return out.transpose(0, 2, 3, 1) if data_format == "NHWC" else out


@samples("pool2d", reference=reference)
def pool2d_samples():
    for kind in ("max", "avg"):
        yield call(f32(2, 3, 4, 6), ksize=(2, 2), strides=(2, 2), pooling_type=kind)
        yield call(
            f64(1, 2, 5, 5), ksize=(3, 2), strides=(2, 1), paddings=(1, 0), pooling_type=kind
        )
        attrs = {"ksize": (3, 3), "strides": (2, 2), "pooling_type": kind}
        yield call(f32(1, 1, 6, 6), ceil_mode=True, **attrs)
        yield call(f32(1, 2, 6, 5), paddings=(1, 0, 0, 1), exclusive=False, **attrs)
        yield call(f32(1, 2, 6, 5), paddings=(1, 1), exclusive=False, ceil_mode=True, **attrs)
        yield call(f32(1, 5, 4, 2), padding_algorithm="SAME", data_format="NHWC", **attrs)
        yield call(f32(1, 1, 5, 5), padding_algorithm="VALID", paddings=(1, 1), **attrs)
        yield call(f32(2, 2, 3, 4), ksize=(1, 1), global_pooling=True, pooling_type=kind)
        yield call(f32(1, 2, 4, 6), ksize=(2, 3), adaptive=True, pooling_type=kind)
        yield call(f32(1, 2, 5, 4), ksize=(3, 6), adaptive=True, pooling_type=kind)
        yield call(strided(f32(1, 1, 4, 4)), ksize=(2, 2), pooling_type=kind)
        yield call(f32(0, 2, 4, 4), ksize=(2, 2), pooling_type=kind)
        yield call(f16(1, 1, 4, 4), ksize=(2, 2), pooling_type=kind)
    one = {"ksize": (2, 2), "pooling_type": "max"}
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 4, 4), **one)
    yield fails(DtypeError, "not of floating-point elements", i32(1, 1, 4, 4), **one)
    law = "a window of 5 does not fit into 4 with padding [0, 0]"
    yield fails(ShapeError, law, f32(1, 1, 4, 4), ksize=(5, 5), pooling_type="max")
    law = "pooling_type is 'sum', neither max nor avg"
    yield fails(ArgumentError, law, f32(1, 1, 4, 4), ksize=(2, 2), pooling_type="sum")
    law = "ksize is [2]; two numbers from 1 on are needed"
    yield fails(ArgumentError, law, f32(1, 1, 4, 4), ksize=(2,), pooling_type="max")


def spread(x: Any, y: Any, source: Any, *, ksize: Any, strides: Any, pooling_type: str) -> Any:
    """The shares of windows without padding."""
    found = np.zeros(x.shape)
    for n, c, i, j in np.ndindex(*y.shape):
        top, left = i * strides[0], j * strides[1]
        window = x[n, c, top : top + ksize[0], left : left + ksize[1]]
        target = found[n, c, top : top + ksize[0], left : left + ksize[1]]
        if pooling_type == "avg":
            target += source[n, c, i, j] / window.size
        else:
            target[np.unravel_index(window.argmax(), window.shape)] += source[n, c, i, j]
    return found


def pick(x: Any, y: Any, source: Any, *, ksize: Any, strides: Any, pooling_type: str) -> Any:
    """What windows without padding take."""
    found = np.zeros(y.shape)
    for n, c, i, j in np.ndindex(*y.shape):
        area = np.s_[
            n,
            c,
            i * strides[0] : i * strides[0] + ksize[0],
            j * strides[1] : j * strides[1] + ksize[1],
        ]
        best = source[area].reshape(-1)[x[area].argmax()]
        found[n, c, i, j] = source[area].mean() if pooling_type == "avg" else best
    return found


EQUAL = [
    [[[2.0, 2.0, 1.0], [2.0, 2.0, 2.0], [0.5, 2.0, 2.0]]]
]  # windows with several largest elements


@samples("pool2d_spread", reference=spread)
def pool2d_spread_samples():
    attrs = {"ksize": (2, 2), "strides": (1, 1)}
    yield call(
        array(EQUAL),
        array(EQUAL)[:, :, :2, :2],
        f32(1, 1, 2, 2),
        pooling_type="max",
        grad=("source",),
        **attrs,
    )
    yield call(
        f32(1, 1, 3, 3),
        f32(1, 1, 2, 2),
        f32(1, 1, 2, 2),
        pooling_type="avg",
        grad=("source",),
        **attrs,
    )


@samples("pool2d_pick", reference=pick)
def pool2d_pick_samples():
    attrs = {"ksize": (2, 2), "strides": (1, 1)}
    top = array([[[[2.0, 2.0], [2.0, 2.0]]]])
    yield call(array(EQUAL), top, f32(1, 1, 3, 3), pooling_type="max", grad=("source",), **attrs)
    yield call(f32(1, 1, 3, 3), top, f32(1, 1, 3, 3), pooling_type="avg", grad=("source",), **attrs)
