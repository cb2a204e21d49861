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
    strides: Any = (),
    paddings: Any = (),
    ceil_mode: bool = False,
    exclusive: bool = True,
    data_format: str = "NCHW",
    pooling_type: str,
    global_pooling: bool = False,
    adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
) -> Any:
    """Each window by itself."""
    x = np.moveaxis(x, -1, 1) if data_format[-1] == "C" else x
    size, axes = x.shape[2:], range(x.ndim - 2)
    strides, paddings = strides or (1,) * len(axes), paddings or (0,) * len(axes)
    if global_pooling:
        ksize, paddings = size, (0,) * len(axes)
    pads = [(n, n) for n in paddings]
    if len(paddings) == 2 * len(axes):
        pads = list(zip(paddings[::2], paddings[1::2], strict=True))
    if padding_algorithm == "SAME":
        need = [
            max((-(-n // s) - 1) * s + k - n, 0)
            for n, k, s in zip(size, ksize, strides, strict=True)
        ]
        pads = [(n // 2, n - n // 2) for n in need]
    if padding_algorithm == "VALID":
        pads = [(0, 0)] * len(axes)
    round_up = [s - 1 if ceil_mode else 0 for s in strides]
    counts = list(ksize) if adaptive else [
        int((n + sum(p) - k + r) / s) + 1  # towards 0: a wide window is one
        for n, p, k, r, s in zip(size, pads, ksize, round_up, strides, strict=True)
    ]  # fmt: skip
    out = np.zeros((*x.shape[:2], *counts))
    for place in np.ndindex(*counts):
        ends = [
            bounds(size[a], place[a], ksize[a], strides[a], pads[a][0], adaptive, counts[a])
            for a in axes
        ]
        area = np.prod([last - first for first, last in ends])
        window = x[(..., *[slice(max(first, 0), last) for first, last in ends])]
        if exclusive:
            area = np.prod(window.shape[2:])
        over = tuple(range(2, x.ndim))
        whole = window.max(over) if pooling_type == "max" else window.sum(over) / area
        out[(slice(None), slice(None), *place)] = whole
    return np.moveaxis(out, 1, -1) if data_format[-1] == "C" else out


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
        wide = {"ksize": (5, 2), "strides": (2, 2), "pooling_type": kind}
        yield call(f32(1, 2, 4, 4), name_of_case="a window wider than the image", **wide)
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


@samples("pool3d", reference=reference)
def pool3d_samples():
    for kind in ("max", "avg"):
        step = {"strides": (2, 1, 2), "pooling_type": kind}
        yield call(f32(2, 2, 4, 3, 4), ksize=(2, 2, 2), **step)
        yield call(f64(1, 1, 5, 4, 3), ksize=(3, 2, 2), paddings=(1, 0, 1), **step)
        attrs = {"ksize": (3, 3, 2), "strides": (2, 2, 2), "pooling_type": kind}
        yield call(f32(1, 1, 6, 4, 3), ceil_mode=True, **attrs)
        around = {"paddings": (1, 0, 0, 1, 1, 1), "exclusive": False}
        yield call(f32(1, 2, 4, 5, 3), **around, **attrs)
        yield call(f32(1, 3, 4, 3, 2), padding_algorithm="SAME", data_format="NDHWC", **attrs)
        yield call(f32(1, 2, 2, 3, 2), ksize=(1, 1, 1), global_pooling=True, pooling_type=kind)
        yield call(f32(1, 1, 2, 4, 3), ksize=(2, 2, 3), adaptive=True, pooling_type=kind)
        yield call(f32(1, 1, 3, 4, 2), ksize=(2, 3, 1), adaptive=True, pooling_type=kind)
        yield call(strided(f32(1, 1, 2, 4, 4)), ksize=(2, 2, 2), pooling_type=kind)
        yield call(f32(0, 2, 2, 2, 2), ksize=(2, 2, 2), pooling_type=kind)
        yield call(f16(1, 1, 2, 3, 2), ksize=(2, 2, 2), pooling_type=kind)
    one = {"ksize": (2, 2, 2), "pooling_type": "max"}
    yield fails(ShapeError, "x has 4 axes, 5 are needed", f32(1, 2, 4, 4), **one)
    law = "ksize is [2, 2]; three numbers from 1 on are needed"
    yield fails(ArgumentError, law, f32(1, 1, 4, 4, 4), ksize=(2, 2), pooling_type="max")


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


@samples("pool_spread", reference=spread)
def pool_spread_samples():
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


def place(x: Any, *, ksize: Any, strides: Any, pooling_type: str) -> Any:
    """Where windows without padding have their first largest element."""
    rows, columns = ((n - k) // s + 1 for n, k, s in zip(x.shape[2:], ksize, strides, strict=True))
    found = np.zeros((*x.shape[:2], rows, columns), np.int32)
    for n, c, i, j in np.ndindex(*found.shape):
        top, left = i * strides[0], j * strides[1]
        found[n, c, i, j] = x[n, c, top : top + ksize[0], left : left + ksize[1]].argmax()
    return found


@samples("pool_place", reference=place)
def pool_place_samples():
    for strides in ((1, 1), (2, 2), (2, 1)):
        yield call(array(EQUAL), ksize=(2, 2), strides=strides, pooling_type="max")
        yield call(f32(2, 3, 6, 5), ksize=(3, 2), strides=strides, pooling_type="max")
    yield call(f64(1, 2, 4, 4), ksize=(2, 2), strides=(2, 2), pooling_type="max")
    yield call(f32(0, 2, 4, 4), ksize=(2, 2), strides=(2, 2), pooling_type="max")


def share(source: Any, place: Any, like: Any, **attrs: Any) -> Any:
    """The shares of windows without padding."""
    if place is None:
        named = {n: attrs[n] for n in ("ksize", "strides", "pooling_type")}
        return spread(like, source, source, **named)
    found = np.zeros(like.shape)
    for n, c, i, j in np.ndindex(*source.shape):
        spot = np.unravel_index(place[n, c, i, j], attrs["ksize"])
        top, left = i * attrs["strides"][0] + spot[0], j * attrs["strides"][1] + spot[1]
        found[n, c, top, left] += source[n, c, i, j]
    return found


@samples("pool_share", reference=share)
def pool_share_samples():
    few = np.array([[[[0, 3], [1, 2]]]], np.int32)
    for strides in ((1, 1), (2, 2), (3, 2)):
        attrs = {"ksize": (2, 2), "strides": strides}
        like = f32(1, 1, strides[0] + 2, strides[1] + 2)
        yield call(f32(1, 1, 2, 2), few, like, pooling_type="max", **attrs)
        yield call(f32(1, 1, 2, 2), None, like, pooling_type="avg", **attrs)
    yield call(
        f64(1, 1, 2, 2), few, f64(1, 1, 4, 4), ksize=(2, 2), strides=(2, 2), pooling_type="max"
    )


def take(source: Any, place: Any, **attrs: Any) -> Any:
    """What windows without padding have at a place."""
    rows, columns = (
        (n - k) // s + 1
        for n, k, s in zip(source.shape[2:], attrs["ksize"], attrs["strides"], strict=True)
    )
    found = np.zeros((*source.shape[:2], rows, columns))
    for n, c, i, j in np.ndindex(*found.shape):
        top, left = i * attrs["strides"][0], j * attrs["strides"][1]
        window = source[n, c, top : top + attrs["ksize"][0], left : left + attrs["ksize"][1]]
        found[n, c, i, j] = window.mean() if place is None else window.flat[place[n, c, i, j]]
    return found


@samples("pool_take", reference=take)
def pool_take_samples():
    few = np.array([[[[0, 3], [1, 2]]]], np.int32)
    for strides in ((1, 1), (2, 2), (3, 2)):
        attrs = {"ksize": (2, 2), "strides": strides}
        source = f32(1, 1, strides[0] + 2, strides[1] + 2)
        yield call(source, few, pooling_type="max", **attrs)
        yield call(source, None, pooling_type="avg", **attrs)


@samples("pool_pick", reference=pick)
def pool_pick_samples():
    attrs = {"ksize": (2, 2), "strides": (1, 1)}
    top = array([[[[2.0, 2.0], [2.0, 2.0]]]])
    yield call(array(EQUAL), top, f32(1, 1, 3, 3), pooling_type="max", grad=("source",), **attrs)
    yield call(f32(1, 1, 3, 3), top, f32(1, 1, 3, 3), pooling_type="avg", grad=("source",), **attrs)
