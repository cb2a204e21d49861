"""Where detectors look closer: regions that may hold something, dealt to levels of a pyramid."""

import math
from typing import Any

import numpy as np

from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.suppress import CONSTANT, NO_LOOP, shared, uncovered

MOST_LEVELS = 64  # of a pyramid, each of which is half as large as the one before
WIDEST = math.log(1000 / 16)  # how much larger than its anchor a region may be told to be


def axes(m: Meta, name: str, count: int) -> None:
    """Refuse an operand of another number of axes."""
    if m.ndim != count:
        raise ShapeError(f"{name} has {m.ndim} axes, {count} are needed")


# ---- of boxes that cover each other the less sure count less ----


@primitive(
    outputs=("out", "index", "rois_num"),
    slots={"bboxes": "BBoxes"},
    infer_first=True,
)
def matrix_nms(
    bboxes: Meta,
    scores: Meta,
    *,
    score_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    post_threshold: float = 0.0,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
) -> tuple[Meta, Meta, Meta]:
    """Class, lowered score and corners of boxes, their numbers, and how many an image has.

    The score of a box is lowered by what surer ones of its class cover of it.
    """
    floating(bboxes, scores)
    axes(bboxes, "bboxes", 3)
    axes(scores, "scores", 3)
    agree(bboxes.shape[2], 4, "a box has {} numbers, {} are needed")
    images = agree(bboxes.shape[0], scores.shape[0], "there are boxes for {} and scores for {}")
    agree(bboxes.shape[1], scores.shape[2], "there are {} boxes and scores of {}")
    out = bboxes.with_shape((UNKNOWN, 6))
    return out, Meta((UNKNOWN, 1), int32), Meta((images,), int32)


@matrix_nms.kernel
def matrix_nms_kernel(xp: Any, bboxes: Any, scores: Any, *, out: Any = None, **attrs: Any) -> Any:
    rows, numbers, counts = [], [], []
    for image, (boxes, chances) in enumerate(zip(bboxes, scores, strict=True)):
        found = [
            (score, label, i)
            for label, own in enumerate(chances)
            if label != attrs["background_label"]
            for i, score in lowered(boxes, own, attrs)
        ]
        found.sort(key=lambda at: -at[0])
        if attrs["keep_top_k"] > -1:
            found = found[: attrs["keep_top_k"]]
        rows += [[label, score, *boxes[i]] for score, label, i in found]
        numbers += [image * len(boxes) + i for _, _, i in found]
        counts.append(len(found))
    kept = xp.array(rows, bboxes.dtype).reshape(-1, 6)
    return kept, xp.array(numbers, "int32").reshape(-1, 1), xp.array(counts, "int32")


def lowered(boxes: Any, scores: Any, attrs: dict[str, Any]) -> list[tuple[int, Any]]:
    """The boxes of one class that are sure enough, and their scores lowered."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > scores.dtype.type(attrs["score_threshold"])]
    if attrs["nms_top_k"] > -1:
        order = order[: attrs["nms_top_k"]]
    if not len(order):
        return []
    own = boxes[order]
    both = np.tril(shared(own[:, None], own, attrs["normalized"]), -1)  # with those before it
    most = both.max(1)
    if attrs["use_gaussian"]:
        factors = np.exp((most**2 - both**2) * both.dtype.type(attrs["gaussian_sigma"]))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = (1 - both) / (1 - most)
    before = np.tril(np.ones_like(both, bool), -1)
    factors = np.where(before, factors, 1).min(1, initial=1)
    found = factors * scores[order]
    sure = found > found.dtype.type(attrs["post_threshold"])
    return [(int(order[i]), found[i]) for i in sure.nonzero()[0]]


# ---- regions that may hold something ----


@primitive(
    outputs=("rpn_rois", "rpn_roi_probs", "rpn_rois_num"),
    attrs={"pre_nms_top_n": "pre_nms_topN", "post_nms_top_n": "post_nms_topN"},
    infer_first=True,
)
def generate_proposals_v2(
    scores: Meta,
    bbox_deltas: Meta,
    im_shape: Meta,
    anchors: Meta,
    variances: Meta,
    *,
    pre_nms_top_n: int,
    post_nms_top_n: int,
    nms_thresh: float,
    min_size: float,
    eta: float,
    pixel_offset: bool = True,
) -> tuple[Meta, Meta, Meta]:
    """Regions told by how they differ from anchors, surest first, of which none covers another.

    With them come their scores, and how many an image has.
    """
    return proposals(scores, bbox_deltas, anchors, variances, ("im_shape", im_shape, 2))


def proposals(
    scores: Meta, bbox_deltas: Meta, anchors: Meta, variances: Meta, told: tuple[str, Meta, int]
) -> tuple[Meta, Meta, Meta]:
    """Regions, their scores, and how many an image has; `told` is of images, with its columns."""
    floating(scores, bbox_deltas, anchors, variances)
    for name, m in (("scores", scores), ("bbox_deltas", bbox_deltas)):
        axes(m, name, 4)
    name, sizes, columns = told
    axes(sizes, name, 2)
    agree(sizes.shape[1], columns, f"{name} has {{}} columns, {{}} are needed")
    for m in (anchors, variances):
        agree(m.shape[-1] if m.ndim else 0, 4, "an anchor has {} numbers, {} are needed")
    images = agree(scores.shape[0], bbox_deltas.shape[0], "scores of {} images and regions of {}")
    wide = UNKNOWN if scores.shape[1] == -1 else 4 * scores.shape[1]
    agree(bbox_deltas.shape[1], wide, "bbox_deltas has {} channels, four times the scores' are {}")
    for axis in (2, 3):
        agree(scores.shape[axis], bbox_deltas.shape[axis], "scores and regions are {} and {} wide")
    rows = scores.with_shape((UNKNOWN, 4)), scores.with_shape((UNKNOWN, 1))
    return (*rows, Meta((images,), int32))


@generate_proposals_v2.kernel
def generate_proposals_kernel(
    xp: Any,
    scores: Any,
    bbox_deltas: Any,
    im_shape: Any,
    anchors: Any,
    variances: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    anchors, variances = anchors.reshape(-1, 4), variances.reshape(-1, 4)
    needed = scores[0].size if len(scores) else 0
    for name, rows in (("anchors", anchors), ("variances", variances)):
        if len(rows) < needed:  # more are passed over
            raise ShapeError(f"{len(rows)} {name} and {needed} scores")
    found = [
        proposed(
            own.transpose(1, 2, 0).reshape(-1), as_rows(deltas), size, anchors, variances, attrs
        )
        for own, deltas, size in zip(scores, bbox_deltas, im_shape, strict=True)
    ]
    rows = xp.concatenate([boxes for boxes, _ in found]) if found else xp.zeros((0, 4))
    chances = xp.concatenate([own for _, own in found]) if found else xp.zeros(0)
    counts = xp.array([len(own) for _, own in found], "int32")
    return rows.astype(scores.dtype), chances.astype(scores.dtype).reshape(-1, 1), counts


def as_rows(deltas: Any) -> Any:
    """Four numbers for each anchor of each place."""
    return deltas.transpose(1, 2, 0).reshape(-1, 4)


def proposed(
    scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any, attrs: dict[str, Any]
) -> tuple[Any, Any]:
    """The regions of one image, and their scores."""
    order = np.argsort(-scores, kind="stable")
    if attrs["pre_nms_top_n"] > 0:
        order = order[: attrs["pre_nms_top_n"]]
    edge = scores.dtype.type(bool(attrs["pixel_offset"]))
    boxes = regions(deltas[order], anchors[order], variances[order], edge)
    limits = np.tile(size[1::-1] - edge, 2)
    boxes = np.clip(boxes, 0, limits).astype(scores.dtype)
    kept = large_enough(boxes, size, max(attrs["min_size"], 1.0), edge)
    if not len(kept):
        return np.zeros((1, 4), scores.dtype), np.zeros(1, scores.dtype)
    boxes, chances = boxes[kept], scores[order][kept]
    if attrs["nms_thresh"] > 0:
        asked = {"nms_threshold": attrs["nms_thresh"], "nms_eta": attrs["eta"], "nms_top_k": -1}
        asked |= {"score_threshold": -math.inf, "normalized": not attrs["pixel_offset"]}
        own = uncovered(boxes, chances, asked)
        own = own[: attrs["post_nms_top_n"]] if attrs["post_nms_top_n"] > 0 else own
        boxes, chances = boxes[own], chances[own]
    return boxes, chances


def regions(deltas: Any, anchors: Any, variances: Any, edge: Any) -> Any:
    """The corners of regions that are told by how they differ from anchors."""
    low, high = anchors[:, :2], anchors[:, 2:]
    sizes = high - low + edge
    centres = low + sizes * anchors.dtype.type(0.5)
    moved = variances[:, :2] * deltas[:, :2] * sizes + centres
    widest = anchors.dtype.type(WIDEST)
    grown = np.exp(np.minimum(variances[:, 2:] * deltas[:, 2:], widest)) * sizes
    half = grown * anchors.dtype.type(0.5)
    return np.concatenate([moved - half, moved + half - edge], 1)


def large_enough(boxes: Any, size: Any, least: float, edge: Any) -> Any:
    """The numbers of boxes of a size, whose centres lie in the image where pixels count.

    The third number of `size` is how much larger the image is than it was, which the boxes are to
    be large enough in.
    """
    sizes = boxes[:, 2:] - boxes[:, :2]
    fine = (sizes / (size[2] if len(size) > 2 else 1) + edge >= least).all(1)
    if edge:
        fine &= (boxes[:, :2] + (sizes + edge) / 2 <= size[1::-1]).all(1)
    return fine.nonzero()[0]


@primitive(
    outputs=("rpn_rois", "rpn_roi_probs", "rpn_roi_num"),
    slots={"rpn_roi_num": "RpnRoisNum"},
    attrs={"pre_nms_top_n": "pre_nms_topN", "post_nms_top_n": "post_nms_topN"},
    unsaid=("RpnRoisNum",),
    infer_first=True,
)
def generate_proposals(
    scores: Meta,
    bbox_deltas: Meta,
    im_info: Meta,
    anchors: Meta,
    variances: Meta,
    *,
    pre_nms_top_n: int,
    post_nms_top_n: int,
    nms_thresh: float,
    min_size: float,
    eta: float,
) -> tuple[Meta, Meta, Meta]:
    """The same of images whose height, width and factor `im_info` tells."""
    return proposals(scores, bbox_deltas, anchors, variances, ("im_info", im_info, 3))


@generate_proposals.kernel
def older_proposals_kernel(xp: Any, *operands: Any, out: Any = None, **attrs: Any) -> Any:
    return generate_proposals_kernel(xp, *operands, **attrs, pixel_offset=True)


# ---- regions dealt to levels, and gathered from them ----


@primitive(
    outputs=("multi_fpn_rois[]", "restore_index", "multi_level_rois_num[]"),
    slots={"multi_level_rois_num": "MultiLevelRoIsNum"},
    unsaid=("MultiLevelRoIsNum",),
    infer_first=True,
)
def distribute_fpn_proposals(
    fpn_rois: Meta,
    rois_num: Meta = None,
    *,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = True,
) -> tuple[list[Meta], Meta, list[Meta]]:
    """The regions for each level of a pyramid, larger ones for higher levels.

    With them come the place of each region among all of these, and how many an image has on each
    level where `rois_num` tells images apart.
    """
    floating(fpn_rois)
    axes(fpn_rois, "fpn_rois", 2)
    agree(fpn_rois.shape[1], 4, "a region has {} numbers, {} are needed")
    if not 0 <= max_level - min_level < MOST_LEVELS:
        raise ArgumentError(f"levels from {min_level} to {max_level} are none, or too many")
    if rois_num is not None and not rois_num.dtype.is_integer:
        raise DtypeError(f"rois_num is {rois_num.dtype.name}, not of integers")
    if rois_num is not None and rois_num.ndim:  # the reference's Programs note counts as numbers
        axes(rois_num, "rois_num", 1)
    count = max_level - min_level + 1
    rows = [fpn_rois.with_shape((UNKNOWN, 4)) for _ in range(count)]
    told = [] if rois_num is None else [rois_num] * count
    counts = [Meta(m.shape or (UNKNOWN,), int32) for m in told]
    return rows, Meta((fpn_rois.shape[0], 1), int32), counts


@distribute_fpn_proposals.kernel
def distribute_kernel(
    xp: Any, fpn_rois: Any, rois_num: Any = None, *, out: Any = None, **attrs: Any
) -> Any:
    edge = fpn_rois.dtype.type(bool(attrs["pixel_offset"]))
    sizes = fpn_rois[:, 2:] - fpn_rois[:, :2]
    areas = xp.where((sizes < 0).any(1), 0, (sizes + edge).prod(1))
    scale = xp.sqrt(areas) / fpn_rois.dtype.type(attrs["refer_scale"])
    low, high = attrs["min_level"], attrs["max_level"]
    levels = xp.floor(xp.log2(scale + fpn_rois.dtype.type(1e-6)) + attrs["refer_level"])
    levels = xp.clip(levels, low, high).astype("int64")
    counts = xp.array([len(fpn_rois)]) if rois_num is None else rois_num.reshape(-1)
    agree(int(counts.sum()), len(fpn_rois), "rois_num tells of {} regions, and there are {}")
    images = xp.repeat(xp.arange(len(counts)), counts)
    order = xp.argsort(levels, kind="stable")
    places = xp.empty((len(fpn_rois), 1), "int32")
    places[order, 0] = xp.arange(len(fpn_rois))
    chosen = [levels == level for level in range(low, high + 1)]
    told = chosen if rois_num is not None else []
    numbers = [xp.bincount(images[c], minlength=len(counts)).astype("int32") for c in told]
    return [fpn_rois[c] for c in chosen], places, numbers


@primitive(
    outputs=("fpn_rois", "rois_num"),
    slots={"multi_level_rois_num": "MultiLevelRoIsNum"},
    attrs={"post_nms_top_n": "post_nms_topN"},
    unsaid=("MultiLevelRoIsNum", "RoisNum"),
    infer_first=True,
)
def collect_fpn_proposals(
    multi_level_rois: list[Meta],
    multi_level_scores: list[Meta],
    multi_level_rois_num: list[Meta] | None = None,
    *,
    post_nms_top_n: int,
) -> tuple[Meta, Meta]:
    """The surest regions of all levels of a pyramid by image, and how many an image has."""
    given = multi_level_rois, multi_level_scores
    agree(*map(len, given), "there are regions of {} levels and scores of {}")
    if post_nms_top_n < 0:
        raise ArgumentError(f"post_nms_topN is {post_nms_top_n}; as many regions are kept")
    for rois, scores in zip(*given, strict=True):
        floating(rois, scores)
        axes(rois, "a level of regions", 2)
        agree(rois.shape[1], 4, "a region has {} numbers, {} are needed")
        axes(scores, "a level of scores", 2)
        agree(scores.shape[1], 1, "a region has {} scores, {} is needed")
        agree(rois.shape[0], scores.shape[0], "a level has {} regions and {} scores")
    told = multi_level_rois_num or []
    agree(
        len(told) or len(given[0]), len(given[0]), "there are numbers of {} levels, regions of {}"
    )
    images = UNKNOWN
    for m in told:
        axes(m, "a level of numbers", 1)
        if not m.dtype.is_integer:
            raise DtypeError(f"{m} are no numbers of regions")
        images = agree(images, m.shape[0], "one level has regions of {} images, another of {}")
    return multi_level_rois[0].with_shape((UNKNOWN, 4)), Meta((images,), int32)


@collect_fpn_proposals.kernel
def collect_kernel(
    xp: Any,
    multi_level_rois: Any,
    multi_level_scores: Any,
    multi_level_rois_num: Any = None,
    *,
    out: Any = None,
    post_nms_top_n: int,
) -> Any:
    if not multi_level_rois_num:
        raise ArgumentError("neither numbers nor levels of detail tell which image a region is of")
    for rois, counts in zip(multi_level_rois, multi_level_rois_num, strict=True):
        agree(int(counts.sum()), len(rois), "numbers tell of {} regions, and there are {}")
    images = [xp.repeat(xp.arange(len(n)), n) for n in multi_level_rois_num]
    rois, image = xp.concatenate(multi_level_rois), xp.concatenate(images)
    scores = xp.concatenate(multi_level_scores)[::-1, 0]  # of equals the last comes first
    order = (len(image) - 1 - xp.argsort(-scores, kind="stable"))[:post_nms_top_n]
    order = order[xp.argsort(image[order], kind="stable")]
    counts = xp.bincount(image[order], minlength=len(multi_level_rois_num[0]))
    return rois[order], counts.astype("int32")


for function in (
    *(matrix_nms, generate_proposals_v2, generate_proposals),
    *(distribute_fpn_proposals, collect_fpn_proposals),
):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
