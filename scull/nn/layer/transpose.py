"""Layers of the transposes of convolutions."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.convolution import Convolution


class Transpose(Convolution):
    """What transposes of convolutions over one, two and three axes have in common."""


class Conv2DTranspose(Transpose):
    """The sum of the filters, each spread from an element of the images, times it.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): the channels that come out.
        kernel_size (int | list[int]): the size of a filter.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at the border; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end of both axes.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCHW" or "NHWC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv2DTranspose(3, 8, 2, stride=2)
        >>> conv(paddle.ones([2, 3, 4, 4])).shape
        [2, 8, 8, 8]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            *(in_channels, out_channels, kernel_size, True, 2, stride, padding, "zeros"),
            *(output_padding, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv2d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            self._dilation,
            self._groups,
            output_size,
            self._data_format,
        )


class Conv1DTranspose(Transpose):
    """The sum of the filters, each spread from an element of the rows, times it.

    Args:
        in_channels (int): the channels of the rows.
        out_channels (int): the channels that come out.
        kernel_size (int | list[int]): the size of a filter.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at both ends; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCL" or "NLC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv1DTranspose(3, 8, 2, stride=2)
        >>> conv(paddle.ones([2, 3, 4])).shape
        [2, 8, 8]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            *(in_channels, out_channels, kernel_size, True, 1, stride, padding, "zeros"),
            *(output_padding, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv1d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            self._groups,
            self._dilation,
            output_size,
            self._data_format,
        )


class Conv3DTranspose(Transpose):
    """The sum of the filters, each spread from an element of the volumes, times it.

    Args:
        in_channels (int): the channels of the volumes.
        out_channels (int): the channels that come out.
        kernel_size (int | list[int]): the size of a filter.
        stride (int | list[int]): how far apart the filters are spread.
        padding (int | str | list): what is cut off at the border; "SAME" or "VALID".
        output_padding (int | list[int]): how much is added at the end of all three axes.
        dilation (int | list[int]): how far apart the elements of a filter lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCDHW" or "NDHWC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv3DTranspose(3, 8, 2, stride=2)
        >>> conv(paddle.ones([2, 3, 2, 2, 2])).shape
        [2, 8, 4, 4, 4]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            *(in_channels, out_channels, kernel_size, True, 3, stride, padding, "zeros"),
            *(output_padding, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv3d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            self._groups,
            self._dilation,
            output_size,
            self._data_format,
        )
