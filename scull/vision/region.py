"""Layers of regions of images, and of windows that reach where offsets say."""

import math
from typing import Any

from scull.errors import ArgumentError
from scull.nn.functional.window import pair
from scull.nn.initializer import Normal
from scull.nn.layer.layers import Layer
from scull.vision.detection import deform_conv2d, psroi_pool, roi_align, roi_pool


class RoIAlign(Layer):
    """Regions of images as images of one size: the mean of points in each of their bins.

    Args:
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the numbers of a region are multiplied by.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 2, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIAlign(3)(x, boxes, count).shape
        [1, 2, 3, 3]
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Any:
        """An image for each of `boxes`."""
        size, scale = self._output_size, self._spatial_scale
        return roi_align(x, boxes, boxes_num, size, scale, aligned=aligned)


class RoIPool(Layer):
    """Regions of images as images of one size: the largest element of each of their bins.

    Args:
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the numbers of a region are multiplied by.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 2, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIPool(3)(x, boxes, count).shape
        [1, 2, 3, 3]
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """An image for each of `boxes`."""
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class DeformConv2D(Layer):
    """A convolution whose windows reach where offsets say: see ``vision.ops.deform_conv2d``.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): the channels of the result.
        kernel_size (int | tuple[int]): the size of a filter.
        stride (int | tuple[int]): how far apart windows lie.
        padding (int | tuple[int]): the zeros around the images.
        dilation (int | tuple[int]): how far apart the elements of a window lie.
        deformable_groups (int): into how many parts with offsets of their own channels are divided.
        groups (int): into how many parts the channels are divided.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.vision.ops.DeformConv2D(2, 5, 3)
        >>> layer(paddle.ones([1, 2, 6, 6]), paddle.zeros([1, 18, 4, 4])).shape
        [1, 5, 4, 4]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise ArgumentError("weight_attr should not be False in Conv.")
        if in_channels % groups:
            raise ArgumentError("in_channels must be divisible by groups.")
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self._in_channels, self._out_channels = in_channels, out_channels
        self._deformable_groups, self._groups = deformable_groups, groups
        self._stride, self._padding = pair(stride, "stride"), pair(padding, "padding")
        self._dilation, size = pair(dilation, "dilation"), pair(kernel_size, "kernel_size")
        self._kernel_size = size
        deviation = math.sqrt(2.0 / (math.prod(size) * in_channels))
        shape = [out_channels, in_channels // groups, *size]
        start = Normal(0.0, deviation)
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=start)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        """The convolution of `x`, read where `offset` says."""
        return deform_conv2d(
            x,
            offset,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._dilation,
            self._deformable_groups,
            self._groups,
            mask,
        )


class PSRoIPool(Layer):
    """Regions of images as images of one size: the mean of each bin, in channels of its own.

    Args:
        output_size (int | tuple[int]): into how many bins a region is divided.
        spatial_scale (float): what the rounded numbers of a region are multiplied by.

    Examples:
        >>> import scull as paddle
        >>> x, boxes = paddle.ones([1, 18, 8, 8]), paddle.to_tensor([[1.0, 1.0, 5.0, 5.0]])
        >>> count = paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.PSRoIPool(3)(x, boxes, count).shape
        [1, 2, 3, 3]
    """

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """An image for each of `boxes`."""
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)
