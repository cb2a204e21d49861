"""Samples of operators on boxes."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, i32, samples

SOME = array([[0, 0, 4, 4], [1, 1, 5, 5], [6, 6, 8, 9], [0, 0, 4, 3], [6, 6, 8, 8]])


def overlap(a: Any, b: Any) -> float:
    wide, high = (max(min(a[i + 2], b[i + 2]) - max(a[i], b[i]), 0) for i in (0, 1))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return wide * high / (sum(areas) - wide * high)


def first_ones(boxes: Any, *, iou_threshold: float) -> Any:
    kept: list[int] = []
    for i, box in enumerate(boxes):
        if all(overlap(box, boxes[j]) <= iou_threshold for j in kept):
            kept.append(i)
    return np.array(kept, "int64")


@samples("nms", reference=first_ones)
def nms_samples():
    for most in (0.1, 0.3, 0.5, 0.9):
        yield call(SOME, iou_threshold=most)
    yield call(SOME[:0], iou_threshold=0.5)
    yield fails(ShapeError, "boxes has 1 axes, 2 are needed", SOME[0])
    yield fails(ShapeError, "a box of boxes has 3 numbers", SOME[:, :3])
    yield fails(DtypeError, "not of floating-point elements", i32(2, 4))


def coded(prior: Any, target: Any, var: Any = None, **attrs: Any) -> Any:
    edge = 0 if attrs["box_normalized"] else 1
    scales = var if var is not None else [attrs["variance"] or (1, 1, 1, 1)] * len(prior)

    def middle(box: Any) -> list[Any]:
        sizes = [box[i + 2] - box[i] + edge for i in (0, 1)]
        return [box[0] + sizes[0] / 2, box[1] + sizes[1] / 2, *sizes]

    encode = attrs["code_type"] == "encode_center_size"
    shape = (len(target), len(prior), 4) if encode else target.shape
    found = np.zeros(shape)
    for n, m in np.ndindex(shape[:2]):
        k = m if encode or attrs["axis"] == 0 else n
        x, y, w, h = middle(prior[k])
        if encode:
            box, (*_, wide, high) = target[n], middle(target[n])
            centre = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            code = (centre[0] - x) / w, (centre[1] - y) / h, np.log(wide / w), np.log(high / h)
            found[n, m] = np.array(code) / scales[k]
        else:
            a, b, c, d = target[n, m] * scales[k]
            a, b, c, d = a * w + x, b * h + y, np.exp(c) * w / 2, np.exp(d) * h / 2
            found[n, m] = a - c, b - d, a + c - edge, b + d - edge
    return found


@samples("box_coder", reference=coded)
def box_coder_samples():
    back = {"code_type": "decode_center_size"}
    some = (0.1, 0.1, 0.2, 0.2)
    yield call(SOME, SOME[1:3], variance=some)
    yield call(SOME, SOME[1:3], f32(5, 4, low=0.1, high=1.0), box_normalized=False)
    yield call(SOME, f32(2, 5, 4), variance=some, **back)
    yield call(SOME, f32(5, 2, 4), axis=1, box_normalized=False, **back)
    yield call(SOME.astype("float64"), f64(2, 5, 4), f64(5, 4), **back)
    yield fails(ArgumentError, "code_type is 'none'", SOME, SOME, code_type="none")
    yield fails(ShapeError, "target_box has 3 axes, 2 are needed", SOME, f32(2, 5, 4))
    law = "target_box has 4 boxes along the axis of 5 prior ones"
    yield fails(ShapeError, law, SOME, f32(2, 4, 4), **back)
    yield fails(ArgumentError, "variance has 3 numbers", SOME, SOME, variance=(1, 1, 1))


def seen(x: Any, sizes: Any, **attrs: Any) -> Any:
    def sure(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    anchors, classes = np.reshape(attrs["anchors"], (-1, 2)), attrs["class_num"]
    images, _, rows, columns = x.shape
    shape = (images, len(anchors), rows, columns)
    boxes, scores = np.zeros((*shape, 4)), np.zeros((*shape, classes))
    for n, a, h, w in np.ndindex(shape):
        begin = a * (5 + classes) + (len(anchors) if attrs["iou_aware"] else 0)
        own = x[n, begin : begin + 5 + classes, h, w]
        chance = sure(own[4])
        if attrs["iou_aware"]:
            power = attrs["iou_aware_factor"]
            chance = chance ** (1 - power) * sure(x[n, a, h, w]) ** power
        if chance < attrs["conf_thresh"]:
            continue
        scale = attrs["scale_x_y"]
        high, wide = sizes[n]
        spot = sure(own[:2]) * scale - 0.5 * (scale - 1) + (w, h)
        centre = spot * (wide / columns, high / rows)
        extent = np.exp(own[2:4]) * anchors[a] * (wide / columns, high / rows)
        half = extent / attrs["downsample_ratio"] / 2
        low, top = centre - half, centre + half
        if attrs["clip_bbox"]:
            low, top = np.maximum(low, 0), np.minimum(top, (wide - 1, high - 1))
        boxes[n, a, h, w] = [*low, *top]
        scores[n, a, h, w] = chance * sure(own[5:])
    return boxes.reshape(images, -1, 4), scores.reshape(images, -1, classes)


@samples("yolo_box", reference=seen)
def yolo_box_samples():
    sizes, pairs = array([[60, 80], [50, 40]], "int32"), (10, 13, 16, 30)
    yield call(f32(2, 14, 3, 4), sizes, anchors=pairs, class_num=2)
    other = {"conf_thresh": 0.5, "clip_bbox": False, "scale_x_y": 1.2, "downsample_ratio": 16}
    yield call(f64(2, 12, 2, 2), sizes, anchors=pairs, class_num=1, **other)
    aware = {"iou_aware": True, "iou_aware_factor": 0.25}
    yield call(f32(2, 16, 2, 2), sizes, anchors=pairs, class_num=2, **aware)
    law = "x has 15 channels, 14 are needed"
    yield fails(ShapeError, law, f32(2, 15, 3, 4), sizes, anchors=pairs, class_num=2)
    law = "anchors is [10]; pairs of numbers"
    yield fails(ArgumentError, law, f32(2, 14, 3, 4), sizes, anchors=(10,), class_num=2)


def common(x: Any, y: Any, *, box_normalized: bool) -> Any:
    edge = 0 if box_normalized else 1
    found = np.zeros((len(x), len(y)))
    for i, j in np.ndindex(found.shape):
        boxes = x[i], y[j]
        sides = [min(b[k + 2] for b in boxes) - max(b[k] for b in boxes) + edge for k in (0, 1)]
        both = max(sides[0], 0) * max(sides[1], 0)
        whole = sum((b[2] - b[0] + edge) * (b[3] - b[1] + edge) for b in boxes) - both
        found[i, j] = both / (whole + 1e-10)
    return found


@samples("iou_similarity", reference=common)
def iou_similarity_samples():
    yield call(SOME, SOME[1:4])
    yield call(SOME, SOME[1:4], box_normalized=False)
    yield call(SOME.astype("float64") / 9, SOME.astype("float64")[:1] / 9)
    yield call(array([[3, 3, 3, 3], [0, 0, 1, 1]]), array([[3, 3, 3, 3]]))
    yield call(SOME[:0], SOME)
    yield fails(ShapeError, "y has 1 axes, 2 are needed", SOME, SOME[0])
    law = "differ in element type; cast one"
    yield fails(DtypeError, law, SOME, SOME.astype("float64"))


def cut(boxes: Any, sizes: Any, levels: Any) -> Any:
    found = np.array(boxes)
    for (a, b), (high, wide, factor) in zip(pairwise(unpacked(levels)[0]), sizes, strict=True):
        most = [np.floor(n / factor + 0.5) - 1 for n in (wide, high)] * 2
        found[a:b] = np.clip(found[a:b], 0, most)
    return found


SIZES = array([[3, 5, 1], [9, 7, 2]])
TWO = packed([[0, 2, 5]])


@samples("box_clip", reference=cut)
def box_clip_samples():
    yield call(SOME - 1, SIZES, TWO)
    yield call(np.stack([SOME, SOME - 2], 1), SIZES, packed([[0, 0, 5]]))
    yield call(SOME.astype("float64"), SIZES.astype("float64"), TWO)
    yield fails(ShapeError, "im_info has 2 columns, 3 are needed", SOME, SIZES[:, :2], TWO)
    yield fails(ShapeError, "input has 1 axes, 2 or 3", SOME[0], SIZES, TWO)
    law = "input has 0 levels of detail; 1 says whose a box is"
    yield fails(ArgumentError, law, SOME, SIZES, by_value=True)
    law = "input has boxes for 2 images, im_info tells of 1"
    yield fails(ShapeError, law, SOME, SIZES[:1], TWO, by_value=True)
    law = "levels of detail tell of 5 rows, not 4"
    yield fails(ShapeError, law, SOME[:4], SIZES, TWO, by_value=True)


def corners(x: Any) -> Any:
    found = np.zeros(x.shape)
    for n, c, i, j in np.ndindex(x.shape):
        found[n, c, i, j] = 4 * (i if c % 2 else j) - x[n, c, i, j]
    return found


@samples("polygon_box_transform", reference=corners)
def polygon_box_transform_samples():
    yield call(f32(2, 4, 3, 5))
    yield call(f64(1, 8, 2, 1))
    yield call(f32(1, 0, 2, 2))
    yield fails(ShapeError, "input has 3 channels, an even number", f32(1, 3, 2, 2))
    yield fails(ShapeError, "input has 2 axes, 4 are needed", f32(2, 2))


def decoded(prior: Any, target: Any, score: Any, var: Any, *, box_clip: float) -> Any:
    found, best = np.zeros(target.shape), np.array(prior)
    for i, label in np.ndindex(score.shape):
        box, code = prior[i], target[i, 4 * label : 4 * label + 4] * var
        for k in (0, 1):
            size = box[k + 2] - box[k] + 1
            middle = code[k] * size + box[k] + size / 2
            half = math.exp(min(code[k + 2], box_clip)) * size / 2
            found[i, 4 * label + k], found[i, 4 * label + k + 2] = middle - half, middle + half - 1
        if label and score[i, label] == score[i, 1:].max() > -1:
            best[i] = found[i, 4 * label : 4 * label + 4]
    return found, best


@samples("box_decoder_and_assign", reference=decoded)
def box_decoder_and_assign_samples():
    var = array([0.1, 0.1, 0.2, 0.2])
    yield call(SOME, f32(5, 12), f32(5, 3), var, box_clip=4.135)
    yield call(SOME, f32(5, 8), f32(5, 2) - 3, var, box_clip=0.1)
    yield call(SOME, f32(5, 4), f32(5, 1), var, box_clip=4.135)
    double = SOME.astype("float64"), f64(5, 12), f64(5, 3), var.astype("float64")
    yield call(*double, box_clip=4.135)
    law = "target_box has 8 columns, four a class are 12"
    yield fails(ShapeError, law, SOME, f32(5, 8), f32(5, 3), var, box_clip=4.0)
    law = "prior_box_var is needed"
    yield fails(ArgumentError, law, SOME, f32(5, 8), f32(5, 2), box_clip=4.0)
    law = "box_score has 4 rows, prior_box 5"
    yield fails(ShapeError, law, SOME, f32(5, 8), f32(4, 2), var, box_clip=4.0)
