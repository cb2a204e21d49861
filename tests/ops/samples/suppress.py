"""Samples of the choice among the boxes of each class."""

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
    yield fails(UnsupportedError, "need rois_num", regions, own, **ASKED)
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
