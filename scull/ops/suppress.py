"""Of the boxes a detector saw, class by class, those that no surer one covers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import DtypeError, ShapeError, UnsupportedError
from scull.ops.box import check_sizes, rounded
from scull.ops.level import begun, packed

CONSTANT = "boxes are chosen without gradients, as in Paddle"
NO_LOOP = "how many boxes are kept depends on their scores"
FEW = 64  # boxes that are compared with all others at once
MANY = 2048  # boxes of which no table of all pairs is made


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
    if rois_num is None:
        raise UnsupportedError("scores of 2 axes need rois_num, or boxes levels of detail")
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
    compare = tabulated(boxes, scores, attrs)
    kept: list[tuple[int, int]] = []
    for label in range(len(scores)):
        if label != attrs["background_label"] and scores.shape[1]:
            own = uncovered(boxes[label], scores[label], attrs, compare)
            kept += [(label, i) for i in (sorted(own) if in_order else own)]
    if -1 < attrs["keep_top_k"] < len(kept):
        kept.sort(key=lambda at: -scores[at])
        kept = kept[: attrs["keep_top_k"]]
        kept.sort(key=lambda at: at if in_order else at[0])
    return [
        (offset + i * wide[0] + label * wide[1], [label, scores[label, i], *boxes[label, i]])
        for label, i in kept
    ]


def tabulated(boxes: Any, scores: Any, attrs: dict[str, Any]) -> Callable[..., Any] | None:
    """What looks up how much boxes share, where many classes share few: each pair is met once."""
    likely = scores > scores.dtype.type(attrs["score_threshold"])
    every = likely.any(0).nonzero()[0]
    pairs = (likely.sum(1) ** 2).sum()
    if len(every) > MANY or len(every) ** 2 > pairs / 4 or boxes.strides[0]:
        return None
    own = boxes[0, every]
    table = shared(own[:, None], own, attrs["normalized"])
    row = np.cumsum(likely.any(0)) - 1
    return lambda some, others: table[row[some, None], row[others]]


def uncovered(
    boxes: Any, scores: Any, attrs: dict[str, Any], compare: Callable[..., Any] | None = None
) -> list[int]:
    """The boxes of one class, surest first, without those that a kept one covers."""
    limit = boxes.dtype.type(attrs["nms_threshold"])
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > scores.dtype.type(attrs["score_threshold"])]
    if attrs["nms_top_k"] > -1:
        order = order[: attrs["nms_top_k"]]
    most = np.full(len(order), -np.inf, boxes.dtype)
    kept: list[int] = []
    for start in range(0, len(order), FEW):
        rest = most[start:]  # how much of each a kept one covers
        some = (rest[:FEW] <= limit).nonzero()[0]
        these, others = order[start + some], order[start:]
        if compare:
            covers = compare(these, others)
        else:
            covers = shared(boxes[these, None], boxes[others], attrs["normalized"])
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
    left, top, right, bottom = columns(box)
    beyond, below, until, down = columns(others)
    wide = np.minimum(right, until)
    wide -= np.maximum(left, beyond)
    high = np.minimum(bottom, down)
    high -= np.maximum(top, below)
    apart = (beyond > right) | (until < left) | (below > bottom) | (down < top)
    wide += edge
    high += edge
    both = np.where(apart, 0, np.multiply(wide, high, out=wide))
    whole = np.add(area(box, edge), area(others, edge), out=high)
    whole -= both
    whole += apart  # nothing is divided by 0 that is 0 as well
    return np.divide(both, whole, out=both)


def columns(boxes: Any) -> Any:
    """The four numbers of boxes, those of a kind beside each other, as loops run quickest."""
    return np.ascontiguousarray(boxes.transpose(-1, *range(boxes.ndim - 1)))


def area(boxes: Any, edge: Any) -> Any:
    """The area of each box; 0 of one whose corners are the wrong way round."""
    wide, high = columns(boxes[..., 2:] - boxes[..., :2])
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
    rois_num: Meta = None,
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
    found = checked(bboxes, scores, rois_num)
    out = found.with_shape((UNKNOWN, UNKNOWN)) if lone else found
    return out, Meta((UNKNOWN, 1), int32), Meta((UNKNOWN,), int32)


@counted_nms.kernel
def counted_nms_kernel(
    xp: Any,
    bboxes: Any,
    scores: Any,
    rois_num: Any = None,
    *,
    out: Any = None,
    lone: bool,
    **attrs: Any,
) -> Any:
    found = multiclass_nms3_kernel(xp, bboxes, scores, rois_num, **attrs)
    if lone and not len(found[0]):
        return xp.full((1, 1), -1, bboxes.dtype), found[1], xp.ones(1, "int32")
    return found


# ---- boxes of text: neighbours that see the same are made one first ----


@primitive(
    outputs=("out", "levels"),
    slots={"bboxes": "BBoxes", "levels": "Out@LOD"},
    hidden=("levels",),
    unsaid=("Out@LOD",),
    infer_first=True,
)
def locality_aware_nms(
    bboxes: Meta,
    scores: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    nms_threshold: float = 0.3,
    normalized: bool = True,
    nms_eta: float = 1.0,
    background_label: int = -1,
) -> tuple[Meta, Meta]:
    """Class, score and corners of the boxes kept, after those that follow each other are merged."""
    agree(scores.ndim, 3, "scores has {} axes, {} are needed")
    checked(bboxes, scores)
    return bboxes.with_shape((UNKNOWN, UNKNOWN)), Meta((UNKNOWN,), int64)


@locality_aware_nms.kernel
def locality_aware_nms_kernel(
    xp: Any, bboxes: Any, scores: Any, *, out: Any = None, **attrs: Any
) -> Any:
    images = []
    for boxes, chances in zip(bboxes, scores, strict=True):
        found, merged = boxes.tolist(), []  # each class goes on with what those before it merged
        for label, own in enumerate(chances):
            counts = label != attrs["background_label"]
            merged.append(one_of_neighbours(found, own, attrs) if counts else (boxes, own))
        apart = np.array([b for b, _ in merged], bboxes.dtype).reshape(-1, *boxes.shape)
        sums = np.array([s for _, s in merged], bboxes.dtype).reshape(chances.shape)
        kept = chosen(apart, sums, attrs, (1, 0), 0)
        images.append([[*row[:2], *found[i]] for i, row in kept])
    rows, levels = told(images, bboxes.dtype)
    return (rows, levels) if len(rows) else (xp.full((1, 1), -1, rows.dtype), packed([[0, 1]]))


def one_of_neighbours(found: Any, scores: Any, attrs: dict[str, Any]) -> tuple[Any, Any]:
    """Boxes and scores where each that its last one covers is merged with it; that has none."""
    sums = scores.tolist()
    edge, limit, last = 0 if attrs["normalized"] else 1, attrs["nms_threshold"], 0
    for i in range(1, len(found)):
        (left, top, right, bottom), (a, b, c, d) = box, other = found[i], found[last]
        if left > c or right < a or top > d or bottom < b or common(box, other, edge) <= limit:
            last = i
            continue
        total = sums[last] + sums[i]
        pairs = zip(box, other, strict=True)
        found[last] = [(x * sums[i] + y * sums[last]) / total for x, y in pairs]
        sums[last], sums[i] = total, -math.inf
    return [*found], sums


def common(box: Any, other: Any, edge: float) -> float:
    """How much of the area of two boxes that are not apart is that of both."""
    (left, top, right, bottom), (a, b, c, d) = box, other
    both = (min(right, c) - max(left, a) + edge) * (min(bottom, d) - max(top, b) + edge)
    whole = (right - left + edge) * (bottom - top + edge) if right >= left and bottom >= top else 0
    whole += (c - a + edge) * (d - b + edge) if c >= a and d >= b else 0
    rest = whole - both
    return both / rest if rest else both * math.inf if both else 0.0


def told(images: Any, dtype: Any) -> tuple[Any, Any]:
    """The rows of all images, and where each begins."""
    rows = [row for own in images for row in own]
    return np.array(rows, dtype).reshape(-1, 6), packed([begun([len(own) for own in images])])


# ---- boxes of a pyramid, told by how they differ from anchors ----


@primitive(
    outputs=("out", "levels"),
    slots={"bboxes": "BBoxes", "levels": "Out@LOD"},
    hidden=("levels",),
    unsaid=("Out@LOD",),
    infer_first=True,
)
def retinanet_detection_output(
    bboxes: list[Meta],
    scores: list[Meta],
    anchors: list[Meta],
    im_info: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    nms_threshold: float,
    nms_eta: float,
    keep_top_k: int,
) -> tuple[Meta, Meta]:
    """Class, score and corners of the boxes kept, chosen among those of all levels of a pyramid."""
    for part in (scores, anchors):
        agree(len(part), len(bboxes), "a pyramid has {} levels here and {} of bboxes")
    floating(*bboxes, *scores, *anchors, im_info)
    for boxes, own, known in zip(bboxes, scores, anchors, strict=True):
        for name, m, count in (("bboxes", boxes, 3), ("scores", own, 3), ("anchors", known, 2)):
            if m.ndim != count:
                raise ShapeError(f"{name} has {m.ndim} axes, {count} are needed")
        agree(boxes.shape[0], own.shape[0], "there are boxes for {} images and scores for {}")
        agree(boxes.shape[1], own.shape[1], "a level has {} boxes and scores of {}")
        agree(boxes.shape[1], known.shape[0], "a level has {} boxes and {} anchors")
        agree(boxes.shape[2], 4, "a box has {} numbers, {} are needed")
        agree(known.shape[1], 4, "an anchor has {} numbers, {} are needed")
        agree(own.shape[2], scores[0].shape[2], "one level has {} classes, another {}")
    check_sizes(im_info)
    return bboxes[0].with_shape((UNKNOWN, 6)), Meta((UNKNOWN,), int64)


@retinanet_detection_output.kernel
def retinanet_kernel(
    xp: Any,
    bboxes: Any,
    scores: Any,
    anchors: Any,
    im_info: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    images = []
    for image, size in enumerate(im_info):
        parts = [
            surest(b[image], s[image], a, size, attrs, level == len(bboxes) - 1)
            for level, (b, s, a) in enumerate(zip(bboxes, scores, anchors, strict=True))
        ]
        boxes, chances, labels = (xp.concatenate(part) for part in zip(*parts, strict=True))
        found = []
        asked = {**attrs, "score_threshold": -np.inf, "nms_top_k": -1, "normalized": False}
        for label in range(scores[0].shape[2]):
            own = (labels == label).nonzero()[0]
            found += [own[i] for i in uncovered(boxes[own], chances[own], asked)]
        found.sort(key=lambda i, by=chances: -by[i])
        found = found[: attrs["keep_top_k"]] if attrs["keep_top_k"] > -1 else found
        images.append([[labels[i] + 1, chances[i], *boxes[i]] for i in found])
    return told(images, bboxes[0].dtype)


def surest(
    deltas: Any, scores: Any, anchors: Any, size: Any, attrs: dict[str, Any], last: bool
) -> tuple[Any, Any, Any]:
    """The boxes of a level with the highest scores, these, and their classes."""
    flat = scores.reshape(-1)
    order = (flat > (0.0 if last else flat.dtype.type(attrs["score_threshold"]))).nonzero()[0]
    order = order[np.argsort(-flat[order], kind="stable")]
    order = order[: attrs["nms_top_k"]] if attrs["nms_top_k"] > -1 else order
    rows, labels = np.divmod(order, scores.shape[1])
    known, codes = anchors[rows], deltas[rows]
    wide = known[:, 2:] - known[:, :2] + 1
    middle = codes[:, :2] * wide + known[:, :2] + wide / 2
    half = np.exp(codes[:, 2:]) * wide / 2
    corners = np.concatenate([middle - half, middle + half - 1], 1) / size[2]
    most = np.tile(rounded(size[1::-1] / size[2]) - 1, 2)
    return np.maximum(np.minimum(corners, most), 0), flat[order], labels


for function in (
    *(multiclass_nms3, multiclass_nms2, multiclass_nms, counted_nms),
    *(locality_aware_nms, retinanet_detection_output),
):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
