"""Layers of convolutions."""

import math
from typing import Any

from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.window import pair
from scull.nn.initializer import Normal
from scull.nn.layer.layers import Layer
from scull.tensor.size import is_one_of

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")
FORMATS = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")


def check_format(data_format: str) -> None:
    """Refuse what says not where the channels are."""
    if not is_one_of(data_format, FORMATS):
        raise ArgumentError(
            f"data_format must be one of {FORMATS}, but got data_format='{data_format}'"
        )


class Convolution(Layer):
    """What convolutions over one, two and three axes have in common."""

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        padding_mode: str,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise ArgumentError("weight_attr should not be False in Conv.")
        if padding_mode not in PADDING_MODES:
            raise ArgumentError(
                f"padding_mode must be one of {PADDING_MODES}, "
                f"but got padding_mode='{padding_mode}'"
            )
        check_format(data_format)
        if in_channels % groups:
            raise ArgumentError("in_channels must be divisible by groups.")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = list(pair(kernel_size, "kernel_size", self.axes))
        self._stride = list(pair(stride, "stride", self.axes))
        self._dilation = list(pair(dilation, "dilation", self.axes))
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self._around: list[int] = []
        if padding_mode != "zeros":
            sides = pair(padding, "padding", self.axes)
            self._around = [n for side in reversed(sides) for n in (side, side)]
        deviation = math.sqrt(2.0 / (math.prod(self._kernel_size) * in_channels))
        self.weight = self.create_parameter(
            [out_channels, in_channels // groups, *self._kernel_size],
            weight_attr,
            default_initializer=Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def surrounded(self, x: Any) -> tuple[Any, Any]:
        """`x` with its borders where they are not zeros, and the zeros that are still to come."""
        if not self._around:
            return x, self._padding
        return F.pad(x, self._around, self._padding_mode, data_format=self._data_format), 0

    def extra_repr(self) -> str:
        ones = [1] * self.axes
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        text += f", stride={self._stride}" if self._stride != ones else ""
        text += f", padding={self._padding}" if self._padding != 0 else ""
        text += f", padding_mode={self._padding_mode}" if self._padding_mode != "zeros" else ""
        text += f", dilation={self._dilation}" if self._dilation != ones else ""
        text += f", groups={self._groups}" if self._groups != 1 else ""
        return text + f", data_format={self._data_format}"


class Conv2D(Convolution):
    """The product of every window of the images with every filter.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the images; "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        padding_mode (str): what the border is: "zeros", "reflect", "replicate" or "circular".
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCHW" or "NHWC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv2D(3, 8, 3, padding=1)
        >>> conv(paddle.ones([2, 3, 16, 16])).shape
        [2, 8, 16, 16]
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        x, padding = self.surrounded(x)
        return F.conv2d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )


class Conv1D(Convolution):
    """The product of every window of the rows with every filter.

    Args:
        in_channels (int): the channels of the rows.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border at both ends; "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        padding_mode (str): what the border is: "zeros", "reflect", "replicate" or "circular".
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCL" or "NLC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv1D(3, 8, 3, padding=1)
        >>> conv(paddle.ones([2, 3, 16])).shape
        [2, 8, 16]
    """

    axes = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        x, padding = self.surrounded(x)
        return F.conv1d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )


class Conv3D(Convolution):
    """The product of every window of the volumes with every filter.

    Args:
        in_channels (int): the channels of the volumes.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the volumes; "SAME" or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        padding_mode (str): what the border is: "zeros", "reflect", "replicate" or "circular".
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCDHW" or "NDHWC".

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv3D(3, 8, 3, padding=1)
        >>> conv(paddle.ones([2, 3, 4, 4, 4])).shape
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
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode,
            weight_attr,
            bias_attr,
            data_format,
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        x, padding = self.surrounded(x)
        return F.conv3d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )
