"""Layers of the transposes of convolutions."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.window import pair
from scull.nn.layer.convolution import check_format
from scull.nn.layer.layers import Layer


class Transpose(Layer):
    """What transposes of convolutions over one, two and three axes have in common."""

    axes = 2

    def start(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        dilation: Any,
        groups: int,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
    ) -> None:
        """Keep the settings and make the parameters."""
        if weight_attr is False:
            raise ArgumentError("weight_attr should not be False in Conv.")
        check_format(data_format)
        if in_channels % groups:
            raise ArgumentError("in_channels must be divisible by groups.")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = list(pair(kernel_size, "kernel_size", self.axes))
        self._stride = list(pair(stride, "stride", self.axes))
        self._dilation = list(pair(dilation, "dilation", self.axes))
        self._padding, self._output_padding = padding, output_padding
        self._data_format = data_format
        shape = [in_channels, out_channels // groups, *self._kernel_size]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def extra_repr(self) -> str:
        ones = [1] * self.axes
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        text += f", stride={self._stride}" if self._stride != ones else ""
        text += f", padding={self._padding}" if self._padding != 0 else ""
        text += f", output_padding={self._output_padding}" if self._output_padding != 0 else ""
        text += f", dilation={self._dilation}" if self._dilation != ones else ""
        text += f", groups={self._groups}" if self._groups != 1 else ""
        return text + f", data_format={self._data_format}"


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
        super().__init__()
        self.start(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv2d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._output_padding if output_size is None else 0,
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

    axes = 1

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
        super().__init__()
        self.start(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv1d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._output_padding if output_size is None else 0,
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

    axes = 3

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
        super().__init__()
        self.start(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            dilation,
            groups,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """The transpose of the convolution of `x`."""
        return F.conv3d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self._output_padding if output_size is None else 0,
            self._groups,
            self._dilation,
            output_size,
            self._data_format,
        )
