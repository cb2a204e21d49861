"""Samples of operators on the channels of images."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, samples, strided


def largest(x: Any, *, groups: int, axis: int = 1) -> Any:
    first = np.moveaxis(x, axis, 1)
    n, c, h, w = first.shape
    return np.moveaxis(first.reshape(n, c // groups, groups, h, w).max(2), 1, axis)


@samples("maxout", reference=largest)
def maxout_samples():
    yield call(f32(2, 4, 3, 2), groups=2)
    yield call(f64(1, 6, 2, 2), groups=3)
    yield call(f32(2, 3, 2, 4), groups=2, axis=3)
    yield call(strided(f32(2, 3, 2, 4)), groups=4, axis=-1)
    yield call(f32(0, 4, 2, 2), groups=2)
    yield call(f16(1, 4, 1, 2), groups=2)
    yield call(array(np.zeros((1, 4, 1, 1))), groups=2, grad=False)
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 4, 3), groups=2)
    yield fails(ArgumentError, "groups is 1; at least 2", f32(2, 4, 3, 3), groups=1)
    yield fails(ArgumentError, "3 does not divide 4 channels", f32(2, 4, 3, 3), groups=3)
    yield fails(ArgumentError, "axis is 2; channels lie", f32(2, 4, 3, 3), groups=2, axis=2)
    yield fails(DtypeError, "not of floating-point elements", i32(2, 4, 3, 3), groups=2)


def first_of(x: Any, *, groups: int, axis: int = 1) -> Any:
    first = np.moveaxis(x, axis, 1)
    n, c, h, w = first.shape
    parts = first.reshape(n, c // groups, groups, h, w)
    marks = np.arange(groups)[:, None, None] == parts.argmax(2)[:, :, None]
    return np.moveaxis(marks.reshape(first.shape), 1, axis)


@samples("first_largest", reference=first_of)
def first_largest_samples():
    yield call(f32(2, 4, 3, 2), groups=2)
    yield call(f32(2, 3, 2, 4), groups=2, axis=3)
    yield call(array(np.ones((1, 4, 2, 1))), groups=4, name_of_case="ties")


def shifted(x: Any, by: int, *, seg_num: int, shift_ratio: float, data_format: str) -> Any:
    first = x if data_format == "NCHW" else np.moveaxis(x, 3, 1)
    videos = first.reshape(-1, seg_num, *first.shape[1:])
    count = first.shape[1]
    later, moved = int(count * shift_ratio), int(count * 2 * shift_ratio)
    found = videos.copy()
    for t in range(seg_num):
        for begin, end, source in ((0, later, t - by), (later, moved, t + by)):
            inside = 0 <= source < seg_num
            found[:, t, begin:end] = videos[:, source, begin:end] if inside else 0
    found = found.reshape(first.shape)
    return found if data_format == "NCHW" else np.moveaxis(found, 1, 3)


def later(x: Any, *, seg_num: int, shift_ratio: float = 0.25, data_format: str = "NCHW") -> Any:
    return shifted(x, 1, seg_num=seg_num, shift_ratio=shift_ratio, data_format=data_format)


def earlier(x: Any, *, seg_num: int, shift_ratio: float = 0.25, data_format: str = "NCHW") -> Any:
    return shifted(x, -1, seg_num=seg_num, shift_ratio=shift_ratio, data_format=data_format)


@samples("temporal_shift", reference=later)
def temporal_shift_samples():
    yield call(f32(6, 4, 2, 3), seg_num=3)
    yield call(f32(4, 10, 1, 2), seg_num=2, shift_ratio=0.3)
    yield call(f64(3, 2, 2, 5), seg_num=3, shift_ratio=0.2, data_format="NHWC")
    yield call(f32(2, 4, 1, 1), seg_num=1)
    yield call(f32(6, 2, 2, 2), seg_num=3, shift_ratio=0.1)
    yield call(f16(2, 4, 1, 1), seg_num=2)
    yield fails(ArgumentError, "3 does not divide 5 images", f32(5, 4, 2, 2), seg_num=3)
    yield fails(ArgumentError, "seg_num is 0; at least 1", f32(5, 4, 2, 2), seg_num=0)
    law = "shift_ratio is 0.5, outside (0, 0.5)"
    yield fails(ArgumentError, law, f32(6, 4, 2, 2), seg_num=3, shift_ratio=0.5)
    law = "data_format is 'NCDHW'"
    yield fails(ArgumentError, law, f32(6, 4, 2, 2), seg_num=3, data_format="NCDHW")
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(6, 4, 2), seg_num=3)


@samples("temporal_unshift", reference=earlier)
def temporal_unshift_samples():
    yield call(f32(6, 4, 2, 3), seg_num=3)
    yield call(f64(3, 2, 2, 5), seg_num=3, shift_ratio=0.2, data_format="NHWC")


def dealt(x: Any, *, group: int = 1) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, group, c // group, h, w).swapaxes(1, 2).reshape(x.shape)


@samples("shuffle_channel", reference=dealt)
def shuffle_channel_samples():
    yield call(f32(2, 6, 2, 3), group=2)
    yield call(f64(1, 4, 1, 1), group=4)
    yield call(f32(0, 4, 2, 2))
    yield fails(ArgumentError, "4 does not divide 6 channels", f32(2, 6, 2, 3), group=4)


def affine(x: Any, scale: Any, bias: Any, *, data_layout: str = "AnyLayout") -> Any:
    tail = () if data_layout == "NHWC" else (1, 1)
    return x * scale.reshape(-1, *tail) + bias.reshape(-1, *tail)


@samples("affine_channel", reference=affine)
def affine_channel_samples():
    yield call(f32(2, 3, 2, 2), f32(3), f32(3), data_layout="NCHW")
    yield call(f64(2, 2, 2, 3), f64(3), f64(3), data_layout="NHWC")
    yield call(f32(0, 3, 2, 2), f32(3), f32(3))
    law = "scale has 2 numbers and x has 3 channels"
    yield fails(ShapeError, law, f32(2, 3, 2, 2), f32(2), f32(3))
    yield fails(ShapeError, "bias has 2 axes, 1 is needed", f32(2, 3, 2, 2), f32(3), f32(1, 3))
    law = "data_format is 'NCW'"
    yield fails(ArgumentError, law, f32(2, 3, 2, 2), f32(3), f32(3), data_layout="NCW")


def around(x: Any, *, n: int, axis: int = 1) -> Any:
    first = np.moveaxis(x, axis, 0)
    size = len(first)
    total = [first[max(i - n // 2, 0) : min(i + n // 2 + 1, size)].sum(0) for i in range(size)]
    return np.moveaxis(np.array(total).reshape(first.shape), 0, axis)


@samples("sum_near", reference=around)
def sum_near_samples():
    yield call(f32(2, 6, 3), n=3)
    yield call(f32(2, 3, 2, 5), n=5, axis=3)
    yield call(f64(2, 3), n=9)
    yield call(f16(2, 3), n=3)


def normal(
    x: Any,
    *,
    n: int = 5,
    k: float = 2.0,
    alpha: float = 1e-4,
    beta: float = 0.75,
    data_format: str = "AnyLayout",
) -> Any:
    middle = k + alpha * around(x * x, n=n, axis=3 if data_format == "NHWC" else 1)
    return x * middle**-beta, middle


@samples("lrn", reference=normal)
def lrn_samples():
    yield call(f32(2, 6, 2, 2))
    yield call(f64(1, 2, 2, 6), n=3, alpha=0.5, beta=0.5, k=1.0, data_format="NHWC")
    yield call(f32(1, 3, 1, 2), n=7, alpha=0.1, data_format="NCHW")
    yield call(f32(0, 3, 1, 2))
    yield fails(ArgumentError, "n is 4; an odd number", f32(1, 3, 2, 2), n=4)
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(1, 3, 2))


def ahead(x: Any, filter: Any, levels: Any = None) -> Any:
    if levels is not None:
        bounds = pairwise(unpacked(levels)[-1])
        return np.concatenate([ahead(x[None, a:b], filter)[0] for a, b in bounds])
    wide = np.concatenate([x, np.zeros((x.shape[0], len(filter), x.shape[2]))], 1)
    steps = x.shape[1]
    return sum(wide[:, i : i + steps] * w for i, w in enumerate(filter)) + np.zeros(x.shape)


@samples("row_conv", reference=ahead)
def row_conv_samples():
    yield call(f32(2, 5, 3), f32(2, 3))
    yield call(f64(1, 2, 2), f64(4, 2))
    yield call(f32(0, 5, 3), f32(2, 3))
    yield call(f16(1, 3, 2), f16(2, 2))
    levels = packed([[0, 2, 2, 5, 6]])
    yield call(f32(6, 3), f32(2, 3), levels)
    yield call(f64(6, 3), f64(4, 3), levels)
    yield fails(ShapeError, "x has 1 axes, 2 or 3 are needed", f32(5), f32(2, 3))
    yield fails(ArgumentError, "no levels of detail", f32(5, 3), f32(2, 3), by_value=True)
    yield fails(ShapeError, "x has 3 columns and filter has 4", f32(1, 5, 3), f32(2, 4))


def to_filter(x: Any, source: Any, like: Any) -> Any:
    steps = x.shape[1]
    parts = [(x[:, i:] * source[:, : max(steps - i, 0)]).sum((0, 1)) for i in range(len(like))]
    return np.array(parts)


@samples("row_conv_to_filter", reference=to_filter)
def row_conv_to_filter_samples():
    yield call(f32(2, 5, 3), f32(2, 5, 3), f32(2, 3))
    yield call(f64(1, 2, 2), f64(1, 2, 2), f64(4, 2))
