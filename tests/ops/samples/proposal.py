"""Samples of regions of detectors; references go box by box."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples
from tests.ops.samples.suppress import boxes, covered, kept_of


def lowered(bboxes: Any, scores: Any, **attrs: Any) -> Any:
    rows, numbers, counts = [], [], []
    edge = 0 if attrs.get("normalized", True) else 1
    for image in range(len(bboxes)):
        found = []
        for label, own in enumerate(scores[image]):
            if label == attrs.get("background_label", 0):
                continue
            order = sorted(range(len(own)), key=lambda i, own=own: -own[i])
            order = [i for i in order if own[i] > np.float32(attrs["score_threshold"])]
            order = order[: attrs["nms_top_k"]] if attrs["nms_top_k"] > -1 else order
            share = [
                [covered(bboxes[image, i], bboxes[image, j], edge) for j in order] for i in order
            ]
            most = [max(share[k][:k], default=0.0) for k in range(len(order))]
            for k, i in enumerate(order):
                factor = 1.0
                for j in range(k):
                    if attrs.get("use_gaussian"):
                        own_factor = math.exp((most[j] ** 2 - share[k][j] ** 2) * 2.0)
                    else:
                        own_factor = (1 - share[k][j]) / (1 - most[j])
                    factor = min(factor, own_factor)
                if own[i] * factor > np.float32(attrs["post_threshold"]):
                    found.append((own[i] * factor, label, i))
        found.sort(key=lambda at: -at[0])
        found = found[: attrs["keep_top_k"]] if attrs["keep_top_k"] > -1 else found
        rows += [[label, score, *bboxes[image, i]] for score, label, i in found]
        numbers += [[image * bboxes.shape[1] + i] for _, _, i in found]
        counts.append(len(found))
    return np.array(rows).reshape(-1, 6), np.array(numbers).reshape(-1, 1), np.array(counts)


ASKED = {"score_threshold": 0.2, "post_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1}


@samples("matrix_nms", reference=lowered)
def matrix_nms_samples():
    some, scores = boxes(2, 9), f32(2, 3, 9, low=0.0, high=1.0)
    yield call(some, scores, **ASKED)
    few = {**ASKED, "nms_top_k": 5, "keep_top_k": 4}
    yield call(some, scores, **few, use_gaussian=True, background_label=-1, normalized=False)
    wide = boxes(1, 6, dtype="float64"), f64(1, 2, 6, low=0.0, high=1.0)
    yield call(*wide, **ASKED)
    yield call(some, scores, **{**ASKED, "score_threshold": 2.0})
    law = "there are 9 boxes and scores of 8"
    yield fails(ShapeError, law, some, f32(2, 3, 8), **ASKED)
    yield fails(ShapeError, "scores has 2 axes, 3 are needed", some, f32(3, 9), **ASKED)


def proposals(
    scores: Any, deltas: Any, sizes: Any, anchors: Any, variances: Any, **attrs: Any
) -> Any:
    rows, chances, counts = [], [], []
    edge = 1 if attrs.get("pixel_offset", True) else 0
    anchors, variances = anchors.reshape(-1, 4), variances.reshape(-1, 4)
    for own, moves, (high, wide, *factor) in zip(scores, deltas, sizes, strict=True):
        told = own.transpose(1, 2, 0).reshape(-1)
        moves = moves.transpose(1, 2, 0).reshape(-1, 4)
        found = []
        for i in sorted(range(len(told)), key=lambda i: -told[i])[: attrs["pre_nms_top_n"]]:
            a, d, v, box = anchors[i], moves[i], variances[i], [0.0] * 4
            for axis, limit in ((0, wide - edge), (1, high - edge)):
                size = a[axis + 2] - a[axis] + edge
                centre = a[axis] + size / 2 + v[axis] * d[axis] * size
                grown = math.exp(min(v[axis + 2] * d[axis + 2], math.log(1000 / 16))) * size
                box[axis] = min(max(centre - grown / 2, 0), limit)
                box[axis + 2] = min(max(centre + grown / 2 - edge, 0), limit)
            sides = [box[k + 2] - box[k] + edge for k in (0, 1)]
            within = not edge or (box[0] + sides[0] / 2 <= wide and box[1] + sides[1] / 2 <= high)
            sides = [(side - edge) / (factor or [1])[0] + edge for side in sides]
            if min(sides) >= max(attrs["min_size"], 1) and within:
                found.append((told[i], box))
        asked = {"score_threshold": -math.inf, "nms_threshold": attrs["nms_thresh"]}
        asked |= {"nms_top_k": -1, "normalized": not edge, "nms_eta": attrs["eta"]}
        kept = kept_of([b for _, b in found], [s for s, _ in found], asked)
        kept = kept[: attrs["post_nms_top_n"]]
        own_rows = [found[i] for i in kept] or [(0.0, [0.0] * 4)]
        rows += [b for _, b in own_rows]
        chances += [[s] for s, _ in own_rows]
        counts.append(len(own_rows))
    return np.array(rows), np.array(chances), np.array(counts)


@samples("generate_proposals_v2", reference=proposals)
def generate_proposals_samples():
    anchors = np.array(boxes(2, 3, 2)) * np.float32(8)
    given = f32(2, 2, 2, 3, low=0.0, high=1.0), f32(2, 8, 2, 3), array([[12, 10], [9, 9]])
    given = (*given, anchors, np.full_like(anchors, 0.5))
    asked = {"pre_nms_top_n": 9, "post_nms_top_n": 4, "nms_thresh": 0.5, "min_size": 1.5}
    yield call(*given, **asked, eta=1.0, pixel_offset=False)
    yield call(*given, **{**asked, "nms_thresh": 0.7}, eta=0.9, pixel_offset=True)
    yield call(*given, **{**asked, "min_size": 50.0}, eta=1.0, pixel_offset=False)
    law = "bbox_deltas has 8 channels, four times the scores' are 12"
    yield fails(ShapeError, law, f32(2, 3, 2, 3), *given[1:], **asked, eta=1.0)
    law = "5 anchors and 12 scores"
    wrong = (*given[:3], f32(5, 4), f32(5, 4))
    yield fails(ShapeError, law, *wrong, **asked, eta=1.0, by_value=True)
    law = "5 variances and 12 scores"
    yield fails(ShapeError, law, *given[:4], f32(5, 4), **asked, eta=1.0, by_value=True)
    more = np.array(boxes(3, 3, 2)) * np.float32(8)
    yield call(*given[:3], more, np.full_like(more, 0.5), **asked, eta=1.0, pixel_offset=False)


@samples("generate_proposals", reference=proposals)
def older_proposals_samples():
    anchors = np.array(boxes(2, 3, 2)) * np.float32(8)
    given = f32(2, 2, 2, 3, low=0.0, high=1.0), f32(2, 8, 2, 3), array([[12, 10, 1], [9, 9, 2]])
    given = (*given, anchors, np.full_like(anchors, 0.5))
    asked = {"pre_nms_top_n": 9, "post_nms_top_n": 4, "nms_thresh": 0.5, "eta": 1.0}
    yield call(*given, **asked, min_size=2.5)
    yield call(*given, **{**asked, "nms_thresh": 0.7, "eta": 0.9}, min_size=0.0)
    law = "im_info has 2 columns, 3 are needed"
    yield fails(ShapeError, law, *given[:2], given[2][:, :2], *given[3:], **asked, min_size=0.0)


def dealt(rois: Any, counts: Any = None, **attrs: Any) -> Any:
    edge = 1 if attrs.get("pixel_offset", True) else 0
    low, high = attrs["min_level"], attrs["max_level"]
    own = np.zeros(len(rois), int)
    for i, (a, b, c, d) in enumerate(rois):
        area = 0.0 if c < a or d < b else (c - a + edge) * (d - b + edge)
        level = math.floor(math.log2(math.sqrt(area) / attrs["refer_scale"] + 1e-6))
        own[i] = min(max(level + attrs["refer_level"], low), high)
    order = [i for level in range(low, high + 1) for i in range(len(rois)) if own[i] == level]
    places = np.array([[order.index(i)] for i in range(len(rois))])
    levels = [rois[own == level] for level in range(low, high + 1)]
    told = []
    if counts is not None:
        counts = counts.reshape(-1)
        images = np.repeat(range(len(counts)), counts)
        told = [
            np.array([(images[own == level] == k).sum() for k in range(len(counts))])
            for level in range(low, high + 1)
        ]
    return levels, places, told


@samples("distribute_fpn_proposals", reference=dealt)
def distribute_fpn_proposals_samples():
    rois = np.array(boxes(7)) * np.float32(300)
    levels = {"min_level": 2, "max_level": 4, "refer_level": 3, "refer_scale": 112}
    yield call(rois, array([3, 0, 4], "int32"), **levels)
    yield call(rois, **levels, pixel_offset=False)
    yield call(rois.astype("float64"), array([7], "int64"), **levels)
    yield call(rois, array(7, "int32"), **levels)
    for wrong in (5, -(1 << 30)):
        law = f"levels from {wrong} to 4 are none, or too many"
        yield fails(ArgumentError, law, rois, **{**levels, "min_level": wrong})
    yield fails(DtypeError, "rois_num is float32", rois, f32(3), **levels)
    law = "rois_num tells of 5 regions, and there are 7"
    yield fails(ShapeError, law, rois, array([5], "int32"), **levels, by_value=True)


def gathered(rois: Any, scores: Any, counts: Any, *, post_nms_top_n: int) -> Any:
    found = []
    for level, (boxes_of, own, n) in enumerate(zip(rois, scores, counts, strict=True)):
        images = [image for image, count in enumerate(n) for _ in range(count)]
        found += [(own[i, 0], level, i, image, boxes_of[i]) for i, image in enumerate(images)]
    found.sort(key=lambda at: (at[0], *at[1:3]), reverse=True)
    found = sorted(found[:post_nms_top_n], key=lambda at: at[3])
    images = [at[3] for at in found]
    return np.array([at[4] for at in found]), np.array([images.count(i) for i in range(2)])


@samples("collect_fpn_proposals", reference=gathered)
def collect_fpn_proposals_samples():
    rois = [np.array(boxes(n)) for n in (3, 4)]
    scores = [f32(3, 1, low=0.0, high=1.0), f32(4, 1, low=0.0, high=1.0)]
    counts = [array([1, 2], "int32"), array([3, 1], "int32")]
    yield call(rois, scores, counts, post_nms_top_n=5)
    yield call(rois, scores, counts, post_nms_top_n=50)
    alike = [np.full((n, 1), 0.5, "float32") for n in (3, 4)]
    yield call(rois, alike, counts, post_nms_top_n=3, name_of_case="equals")
    law = "there are regions of 2 levels and scores of 1"
    yield fails(ShapeError, law, rois, scores[:1], counts, post_nms_top_n=5)
    law = "neither numbers nor levels of detail tell"
    yield fails(ArgumentError, law, rois, scores, post_nms_top_n=5, by_value=True)
    law = "numbers tell of 2 regions, and there are 3"
    wrong = [array([1, 1], "int32"), counts[1]]
    yield fails(ShapeError, law, rois, scores, wrong, post_nms_top_n=5, by_value=True)
    law = "post_nms_topN is -1"
    yield fails(ArgumentError, law, rois, scores, counts, post_nms_top_n=-1)
    yield fails(DtypeError, "are no numbers", rois, scores, [f32(2), f32(2)], post_nms_top_n=5)
