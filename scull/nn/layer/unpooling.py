"""Layers that put pooled elements back to where they were the largest."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class MaxUnPool(Layer):
    """What putting elements back along one, two and three axes has in common."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        data_format: str,
        output_size: Any,
        name: str | None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.data_format, self.output_size, self.name = data_format, output_size, name

    @property
    def settings(self) -> tuple[Any, ...]:
        """What the function takes after its operands."""
        window = (self.ksize, self.stride, self.padding)
        return (*window, self.data_format, self.output_size, self.name)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class MaxUnPool1D(MaxUnPool):
    """Elements put back to where `MaxPool1D` found them; zeros elsewhere.

    Args:
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border at both ends.
        data_format (str): "NCL".
        output_size (list[int], optional): how many elements come out, where several
            sizes are pooled to that of the input.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> pool = paddle.nn.MaxPool1D(2, return_mask=True)
        >>> out, places = pool(paddle.ones([1, 3, 8]))
        >>> paddle.nn.MaxUnPool1D(2)(out, places).shape
        [1, 3, 8]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCL",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)

    def forward(self, x: Any, indices: Any) -> Any:
        """`x` at the places `indices`."""
        return F.max_unpool1d(x, indices, *self.settings)


class MaxUnPool2D(MaxUnPool):
    """Elements put back to where `MaxPool2D` found them; zeros elsewhere.

    Args:
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border around the images.
        data_format (str): "NCHW".
        output_size (list[int], optional): how many rows and columns come out, where several
            sizes are pooled to that of the input.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> pool = paddle.nn.MaxPool2D(2, return_mask=True)
        >>> out, places = pool(paddle.ones([1, 3, 8, 8]))
        >>> paddle.nn.MaxUnPool2D(2)(out, places).shape
        [1, 3, 8, 8]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)

    def forward(self, x: Any, indices: Any) -> Any:
        """`x` at the places `indices`."""
        return F.max_unpool2d(x, indices, *self.settings)


class MaxUnPool3D(MaxUnPool):
    """Elements put back to where `MaxPool3D` found them; zeros elsewhere.

    Args:
        kernel_size (int | list[int]): the size of a window of the pooling.
        stride (int | list[int], optional): how far apart its windows lie; None: side by side.
        padding (int | list[int]): its border around the volumes.
        data_format (str): "NCDHW".
        output_size (list[int], optional): the size of what comes out, where several
            sizes are pooled to that of the input.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> pool = paddle.nn.MaxPool3D(2, return_mask=True)
        >>> out, places = pool(paddle.ones([1, 3, 4, 4, 4]))
        >>> paddle.nn.MaxUnPool3D(2)(out, places).shape
        [1, 3, 4, 4, 4]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        data_format: str = "NCDHW",
        output_size: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, data_format, output_size, name)

    def forward(self, x: Any, indices: Any) -> Any:
        """`x` at the places `indices`."""
        return F.max_unpool3d(x, indices, *self.settings)
