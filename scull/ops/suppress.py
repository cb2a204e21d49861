"""Of the boxes a detector saw, class by class, those that no surer one covers."""

from typing import Any

import numpy as np

from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import DtypeError, ShapeError, UnsupportedError

CONSTANT = "boxes are chosen without gradients, as in Paddle"
NO_LOOP = "how many boxes are kept depends on their scores"
FEW = 64  # boxes that are compared with all others at once


def checked(bboxes: Meta, scores: Meta, rois_num: Meta | None = None) -> Meta:
    """The chosen boxes: class, score and corners."""
    floating(bboxes, scores)
    if bboxes.ndim != 3:
        raise ShapeError(f"bboxes has {bboxes.ndim} axes, 3 are needed")
    if scores.ndim not in (2, 3):
        raise ShapeError(f"scores has {scores.ndim} axes, 2 or 3 are needed")
    if bboxes.shape[2] not in (UNKNOWN, 4):
        raise UnsupportedError(f"a box has {bboxes.shape[2]} numbers; boxes of 4 are compared")
    agree(bboxes.shape[0], scores.shape[0], "there are boxes for {} and scores for {}")
    box, score = (1, 2) if scores.ndim == 3 else (1, 1)
    agree(bboxes.shape[box], scores.shape[score], "bboxes has {} along axis 1 and scores {}")
    if scores.ndim == 2 and rois_num is None:
        raise UnsupportedError("scores of 2 axes need rois_num; levels of detail do not say it")
    if rois_num is not None:
        agree(rois_num.ndim, 1, "rois_num has {} axes, not {}")
        if not rois_num.dtype.is_integer:
            raise DtypeError(f"rois_num is {rois_num.dtype.name}; it counts boxes of each image")
    return bboxes.with_shape((UNKNOWN, 6))


@primitive(
    outputs=("out", "index", "nms_rois_num"),
    slots={"bboxes": "BBoxes"},
    infer_first=True,
)
def multiclass_nms3(
    bboxes: Meta,
    scores: Meta,
    rois_num: Meta = None,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
) -> tuple[Meta, Meta, Meta]:
    """Class, score and corners of the boxes kept, their numbers, and how many an image has."""
    found = checked(bboxes, scores, rois_num)
    images = scores if rois_num is None or scores.ndim == 3 else rois_num
    count = Meta((images.shape[0],), int32)
    return found, Meta((UNKNOWN, 1), int32), count


@multiclass_nms3.kernel
def multiclass_nms3_kernel(
    xp: Any, bboxes: Any, scores: Any, rois_num: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    images = [
        chosen(boxes, chances, attrs, wide, offset)
        for boxes, chances, wide, offset in by_image(bboxes, scores, rois_num)
    ]
    rows = [row for kept in images for row in kept]
    found = np.array([r[1] for r in rows], bboxes.dtype).reshape(-1, 2 + bboxes.shape[2])
    index = np.array([r[0] for r in rows], "int32").reshape(-1, 1)
    return found, index, np.array([len(kept) for kept in images], "int32")


def by_image(bboxes: Any, scores: Any, rois_num: Any) -> list[Any]:
    """For each image its boxes and their scores, both by class, and how its boxes are numbered."""
    if scores.ndim == 3:
        count = scores.shape[2]
        wide = (1, 0)  # how far apart the numbers of boxes and of classes are
        return [
            (np.broadcast_to(b, (len(s), *b.shape)), s, wide, i * count)
            for i, (b, s) in enumerate(zip(bboxes, scores, strict=True))
        ]
    ends = np.cumsum(rois_num)
    pieces = [slice(end - n, end) for n, end in zip(rois_num, ends, strict=True)]
    classes = scores.shape[1]
    return [
        (bboxes[p].swapaxes(0, 1), scores[p].T, (classes, 1), int(p.start) * classes)
        for p in pieces
    ]


def chosen(boxes: Any, scores: Any, attrs: dict[str, Any], wide: Any, offset: int) -> list[Any]:
    """The boxes of one image that are kept: number and row of each, in order of the classes."""
    in_order = wide[1] == 1  # those of regions keep their order, others go by their scores
    kept: list[tuple[int, int]] = []
    for label in range(len(scores)):
        if label != attrs["background_label"] and scores.shape[1]:
            own = uncovered(boxes[label], scores[label], attrs)
            kept += [(label, i) for i in (sorted(own) if in_order else own)]
    if -1 < attrs["keep_top_k"] < len(kept):
        kept.sort(key=lambda at: -scores[at])
        kept = kept[: attrs["keep_top_k"]]
        kept.sort(key=lambda at: at if in_order else at[0])
    return [
        (offset + i * wide[0] + label * wide[1], [label, scores[label, i], *boxes[label, i]])
        for label, i in kept
    ]


def uncovered(boxes: Any, scores: Any, attrs: dict[str, Any]) -> list[int]:
    """The boxes of one class, surest first, without those that a kept one covers."""
    limit = boxes.dtype.type(attrs["nms_threshold"])
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > scores.dtype.type(attrs["score_threshold"])]
    if attrs["nms_top_k"] > -1:
        order = order[: attrs["nms_top_k"]]
    own, most = boxes[order], np.full(len(order), -np.inf, boxes.dtype)
    kept: list[int] = []
    for start in range(0, len(own), FEW):
        rest = most[start:]  # how much of each a kept one covers
        some = (rest[:FEW] <= limit).nonzero()[0]
        covers = shared(own[start + some, None], own[start:], attrs["normalized"])
        for i, row in zip(some.tolist(), covers, strict=True):
            if rest[i] <= limit:
                kept.append(int(order[start + i]))
                np.maximum(rest, row, out=rest)
                if attrs["nms_eta"] < 1 and limit > 0.5:
                    limit = limit * boxes.dtype.type(attrs["nms_eta"])
    return kept


def shared(box: Any, others: Any, normalized: bool) -> Any:
    """How much of the area of `box`, one or many, and of each other one is that of both."""
    edge = box.dtype.type(0 if normalized else 1)
    left, top, right, bottom = np.moveaxis(box, -1, 0)
    beyond, below, until, down = np.moveaxis(others, -1, 0)
    wide = np.minimum(right, until) - np.maximum(left, beyond)
    high = np.minimum(bottom, down) - np.maximum(top, below)
    apart = (wide < 0) | (high < 0)
    both = (wide + edge) * (high + edge)
    whole = area(box, edge) + area(others, edge) - both
    return np.where(apart, 0, both) / np.where(apart, 1, whole)


def area(boxes: Any, edge: Any) -> Any:
    """The area of each box; 0 of one whose corners are the wrong way round."""
    wide, high = np.moveaxis(boxes[..., 2:] - boxes[..., :2], -1, 0)
    return np.where((wide < 0) | (high < 0), 0, (wide + edge) * (high + edge))


@primitive(outputs=("out", "index"), slots={"bboxes": "BBoxes"}, infer_first=True)
def multiclass_nms2(
    bboxes: Meta,
    scores: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
) -> tuple[Meta, Meta]:
    """Class, score and corners of the boxes kept, and their numbers."""
    return checked(bboxes, scores), Meta((UNKNOWN, 1), int32)


@multiclass_nms2.kernel
def multiclass_nms2_kernel(
    xp: Any, bboxes: Any, scores: Any, *, out: Any = None, **attrs: Any
) -> Any:
    return multiclass_nms3_kernel(xp, bboxes, scores, **attrs)[:2]


@primitive(slots={"bboxes": "BBoxes"}, infer_first=True)
def multiclass_nms(
    bboxes: Meta,
    scores: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
) -> Meta:
    """Class, score and corners of the boxes kept; a lone -1 when there are none."""
    checked(bboxes, scores)
    return bboxes.with_shape((UNKNOWN, UNKNOWN))


@multiclass_nms.kernel
def multiclass_nms_kernel(
    xp: Any, bboxes: Any, scores: Any, *, out: Any = None, **attrs: Any
) -> Any:
    found = multiclass_nms3_kernel(xp, bboxes, scores, **attrs)[0]
    return found if len(found) else np.full((1, 1), -1, found.dtype)


@primitive(outputs=("out", "index", "counts"), slots={"bboxes": "BBoxes"}, infer_first=True)
def counted_nms(
    bboxes: Meta,
    scores: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = 0,
    lone: bool = False,
) -> tuple[Meta, Meta, Meta]:
    """What `multiclass_nms3` gives; a `lone` -1 where there are no boxes, which counts as one."""
    found = checked(bboxes, scores)
    out = found.with_shape((UNKNOWN, UNKNOWN)) if lone else found
    return out, Meta((UNKNOWN, 1), int32), Meta((UNKNOWN,), int32)


@counted_nms.kernel
def counted_nms_kernel(
    xp: Any, bboxes: Any, scores: Any, *, out: Any = None, lone: bool, **attrs: Any
) -> Any:
    found = multiclass_nms3_kernel(xp, bboxes, scores, **attrs)
    if lone and not len(found[0]):
        return xp.full((1, 1), -1, bboxes.dtype), found[1], xp.ones(1, "int32")
    return found


for function in (multiclass_nms3, multiclass_nms2, multiclass_nms, counted_nms):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
