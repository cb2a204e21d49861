"""Functions that find things in images: regions, boxes, windows that reach where offsets say."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.naming import named
from scull.nn.functional.window import pair
from scull.ops import anchor, box, deform, region
from scull.ops.elementwise import add
from scull.tensor.join import concat
from scull.tensor.search import argsort, nonzero


def size_of(output_size: Any) -> dict[str, int]:
    """The attributes that say how high and wide regions become."""
    if not isinstance(output_size, int | list | tuple):
        raise ArgumentError(f"output_size is {output_size!r}, neither an int nor two")
    height, width = pair(output_size, "output_size")
    return {"pooled_height": height, "pooled_width": width}


def roi_align(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Any:
    """Regions of images as images of one size: the mean of points in each of their bins.

    Args:
        x (Tensor): images, of shape ``[batch, channels, rows, columns]``.
        boxes (Tensor): regions (left, top, right, bottom), those of the first image first.
        boxes_num (Tensor): int32: how many regions each image has.
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the numbers of a region are multiplied by.
        sampling_ratio (int): how many points a bin has each way; -1 for about one an element.
        aligned (bool): whether regions are moved by half an element, to where elements begin.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an image for each region.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 2, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.roi_align(x, boxes, count, 3).shape
        [1, 2, 3, 3]
    """
    attrs = {"spatial_scale": spatial_scale, "sampling_ratio": sampling_ratio, "aligned": aligned}
    attrs |= size_of(output_size)
    return region.roi_align(x, boxes, boxes_num, **attrs, **named(name))


def roi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """Regions of images as images of one size: the largest element of each of their bins.

    Args:
        x (Tensor): images, of shape ``[batch, channels, rows, columns]``.
        boxes (Tensor): regions (left, top, right, bottom), those of the first image first.
        boxes_num (Tensor): int32: how many regions each image has.
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the numbers of a region are multiplied by.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an image for each region.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 2, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.roi_pool(x, boxes, count, 3).shape
        [1, 2, 3, 3]
    """
    attrs = {"spatial_scale": spatial_scale} | size_of(output_size)
    return region.roi_pool(x, boxes, boxes_num, **attrs, **named(name))[0]


def psroi_pool(
    x: Any,
    boxes: Any,
    boxes_num: Any,
    output_size: Any,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Any:
    """Regions of images as images of one size: the mean of each bin, in channels of its own.

    Args:
        x (Tensor): images, of shape ``[batch, channels, rows, columns]``: of the channels each
            result has one for every bin, those of the first result first.
        boxes (Tensor): regions (left, top, right, bottom), those of the first image first.
        boxes_num (Tensor): int32: how many regions each image has.
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the rounded numbers of a region are multiplied by.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: an image for each region, with ``channels / bins`` channels.

    Raises:
        ShapeError: where the channels are no multiple of the bins.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 18, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.psroi_pool(x, boxes, count, 3).shape
        [1, 2, 3, 3]
    """
    attrs: dict[str, Any] = {"spatial_scale": spatial_scale} | size_of(output_size)
    bins = attrs["pooled_height"] * attrs["pooled_width"]
    if bins < 1:
        raise ArgumentError(f"output_size is {output_size!r}; both are to be above 0")
    attrs["output_channels"] = x.shape[1] // bins if len(x.shape) > 1 else 1
    return region.psroi_pool(x, boxes, boxes_num, **attrs, **named(name))


def nms(
    boxes: Any,
    iou_threshold: float = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Any = None,
    top_k: int | None = None,
) -> Any:
    """The numbers of boxes of which none covers another one much.

    Args:
        boxes (Tensor): boxes (left, top, right, bottom), a row each.
        iou_threshold (float): which share of what two cover together both may cover.
        scores (Tensor, optional): a number for each: the greatest come first; None for as they lie.
        category_idxs (Tensor, optional): the category of each: boxes of one do not concern others.
        categories (list[int], optional): which categories there are.
        top_k (int, optional): how many are kept, of those with categories.

    Returns:
        Tensor: int64.

    Examples:
        >>> import scull as paddle
        >>> boxes = [[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.0], [5.0, 5.0, 6.0, 6.0]]
        >>> paddle.vision.ops.nms(paddle.to_tensor(boxes), 0.5).tolist()
        [0, 2]
    """
    if scores is None:
        return box.nms(boxes, iou_threshold=iou_threshold)
    order = argsort(scores, descending=True)
    if category_idxs is None:
        return order[box.nms(boxes[order], iou_threshold=iou_threshold)]
    if categories is None:
        raise ArgumentError("category_idxs is given, so categories is needed: the list of all")
    if top_k is not None and top_k > scores.shape[0]:
        raise ArgumentError("top_k should be smaller equal than the number of boxes")
    found = []
    for category in categories:
        own = order[nonzero(category_idxs[order] == category).flatten()]
        found.append(own[box.nms(boxes[own], iou_threshold=iou_threshold)])
    kept = concat(found)
    return kept[argsort(scores[kept], descending=True)][:top_k]


def box_coder(
    prior_box: Any,
    prior_box_var: Any,
    target_box: Any,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: str | None = None,
) -> Any:
    """Boxes told by how they differ from prior ones, or back: shifts, and logarithms of factors.

    Args:
        prior_box (Tensor): boxes (left, top, right, bottom), a row each.
        prior_box_var (Tensor | list[float] | None): four numbers, or four for each prior box, that
            codes are divided by.
        target_box (Tensor): boxes to be coded, a row each; or codes, ``[n, m, 4]``.
        code_type (str): "encode_center_size" or "decode_center_size".
        box_normalized (bool): whether boxes are shares of an image; else they end an element later.
        axis (int): along which axis of codes a prior box is the same.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[n, m, 4]``.

    Examples:
        >>> import scull as paddle
        >>> prior, target = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]), [[1.0, 0.0, 3.0, 2.0]]
        >>> paddle.vision.ops.box_coder(prior, None, paddle.to_tensor(target)).tolist()
        [[[0.5, 0.0, 0.0, 0.0]]]
    """
    attrs = {"code_type": code_type, "box_normalized": box_normalized, "axis": axis} | named(name)
    if isinstance(prior_box_var, list | tuple):
        return box.box_coder(prior_box, target_box, variance=prior_box_var, **attrs)
    return box.box_coder(prior_box, target_box, prior_box_var, **attrs)


def prior_box(
    input: Any,
    image: Any,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = [1.0],  # noqa: B006
    variance: Any = [0.1, 0.1, 0.2, 0.2],  # noqa: B006
    flip: bool = False,
    clip: bool = False,
    steps: Any = [0.0, 0.0],  # noqa: B006
    offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> Any:
    """Boxes of many sizes and shapes around each place of `input`, in shares of the image.

    Args:
        input (Tensor): of which each place gets boxes, ``[batch, channels, rows, columns]``.
        image (Tensor): the image it was made of, ``[batch, channels, height, width]``.
        min_sizes (list[float] | float): the sizes of boxes.
        max_sizes (list[float] | float, optional): as many: a square between both is added.
        aspect_ratios (list[float] | float): the widths of boxes by their heights.
        variance (list[float]): four numbers, given back with each box.
        flip (bool): whether each aspect ratio is taken the other way round too.
        clip (bool): whether boxes end at the edges of the image.
        steps (list[float]): how far apart places are, in columns and rows; 0 for what fits.
        offset (float): where in its part of the image a place lies.
        min_max_aspect_ratios_order (bool): whether the added square comes second.
        name (str, optional): not used.

    Returns:
        tuple[Tensor, Tensor]: the boxes, ``[rows, columns, boxes, 4]``, and their variances.

    Examples:
        >>> import scull as paddle
        >>> x, image = paddle.ones([1, 3, 2, 2]), paddle.ones([1, 3, 8, 8])
        >>> boxes, _ = paddle.vision.ops.prior_box(x, image, [4.0])
        >>> boxes[0, 0].tolist()
        [[0.0, 0.0, 0.5, 0.5]]
    """

    def listed(value: Any) -> tuple[float, ...]:
        return tuple(value) if isinstance(value, list | tuple) else (value,)

    if not isinstance(steps, list | tuple) or len(steps) != 2:
        raise ArgumentError("steps should be a list or tuple with 2 numbers, (step_w, step_h)")
    return anchor.prior_box(
        input,
        image,
        min_sizes=listed(min_sizes),
        max_sizes=() if max_sizes is None else listed(max_sizes),
        aspect_ratios=listed(aspect_ratios),
        variance=listed(variance),
        flip=flip,
        clip=clip,
        step_w=steps[0],
        step_h=steps[1],
        offset=offset,
        min_max_aspect_ratios_order=min_max_aspect_ratios_order,
    )


def yolo_box(
    x: Any,
    img_size: Any,
    anchors: Any,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> Any:
    """The boxes that a YOLO network sees, and the chance of each class.

    Args:
        x (Tensor): what the network says, for each typical box ``5 + class_num`` channels: two of
            the place, two of the size, whether there is a thing, and which.
        img_size (Tensor): int32: the height and width of each image.
        anchors (list[int]): the width and height of each typical box.
        class_num (int): how many classes there are.
        conf_thresh (float): how sure a box is at least; all numbers of others are 0.
        downsample_ratio (int): how many elements of the image a place stands for.
        clip_bbox (bool): whether boxes end at the edges of the image.
        name (str, optional): not used.
        scale_x_y (float): how far from its place a box may lie.
        iou_aware (bool): whether a channel a typical box comes first that tells how well it fits.
        iou_aware_factor (float): how much that counts.

    Returns:
        tuple[Tensor, Tensor]: boxes (left, top, right, bottom), ``[batch, boxes, 4]``, and chances.

    Examples:
        >>> import scull as paddle
        >>> x, size = paddle.zeros([1, 6, 2, 2]), paddle.to_tensor([[64, 64]], dtype="int32")
        >>> boxes, scores = paddle.vision.ops.yolo_box(x, size, [32, 32], 1, 0.1, 32)
        >>> boxes[0, 0].tolist(), scores[0, 0].tolist()
        ([0.0, 0.0, 32.0, 32.0], [0.25])
    """
    return box.yolo_box(
        x,
        img_size,
        anchors=tuple(anchors),
        class_num=class_num,
        conf_thresh=conf_thresh,
        downsample_ratio=downsample_ratio,
        clip_bbox=clip_bbox,
        scale_x_y=scale_x_y,
        iou_aware=iou_aware,
        iou_aware_factor=iou_aware_factor,
    )


def deform_conv2d(
    x: Any,
    offset: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Any = None,
    name: str | None = None,
) -> Any:
    """A convolution whose windows reach where offsets say, between elements too.

    Args:
        x (Tensor): images, of shape ``[batch, in, rows, columns]``.
        offset (Tensor): for each element of each window how many rows and columns it is moved, of
            shape ``[batch, 2 * deformable_groups * kernel rows * kernel columns, m, n]``.
        weight (Tensor): filters, of shape ``[out, in / groups, kernel rows, kernel columns]``.
        bias (Tensor, optional): a number for each channel of the result.
        stride (int | tuple[int]): how far apart windows lie.
        padding (int | tuple[int]): the zeros around the images.
        dilation (int | tuple[int]): how far apart the elements of a window lie.
        deformable_groups (int): into how many parts with offsets of their own channels are divided.
        groups (int): into how many parts the channels are divided.
        mask (Tensor, optional): what each element of each window is multiplied by.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of shape ``[batch, out, m, n]``.

    Examples:
        >>> import scull as paddle
        >>> x, offset = paddle.ones([1, 2, 4, 4]), paddle.zeros([1, 8, 3, 3])
        >>> paddle.vision.ops.deform_conv2d(x, offset, paddle.ones([5, 2, 2, 2])).shape
        [1, 5, 3, 3]
    """
    attrs = {
        "strides": pair(stride, "stride"),
        "paddings": pair(padding, "padding"),
        "dilations": pair(dilation, "dilation"),
        "deformable_groups": deformable_groups,
        "groups": groups,
        "im2col_step": 1,
    }
    given = {} if bias is not None else named(name)
    if mask is None:
        out = deform.deformable_conv_v1(x, offset, weight, **attrs, **given)
    else:
        out = deform.deformable_conv(x, offset, weight, mask, **attrs, **given)
    return out if bias is None else add(out, bias, axis=1, **named(name))
