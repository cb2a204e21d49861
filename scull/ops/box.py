"""Boxes around what is seen: coded, made of a detector's answers, chosen."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Floats, Ints
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.half import placed, wide_at, widening
from scull.ops.level import BY_VALUES, segments, unpacked

FEW = 64  # boxes that are compared with all others at once
CONSTANT = "boxes are made without gradients, as in Paddle"
NOTHING = 1e-10  # added to what is divided by: boxes of no size have nothing in common
NO_LOOP = "it is made of few large steps over all boxes"


def four(m: Meta, name: str, *counts: int) -> None:
    """Refuse boxes that are not four numbers each, or have another number of axes."""
    floating(m)
    if m.ndim not in counts:
        raise ShapeError(f"{name} has {m.ndim} axes, {' or '.join(map(str, counts))} are needed")
    agree(m.shape[-1], 4, f"a box of {name} has {{}} numbers, {{}} are needed")


# Of boxes that cover each other much, the first.


@primitive(
    outputs=("keep_boxes_idxs",), slots={"keep_boxes_idxs": "KeepBoxesIdxs"}, infer_first=True
)
def nms(boxes: Meta, *, iou_threshold: float = 1.0) -> Meta:
    """The numbers of the boxes (left, top, right, bottom) that no kept one before them covers."""
    four(boxes, "boxes", 2)
    return Meta((UNKNOWN,), int64)


@nms.kernel
def nms_kernel(xp: Any, boxes: Any, *, out: Any = None, iou_threshold: float) -> Any:
    sides = xp.ascontiguousarray(boxes.T)
    rest, kept = xp.arange(len(boxes)), [xp.zeros(0, "int64")]
    while len(rest):
        few, rest = rest[:FEW], rest[FEW:]
        covers = covering(xp, sides[:, few], sides[:, few], iou_threshold)
        kept.append(few[uncovered(xp, covers)])
        if len(rest):
            hidden = covering(xp, sides[:, kept[-1]], sides[:, rest], iou_threshold).any(0)
            rest = rest[~hidden]
    return xp.concatenate(kept)


def uncovered(xp: Any, covers: Any) -> list[int]:
    """The boxes that no kept one before them covers; each row as the digits of one number."""
    kept, hidden = [], 0
    for i, row in enumerate(xp.packbits(covers, 1, "little")):
        if not hidden >> i & 1:
            kept.append(i)
            hidden |= int.from_bytes(row.tobytes(), "little")
    return kept


def covering(xp: Any, some: Any, others: Any, iou_threshold: float) -> Any:
    """Which boxes [some, others] have more in common than that part of what they cover."""
    left, top, right, bottom = some[:, :, None]
    beyond, below, until, down = others
    wide, high = (xp.minimum(last, end) for last, end in ((right, until), (bottom, down)))
    wide -= xp.maximum(left, beyond)
    high -= xp.maximum(top, below)
    xp.maximum(wide, 0, out=wide)
    wide *= xp.maximum(high, 0, out=high)
    xp.add((right - left) * (bottom - top), (until - beyond) * (down - below), out=high)
    high -= wide
    high *= iou_threshold
    return wide > high


# Boxes told by how they differ from others.

CODES = ("encode_center_size", "decode_center_size")


@primitive(outputs=("output_box",), infer_first=True)
def box_coder(
    prior_box: Meta,
    target_box: Meta,
    prior_box_var: Meta = None,
    *,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    variance: Floats = (),
) -> Meta:
    """Boxes as shifts and logarithms of factors of prior ones, or back."""
    if code_type not in CODES:
        raise ArgumentError(f"code_type is {code_type!r}, neither {CODES[0]} nor {CODES[1]}")
    four(prior_box, "prior_box", 2)
    if prior_box_var is not None:
        four(prior_box_var, "prior_box_var", 2)
        agree(prior_box_var.shape[0], prior_box.shape[0], "there are {} variances and {} boxes")
    elif len(variance) not in (0, 4):
        raise ArgumentError(f"variance has {len(variance)} numbers, 4 are needed")
    if code_type == CODES[0]:
        four(target_box, "target_box", 2)
        return target_box.with_shape((target_box.shape[0], prior_box.shape[0], 4))
    four(target_box, "target_box", 3)
    if axis not in (0, 1):
        raise ArgumentError(f"axis is {axis}, neither 0 nor 1")
    along = target_box.shape[1 - axis]
    agree(along, prior_box.shape[0], "target_box has {} boxes along the axis of {} prior ones")
    return target_box


@box_coder.kernel
def box_coder_kernel(
    xp: Any,
    prior_box: Any,
    target_box: Any,
    prior_box_var: Any = None,
    *,
    out: Any = None,
    code_type: str,
    box_normalized: bool,
    axis: int,
    variance: Any,
) -> Any:
    edge = 0 if box_normalized else 1
    lined = 0 if code_type == CODES[0] or axis == 0 else 1  # where an axis is put in
    size = xp.expand_dims(prior_box[:, 2:] - prior_box[:, :2] + edge, lined)
    middle = xp.expand_dims(prior_box[:, :2], lined) + size / 2
    factors: Any = 1 if not variance else xp.array(variance, prior_box.dtype)
    if prior_box_var is not None:
        factors = xp.expand_dims(prior_box_var, lined)
    if code_type == CODES[0]:
        own = (target_box[:, 2:] - target_box[:, :2] + edge)[:, None]
        centre = ((target_box[:, 2:] + target_box[:, :2]) / 2)[:, None]
        shift, stretch = (centre - middle) / size, xp.log(xp.abs(own / size))
        return placed(xp.concatenate([shift, stretch], -1) / factors, target_box.dtype, out)
    codes = target_box * factors
    centre, half = codes[..., :2] * size + middle, xp.exp(codes[..., 2:]) * size / 2
    found = xp.concatenate([centre - half, centre + half - edge], -1)
    return placed(found, target_box.dtype, out)


# The boxes a detector sees: an answer for each place and each of a few typical boxes.


@primitive(outputs=("boxes", "scores"), infer_first=True)
def yolo_box(
    x: Meta,
    img_size: Meta,
    *,
    anchors: Ints = (),
    class_num: int = 1,
    conf_thresh: float = 0.01,
    downsample_ratio: int = 32,
    clip_bbox: bool = True,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Meta, Meta]:
    """The boxes seen, (left, top, right, bottom), and the chance of each class; 0 if too small."""
    floating(x)
    if x.ndim != 4:
        raise ShapeError(f"x has {x.ndim} axes, 4 are needed")
    if img_size.ndim != 2 or not img_size.dtype.is_integer:
        raise ShapeError(f"img_size is {img_size}; integers, two for each image, are needed")
    agree(img_size.shape[0], x.shape[0], "there are sizes of {} images and {} images")
    agree(img_size.shape[1], 2, "an image has {} sizes, {} are needed")
    if not anchors or len(anchors) % 2 or min(anchors) < 1:
        raise ArgumentError(f"anchors is {list(anchors)}; pairs of numbers above 0 are needed")
    if class_num < 1 or downsample_ratio < 1:
        raise ArgumentError(f"class_num is {class_num}, downsample_ratio {downsample_ratio}")
    if iou_aware and not 0 <= iou_aware_factor <= 1:
        raise ArgumentError(f"iou_aware_factor is {iou_aware_factor}, outside [0, 1]")
    count = len(anchors) // 2
    needed = count * (5 + class_num + iou_aware)
    agree(x.shape[1], needed, "x has {} channels, {} are needed")
    rows = UNKNOWN if -1 in x.shape[2:] else count * x.shape[2] * x.shape[3]
    boxes = x.with_shape((x.shape[0], rows, 4))
    return boxes, x.with_shape((x.shape[0], rows, class_num))


def chance(x: Any) -> Any:
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


@yolo_box.kernel
def yolo_box_kernel(
    xp: Any,
    x: Any,
    img_size: Any,
    *,
    out: Any = None,
    anchors: Any,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool,
    scale_x_y: float,
    iou_aware: bool,
    iou_aware_factor: float,
) -> Any:
    boxes, scores = out or (None, None)
    images, _, rows, columns = x.shape
    count = len(anchors) // 2
    sure: Any = 1
    if iou_aware:
        sure = chance(x[:, :count]) ** iou_aware_factor
        x = x[:, count:]
    given = xp.moveaxis(x.reshape(images, count, 5 + class_num, rows, columns), 2, -1)
    seen = chance(given[..., 4])
    seen = seen ** (1 - iou_aware_factor) * sure if iou_aware else seen
    seen = xp.where(seen < conf_thresh, 0, seen)[..., None]
    image = img_size[:, None, None, None, ::-1].astype(x.dtype)  # width and height
    place = xp.stack(xp.meshgrid(xp.arange(columns), xp.arange(rows)), -1)
    spot = chance(given[..., :2]) * scale_x_y - 0.5 * (scale_x_y - 1) + place
    middle = spot * image / xp.array([columns, rows])
    anchor = xp.array(anchors).reshape(count, 1, 1, 2)
    half = xp.exp(given[..., 2:4]) * anchor * image / xp.array([columns, rows])
    half = half / (2 * downsample_ratio)
    low, high = middle - half, middle + half
    if clip_bbox:
        low, high = xp.maximum(low, 0), xp.minimum(high, image - 1)
    found = xp.where(seen > 0, xp.concatenate([low, high], -1), 0)
    chances = chance(given[..., 5:]) * seen
    whole = found.reshape(images, -1, 4), chances.reshape(images, -1, class_num)
    return placed(whole[0], x.dtype, boxes), placed(whole[1], x.dtype, scores)


# How much of two boxes is common to both.


def one_type(*metas: Meta) -> None:
    """Refuse operands whose element types differ."""
    for m in metas[1:]:
        if m.dtype is not metas[0].dtype:
            raise DtypeError(f"{metas[0]} and {m} differ in element type; cast one")


@primitive(infer_first=True)
def iou_similarity(x: Meta, y: Meta, *, box_normalized: bool = True) -> Meta:
    """For each pair of boxes of `x` and `y` the common part of what both cover."""
    four(x, "x", 2)
    four(y, "y", 2)
    one_type(x, y)
    return x.with_shape((x.shape[0], y.shape[0]))


@iou_similarity.kernel
@widening
def iou_similarity_kernel(xp: Any, x: Any, y: Any, *, out: Any = None, box_normalized: bool) -> Any:
    edge = x.dtype.type(0 if box_normalized else 1)
    left, top, right, bottom = x.T[:, :, None]
    beyond, below, until, down = y.T
    wide = xp.minimum(right, until)
    wide -= xp.maximum(left, beyond)
    wide += edge
    xp.maximum(wide, 0, out=wide)
    high = xp.minimum(bottom, down)
    high -= xp.maximum(top, below)
    high += edge
    wide *= xp.maximum(high, 0, out=high)
    areas = (right - left + edge) * (bottom - top + edge)
    xp.add(areas, (until - beyond + edge) * (down - below + edge), out=high)
    high -= wide
    high += NOTHING
    return xp.divide(wide, high, out=out)


@iou_similarity.lower
def iou_similarity_at(index: Any, x: Any, y: Any, box_normalized: bool) -> Any:
    i, j = index
    edge = 0.0 if box_normalized else 1.0
    box, other = ([wide_at(m[k, side]) for side in range(4)] for m, k in ((x, i), (y, j)))
    sides = [
        lang.minimum(box[k + 2], other[k + 2]) - lang.maximum(box[k], other[k]) + edge
        for k in (0, 1)
    ]
    both = lang.maximum(sides[0], 0.0) * lang.maximum(sides[1], 0.0)
    areas = [(b[2] - b[0] + edge) * (b[3] - b[1] + edge) for b in (box, other)]
    return lang.cast(both / (areas[0] + areas[1] - both + NOTHING), x.dtype)


# Boxes cut at the edges of their images.


@primitive(
    outputs=("output",),
    slots={"levels": "Input@LOD"},
    unsaid=("Input@LOD",),
    infer_first=True,
)
def box_clip(input: Meta, im_info: Meta, levels: Meta = None) -> Meta:
    """Boxes as far as they lie in their images, of which `im_info` tells height, width, factor."""
    floating(input, im_info)
    if input.ndim not in (2, 3):
        raise ShapeError(f"input has {input.ndim} axes, 2 or 3 are needed")
    agree(input.shape[-1], 4, "a box of input has {} numbers, {} are needed")
    check_sizes(im_info)
    one_type(input, im_info)
    return input


def check_sizes(im_info: Meta) -> None:
    """Refuse what does not tell height, width and factor of images."""
    if im_info.ndim != 2:
        raise ShapeError(f"im_info has {im_info.ndim} axes, 2 are needed")
    agree(im_info.shape[1], 3, "im_info has {} columns, {} are needed")


def rounded(x: Any) -> Any:
    """The nearest whole numbers, away from zero in the middle between two."""
    return np.trunc(x + np.copysign(x.dtype.type(0.5), x))


@box_clip.kernel
def box_clip_kernel(
    xp: Any, input: Any, im_info: Any, levels: Any = None, *, out: Any = None
) -> Any:
    found = unpacked(levels) if levels is not None else []
    if len(found) != 1:
        raise ArgumentError(f"input has {len(found)} levels of detail; 1 says whose a box is")
    agree(len(found[0]) - 1, len(im_info), "input has boxes for {} images, im_info tells of {}")
    agree(int(found[0][-1]), len(input), "levels of detail tell of {} rows, not {}")
    most = rounded(im_info[:, 1::-1] / im_info[:, 2:]) - 1
    most = xp.tile(most, 2)[segments(found[0])].reshape(-1, *[1] * (input.ndim - 2), 4)
    return xp.maximum(xp.minimum(input, most), 0, out=out)


box_clip.no_lowering(BY_VALUES)


# The corners of text, told by how far they lie from the places that see it.


@primitive(outputs=("output",), infer_first=True)
def polygon_box_transform(input: Meta) -> Meta:
    """Corners where they lie, in channels of x and y by turns: of places four times as dense."""
    floating(input)
    if input.ndim != 4:
        raise ShapeError(f"input has {input.ndim} axes, 4 are needed")
    if input.shape[1] != -1 and input.shape[1] % 2:
        raise ShapeError(f"input has {input.shape[1]} channels, an even number is needed")
    return input


@polygon_box_transform.kernel
def polygon_box_transform_kernel(xp: Any, input: Any, *, out: Any = None) -> Any:
    found = xp.empty(input.shape, input.dtype) if out is None else out
    rows, columns = (xp.arange(n, dtype=input.dtype) * 4 for n in input.shape[2:])
    xp.subtract(columns, input[:, ::2], out=found[:, ::2])
    xp.subtract(rows[:, None], input[:, 1::2], out=found[:, 1::2])
    return found


@polygon_box_transform.lower
def polygon_box_transform_at(index: Any, input: Any) -> Any:
    along = lang.select(lang.equal(index[1] % 2, 0), index[3], index[2])
    return lang.cast(along * 4, input.dtype) - input[index]


# Boxes of each class, and of the surest.


@primitive(
    outputs=("decode_box", "output_assign_box"),
    infer_first=True,
)
def box_decoder_and_assign(
    prior_box: Meta,
    target_box: Meta,
    box_score: Meta,
    prior_box_var: Meta = None,
    *,
    box_clip: float = 4.135,
) -> tuple[Meta, Meta]:
    """The boxes of all classes, told by how they differ from prior ones, and the surest of them.

    Where class 0, the background, is alone, that is the prior one.
    """
    if prior_box_var is None:
        raise ArgumentError("prior_box_var is needed")
    four(prior_box, "prior_box", 2)
    four(prior_box_var, "prior_box_var", 1)
    for name, m in (("target_box", target_box), ("box_score", box_score)):
        if m.ndim != 2:
            raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
        agree(m.shape[0], prior_box.shape[0], f"{name} has {{}} rows, prior_box {{}}")
    one_type(prior_box, prior_box_var, target_box, box_score)
    wide = UNKNOWN if box_score.shape[1] == -1 else 4 * box_score.shape[1]
    agree(target_box.shape[1], wide, "target_box has {} columns, four a class are {}")
    return target_box, prior_box


@box_decoder_and_assign.kernel
def box_decoder_and_assign_kernel(
    xp: Any,
    prior_box: Any,
    target_box: Any,
    box_score: Any,
    prior_box_var: Any,
    *,
    out: Any = None,
    box_clip: float,
) -> Any:
    boxes, surest = out or (None, None)
    codes = target_box.reshape(*box_score.shape, 4)
    found = xp.empty(codes.shape, target_box.dtype)
    for k in (0, 1):
        size = (prior_box[:, k + 2] - prior_box[:, k] + 1)[:, None]
        stretch = codes[..., k + 2] * prior_box_var[k + 2]
        half = xp.exp(xp.minimum(stretch, stretch.dtype.type(box_clip))) * (size / 2)
        middle = codes[..., k] * prior_box_var[k] * size + (prior_box[:, k, None] + size / 2)
        found[..., k], found[..., k + 2] = middle - half, middle + half - 1
    chosen = xp.array(prior_box)
    if box_score.shape[1] > 1:
        best = box_score[:, 1:].argmax(1)
        rows = xp.arange(len(best))
        seen = box_score[rows, best + 1] > -1
        chosen = xp.where(seen[:, None], found[rows, best + 1], prior_box)
    dtype = target_box.dtype
    return placed(found.reshape(target_box.shape), dtype, boxes), placed(chosen, dtype, surest)


for function in (nms, box_coder, yolo_box, box_decoder_and_assign):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
for function in (iou_similarity, box_clip, polygon_box_transform):
    function.no_grad(CONSTANT)
