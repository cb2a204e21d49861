"""Layers of activations that choose: the largest of a group of channels, a drawn slope."""

from typing import Any

from scull.errors import ShapeError
from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class Maxout(Layer):
    """The largest of every `groups` channels that lie side by side.

    Args:
        groups (int): from how many channels one is made; at least 2.
        axis (int): where the channels are: 1, or 3 or -1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Maxout(2)(paddle.ones([1, 4, 3, 3])).shape
        [1, 2, 3, 3]
    """

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__()
        self._groups, self._axis, self._name = groups, axis, name

    def forward(self, x: Any) -> Any:
        """The largest channels of `x`."""
        return F.maxout(x, self._groups, self._axis, self._name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"groups={self._groups}, axis={self._axis}{name}"


class RReLU(Layer):
    """Each element, and where it is below 0 times a slope: drawn in training, else the middle one.

    Args:
        lower (float): the least slope; from 0 to 1.
        upper (float): the greatest slope; from `lower` to 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.RReLU(0.25, 0.75)
        >>> layer.eval()
        >>> layer(paddle.to_tensor([1.0, -2.0])).tolist()
        [1.0, -1.0]
    """

    def __init__(
        self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None
    ) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Any) -> Any:
        """The activation of `x`."""
        return F.rrelu(x, lower=self._lower, upper=self._upper, training=self.training)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        slopes = f"lower={self._lower}, upper={self._upper}"
        return f"{slopes}, training={self.training}, dtype={self._dtype}{name}"


class Softmax2D(Layer):
    """Softmax over the channels of images, place by place.

    Args:
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Softmax2D()(paddle.zeros([2, 1, 1])).flatten().tolist()
        [0.5, 0.5]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        """The chances of the channels of `x`, which has 3 or 4 axes."""
        if len(x.shape) not in (3, 4):
            law = "Softmax2D requires a 3D or 4D tensor as input."
            raise ShapeError(f"{law} Received: {len(x.shape)}D.")
        return F.softmax(x, axis=-3, name=self._name)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""
