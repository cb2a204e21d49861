"""What networks for images are built of, and how they find things."""

from typing import Any

from scull import nn
from scull.vision.detection import (
    box_coder,
    deform_conv2d,
    nms,
    prior_box,
    psroi_pool,
    roi_align,
    roi_pool,
    yolo_box,
)
from scull.vision.image import decode_jpeg, read_file
from scull.vision.proposal import (
    distribute_fpn_proposals,
    generate_proposals,
    matrix_nms,
    yolo_loss,
)
from scull.vision.region import DeformConv2D, PSRoIPool, RoIAlign, RoIPool

__all__ = [
    "ConvNormActivation",
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "decode_jpeg",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "read_file",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]


class ConvNormActivation(nn.Sequential):
    """A convolution, a normalisation of its channels and an activation, one after another.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): the channels of the result.
        kernel_size (int | tuple[int]): the size of a filter.
        stride (int): how far apart windows lie.
        padding (int | str | tuple[int], optional): the zeros around the images; None for as many
            as keep their size at stride 1.
        groups (int): into how many parts the channels are divided.
        norm_layer (Callable, optional): makes the normalisation of so many channels; None for none.
        activation_layer (Callable, optional): makes the activation; None for none.
        dilation (int): how far apart the elements of a window lie.
        bias (bool, optional): whether the convolution has a bias; None for one exactly where no
            normalisation follows.

    Examples:
        >>> import scull as paddle
        >>> block = ConvNormActivation(3, 8, stride=2)
        >>> block(paddle.ones([1, 3, 16, 16])).shape
        [1, 8, 8, 8]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any = 3,
        stride: Any = 1,
        padding: Any = None,
        groups: int = 1,
        norm_layer: Any = nn.BatchNorm2D,
        activation_layer: Any = nn.ReLU,
        dilation: int = 1,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            sizes = [kernel_size] if isinstance(kernel_size, int) else kernel_size
            padding = [(size - 1) // 2 * dilation for size in sizes]
            padding = padding[0] if isinstance(kernel_size, int) else tuple(padding)
        convolution = nn.Conv2D(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation=dilation,
            groups=groups,
            bias_attr=norm_layer is None if bias is None else bias,
        )
        norm = [] if norm_layer is None else [norm_layer(out_channels)]
        activation = [] if activation_layer is None else [activation_layer()]
        super().__init__(convolution, *norm, *activation)
