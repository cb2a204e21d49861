"""What a YOLO network is told for the boxes it should have seen."""

from typing import Any

import numpy as np

from scull.core.attribute import Ints
from scull.core.dtype import bool_, float32, int32
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, floating, of_shape
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.box import chance
from scull.ops.compare import where
from scull.ops.like import unsqueeze
from scull.ops.math import sigmoid
from scull.ops.suppress import CONSTANT, NO_LOOP

SMALLEST = 1e-6  # how wide and high a box is at least; others are padding
SMOOTH = 1 / 40  # by how much labels are smoothed at most
SURE = 1e-5  # what the mask of things says at least where there is one
PLACES, SIZES, THING, CLASSES = slice(0, 2), slice(2, 4), 4, slice(5, None)
BOXES = {"gt_box": "GTBox", "gt_label": "GTLabel", "gt_score": "GTScore"}
MASKS = {"objectness_mask": "ObjectnessMask", "gt_match_mask": "GTMatchMask"}


def check_boxes(x: Meta, box: Meta, label: Meta, score: Meta | None, sizes: Any) -> tuple[Any, Any]:
    """The shapes of the two masks."""
    anchors, anchor_mask, class_num, ratio = sizes
    if x.ndim != 4 or box.ndim != 3 or label.ndim != 2:
        raise ShapeError(f"x is {x}, gt_box {box} and gt_label {label}; 4, 3 and 2 axes are needed")
    if not label.dtype.is_integer:
        raise DtypeError(f"gt_label is {label.dtype.name}, not of integers")
    if not anchors or len(anchors) % 2 or min(anchors) < 1:
        raise ArgumentError(f"anchors is {list(anchors)}; pairs of numbers above 0 are needed")
    if not anchor_mask or not all(0 <= n < len(anchors) // 2 for n in anchor_mask):
        raise ArgumentError(f"anchor_mask is {list(anchor_mask)}; numbers of anchors are needed")
    if class_num < 1 or ratio < 1:
        raise ArgumentError(f"class_num is {class_num}, downsample_ratio {ratio}")
    images, channels, rows, columns = x.shape
    agree(rows, columns, "x has {} rows and {} columns")
    agree(channels, len(anchor_mask) * (5 + class_num), "x has {} channels, {} are needed")
    agree(box.shape[2], 4, "a box has {} numbers, {} are needed")
    for name, m in (("gt_label", label), ("gt_score", score)):
        if m is not None:
            agree(m.ndim, 2, f"{name} has {{}} axes, {{}} are needed")
            for n, own in zip(m.shape, box.shape[:2], strict=True):
                agree(n, own, f"{name} has size {{}} where gt_box has {{}}")
    images = agree(images, box.shape[0], "there are {} images and boxes for {}")
    return (images, len(anchor_mask), rows, columns), (images, box.shape[1])


@primitive(
    type="yolov3_loss",
    prefix="yolov3_loss",
    outputs=("loss", "objectness_mask", "gt_match_mask"),
    slots=BOXES | MASKS,
    hidden=("objectness_mask", "gt_match_mask"),
    recorded={"gt_match_mask": float32},
    infer_first=True,
)
def yolo_loss(
    x: Meta,
    gt_box: Meta,
    gt_label: Meta,
    gt_score: Meta = None,
    *,
    anchors: Ints = (),
    anchor_mask: Ints = (),
    class_num: int = 1,
    ignore_thresh: float = 0.7,
    downsample_ratio: int = 32,
    use_label_smooth: bool = True,
    scale_x_y: float = 1.0,
) -> tuple[Meta, Meta, Meta]:
    """How far a network is from boxes, for each image.

    With it come what each place is told of there being a thing, -1 where that does not matter; and
    which of the network's anchors each box belongs to, -1 for none.
    """
    floating(x, gt_box)
    sizes = anchors, anchor_mask, class_num, downsample_ratio
    places, boxes = check_boxes(x, gt_box, gt_label, gt_score, sizes)
    return x.with_shape(places[:1]), x.with_shape(places), Meta(boxes, int32)


def split(x: Any, count: int) -> Any:
    """The channels of each anchor on an axis of their own, the second one."""
    images, channels, rows, columns = x.shape
    return np.moveaxis(x.reshape(images, count, channels // count, rows, columns), 2, 1)


def entropy(answer: Any, target: Any) -> Any:
    """The cross entropy of the chance that `answer` stands for and the one it should be."""
    return np.maximum(answer, 0) - answer * target + np.log1p(np.exp(-np.abs(answer)))


class Told:
    """The boxes of a batch: of which anchor and place each is, and what is told there.

    Boxes are in the order of images; `keys` are where `split` channels have them.
    """

    def __init__(self, x: Any, box: Any, label: Any, score: Any, attrs: dict[str, Any]) -> None:
        grid, self.dtype = x.shape[2], x.dtype
        whole = attrs["downsample_ratio"] * grid  # the side of the image
        sizes = np.array(attrs["anchors"]).reshape(-1, 2)
        self.valid = (box[..., 2:] > SMALLEST).all(-1)
        both = np.minimum(box[..., None, 2:], sizes / whole).prod(-1)
        joined = box[..., None, 2:].prod(-1) + (sizes / whole).prod(-1) - both
        best = np.argmax(both / np.where(joined > 0, joined, 1), -1)
        masks = list(attrs["anchor_mask"])
        own = np.array([masks.index(n) if n in masks else -1 for n in range(len(sizes))])
        self.match = np.where(self.valid, own[best], -1).astype("int32")
        image, number = (self.match >= 0).nonzero()
        found = box[image, number].astype(self.dtype)
        spots = found[:, :2] * grid
        if found.size and not ((spots >= 0) & (spots < grid)).all():
            raise RangeError("the centre of a box lies outside of its image")
        column, row = spots.astype(int).T
        self.keys = image, self.match[image, number], row, column
        self.score = np.ones(len(image)) if score is None else score[image, number]
        self.score = self.score.astype(self.dtype)
        low = min(1 / attrs["class_num"], SMOOTH) if attrs["use_label_smooth"] else 0.0
        holds = label[image, number][:, None] == np.arange(attrs["class_num"])
        self.classes = np.where(holds, 1 - low, low).astype(self.dtype)
        self.places = spots - np.stack([column, row], -1)
        self.sizes = np.log(found[:, 2:] * whole / sizes[best[image, number]])
        self.weight = (2 - found[:, 2:].prod(-1)) * self.score


def seen_elsewhere(channels: Any, box: Any, valid: Any, attrs: dict[str, Any]) -> Any:
    """Whether what each place sees covers a box so far that it need not say that it sees none."""
    grid = channels.shape[-1]
    scale = attrs["scale_x_y"]
    sizes = np.array(attrs["anchors"]).reshape(-1, 2)[list(attrs["anchor_mask"])]
    place = np.stack(np.meshgrid(np.arange(grid), np.arange(grid)))[:, None]
    middle = (chance(channels[:, PLACES]) * scale - 0.5 * (scale - 1) + place) / grid
    side = np.exp(channels[:, SIZES]) * sizes.T[..., None, None]
    side = side / (attrs["downsample_ratio"] * grid)
    most = np.zeros_like(channels[:, 0])
    for number in range(box.shape[1]):
        own = box[:, number, :, None, None, None]
        low = np.maximum(middle - side / 2, own[:, :2] - own[:, 2:] / 2)
        high = np.minimum(middle + side / 2, own[:, :2] + own[:, 2:] / 2)
        both = np.where((high > low).all(1), (high - low).prod(1), 0)
        joined = side.prod(1) + own[:, 2:].prod(1) - both
        fits = valid[:, number, None, None, None] & (joined > 0)
        most = np.maximum(most, np.where(fits, both / np.where(fits, joined, 1), 0))
    return most > attrs["ignore_thresh"]


@yolo_loss.kernel
def yolo_loss_kernel(
    xp: Any,
    x: Any,
    gt_box: Any,
    gt_label: Any,
    gt_score: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    told = Told(x, gt_box, gt_label, gt_score, attrs)
    channels = split(x, len(attrs["anchor_mask"]))
    mask = -seen_elsewhere(channels, gt_box, told.valid, attrs).astype(x.dtype)
    image, *place = told.keys
    mask[told.keys] = told.score
    own = channels[image, :, *place]
    parts = entropy(own[:, PLACES], told.places) + abs(own[:, SIZES] - told.sizes)
    each = parts.sum(1) * told.weight + entropy(own[:, CLASSES], told.classes).sum(1) * told.score
    thing = channels[:, THING]
    sure = np.where(mask > SURE, entropy(thing, 1) * mask, 0)
    loss = sure + np.where((mask <= SURE) & (mask > -0.5), entropy(thing, 0), 0)
    loss = loss.sum((1, 2, 3)) + np.bincount(image, each, len(x))
    return loss.astype(x.dtype), mask, told.match


@primitive(outputs=("target", "weight", "is_size"), infer_first=True)
def yolo_target(
    x_meta: Meta,
    gt_box: Meta,
    gt_label: Meta,
    gt_score: Meta | None,
    objectness_mask: Meta,
    *,
    anchors: Ints,
    anchor_mask: Ints,
    class_num: int,
    downsample_ratio: int,
    use_label_smooth: bool,
) -> tuple[Meta, Meta, Meta]:
    """What each channel should say, how much that counts, and whether it is a size.

    Of boxes at one place of one anchor the last tells.
    """
    floating(x_meta, gt_box)
    sizes = anchors, anchor_mask, class_num, downsample_ratio
    of_shape(objectness_mask, check_boxes(x_meta, gt_box, gt_label, gt_score, sizes)[0])
    return x_meta, x_meta, x_meta.with_dtype(bool_)


@yolo_target.kernel
def yolo_target_kernel(
    xp: Any,
    x: Any,
    gt_box: Any,
    gt_label: Any,
    gt_score: Any,
    objectness_mask: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    told, count = Told(x, gt_box, gt_label, gt_score, attrs), len(attrs["anchor_mask"])
    found = tuple([np.zeros(x.shape, dtype) for dtype in (x.dtype, x.dtype, bool)])
    target, weight, is_size = (split(v, count) for v in found)
    image, *place = told.keys
    target[image, PLACES, *place], weight[image, PLACES, *place] = told.places, told.weight[:, None]
    target[image, SIZES, *place], weight[image, SIZES, *place] = told.sizes, told.weight[:, None]
    target[image, CLASSES, *place] = told.classes
    weight[image, CLASSES, *place] = told.score[:, None]
    is_size[:, SIZES] = True
    target[:, THING] = objectness_mask > SURE
    weight[:, THING] = np.where(objectness_mask > SURE, objectness_mask, objectness_mask > -0.5)
    return found


@yolo_loss.grad("x")
def yolo_loss_grad(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    gt_score: Any,
    objectness_mask: Any,
    gt_match_mask: Any,
    dloss: Any,
    anchors: Any,
    anchor_mask: Any,
    class_num: int,
    downsample_ratio: int,
    use_label_smooth: bool,
) -> Any:
    """As the reference has it: of boxes at one place of one anchor only the last counts."""
    attrs = {"anchors": anchors, "anchor_mask": anchor_mask, "class_num": class_num}
    attrs |= {"downsample_ratio": downsample_ratio, "use_label_smooth": use_label_smooth}
    target, weight, is_size = yolo_target(x, gt_box, gt_label, gt_score, objectness_mask, **attrs)
    of_size = where(x > target, weight, -weight)
    slope = where(is_size, of_size, (sigmoid(x) - target) * weight)
    return slope * unsqueeze(dloss, axes=(1, 2, 3))


for function in (yolo_loss, yolo_target):
    function.no_lowering(NO_LOOP)
yolo_target.no_grad(CONSTANT)
