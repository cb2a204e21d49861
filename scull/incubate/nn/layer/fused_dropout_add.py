"""A layer that drops elements of one of two summands."""

from typing import Any

from scull.incubate.nn.functional.fused_dropout_add import fused_dropout_add
from scull.nn.layer.layers import Layer


class FusedDropoutAdd(Layer):
    """``dropout(x) + y``.

    Args:
        p (float): the chance of an element of `x`.
        mode (str): "upscale_in_train" or "downscale_in_infer".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.incubate.nn.FusedDropoutAdd(0.5)
        >>> layer.eval()
        >>> layer(paddle.ones([2]), paddle.ones([2])).tolist()
        [2.0, 2.0]
    """

    def __init__(
        self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        self.p, self.mode, self.name = p, mode, name

    def forward(self, x: Any, y: Any) -> Any:
        """The sum, `x` thinned out in training."""
        return fused_dropout_add(x, y, self.p, self.training, self.mode, self.name)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, mode={self.mode}{name}"
