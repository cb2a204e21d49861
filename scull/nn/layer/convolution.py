"""Layers of convolutions."""

import math
from typing import Any

from scull.errors import ArgumentError, AssertError
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
    """What convolutions over one, two and three axes, and their transposes, have in common.

    Layers of users derive from it by Paddle's name `nn.layer.conv._ConvNd`, and read from its
    attributes what they hand to functions.

    Args:
        in_channels (int): the channels that come in.
        out_channels (int): the channels that come out.
        kernel_size (int | list[int]): the size of a window.
        transposed (bool): whether it is a transpose.
        dims (int): over how many axes windows reach.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border; "SAME" or "VALID".
        padding_mode (str): what the border is: "zeros", "reflect", "replicate" or "circular".
        output_padding (int | list[int]): how much a transpose adds at the end.
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): into how many parts the channels are divided, each with filters of its own.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): where the channels are.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        transposed: bool,
        dims: int,
        stride: Any = 1,
        padding: Any = 0,
        padding_mode: str = "zeros",
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise AssertError("weight_attr should not be False in Conv.")
        if padding_mode not in PADDING_MODES:
            raise ArgumentError(
                f"padding_mode must be one of {PADDING_MODES}, "
                f"but got padding_mode='{padding_mode}'"
            )
        check_format(data_format)
        if in_channels % groups:
            raise ArgumentError("in_channels must be divisible by groups.")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = list(pair(kernel_size, "kernel_size", dims))
        self._stride = list(pair(stride, "stride", dims))
        self._dilation = list(pair(dilation, "dilation", dims))
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self._updated_padding = padding  # the zeros that are still to come
        self._channel_dim = 1 if data_format.startswith("NC") else len(data_format) - 1
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        self.output_padding = output_padding
        if padding_mode != "zeros":
            sides = pair(padding, "padding", dims)
            self._reversed_padding_repeated_twice = [n for m in reversed(sides) for n in (m, m)]
            self._updated_padding = 0
        sizes = [in_channels, out_channels] if transposed else [out_channels, in_channels]
        sizes[1] //= groups
        deviation = math.sqrt(2.0 / (math.prod(self._kernel_size) * in_channels))
        self.weight = self.create_parameter(
            [*sizes, *self._kernel_size],
            weight_attr,
            default_initializer=None if transposed else Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def surrounded(self, x: Any) -> Any:
        """`x` with its borders where they are not zeros."""
        if self._padding_mode == "zeros":
            return x
        around = self._reversed_padding_repeated_twice
        return F.pad(x, around, self._padding_mode, data_format=self._data_format)

    def extra_repr(self) -> str:
        ones = [1] * len(self._kernel_size)
        text = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        text += f", stride={self._stride}" if self._stride != ones else ""
        text += f", padding={self._padding}" if self._padding != 0 else ""
        text += f", padding_mode={self._padding_mode}" if self._padding_mode != "zeros" else ""
        text += f", output_padding={self.output_padding}" if self.output_padding != 0 else ""
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
            *(in_channels, out_channels, kernel_size, False, 2, stride, padding, padding_mode),
            *(0, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        return F.conv2d(
            self.surrounded(x),
            self.weight,
            self.bias,
            self._stride,
            self._updated_padding,
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
            *(in_channels, out_channels, kernel_size, False, 1, stride, padding, padding_mode),
            *(0, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        return F.conv1d(
            self.surrounded(x),
            self.weight,
            self.bias,
            self._stride,
            self._updated_padding,
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
            *(in_channels, out_channels, kernel_size, False, 3, stride, padding, padding_mode),
            *(0, dilation, groups, weight_attr, bias_attr, data_format),
        )

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        return F.conv3d(
            self.surrounded(x),
            self.weight,
            self.bias,
            self._stride,
            self._updated_padding,
            self._dilation,
            self._groups,
            self._data_format,
        )
