"""Boxes around what is seen: coded, made of a detector's answers, chosen."""

from typing import Any

import numpy as np

from scull.core.attribute import Floats, Ints
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import placed

FEW = 64  # boxes that are compared with all others at once
CONSTANT = "boxes are made without gradients, as in Paddle"
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
        open = xp.ones(len(few), bool)
        for i in range(len(few)):
            if open[i]:
                open[i + 1 :] &= ~covers[i, i + 1 :]
        kept.append(few[open])
        hidden = covering(xp, sides[:, kept[-1]], sides[:, rest], iou_threshold).any(0)
        rest = rest[~hidden]
    return xp.concatenate(kept)


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


# Boxes of all sizes around each place of an image.


def shapes_of(
    least: Any, most: Any, ratios: Any, flip: bool, largest_second: bool
) -> list[tuple[float, float]]:
    """How wide and high the boxes around a place are."""
    known = [1.0]
    for ratio in ratios:
        if all(abs(ratio - other) >= 1e-6 for other in known):
            known += [ratio, 1.0 / ratio] if flip else [ratio]
    found = []
    for i, size in enumerate(least):
        boxes = [(size * r**0.5, size / r**0.5) for r in known]
        square = [((size * most[i]) ** 0.5,) * 2] if most else []
        found += boxes[:1] + square + boxes[1:] if largest_second else boxes + square
    return found


@primitive(
    outputs=("boxes", "variances"),
    attrs={"variance": "variances"},
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False, "use_quantizer": False},
    infer_first=True,
)
def prior_box(
    input_meta: Meta,
    image_meta: Meta,
    *,
    min_sizes: Floats,
    max_sizes: Floats = (),
    aspect_ratios: Floats = (),
    variance: Floats = (),
    flip: bool = True,
    clip: bool = True,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
) -> tuple[Meta, Meta]:
    """Boxes of many sizes and shapes around each place of `input`, in shares of `image`."""
    floating(input_meta, image_meta)
    for name, m in (("input", input_meta), ("image", image_meta)):
        if m.ndim != 4:
            raise ShapeError(f"{name} has {m.ndim} axes, 4 are needed")
    if not min_sizes or min(min_sizes) <= 0:
        raise ArgumentError(f"min_sizes is {list(min_sizes)}; sizes above 0 are needed")
    if max_sizes and len(max_sizes) != len(min_sizes):
        raise ArgumentError(f"there are {len(min_sizes)} min_sizes and {len(max_sizes)} max_sizes")
    if any(b <= a for a, b in zip(min_sizes, max_sizes, strict=False)):
        raise ArgumentError("a size of max_sizes is not above that of min_sizes")
    if any(r <= 0 for r in aspect_ratios):
        raise ArgumentError(f"aspect_ratios is {list(aspect_ratios)}; all are to be above 0")
    if len(variance) != 4 or min(variance) <= 0:
        raise ArgumentError(f"variances is {list(variance)}; four numbers above 0 are needed")
    order = min_max_aspect_ratios_order
    count = len(shapes_of(min_sizes, max_sizes, aspect_ratios, flip, order))
    found = input_meta.with_shape((*input_meta.shape[2:], count, 4))
    return found, found


@prior_box.kernel
def prior_box_kernel(
    xp: Any,
    input: Any,
    image: Any,
    *,
    out: Any = None,
    min_sizes: Any,
    max_sizes: Any,
    aspect_ratios: Any,
    variance: Any,
    flip: bool,
    clip: bool,
    step_w: float,
    step_h: float,
    offset: float,
    min_max_aspect_ratios_order: bool,
) -> Any:
    boxes, variances = out or (None, None)
    order = min_max_aspect_ratios_order
    half = xp.array(shapes_of(min_sizes, max_sizes, aspect_ratios, flip, order)) / 2
    rows, columns, dtype = *input.shape[2:], input.dtype
    height, width = image.shape[2:]
    if step_w == 0 or step_h == 0:
        step_w, step_h = width / max(columns, 1), height / max(rows, 1)
    middle = xp.empty((rows, columns, 1, 2))
    middle[..., 0] = ((xp.arange(columns) + offset) * step_w)[:, None]
    middle[..., 1] = ((xp.arange(rows) + offset) * step_h)[:, None, None]
    size = xp.array([width, height])
    found = xp.concatenate([(middle - half) / size, (middle + half) / size], -1)
    found = xp.clip(found, 0, 1) if clip else found
    given = xp.broadcast_to(xp.array(variance, dtype), found.shape)
    return placed(found, dtype, boxes), placed(xp.array(given), dtype, variances)


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


for function in (nms, box_coder, prior_box, yolo_box):
    function.no_grad(CONSTANT)
    function.no_lowering(NO_LOOP)
