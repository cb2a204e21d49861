"""Layers of windows: their largest elements, or their means."""

from typing import Any

from scull.core.door import shown_by
from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class Pool(Layer):
    """What layers of windows of a given size have in common."""

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"


class MaxPool2D(Pool):
    """The largest element of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border around the images, which no maximum is taken from.
        return_mask (bool): also the places of the maxima, in an image row by row.
        ceil_mode (bool): whether windows that reach over the edge count.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.MaxPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        [1, 3, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """The maxima of `x`."""
        return F.max_pool2d(
            x,
            self.ksize,
            self.stride,
            self.padding,
            self.return_mask,
            self.ceil_mode,
            self.data_format,
            self.name,
        )


class AvgPool2D(Pool):
    """The mean of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros around the images.
        ceil_mode (bool): whether windows that reach over the edge count.
        exclusive (bool): whether the mean leaves the border out.
        divisor_override (float, optional): what sums are divided by, instead of their count.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AvgPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        [1, 3, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding, self.ceil_mode = (
            kernel_size,
            stride,
            padding,
            ceil_mode,
        )
        self.exclusive, self.divisor = exclusive, divisor_override
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """The means of `x`."""
        return F.avg_pool2d(
            x,
            self.ksize,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.exclusive,
            self.divisor,
            self.data_format,
            self.name,
        )


class MaxPool3D(Pool):
    """The largest element of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border around the volumes, which no maximum is taken from.
        return_mask (bool): also the places of the maxima, in a volume row by row.
        ceil_mode (bool): whether windows that reach over the edge count.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.MaxPool3D(2)(paddle.ones([1, 3, 4, 4, 4])).shape
        [1, 3, 2, 2, 2]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """The maxima of `x`."""
        return F.max_pool3d(
            x,
            self.ksize,
            self.stride,
            self.padding,
            self.return_mask,
            self.ceil_mode,
            self.data_format,
            self.name,
        )


class AvgPool3D(Pool):
    """The mean of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros around the volumes.
        ceil_mode (bool): whether windows that reach over the edge count.
        exclusive (bool): whether the mean leaves the border out.
        divisor_override (float, optional): what sums are divided by, instead of their count.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AvgPool3D(2)(paddle.ones([1, 3, 4, 4, 4])).shape
        [1, 3, 2, 2, 2]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding, self.ceil_mode = (
            kernel_size,
            stride,
            padding,
            ceil_mode,
        )
        self.exclusive, self.divisor = exclusive, divisor_override
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """The means of `x`."""
        return F.avg_pool3d(
            x,
            self.ksize,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.exclusive,
            self.divisor,
            self.data_format,
            self.name,
        )


class MaxPool1D(Pool):
    """The largest element of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the border at both ends, which no maximum is taken from.
        return_mask (bool): also the places of the maxima, in an image row by row.
        ceil_mode (bool): whether windows that reach over the end count.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.MaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        [1, 3, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode, self.name = return_mask, ceil_mode, name

    def forward(self, input: Any) -> Any:
        """The maxima of `input`."""
        attrs = (self.return_mask, self.ceil_mode, self.name)
        return F.max_pool1d(input, self.ksize, self.stride, self.padding, *attrs)


class AvgPool1D(Pool):
    """The mean of every window.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; None: side by side.
        padding (int | str | list): the zeros at both ends.
        exclusive (bool): whether the mean leaves the border out.
        ceil_mode (bool): whether windows that reach over the end count.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        [1, 3, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.exclusive, self.ceil_mode, self.name = exclusive, ceil_mode, name

    def forward(self, x: Any) -> Any:
        """The means of `x`."""
        return F.avg_pool1d(
            x, self.ksize, self.stride, self.padding, self.exclusive, self.ceil_mode, self.name
        )


__getattr__ = shown_by("scull.nn")
