"""Samples of what a YOLO network is told, beside loops over boxes and places."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples

BOXES = array([[[0.3, 0.4, 0.5, 0.6], [0.6, 0.1, 0.2, 0.1]], [[0.9, 0.9, 0.3, 0.2], [0, 0, 0, 0]]])
LABELS = array([[1, 0], [1, 1]], "int32")
NETWORK = {"anchors": (10, 13, 16, 30, 33, 23), "anchor_mask": (0, 2), "class_num": 2}


def entropy(answer: float, target: float) -> float:
    return max(answer, 0) - answer * target + math.log1p(math.exp(-abs(answer)))


def shared(a: Any, b: Any) -> float:
    """What two boxes cover together, as a share of what they cover."""
    sides = [
        min(a[k] + a[k + 2] / 2, b[k] + b[k + 2] / 2)
        - max(a[k] - a[k + 2] / 2, b[k] - b[k + 2] / 2)
        for k in (0, 1)
    ]
    both = 0.0 if min(sides) < 0 else sides[0] * sides[1]
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def seen(own: Any, row: int, column: int, anchor: Any, attrs: dict[str, Any]) -> Any:
    """The box that is seen at one place."""
    scale, grid = attrs["scale_x_y"], own.shape[-1]
    x, y = (scale / (1 + math.exp(-v)) - (scale - 1) / 2 for v in own[:2, row, column])
    wide, high = (math.exp(v) * a for v, a in zip(own[2:4, row, column], anchor, strict=True))
    whole = attrs["downsample_ratio"] * grid
    return (column + x) / grid, (row + y) / grid, wide / whole, high / whole


def loss(x: Any, boxes: Any, labels: Any, scores: Any = None, **attrs: Any) -> Any:
    """As the reference describes it."""
    own, grid, classes = attrs["anchor_mask"], x.shape[2], attrs["class_num"]
    whole = attrs["downsample_ratio"] * grid
    anchors = np.reshape(attrs["anchors"], (-1, 2))
    low = min(1 / classes, 1 / 40) if attrs["use_label_smooth"] else 0.0
    losses, told = np.zeros(len(x)), np.zeros((len(x), len(own), grid, grid))
    matches = np.full(labels.shape, -1)
    for i, of_image in enumerate(x.reshape(len(x), len(own), 5 + classes, grid, grid)):
        valid = [b for b in range(labels.shape[1]) if min(boxes[i, b, 2:]) > 1e-6]
        for j, row, column in np.ndindex(told.shape[1:]):
            box = seen(of_image[j], row, column, anchors[own[j]], attrs)
            if any(shared(box, boxes[i, b]) > attrs["ignore_thresh"] for b in valid):
                told[i, j, row, column] = -1
        for b in valid:
            wide, high = boxes[i, b, 2:]
            fits = [shared((0, 0, wide, high), (0, 0, *(a / whole))) for a in anchors]
            best = int(np.argmax(fits))
            if best not in own:
                continue
            matches[i, b] = j = own.index(best)
            column, row = (int(v * grid) for v in boxes[i, b, :2])
            score = 1.0 if scores is None else scores[i, b]
            told[i, j, row, column] = score
            at, counts = of_image[j, :, row, column], (2 - wide * high) * score
            for k, spot in enumerate((column, row)):
                size = math.log(boxes[i, b, 2 + k] * whole / anchors[best][k])
                apart = entropy(at[k], boxes[i, b, k] * grid - spot) + abs(at[2 + k] - size)
                losses[i] += apart * counts
            for c in range(classes):
                losses[i] += entropy(at[5 + c], 1 - low if c == labels[i, b] else low) * score
        for place in np.ndindex(told.shape[1:]):
            thing, sure = of_image[place[0], 4, place[1], place[2]], told[(i, *place)]
            losses[i] += entropy(thing, 1) * sure if sure > 1e-5 else 0
            losses[i] += entropy(thing, 0) if -0.5 < sure <= 1e-5 else 0
    return losses, told, matches


@samples("yolo_loss", reference=loss)
def yolo_loss_samples() -> Any:
    yield call(f32(2, 14, 3, 3), BOXES, LABELS, **NETWORK, downsample_ratio=8)
    other = {"use_label_smooth": False, "scale_x_y": 1.2, "ignore_thresh": 0.2}
    scores = array([[0.5, 0.7], [0.9, 1.0]], "float64")
    given = f64(2, 14, 3, 3), BOXES.astype("float64"), LABELS, scores
    yield call(*given, **NETWORK, **other, downsample_ratio=16)
    x, how = f32(2, 14, 3, 3), {**NETWORK, "downsample_ratio": 8}
    yield fails(ShapeError, "x has 15 channels, 14 are", f32(2, 15, 3, 3), BOXES, LABELS, **how)
    yield fails(ShapeError, "3 rows and 4 columns", f32(2, 14, 3, 4), BOXES, LABELS, **how)
    yield fails(ShapeError, "gt_label has size 3 where", x, BOXES, LABELS[[0, 0, 0], :1], **how)
    yield fails(DtypeError, "not of integers", x, BOXES, f32(2, 2), **how)
    wrong = how | {"anchor_mask": (0, 3)}
    yield fails(ArgumentError, "anchor_mask is [0, 3]; numbers of", x, BOXES, LABELS, **wrong)
    law = "the centre of a box lies outside of its image"
    yield fails(RangeError, law, x, BOXES + np.float32(0.5), LABELS, **how, by_value=True)


def targets(x: Any, boxes: Any, labels: Any, scores: Any, told: Any, **attrs: Any) -> Any:
    """What channels should say, how much it counts, and whether they are sizes."""
    own, grid, classes = attrs["anchor_mask"], x.shape[2], attrs["class_num"]
    whole = attrs["downsample_ratio"] * grid
    found = np.zeros((3, len(x), len(own), 5 + classes, grid, grid))
    found[2, :, :, 2:4] = 1
    found[0, :, :, 4], found[1, :, :, 4] = told > 1e-5, np.where(told > 1e-5, told, told > -0.5)
    anchors = np.reshape(attrs["anchors"], (-1, 2))
    low = min(1 / classes, 1 / 40) if attrs["use_label_smooth"] else 0.0
    for i, b in np.ndindex(*labels.shape):
        size = boxes[i, b, 2:]
        fits = [shared((0, 0, *size), (0, 0, *(a / whole))) for a in anchors]
        if min(size) < 1e-6 or int(np.argmax(fits)) not in own:
            continue
        best, spot = int(np.argmax(fits)), boxes[i, b, :2] * grid
        column, row = (int(v) for v in spot)
        score = 1.0 if scores is None else scores[i, b]
        chances = [1 - low if c == labels[i, b] else low for c in range(classes)]
        place = spot - (column, row), np.log(size * whole / anchors[best]), [0], chances
        counts = [*[(2 - size[0] * size[1]) * score] * 4, 0, *[score] * classes]
        keep = np.arange(5 + classes) != 4
        at = i, own.index(best), keep, row, column
        found[(0, *at)], found[(1, *at)] = np.concatenate(place)[keep], np.array(counts)[keep]
    target, weight, is_size = found.reshape(3, *x.shape)
    return target, weight, is_size > 0


@samples("yolo_target", reference=targets)
def yolo_target_samples() -> Any:
    how = {**NETWORK, "downsample_ratio": 8, "use_label_smooth": True}
    told = np.where(np.arange(36).reshape(2, 2, 3, 3) % 4 == 0, 0.5, -1.0 * (np.arange(3) == 1))
    yield call(f32(2, 14, 3, 3), BOXES, LABELS, None, told.astype("float32"), **how)
    x, law = f32(2, 14, 3, 3), "float32[2, 1, 3, 3] stands where the shape is [2, 2, 3, 3]"
    yield fails(ShapeError, law, x, BOXES, LABELS, None, f32(2, 1, 3, 3), **how)
    wrong = how | {"anchors": ()}
    yield fails(ArgumentError, "anchors is []", x, BOXES, LABELS, None, f32(2, 2, 3, 3), **wrong)
    scores, how = f64(2, 2), how | {"use_label_smooth": False}
    yield call(f64(2, 14, 3, 3), BOXES.astype("float64"), LABELS, scores, told, **how)
