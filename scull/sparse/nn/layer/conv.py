"""Layers of convolutions over the stored elements of images."""

import math
from typing import Any

from scull.errors import ArgumentError, AssertError
from scull.nn.functional.window import paddings, pair
from scull.nn.initializer import Normal
from scull.nn.layer.convolution import Convolution
from scull.nn.layer.layers import Layer
from scull.sparse.nn import functional as F
from scull.sparse.nn.functional.conv import FORMATS


class SparseConvolution(Layer):
    """What convolutions over two and three axes have in common."""

    axes = 3
    kept = False  # whether results are stored where the elements are
    output_padding = 0  # there are no transposes

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
        key: str | None = None,
    ) -> None:
        super().__init__()
        if weight_attr is False:
            raise AssertError("weight_attr should not be False in Conv.")
        if padding_mode != "zeros":
            raise AssertError("Currently, only support padding_mode='zeros'")
        if groups != 1:
            raise AssertError("Currently, only support groups=1")
        if data_format != FORMATS[self.axes]:
            raise ArgumentError(
                f"data_format must be {FORMATS[self.axes]!r}, but got data_format='{data_format}'"
            )
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = list(pair(kernel_size, "kernel_size", self.axes))
        self._stride = list(pair(stride, "stride", self.axes))
        self._dilation = list(pair(dilation, "dilation", self.axes))
        paddings(padding, True, self.axes)
        self._padding, self._padding_mode, self._data_format = padding, padding_mode, data_format
        self._subm, self._key = self.kept, key
        deviation = math.sqrt(2.0 / (math.prod(self._kernel_size) * in_channels))
        self.weight = self.create_parameter(
            [*self._kernel_size, in_channels, out_channels],
            weight_attr,
            default_initializer=Normal(0.0, deviation),
        )
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """The convolution of `x`."""
        name = f"{'subm_' if self._subm else ''}conv{self.axes}d"
        how = self._stride, self._padding, self._dilation, self._groups, self._data_format
        return getattr(F, name)(x, self.weight, self.bias, *how)

    extra_repr = Convolution.extra_repr


class Conv3D(SparseConvolution):
    """The product of every window of sparse solids that meets an element with every filter.

    Args:
        in_channels (int): the channels of the solids.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the solids: one number an axis, or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        padding_mode (str): "zeros".
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NDHWC".

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[2.0]], [1, 4, 4, 4, 1])
        >>> paddle.sparse.nn.Conv3D(1, 8, 3)(x).shape
        [1, 2, 2, 2, 8]
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
        data_format: str = "NDHWC",
    ) -> None:
        how = stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format
        super().__init__(in_channels, out_channels, kernel_size, *how)


class Conv2D(SparseConvolution):
    """The product of every window of sparse images that meets an element with every filter.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): how far apart windows lie.
        padding (int | str | list): the border around the images: one number an axis, or "VALID".
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        padding_mode (str): "zeros".
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NHWC".

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1]], [[2.0]], [1, 4, 4, 1])
        >>> paddle.sparse.nn.Conv2D(1, 8, 3)(x).shape
        [1, 2, 2, 8]
    """

    axes = 2

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
        data_format: str = "NHWC",
    ) -> None:
        how = stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format
        super().__init__(in_channels, out_channels, kernel_size, *how)


class SubmConv3D(SparseConvolution):
    """The product of the window around every stored element of solids with every filter.

    Args:
        in_channels (int): the channels of the solids.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): not used: windows lie around elements.
        padding (int | str | list): not used, for the same reason.
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        padding_mode (str): "zeros".
        key (str, optional): not used: what is worked out of the places is kept with them.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NDHWC".

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[2.0]], [1, 4, 4, 4, 1])
        >>> paddle.sparse.nn.SubmConv3D(1, 8, 3)(x).shape
        [1, 4, 4, 4, 8]
    """

    kept = True

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
        key: str | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NDHWC",
    ) -> None:
        how = stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format
        super().__init__(in_channels, out_channels, kernel_size, *how, key)


class SubmConv2D(SparseConvolution):
    """The product of the window around every stored element of images with every filter.

    Args:
        in_channels (int): the channels of the images.
        out_channels (int): how many filters there are.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int]): not used: windows lie around elements.
        padding (int | str | list): not used, for the same reason.
        dilation (int | list[int]): how far apart the elements of a window lie.
        groups (int): 1.
        padding_mode (str): "zeros".
        key (str, optional): not used: what is worked out of the places is kept with them.
        weight_attr (ParamAttr, optional): what is said of the filters.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NHWC".

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1]], [[2.0]], [1, 4, 4, 1])
        >>> paddle.sparse.nn.SubmConv2D(1, 8, 3)(x).shape
        [1, 4, 4, 8]
    """

    axes, kept = 2, True

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
        key: str | None = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NHWC",
    ) -> None:
        how = stride, padding, dilation, groups, padding_mode, weight_attr, bias_attr, data_format
        super().__init__(in_channels, out_channels, kernel_size, *how, key)
