"""Samples of the choice among the boxes of each class."""

import math
from typing import Any

import numpy as np

from scull.errors import DtypeError, ShapeError, UnsupportedError
from tests.ops.sample import call, f32, f64, fails, i32, samples


def boxes(*shape: int, dtype: str = "float32") -> Any:
    """Boxes whose second corner lies behind the first."""
    low = np.array((f32 if dtype == "float32" else f64)(*shape, 2)) % 1
    size = np.array((f32 if dtype == "float32" else f64)(*shape, 2)) % 1
    return np.concatenate([low, low + size], -1)


def covered(a: Any, b: Any, edge: int) -> float:
    """How much two boxes share."""
    if any(a[i] > b[i + 2] or b[i] > a[i + 2] for i in (0, 1)):
        return 0.0
    both = whole_a = whole_b = 1.0
    for i in (0, 1):
        both *= min(a[i + 2], b[i + 2]) - max(a[i], b[i]) + edge
        whole_a *= a[i + 2] - a[i] + edge
        whole_b *= b[i + 2] - b[i] + edge
    return both / (whole_a + whole_b - both)


def kept_of(boxes: Any, scores: Any, attrs: dict[str, Any]) -> list[int]:
    """The boxes of one class that are kept, surest first."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    order = [i for i in order if scores[i] > np.float32(attrs["score_threshold"])]
    limit, kept = attrs.get("nms_threshold", 0.3), []
    for i in order[: attrs["nms_top_k"]] if attrs["nms_top_k"] > -1 else order:
        edge = 0 if attrs.get("normalized", True) else 1
        if all(covered(boxes[i], boxes[j], edge) <= limit for j in kept):
            kept.append(i)
            if attrs.get("nms_eta", 1.0) < 1 and limit > 0.5:
                limit *= attrs["nms_eta"]
    return kept


def chosen(bboxes: Any, scores: Any, rois_num: Any = None, **attrs: Any) -> Any:
    """Every image, class by class."""
    rows, numbers, counts, start = [], [], [], 0
    for image in range(len(scores) if rois_num is None else len(rois_num)):
        if rois_num is None:
            own = [(bboxes[image], s) for s in scores[image]]
        else:
            piece = slice(start, start + rois_num[image])
            own = [(bboxes[piece, c], scores[piece, c]) for c in range(scores.shape[1])]
        found = []
        for c, (b, s) in enumerate(own):
            if c != attrs.get("background_label", 0):
                kept = kept_of(b, s, attrs)
                found += [(c, i, s[i], b[i]) for i in (kept if rois_num is None else sorted(kept))]
        if -1 < attrs["keep_top_k"] < len(found):
            found = sorted(found, key=lambda f: -f[2])[: attrs["keep_top_k"]]
            found.sort(key=lambda f: f[0] if rois_num is None else f[:2])
        for c, i, s, b in found:
            rows.append([c, s, *b])
            width = scores.shape[1]
            number = i + image * scores.shape[2] if rois_num is None else (start + i) * width + c
            numbers.append([number])
        counts.append(len(found))
        start += 0 if rois_num is None else rois_num[image]
    kept = np.array(rows, bboxes.dtype).reshape(-1, 6)
    return kept, np.array(numbers, "int32").reshape(-1, 1), np.array(counts, "int32")


ASKED = {"score_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1}


@samples("multiclass_nms3", reference=chosen)
def multiclass_nms3_samples():
    some, scores = boxes(2, 9), f32(2, 3, 9, low=0.0, high=1.0)
    yield call(some, scores, **ASKED)
    yield call(some, scores, **{**ASKED, "nms_top_k": 5, "keep_top_k": 6}, nms_threshold=0.2)
    yield call(some, scores, **ASKED, normalized=False, background_label=-1)
    yield call(some, scores, **ASKED, nms_threshold=0.9, nms_eta=0.5)
    yield call(some, scores, **{**ASKED, "score_threshold": 2.0})
    yield call(boxes(2, 6, dtype="float64"), f64(2, 2, 6, low=0.0, high=1.0), **ASKED)
    regions, own = boxes(7, 3), f32(7, 3, low=0.0, high=1.0)
    counts = np.array([3, 0, 4], "int32")
    yield call(regions, own, counts, **ASKED)
    yield call(regions, own, counts, **{**ASKED, "keep_top_k": 3})
    yield fails(ShapeError, "bboxes has 2 axes, 3 are needed", f32(3, 4), scores, **ASKED)
    yield fails(ShapeError, "scores has 1 axes", some, f32(3), **ASKED)
    yield fails(UnsupportedError, "a box has 8 numbers", f32(2, 9, 8), scores, **ASKED)
    yield fails(UnsupportedError, "need rois_num", regions, own, **ASKED, by_value=True)
    yield fails(DtypeError, "not of floating-point", i32(2, 9, 4), scores, **ASKED)
    yield fails(DtypeError, "rois_num is float32", regions, own, f32(3), **ASKED)
    yield fails(ShapeError, "rois_num has 2 axes, not 1", regions, own, counts[:, None], **ASKED)


@samples("multiclass_nms2", reference=lambda *a, **k: chosen(*a, **k)[:2])
def multiclass_nms2_samples():
    yield call(boxes(2, 9), f32(2, 3, 9, low=0.0, high=1.0), **ASKED)
    yield call(boxes(1, 4), f32(1, 2, 4, low=0.0, high=1.0), **{**ASKED, "score_threshold": 2.0})
    yield fails(ShapeError, "bboxes has 2 axes", f32(3, 4), f32(2, 3, 9), **ASKED)


def lone(*operands: Any, **attrs: Any) -> Any:
    """The boxes, or -1 when there are none."""
    found = chosen(*operands, **attrs)[0]
    return found if len(found) else np.full((1, 1), -1, found.dtype)


@samples("multiclass_nms", reference=lone)
def multiclass_nms_samples():
    yield call(boxes(2, 9), f32(2, 3, 9, low=0.0, high=1.0), **ASKED)
    yield call(boxes(1, 4), f32(1, 2, 4, low=0.0, high=1.0), **{**ASKED, "score_threshold": 2.0})
    yield fails(ShapeError, "bboxes has 2 axes", f32(3, 4), f32(2, 3, 9), **ASKED)


@samples("counted_nms", reference=chosen)
def counted_nms_samples():
    some, scores = boxes(2, 9), f32(2, 3, 9, low=0.0, high=1.0)
    yield call(some, scores, **ASKED)
    none = np.full((1, 1), -1.0), np.zeros((0, 1)), np.ones(1)
    asked = {**ASKED, "score_threshold": 2.0}
    yield call(some, scores, **asked, lone=True, reference=lambda *_: none)
    regions, own = boxes(7, 3), f32(7, 3, low=0.0, high=1.0)
    yield call(regions, own, np.array([3, 0, 4], "int32"), **ASKED)


def merged(bboxes: Any, scores: Any, **attrs: Any) -> Any:
    edge, rows = 0 if attrs.get("normalized", True) else 1, []
    for boxes_of, chances in zip(bboxes, scores, strict=True):
        own, found = boxes_of.copy(), []
        for label, given in enumerate(chances):
            if label == attrs.get("background_label", -1):
                continue
            sums, last, ends = given.copy(), 0, []
            for i in range(1, len(own)):
                if covered(own[i], own[last], edge) > attrs.get("nms_threshold", 0.3):
                    both = own[i] * sums[i] + own[last] * sums[last]
                    sums[last] += sums[i]
                    own[last] = both / sums[last]
                else:
                    ends.append(last)
                    last = i
            ends.append(last)
            kept = kept_of(own[ends], sums[ends], attrs)
            found += [(label, sums[ends][i], ends[i]) for i in kept]
        if -1 < attrs["keep_top_k"] < len(found):
            found = sorted(found, key=lambda at: -at[1])[: attrs["keep_top_k"]]
            found.sort(key=lambda at: at[0])
        rows += [[label, score, *own[i]] for label, score, i in found]
    return (np.array(rows) if rows else np.full((1, 1), -1.0),)


@samples("locality_aware_nms", reference=merged)
def locality_aware_nms_samples():
    near = np.repeat(boxes(2, 4), 3, 1) + f32(2, 12, 4, low=0.0, high=0.1)
    scores = f32(2, 2, 12, low=0.0, high=1.0)
    yield call(near, scores, **ASKED)
    yield call(near, scores, **ASKED, background_label=0, normalized=False)
    yield call(near, scores, **{**ASKED, "keep_top_k": 2, "nms_top_k": 3}, nms_threshold=0.6)
    yield call(near, scores, **{**ASKED, "score_threshold": 9.0})
    yield call(f64(1, 3, 4), f64(1, 1, 3, low=0.0, high=1.0), **ASKED)
    nothing = np.zeros((1, 2, 4), "float32"), f32(1, 1, 2, low=0.5, high=1.0)
    yield call(*nothing, **ASKED, name_of_case="boxes of no size")
    yield fails(UnsupportedError, "a box has 8 numbers", f32(2, 12, 8), scores, **ASKED)
    yield fails(ShapeError, "scores has 2 axes, 3 are needed", near, scores[0], **ASKED)


def of_pyramid(bboxes: Any, scores: Any, anchors: Any, im_info: Any, **attrs: Any) -> Any:
    rows = []
    for image, (high, wide, factor) in enumerate(im_info):
        by_class: dict[int, list[Any]] = {}
        for level, known in enumerate(anchors):
            least = attrs["score_threshold"] if level < len(anchors) - 1 else 0
            own = scores[level][image]
            spots = [s for s in np.ndindex(own.shape) if own[s] > np.float32(least)]
            spots.sort(key=lambda s, own=own: -own[s])
            for i, label in spots[: attrs["nms_top_k"]]:
                box, code = [0.0] * 4, bboxes[level][image, i]
                for k, most in ((0, wide), (1, high)):
                    size = known[i, k + 2] - known[i, k] + 1
                    middle = known[i, k] + size / 2 + code[k] * size
                    half = math.exp(code[k + 2]) * size / 2
                    last = math.floor(most / factor + 0.5) - 1
                    for side, spot in ((k, middle - half), (k + 2, middle + half - 1)):
                        box[side] = min(max(spot / factor, 0), last)
                by_class.setdefault(label, []).append((own[i, label], box))
        found = []
        asked = {"score_threshold": -math.inf, "nms_top_k": -1, "normalized": False, **OF_PYRAMID}
        for label, given in by_class.items():
            kept = kept_of([b for _, b in given], [s for s, _ in given], asked)
            found += [(given[i][0], label, given[i][1]) for i in kept]
        found.sort(key=lambda at: -at[0])
        rows += [[label + 1, s, *b] for s, label, b in found[: attrs["keep_top_k"]]]
    return (np.array(rows).reshape(-1, 6),)


OF_PYRAMID = {"nms_threshold": 0.3, "nms_eta": 1.0}


@samples("retinanet_detection_output", reference=of_pyramid)
def retinanet_detection_output_samples():
    levels = [f32(2, n, 4) / 2 for n in (4, 3)]
    scores = [f32(2, n, 2, low=0.0, high=1.0) for n in (4, 3)]
    anchors = [np.array(boxes(n)) * np.float32(9) for n in (4, 3)]
    given = levels, scores, anchors, np.array([[12, 10, 1], [16, 18, 2]], "float32")
    asked = {**OF_PYRAMID, "score_threshold": 0.4, "nms_top_k": 5, "keep_top_k": 6}
    yield call(*given, **asked)
    yield call(*given, **{**asked, "keep_top_k": 1, "nms_top_k": 2})
    none = [-s for s in scores]
    yield call(levels, none, *given[2:], **asked, name_of_case="none")
    law = "a pyramid has 1 levels here and 2 of bboxes"
    yield fails(ShapeError, law, levels, scores[:1], *given[2:], **asked)
    law = "a level has 4 boxes and 3 anchors"
    yield fails(ShapeError, law, levels, scores, anchors[::-1], given[3], **asked)
    law = "im_info has 2 columns, 3 are needed"
    yield fails(ShapeError, law, *given[:3], given[3][:, :2], **asked)
