"""Layers that drop elements by chance in training."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class Dropout(Layer):
    """`x` with some elements made 0 by chance, in training only.

    Args:
        p (float): the chance of each.
        axis (int | list[int], optional): elements along all other axes are dropped together.
        mode (str): "upscale_in_train" or "downscale_in_infer".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> dropout = paddle.nn.Dropout(0.5)
        >>> dropout.eval()
        >>> dropout(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(
        self,
        p: Any = 0.5,
        axis: Any = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.p, self.axis, self.mode, self.name = p, axis, mode, name

    def forward(self, input: Any) -> Any:
        """`input`, thinned out in training."""
        return F.dropout(input, self.p, self.axis, self.training, self.mode, self.name)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}{name}"


class ChannelDropout(Layer):
    """What Dropout2D and Dropout3D have in common."""

    def __init__(self, p: float, data_format: str, name: str | None) -> None:
        super().__init__()
        self.p, self.data_format, self.name = p, data_format, name

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, data_format={self.data_format}{name}"


class Dropout2D(ChannelDropout):
    """Images with some channels made 0 by chance, in training only.

    Args:
        p (float): the chance of each channel.
        data_format (str): "NCHW" or "NHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Dropout2D(1.0)(paddle.ones([1, 1, 1, 2])).tolist()
        [[[[0.0, 0.0]]]]
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)

    def forward(self, input: Any) -> Any:
        """`input`, without some channels in training."""
        return F.dropout2d(input, self.p, self.training, self.data_format, self.name)


class Dropout3D(ChannelDropout):
    """Volumes with some channels made 0 by chance, in training only.

    Args:
        p (float): the chance of each channel.
        data_format (str): "NCDHW" or "NDHWC".
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Dropout3D(1.0)(paddle.ones([1, 1, 1, 1, 2])).tolist()
        [[[[[0.0, 0.0]]]]]
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__(p, data_format, name)

    def forward(self, input: Any) -> Any:
        """`input`, without some channels in training."""
        return F.dropout3d(input, self.p, self.training, self.data_format, self.name)


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what `selu` gives, in training only.

    Args:
        p (float): the chance of each element.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.AlphaDropout(1.0)(paddle.ones([2])).tolist()
        [0.0, 0.0]
    """

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__()
        self.p, self.name = p, name

    def forward(self, input: Any) -> Any:
        """`input`, thinned out in training."""
        return F.alpha_dropout(input, self.p, self.training, self.name)

    def extra_repr(self) -> str:
        return f"p={self.p}" + (f", name={self.name}" if self.name else "")
