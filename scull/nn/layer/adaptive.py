"""Layers of windows that divide a tensor: their largest elements, or their means."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class AdaptiveAvgPool2D(Layer):
    """The means of windows that divide the images into `output_size` parts.

    Args:
        output_size (int | list[int | None]): how many rows and columns come out; None keeps theirs.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveAvgPool2D(1)(paddle.ones([1, 3, 8, 8])).shape
        [1, 3, 1, 1]
    """

    def __init__(
        self, output_size: Any, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size, self._data_format, self._name = output_size, data_format, name

    def forward(self, x: Any) -> Any:
        """The means of `x`."""
        return F.adaptive_avg_pool2d(x, self._output_size, self._data_format, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class AdaptiveAvgPool3D(Layer):
    """The means of windows that divide the volumes into `output_size` parts.

    Args:
        output_size (int | list[int | None]): the size of what comes out; None keeps that of `x`.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveAvgPool3D(1)(paddle.ones([1, 3, 4, 4, 4])).shape
        [1, 3, 1, 1, 1]
    """

    def __init__(
        self, output_size: Any, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size, self._data_format, self._name = output_size, data_format, name

    def forward(self, x: Any) -> Any:
        """The means of `x`."""
        return F.adaptive_avg_pool3d(x, self._output_size, self._data_format, self._name)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}"


class AdaptiveAvgPool1D(Layer):
    """The means of windows that divide the rows into `output_size` parts.

    Args:
        output_size (int): how many elements come out.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveAvgPool1D(2)(paddle.ones([1, 3, 8])).shape
        [1, 3, 2]
    """

    def __init__(self, output_size: int, name: str | None = None) -> None:
        super().__init__()
        self.output_size, self.name = output_size, name

    def forward(self, input: Any) -> Any:
        """The means of `input`."""
        return F.adaptive_avg_pool1d(input, self.output_size, self.name)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool(Layer):
    """What layers of maxima of windows that divide a tensor have in common."""

    def __init__(
        self, output_size: Any, return_mask: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self._output_size, self._return_mask, self._name = output_size, return_mask, name

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, return_mask={self._return_mask}"


class AdaptiveMaxPool2D(AdaptiveMaxPool):
    """The largest elements of windows that divide the images into `output_size` parts.

    Args:
        output_size (int | list[int | None]): how many rows and columns come out; None keeps theirs.
        return_mask (bool): also the places of the maxima, in an image row by row.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveMaxPool2D(2)(paddle.ones([1, 3, 8, 8])).shape
        [1, 3, 2, 2]
    """

    def forward(self, x: Any) -> Any:
        """The maxima of `x`."""
        return F.adaptive_max_pool2d(x, self._output_size, self._return_mask, self._name)


class AdaptiveMaxPool3D(AdaptiveMaxPool):
    """The largest elements of windows that divide the volumes into `output_size` parts.

    Args:
        output_size (int | list[int | None]): the size of what comes out; None keeps that of `x`.
        return_mask (bool): also the places of the maxima, in a volume row by row.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveMaxPool3D(2)(paddle.ones([1, 3, 4, 4, 4])).shape
        [1, 3, 2, 2, 2]
    """

    def forward(self, x: Any) -> Any:
        """The maxima of `x`."""
        return F.adaptive_max_pool3d(x, self._output_size, self._return_mask, self._name)


class AdaptiveMaxPool1D(AdaptiveMaxPool):
    """The largest elements of windows that divide the rows into `output_size` parts.

    Args:
        output_size (int): how many elements come out.
        return_mask (bool): also the places of the maxima, in an image row by row.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AdaptiveMaxPool1D(2)(paddle.ones([1, 3, 8])).shape
        [1, 3, 2]
    """

    def forward(self, input: Any) -> Any:
        """The maxima of `input`."""
        return F.adaptive_max_pool1d(input, self._output_size, self._return_mask, self._name)
