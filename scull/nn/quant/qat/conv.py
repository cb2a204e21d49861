"""A convolution whose input and weight are rounded."""

from typing import Any

from scull.nn.quant.convolved import convolved, take
from scull.nn.quant.qat.quanted import Quanted


class QuantedConv2D(Quanted):
    """A `Conv2D` with the parameters of another, whose input and weight pass a quanter.

    Args:
        layer (Conv2D): the other.
        q_config (SingleLayerConfig): makes the quanters; there is none where it has None.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.qat import QuantedConv2D
        >>> from scull.quantization.config import SingleLayerConfig
        >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> factory = FakeQuanterWithAbsMaxObserver()
        >>> QuantedConv2D(paddle.nn.Conv2D(2, 3, 1), SingleLayerConfig(factory, None))
        QuantedConv2D(
          (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
        )
    """

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__(layer, q_config)
        take(self, layer)

    def forward(self, input: Any) -> Any:
        """The convolution of the rounded `input` with the rounded weight, and the bias."""
        return self._conv_forward(*self.rounded(input))

    def _conv_forward(self, inputs: Any, weights: Any) -> Any:
        return convolved(self, inputs, weights)
