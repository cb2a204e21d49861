"""Samples of operators on boxes."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
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


def around(input: Any, image: Any, **attrs: Any) -> Any:
    ratios = [1.0]
    for r in attrs["aspect_ratios"]:
        if r != 1:
            ratios += [r, 1 / r] if attrs["flip"] else [r]
    rows, columns = input.shape[2:]
    height, width = image.shape[2:]
    step = attrs["step_w"] or width / columns, attrs["step_h"] or height / rows
    found = []
    for h, w in np.ndindex(rows, columns):
        for i, size in enumerate(attrs["min_sizes"]):
            boxes = [(size * r**0.5, size / r**0.5) for r in ratios]
            extra = [((size * attrs["max_sizes"][i]) ** 0.5,) * 2] if attrs["max_sizes"] else []
            second = attrs["min_max_aspect_ratios_order"]
            for a, b in boxes[:1] + extra + boxes[1:] if second else boxes + extra:
                x, y = (w + attrs["offset"]) * step[0], (h + attrs["offset"]) * step[1]
                box = (x - a / 2) / width, (y - b / 2) / height
                found.append([*box, (x + a / 2) / width, (y + b / 2) / height])
    boxes = np.array(found).reshape(rows, columns, -1, 4)
    boxes = np.clip(boxes, 0, 1) if attrs["clip"] else boxes
    return boxes, np.broadcast_to(attrs["variance"], boxes.shape)


@samples("prior_box", reference=around)
def prior_box_samples():
    given, some = (f32(1, 2, 3, 4), f32(1, 3, 9, 16)), (0.1, 0.1, 0.2, 0.2)
    yield call(*given, min_sizes=(2.0,), variance=some)
    both = {"min_sizes": (2.0, 3.0), "max_sizes": (4.0, 6.0), "aspect_ratios": (1.0, 2.0, 0.25)}
    yield call(*given, variance=some, flip=False, clip=False, **both)
    order = {"min_max_aspect_ratios_order": True, "offset": 0.0}
    yield call(*given, variance=some, step_w=4.0, step_h=2.0, **order, **both)
    yield fails(ArgumentError, "variances is []; four numbers", *given, min_sizes=(2.0,))
    law = "there are 1 min_sizes and 2 max_sizes"
    sizes = {"min_sizes": (2.0,), "max_sizes": (4.0, 5.0)}
    yield fails(ArgumentError, law, *given, variance=some, **sizes)


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
