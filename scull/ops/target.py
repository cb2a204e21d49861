"""What a detector is to learn of an image: of which boxes whether, what and where they see."""

from typing import Any, NamedTuple

import numpy as np

from scull.core import random
from scull.core.attribute import Floats
from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.box import CONSTANT, check_sizes, four, one_type
from scull.ops.level import BY_VALUES, begun, inner, packed

NEAR = 1e-5  # what overlaps differ by at most to be the same


def check_truth(boxes: Meta, is_crowd: Meta, im_info: Meta) -> None:
    """Refuse what does not tell the objects of images."""
    four(boxes, "gt_boxes", 2)
    check_sizes(im_info)
    whole(is_crowd, "is_crowd", boxes)


def whole(m: Meta, name: str, boxes: Meta) -> None:
    """Refuse what is not one int32 for each box."""
    if m.dtype is not int32:
        raise DtypeError(f"{name} is {m.dtype.name}, not int32")
    if m.ndim not in (1, 2):
        raise ShapeError(f"{name} has {m.ndim} axes, 1 or 2 are needed")
    agree(m.shape[0], boxes.shape[0], f"{name} has {{}} rows, gt_boxes {{}}")


def by_image(levels: Any, operands: Any, names: tuple[str, ...], images: int) -> list[Any]:
    """The rows of operands that belong to each image."""
    found = []
    for name, given, x in zip(names, levels, operands, strict=True):
        ends = inner([given])
        agree(len(ends) - 1, images, f"{name} has rows for {{}} images, im_info tells of {{}}")
        agree(int(ends[-1]), len(x), f"the levels of {name} tell of {{}} rows, not {{}}")
        found.append(np.split(x, ends[1:-1]))
    return list(zip(*found, strict=True))


def overlaps(boxes: Any, others: Any) -> Any:
    """How much of each pair of boxes, in pixels, is common to both."""
    left, top, right, bottom = np.ascontiguousarray(boxes.T)[:, :, None]
    beyond, below, until, down = np.ascontiguousarray(others.T)
    both = np.maximum(np.minimum(right, until) - np.maximum(left, beyond) + 1, 0)
    both *= np.maximum(np.minimum(bottom, down) - np.maximum(top, below) + 1, 0)
    whole = (right - left + 1) * (bottom - top + 1) + (until - beyond + 1) * (down - below + 1)
    whole -= both
    whole[both == 0] = 1
    both /= whole
    return both


def differences(boxes: Any, others: Any, weights: Any = 1) -> Any:
    """How `others` differ from boxes: shifts and logarithms of factors."""
    size, other = (b[:, 2:] - b[:, :2] + 1 for b in (boxes, others))
    shift = others[:, :2] + other / 2 - (boxes[:, :2] + size / 2)
    found = np.concatenate([shift / size, np.log(other / size)], 1) / weights
    return found.astype(boxes.dtype, copy=False)


def some(found: Any, count: int, source: Any) -> Any:
    """As many of `found`, random ones where there is a source, or the first."""
    if len(found) <= count:
        return found
    if source is None:
        return found[: max(count, 0)]
    keys = source.random_raw(len(found))
    return found[np.sort(np.argsort(keys)[: max(count, 0)])]


# ---- anchors ----

TARGETS = ("location_index", "score_index", "target_bbox", "target_label", "bbox_inside_weight")


@primitive(
    outputs=(*TARGETS, "location_levels", "score_levels"),
    slots={
        "gt_levels": "GtBoxes@LOD",
        "crowd_levels": "IsCrowd@LOD",
        "target_bbox": "TargetBBox",
        "bbox_inside_weight": "BBoxInsideWeight",
        "location_levels": "LocationIndex TargetBBox BBoxInsideWeight@LOD",
        "score_levels": "ScoreIndex TargetLabel@LOD",
    },
    hidden=("location_levels", "score_levels"),
    unsaid=(
        *("GtBoxes@LOD", "IsCrowd@LOD", "ScoreIndex TargetLabel@LOD"),
        "LocationIndex TargetBBox BBoxInsideWeight@LOD",
    ),
    effects=("random",),
    infer_first=True,
)
def rpn_target_assign(
    anchor: Meta,
    gt_boxes: Meta,
    is_crowd: Meta,
    im_info: Meta,
    gt_levels: Meta = None,
    crowd_levels: Meta = None,
    *,
    rpn_batch_size_per_im: int = 256,
    rpn_straddle_thresh: float = 0.0,
    rpn_positive_overlap: float = 0.7,
    rpn_negative_overlap: float = 0.3,
    rpn_fg_fraction: float = 0.25,
    use_random: bool = True,
) -> tuple[Meta, ...]:
    """Anchors near objects, how these differ from them; and with others, whether they are near."""
    four(anchor, "anchor", 2)
    check_truth(gt_boxes, is_crowd, im_info)
    one_type(anchor, gt_boxes, im_info)
    index, rows = Meta((UNKNOWN,), int32), anchor.with_shape((UNKNOWN, 4))
    label, levels = Meta((UNKNOWN, 1), int32), Meta((UNKNOWN,), int64)
    return index, index, rows, label, rows, levels, levels


@rpn_target_assign.kernel
def rpn_target_assign_kernel(
    xp: Any,
    anchor: Any,
    gt_boxes: Any,
    is_crowd: Any,
    im_info: Any,
    gt_levels: Any = None,
    crowd_levels: Any = None,
    *,
    draw: Any,
    out: Any = None,
    use_random: bool,
    **attrs: Any,
) -> Any:
    source = random.philox(draw) if use_random else None
    given = (gt_levels, crowd_levels), (gt_boxes, is_crowd.reshape(-1))
    truth = by_image(*given, ("gt_boxes", "is_crowd"), len(im_info))
    parts = []
    for i, ((boxes, crowd), size) in enumerate(zip(truth, im_info, strict=True)):
        inside = within(anchor, size, attrs["rpn_straddle_thresh"])
        own = anchor[inside], boxes[crowd == 0] * size[2], source, attrs
        near, both, differ, label, weight = anchors_of(*own)
        first = i * len(anchor)
        parts.append((inside[near] + first, inside[both] + first, differ, label, weight))
    found = [xp.concatenate(part) for part in zip(*parts, strict=True)]
    levels = [packed([begun([len(part[k]) for part in parts])]) for k in (0, 1)]
    index = [v.astype("int32") for v in found[:2]]
    return *index, found[2], found[3].astype("int32")[:, None], found[4], *levels


def within(anchors: Any, size: Any, most: float) -> Any:
    """The numbers of anchors that stick out of an image by less than that; below 0, of all."""
    if most < 0:
        return np.arange(len(anchors))
    left, top, right, bottom = anchors.T
    fits = (left >= -most) & (top >= -most) & (right < size[1] + most) & (bottom < size[0] + most)
    return fits.nonzero()[0]


def anchors_of(anchors: Any, boxes: Any, source: Any, attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Of the anchors of one image: which are near, which are told of, and what.

    One that is near and taken for far as well counts as far, and the first near one stands in its
    place, without weight.
    """
    found = overlaps(boxes, anchors)
    most, best = found.max(0, initial=0), found.argmax(0) if len(boxes) else None
    nearest = (abs(found - found.max(1, initial=0, keepdims=True)) < NEAR).any(0)
    near = (nearest | (most >= anchors.dtype.type(attrs["rpn_positive_overlap"]))).nonzero()[0]
    batch = attrs["rpn_batch_size_per_im"]
    if attrs["rpn_fg_fraction"] > 0 and batch > 0:
        near = some(near, int(attrs["rpn_fg_fraction"] * batch), source)
    far = (most < anchors.dtype.type(attrs["rpn_negative_overlap"])).nonzero()[0]
    far = some(far, batch - len(near), source)
    kept = np.setdiff1d(near, far)
    fake = len(near) - len(kept)
    located = np.concatenate([near[:1].repeat(fake), kept])
    weight = np.ones((len(located), 4), anchors.dtype)
    weight[:fake] = 0
    differ = np.zeros((0, 4), anchors.dtype)
    if best is not None:
        differ = differences(anchors[located], boxes[best[located]])
    label = np.arange(len(kept) + len(far)) < len(kept)
    return located, np.concatenate([kept, np.sort(far)]), differ, label, weight


# ---- regions ----


class Asked(NamedTuple):
    """The attributes of how regions are told to learn from."""

    batch_size_per_im: int
    fg_fraction: float
    fg_thresh: float
    bg_thresh_hi: float
    bg_thresh_lo: float
    bbox_reg_weights: Any
    class_nums: int
    is_cascade_rcnn: bool
    is_cls_agnostic: bool


LEARNT = (
    *("rois", "labels_int32", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights"),
    "max_overlap_with_gt",
)
OF_ALL = "Rois LabelsInt32 BboxTargets BboxInsideWeights BboxOutsideWeights MaxOverlapWithGT@LOD"
OPERANDS = ("rpn_rois", "gt_classes", "is_crowd", "gt_boxes")


@primitive(
    outputs=(*LEARNT, "levels"),
    slots={
        "roi_levels": "RpnRois@LOD",
        "class_levels": "GtClasses@LOD",
        "crowd_levels": "IsCrowd@LOD",
        "gt_levels": "GtBoxes@LOD",
        "max_overlap_with_gt": "MaxOverlapWithGT",
        "levels": OF_ALL,
    },
    hidden=("levels",),
    unsaid=(
        *("MaxOverlap", "MaxOverlapWithGT", "RpnRois@LOD", "GtClasses@LOD", "IsCrowd@LOD"),
        *("GtBoxes@LOD", OF_ALL),
    ),
    effects=("random",),
    infer_first=True,
)
def generate_proposal_labels(
    rpn_rois: Meta,
    gt_classes: Meta,
    is_crowd: Meta,
    gt_boxes: Meta,
    im_info: Meta,
    max_overlap: Meta = None,
    roi_levels: Meta = None,
    class_levels: Meta = None,
    crowd_levels: Meta = None,
    gt_levels: Meta = None,
    *,
    batch_size_per_im: int,
    fg_fraction: float,
    fg_thresh: float,
    bg_thresh_hi: float,
    bg_thresh_lo: float,
    bbox_reg_weights: Floats,
    class_nums: int,
    use_random: bool = True,
    is_cascade_rcnn: bool = False,
    is_cls_agnostic: bool = False,
) -> tuple[Meta, ...]:
    """Regions to learn from by image, the class of each, and how its object differs from it.

    Regions near no object are of class 0. Each class has four columns of its own, with weights that
    are 1 in those of the class of a region.
    """
    four(rpn_rois, "rpn_rois", 2)
    check_truth(gt_boxes, is_crowd, im_info)
    whole(gt_classes, "gt_classes", gt_boxes)
    one_type(rpn_rois, gt_boxes, im_info)
    if len(bbox_reg_weights) != 4:
        raise ArgumentError(f"bbox_reg_weights has {len(bbox_reg_weights)} numbers, 4 are needed")
    if is_cascade_rcnn and max_overlap is None:
        raise ArgumentError("with is_cascade_rcnn max_overlap is needed")
    if max_overlap is not None:
        floating(max_overlap)
        agree(max_overlap.shape[0], rpn_rois.shape[0], "max_overlap has {} rows, rpn_rois {}")
    rows = rpn_rois.with_shape((UNKNOWN, 4))
    wide = rpn_rois.with_shape((UNKNOWN, 4 * class_nums))
    label, levels = Meta((UNKNOWN, 1), int32), Meta((UNKNOWN,), int64)
    return rows, label, wide, wide, wide, rpn_rois.with_shape((UNKNOWN,)), levels


@generate_proposal_labels.kernel
def generate_proposal_labels_kernel(
    xp: Any,
    rpn_rois: Any,
    gt_classes: Any,
    is_crowd: Any,
    gt_boxes: Any,
    im_info: Any,
    max_overlap: Any = None,
    *levels: Any,
    draw: Any,
    out: Any = None,
    use_random: bool,
    **attrs: Any,
) -> Any:
    asked = Asked(**attrs)
    source = random.philox(draw) if use_random and not asked.is_cascade_rcnn else None
    most = np.zeros(len(rpn_rois)) if max_overlap is None else max_overlap.reshape(-1)
    told = (*levels, *[None] * 4)[:4]
    given = rpn_rois, gt_classes.reshape(-1), is_crowd.reshape(-1), gt_boxes, most
    rows = by_image((*told, told[0]), given, (*OPERANDS, "max_overlap"), len(im_info))
    parts = [regions_of(*own, s[2], source, asked) for own, s in zip(rows, im_info, strict=True)]
    found = [xp.concatenate(part) for part in zip(*parts, strict=True)]
    found[1] = found[1].astype("int32")[:, None]
    return *found, packed([begun([len(part[0]) for part in parts])])


def regions_of(
    rois: Any,
    classes: Any,
    crowd: Any,
    truth: Any,
    most: Any,
    scale: Any,
    source: Any,
    asked: Asked,
) -> tuple[Any, ...]:
    """Of one image the regions, labels, differences, their weights twice, and overlaps."""
    rois = rois / scale
    if asked.is_cascade_rcnn:
        rois = rois[(rois[:, 2:] - rois[:, :2] + 1 > 0).all(1) & (most < 1)]
        rois = rois if len(rois) else np.zeros((1, 4), rois.dtype)
    boxes = np.concatenate([truth, rois])
    shared = overlaps(truth, boxes)
    most = shared.max(0, initial=0)
    most[: len(truth)][crowd != 0] = -1
    near, far = parted(most, source, asked)
    chosen = np.concatenate([near, far])
    labels = np.zeros(len(chosen), "int64")
    targets = np.zeros((len(chosen), asked.class_nums, 4), boxes.dtype)
    weights = np.zeros_like(targets)
    if len(near):
        object = shared[:, near].argmax(0)
        labels[: len(near)] = classes[object]
        seen = np.arange(len(near)), np.where(asked.is_cls_agnostic, 1, labels[: len(near)])
        told = differences(boxes[near], truth[object], np.array(asked.bbox_reg_weights))
        real = labels[: len(near)] > 0
        rows, columns = (v[real] for v in seen)
        targets[rows, columns], weights[rows, columns] = told[real], 1
    wide = len(chosen), 4 * asked.class_nums
    flat, weight = targets.reshape(wide), weights.reshape(wide)
    return boxes[chosen] * scale, labels, flat, weight, weight, most[chosen]


def parted(most: Any, source: Any, asked: Asked) -> tuple[Any, Any]:
    """The boxes near an object, and those near none, as many as are to be told."""
    kind = most.dtype.type
    is_near = most >= kind(asked.fg_thresh)
    is_far = ~is_near & (most >= kind(asked.bg_thresh_lo)) & (most < kind(asked.bg_thresh_hi))
    near, far = is_near.nonzero()[0], is_far.nonzero()[0]
    if not asked.is_cascade_rcnn:
        near = some(near, int(asked.batch_size_per_im * asked.fg_fraction), source)
        far = some(far, asked.batch_size_per_im - len(near), source)
    return near, far


for function in (rpn_target_assign, generate_proposal_labels):
    function.no_grad(CONSTANT)
    function.no_lowering(BY_VALUES)
