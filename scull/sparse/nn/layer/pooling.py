"""Layers that make windows of sparse solids one element."""

from typing import Any

from scull.nn.layer.layers import Layer
from scull.sparse.nn import functional as F


class MaxPool3D(Layer):
    """The greatest stored element of every window of sparse solids that meets any.

    Args:
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; as far as they are long when
            None.
        padding (int | list[int]): the border around the solids.
        return_mask (bool): not used.
        ceil_mode (bool): False.
        data_format (str): "NDHWC".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [1], [1]], [[2.0]], [1, 4, 4, 4, 1])
        >>> paddle.sparse.nn.MaxPool3D(2)(x).shape
        [1, 2, 2, 2, 1]
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize, self.stride, self.padding = kernel_size, stride, padding
        self.return_mask, self.ceil_mode = return_mask, ceil_mode
        self.data_format, self.name = data_format, name

    def forward(self, x: Any) -> Any:
        """The greatest elements of `x`."""
        how = self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format
        return F.max_pool3d(x, *how)

    def extra_repr(self) -> str:
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"
