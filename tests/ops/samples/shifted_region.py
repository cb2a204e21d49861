"""Samples of regions whose bins are moved; references go point by point."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from scull.ops.level import packed, segments, unpacked
from tests.ops.sample import array, call, f32, f64, fails, samples

ROIS = array([[0.6, 1, 4, 3.4], [2, 0.6, 6.4, 5.4], [-3, -3, 9, 9]])
LEVELS = packed([[0, 1, 3]])
SIZE = {"pooled_height": 2, "pooled_width": 3, "group_size": (2, 1), "part_size": (2, 2)}
ASKED = {**SIZE, "spatial_scale": 0.9, "sample_per_part": 2, "trans_std": 0.13}


def points(shape: Any, roi: Any, trans: Any, attrs: dict[str, Any], channel: int, h: int, w: int):
    """The channel that a bin reads, and its points within the image: row and column."""
    scale = attrs["spatial_scale"]
    begin = [math.copysign(math.floor(abs(v) + 0.5), v) * scale - 0.5 for v in roi[:2]]
    end = [(math.copysign(math.floor(abs(v) + 0.5), v) + 1) * scale - 0.5 for v in roi[2:]]
    sizes = [max(b - a, 0.1) for a, b in zip(begin, end, strict=True)]
    counts = attrs["pooled_width"], attrs["pooled_height"]
    for axis, place in enumerate((w, h)):
        begin[axis] += place * sizes[axis] / counts[axis]
    if not attrs["no_trans"]:
        label = channel // (attrs["output_dim"] // (len(trans) // 2))
        i, j = (
            place * part // count
            for place, part, count in zip((h, w), attrs["part_size"], counts[::-1], strict=True)
        )
        for axis in (0, 1):
            begin[axis] += trans[2 * label + axis, i, j] * attrs["trans_std"] * sizes[axis]
    groups = attrs["group_size"]
    row, column = h * groups[0] // counts[1], w * groups[1] // counts[0]
    each, spots = attrs["sample_per_part"], []
    for i, j in np.ndindex(each, each):
        x, y = (
            begin[axis] + k * sizes[axis] / counts[axis] / each for axis, k in enumerate((j, i))
        )
        if -0.5 <= x <= shape[1] - 0.5 and -0.5 <= y <= shape[0] - 0.5:
            spots.append((min(max(y, 0), shape[0] - 1), min(max(x, 0), shape[1] - 1)))
    return (channel * groups[0] + row) * groups[1] + column, spots


def between(plane: Any, y: float, x: float) -> Any:
    i, j = math.floor(y), math.floor(x)
    k, m = math.ceil(y), math.ceil(x)
    top = plane[i, j] * (1 - x + j) + plane[i, m] * (x - j)
    return top * (1 - y + i) + (plane[k, j] * (1 - x + j) + plane[k, m] * (x - j)) * (y - i)


def pooled(x: Any, rois: Any, trans: Any, levels: Any = None, **attrs: Any) -> Any:
    images = [0] * len(rois) if levels is None else segments(unpacked(levels)[0])
    shape = len(rois), attrs["output_dim"], attrs["pooled_height"], attrs["pooled_width"]
    found, counts = np.zeros(shape), np.zeros(shape)
    for n, c, h, w in np.ndindex(shape):
        channel, spots = points(x.shape[2:], rois[n], trans[n], attrs, c, h, w)
        values = [between(x[images[n], channel], *spot) for spot in spots]
        found[n, c, h, w], counts[n, c, h, w] = np.mean(values or [0]), len(values)
    return found, counts


@samples("deformable_psroi_pooling", reference=pooled)
def deformable_psroi_pooling_samples():
    moved = {**ASKED, "no_trans": False, "output_dim": 4}
    learnt = {"grad": ("input", "trans")}
    yield call(f32(2, 8, 6, 7), ROIS, f32(3, 4, 2, 2), LEVELS, **moved, **learnt)
    one = {**moved, "output_dim": 2, "sample_per_part": 3}
    double = f64(1, 4, 4, 5), ROIS.astype("float64"), f64(3, 2, 2, 2)
    yield call(*double, **one, **learnt)
    still = {**ASKED, "no_trans": True, "output_dim": 3}
    yield call(f32(2, 6, 6, 7), ROIS, f32(3, 4, 2, 2), LEVELS, **still, grad=("input",))
    none = f32(1, 4, 4, 5), ROIS[:0], f32(0, 2, 2, 2)
    yield call(*none, **one, grad=False)
    law = "input has 7 channels, 8 are needed: one for each of a group"
    yield fails(ShapeError, law, f32(2, 7, 6, 7), ROIS, f32(3, 4, 2, 2), LEVELS, **moved)
    law = "trans has 3 channels, not two for each class, whose number divides output_dim, 4"
    yield fails(ShapeError, law, f32(2, 8, 6, 7), ROIS, f32(3, 3, 2, 2), LEVELS, **moved)
    law = "part_size is [2]; two numbers from 1 on are needed"
    wrong = {**moved, "part_size": (2,)}
    yield fails(ArgumentError, law, f32(2, 8, 6, 7), ROIS, f32(3, 4, 2, 2), LEVELS, **wrong)
    law = "regions are of 1 images, and input has 2"
    yield fails(RangeError, law, f32(2, 8, 6, 7), ROIS, f32(3, 4, 2, 2), **moved, by_value=True)


def given_back(x: Any, rois: Any, trans: Any, levels: Any, source: Any, **attrs: Any) -> Any:
    """The first by marking each element alone, the second by small steps."""
    found, moves = np.zeros(x.shape), np.zeros(trans.shape)
    for spot in np.ndindex(x.shape):
        one = np.zeros(x.shape)
        one[spot] = 1
        found[spot] = (pooled(one, rois, trans, levels, **attrs)[0] * source).sum()
    for spot in np.ndindex(trans.shape):
        step = np.zeros(trans.shape)
        step[spot] = 1e-6
        more, less = (pooled(x, rois, trans + s, levels, **attrs)[0] for s in (step, -step))
        moves[spot] = ((more - less) * source).sum() / 2e-6
    return found, moves


@samples("shifted_regions_back", reference=given_back)
def shifted_regions_back_samples():
    attrs = {**ASKED, "no_trans": False, "output_dim": 2}
    given = f32(2, 4, 4, 5), ROIS, f32(3, 2, 2, 2), LEVELS
    yield call(*given, f32(3, 2, 2, 3), **attrs, grad=False)
