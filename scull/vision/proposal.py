"""Regions that may hold something: made of a detector's answers, chosen, dealt to levels."""

from typing import Any

from scull.ops import proposal, yolo


def matrix_nms(
    bboxes: Any,
    scores: Any,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Boxes by class, whose scores are lowered by what surer ones of their class cover of them.

    Args:
        bboxes (Tensor): float32 or float64 [images, boxes, 4]: left, top, right, bottom.
        scores (Tensor): [images, classes, boxes].
        score_threshold (float): what a score must be above to count.
        post_threshold (float): what a lowered score must be above.
        nms_top_k (int): how many boxes of a class are looked at; -1 for all.
        keep_top_k (int): how many boxes of an image are kept; -1 for all.
        use_gaussian (bool): lower by a bell curve, else in proportion.
        gaussian_sigma (float): how fast that falls.
        background_label (int): a class that does not count; -1 for none.
        normalized (bool): sides are differences of corners; else a pixel longer.
        return_index, return_rois_num (bool): what comes besides.
        name (str, optional): of the result.

    Returns:
        tuple: [kept, 6]: class, score and corners, surest first in each image; int32 [images]: how
            many an image has; int32 [kept, 1]: their numbers among all boxes. None for what is not
            asked for.

    Examples:
        >>> import scull as paddle
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]]])
        >>> scores = paddle.to_tensor([[[0.9, 0.8]]])
        >>> out, count, _ = matrix_nms(boxes, scores, 0.1, 0.1, -1, -1, background_label=-1)
        >>> [round(v, 2) for v in out[:, 1].tolist()], count.tolist()
        ([0.9, 0.4], [2])
    """
    out, index, count = proposal.matrix_nms(
        bboxes,
        scores,
        score_threshold=score_threshold,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        post_threshold=post_threshold,
        use_gaussian=use_gaussian,
        gaussian_sigma=gaussian_sigma,
        background_label=background_label,
        normalized=normalized,
        name=name,
    )
    return out, count if return_rois_num else None, index if return_index else None


def generate_proposals(
    scores: Any,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """Regions that may hold something, told by how they differ from anchors.

    Args:
        scores (Tensor): float32 [images, anchors, height, width].
        bbox_deltas (Tensor): [images, 4 * anchors, height, width].
        img_size (Tensor): [images, 2]: how high and wide images are.
        anchors (Tensor): [height, width, anchors, 4]: left, top, right, bottom.
        variances (Tensor): of the shape of `anchors`: what differences are multiplied by.
        pre_nms_top_n (int): how many regions of an image are looked at.
        post_nms_top_n (int): how many are kept.
        nms_thresh (float): which share of what two regions cover together both may cover.
        min_size (float): how high and wide regions are at least; 1 where it is less.
        eta (float): what `nms_thresh` is multiplied by for each region kept, while above 0.5.
        pixel_offset (bool): sides are a pixel longer than the differences of corners.
        return_rois_num (bool): whether counts come, too.
        name (str, optional): of the result.

    Returns:
        tuple: [regions, 4], [regions, 1]: their scores, int32 [images]: how many an image has, or
            None. An image without any has one of zeros.
    """
    rois, chances, count = proposal.generate_proposals_v2(
        scores,
        bbox_deltas,
        img_size,
        anchors,
        variances,
        pre_nms_top_n=pre_nms_top_n,
        post_nms_top_n=post_nms_top_n,
        nms_thresh=nms_thresh,
        min_size=min_size,
        eta=eta,
        pixel_offset=pixel_offset,
        name=name,
    )
    return rois, chances, count if return_rois_num else None


def distribute_fpn_proposals(
    fpn_rois: Any,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> tuple[list[Any], Any, list[Any] | None]:
    """Regions dealt to the levels of a pyramid, larger ones to higher levels.

    Args:
        fpn_rois (Tensor): float32 or float64 [regions, 4]: left, top, right, bottom.
        min_level, max_level (int): the levels.
        refer_level (int): the level of regions as large as `refer_scale` squared.
        refer_scale (int): the side of such a region.
        pixel_offset (bool): sides are a pixel longer than the differences of corners.
        rois_num (Tensor, optional): int32 [images]: how many regions an image has.
        name (str, optional): of the result.

    Returns:
        tuple: a list of the regions of each level; int32 [regions, 1]: where each region stands in
            all of these; with `rois_num` a list of how many an image has on each level, else None.

    Examples:
        >>> import scull as paddle
        >>> rois = paddle.to_tensor([[0.0, 0.0, 224.0, 224.0], [0.0, 0.0, 50.0, 50.0]])
        >>> levels, places, _ = distribute_fpn_proposals(rois, 2, 5, 4, 224)
        >>> [len(v) for v in levels], places.tolist()
        ([1, 0, 1, 0], [[1], [0]])
    """
    rows, places, counts = proposal.distribute_fpn_proposals(
        fpn_rois,
        rois_num,
        min_level=min_level,
        max_level=max_level,
        refer_level=refer_level,
        refer_scale=refer_scale,
        pixel_offset=pixel_offset,
        name=name,
    )
    return rows, places, None if rois_num is None else counts


def yolo_loss(
    x: Any,
    gt_box: Any,
    gt_label: Any,
    anchors: Any,
    anchor_mask: Any,
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: Any = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> Any:
    """How far what a YOLO network says is from the boxes it should see, for each image.

    Args:
        x (Tensor): float32 or float64 [images, channels, side, side]: for each of its anchors
            ``5 + class_num`` channels: two of the place, two of the size, whether there is a thing,
            and which.
        gt_box (Tensor): [images, boxes, 4]: centre, width and height as shares of the image; a box
            that is 0 wide or high is none.
        gt_label (Tensor): int32 [images, boxes]: the classes.
        anchors (list[int]): the width and height of each anchor of all levels.
        anchor_mask (list[int]): which anchors are of this level.
        class_num (int): how many classes there are.
        ignore_thresh (float): what covers a box by a greater share need not say that it sees none.
        downsample_ratio (int): how many elements of the image a place stands for.
        gt_score (Tensor, optional): [images, boxes]: how much each box counts; 1 where not given.
        use_label_smooth (bool): whether chances of classes are to be a little above 0 and below 1.
        name (str, optional): of the result.
        scale_x_y (float): how far from its place a box may lie.

    Returns:
        Tensor: of the dtype of `x`, [images].

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([1, 6, 2, 2])
        >>> box, label = paddle.to_tensor([[[0.3, 0.3, 0.5, 0.5]]]), paddle.zeros([1, 1], "int32")
        >>> loss = paddle.vision.ops.yolo_loss(x, box, label, [32, 32], [0], 1, 0.7, 32)
        >>> round(loss.item(), 4)
        5.8918
    """
    return yolo.yolo_loss(
        x,
        gt_box,
        gt_label,
        gt_score,
        anchors=tuple(anchors),
        anchor_mask=tuple(anchor_mask),
        class_num=class_num,
        ignore_thresh=ignore_thresh,
        downsample_ratio=downsample_ratio,
        use_label_smooth=use_label_smooth,
        scale_x_y=scale_x_y,
        name=name,
    )[0]
