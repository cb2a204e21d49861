"""Samples of what a detector is to learn; references go box by box."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, fails, samples

GENERATOR = np.random.default_rng(7)


def boxes(count: int, size: float) -> Any:
    low, wide = GENERATOR.uniform(0, size, (2, count, 2))
    return np.concatenate([low, low + wide], 1).astype("float32")


TRUTH = boxes(4, 12)
ANCHORS = np.concatenate([boxes(9, 12), TRUTH + np.float32(0.4), boxes(3, 12)])
LEVELS = packed([[0, 1, 4]])
CROWD = array([[0], [0], [1], [0]], "int32")
INFO = array([[30, 28, 1], [60, 52, 2]])


def shared(a: Any, b: Any) -> float:
    sides = [min(a[k + 2], b[k + 2]) - max(a[k], b[k]) + 1 for k in (0, 1)]
    both = max(sides[0], 0) * max(sides[1], 0)
    whole = [(c[2] - c[0] + 1) * (c[3] - c[1] + 1) for c in (a, b)]
    return both / (sum(whole) - both)


def differing(a: Any, b: Any, weights: Any = (1, 1, 1, 1)) -> Any:
    found = []
    for k in (0, 1):
        size, other = a[k + 2] - a[k] + 1, b[k + 2] - b[k] + 1
        found.append((b[k] + other / 2 - a[k] - size / 2) / size)
    found += [math.log((b[k + 2] - b[k] + 1) / (a[k + 2] - a[k] + 1)) for k in (0, 1)]
    return [v / w for v, w in zip(found, weights, strict=True)]


def assigned(anchors: Any, truth: Any, crowd: Any, info: Any, levels: Any, _: Any, **attrs: Any):
    located, told, moves, labels, weights = [], [], [], [], []
    for image, (a, b) in enumerate(pairwise(unpacked(levels)[0])):
        high, wide, factor = info[image]
        objects = [box * factor for box, c in zip(truth[a:b], crowd[a:b, 0], strict=True) if not c]
        edge = attrs["rpn_straddle_thresh"]
        inside = [
            i
            for i, (left, top, right, bottom) in enumerate(anchors)
            if edge < 0
            or (min(left, top) >= -edge and right < wide + edge and bottom < high + edge)
        ]
        table = {i: [shared(anchors[i], o) for o in objects] for i in inside}
        best = [max(table[i][k] for i in inside) for k in range(len(objects))]
        near = [
            i
            for i in inside
            if max(table[i]) >= attrs["rpn_positive_overlap"]
            or any(abs(v - m) < 1e-5 for v, m in zip(table[i], best, strict=True))
        ]
        batch = attrs["rpn_batch_size_per_im"]
        near = near[: int(batch * attrs["rpn_fg_fraction"])]
        far = [i for i in inside if max(table[i]) < attrs["rpn_negative_overlap"]]
        far = far[: batch - len(near)]
        kept = [i for i in near if i not in far]
        fake = [near[0]] * (len(near) - len(kept))
        for i in fake + kept:
            moves.append(differing(anchors[i], objects[int(np.argmax(table[i]))]))
        weights += [[0.0] * 4] * len(fake) + [[1.0] * 4] * len(kept)
        located += [i + image * len(anchors) for i in fake + kept]
        told += [i + image * len(anchors) for i in kept + sorted(far)]
        labels += [[1]] * len(kept) + [[0]] * len(far)
    return tuple(map(np.array, (located, told, moves, labels, weights)))


def counts_of_images(found: Any) -> None:
    """Random choices: as many as asked of each image, foreground and background apart."""
    located, told, _, labels, *_ = map(np.asarray, found)
    for image in (0, 1):
        own = told // len(ANCHORS) == image
        assert own.sum() == len(set(told[own])) == 6
        assert labels[own].sum() <= 3
        assert set(told[own & (labels[:, 0] == 1)]) <= set(located)


@samples("rpn_target_assign", reference=assigned)
def rpn_target_assign_samples():
    given = ANCHORS, TRUTH, CROWD, INFO, LEVELS, LEVELS
    asked = {"rpn_batch_size_per_im": 6, "rpn_fg_fraction": 0.5, "use_random": False}
    asked |= {"rpn_positive_overlap": 0.7, "rpn_negative_overlap": 0.3}
    yield call(*given, **asked, rpn_straddle_thresh=-1.0)
    yield call(*given, **asked, rpn_straddle_thresh=0.0)
    overlapping = {**asked, "rpn_negative_overlap": 0.9, "rpn_batch_size_per_im": 24}
    yield call(*given, **overlapping, rpn_straddle_thresh=-1.0, name_of_case="near and far")
    chance = {**asked, "use_random": True, "rpn_straddle_thresh": -1.0}
    yield call(*given, **chance, holds=counts_of_images)
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, *given[:4], **asked, by_value=True)
    law = "gt_boxes has rows for 2 images, im_info tells of 1"
    yield fails(ShapeError, law, *given[:3], INFO[:1], LEVELS, LEVELS, **asked, by_value=True)
    law = "is_crowd is int64, not int32"
    yield fails(DtypeError, law, *given[:2], CROWD.astype("int64"), *given[3:], **asked)
    law = "is_crowd has 3 rows, gt_boxes 4"
    yield fails(ShapeError, law, *given[:2], CROWD[:3], *given[3:], **asked)


CLASSES = array([[1], [3], [2], [2]], "int32")
ROIS = np.concatenate([TRUTH[:1] + 1, boxes(5, 12), TRUTH[1:] + np.float32(0.5), boxes(4, 12)])
ROI_LEVELS = packed([[0, 6, 13]])
NEAR = array([0.2, 1.0, 0.5, 0.7, 0.1, 0.9, 0.3, 1.0, 0.4, 0.6, 0.8, 0.2, 0.5])


def learnt(
    rois: Any,
    classes: Any,
    crowd: Any,
    truth: Any,
    info: Any,
    most: Any,
    *levels: Any,
    **attrs: Any,
) -> Any:
    rows: list[Any] = [[] for _ in range(6)]
    ends = unpacked(levels[0])[0], unpacked(levels[1])[0]
    for image, factor in enumerate(info[:, 2]):
        a, b = ends[0][image : image + 2]
        c, d = ends[1][image : image + 2]
        own = [r / factor for r in rois[a:b]]
        if attrs["is_cascade_rcnn"]:
            own = [r for r, m in zip(own, most[a:b], strict=True) if m < 1]
        all = [*truth[c:d], *own]
        table = [[shared(box, o) for o in truth[c:d]] for box in all]
        best = [max(line) for line in table]
        for i in np.flatnonzero(crowd[c:d, 0]):
            best[i] = -1
        near = [i for i, v in enumerate(best) if v >= attrs["fg_thresh"]]
        low, high = attrs["bg_thresh_lo"], attrs["bg_thresh_hi"]
        far = [i for i, v in enumerate(best) if i not in near and low <= v < high]
        if not attrs["is_cascade_rcnn"]:
            near = near[: int(attrs["batch_size_per_im"] * attrs["fg_fraction"])]
            far = far[: attrs["batch_size_per_im"] - len(near)]
        for i in near + far:
            object = int(np.argmax(table[i]))
            label = int(classes[c + object, 0]) if i in near else 0
            target, weight = np.zeros((2, attrs["class_nums"], 4))
            if label:
                place = 1 if attrs["is_cls_agnostic"] else label
                move = differing(all[i], truth[c + object], attrs["bbox_reg_weights"])
                target[place], weight[place] = move, 1
            flat = target.reshape(-1), weight.reshape(-1), weight.reshape(-1)
            for line, value in zip(rows, (all[i] * factor, [label], *flat, best[i]), strict=True):
                line.append(value)
    return tuple(map(np.array, rows))


def regions_of_images(found: Any) -> None:
    """Random choices: as many as asked, the near ones first and no more of them than that."""
    _, labels, *_, overlap, _ = map(np.asarray, found)
    assert len(labels) == 8
    for own, near in ((labels[:4], overlap[:4]), (labels[4:], overlap[4:])):
        assert (own > 0).sum() <= 2
        assert ((near >= 0.5) == (own[:, 0] > 0)).all()


@samples("generate_proposal_labels", reference=learnt)
def generate_proposal_labels_samples():
    levels = ROI_LEVELS, LEVELS, LEVELS, LEVELS
    given = ROIS, CLASSES, CROWD, TRUTH, INFO
    asked = {"batch_size_per_im": 4, "fg_fraction": 0.5, "fg_thresh": 0.5, "bg_thresh_hi": 0.5}
    asked |= {"bg_thresh_lo": 0.0, "bbox_reg_weights": (0.1, 0.1, 0.2, 0.2), "class_nums": 4}
    fixed = {**asked, "use_random": False}
    yield call(*given, None, *levels, **fixed)
    yield call(*given, None, *levels, **{**fixed, "batch_size_per_im": 30}, is_cls_agnostic=True)
    yield call(*given, NEAR, *levels, **fixed, is_cascade_rcnn=True)
    yield call(*given, None, *levels, **asked, holds=regions_of_images)
    law = "with is_cascade_rcnn max_overlap is needed"
    yield fails(ArgumentError, law, *given, None, *levels, **fixed, is_cascade_rcnn=True)
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, *given, **fixed, by_value=True)
    law = "gt_classes has 3 rows, gt_boxes 4"
    yield fails(ShapeError, law, ROIS, CLASSES[:3], *given[2:], None, *levels, **fixed)
    law = "bbox_reg_weights has 1 numbers, 4 are needed"
    wrong = {**fixed, "bbox_reg_weights": (1.0,)}
    yield fails(ArgumentError, law, *given, None, *levels, **wrong)
