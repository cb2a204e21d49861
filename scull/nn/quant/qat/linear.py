"""A linear layer whose input and weight are rounded."""

from typing import Any

from scull.nn import functional as F
from scull.nn.quant.qat.quanted import Quanted


class QuantedLinear(Quanted):
    """A `Linear` with the parameters of another, whose input and weight pass a quanter.

    Args:
        layer (Linear): the other.
        q_config (SingleLayerConfig): makes the quanters; there is none where it has None.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.quant.qat import QuantedLinear
        >>> from scull.quantization.config import SingleLayerConfig
        >>> from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> factory = FakeQuanterWithAbsMaxObserver()
        >>> QuantedLinear(paddle.nn.Linear(2, 3), SingleLayerConfig(factory, factory))
        QuantedLinear(
          (weight_quanter): FakeQuanterWithAbsMaxObserverLayer()
          (activation_quanter): FakeQuanterWithAbsMaxObserverLayer()
        )
    """

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self.name = layer.name

    def forward(self, input: Any) -> Any:
        """The product of the rounded `input` and the rounded weight, and the bias."""
        return self._linear_forward(*self.rounded(input))

    def _linear_forward(self, input: Any, weight: Any) -> Any:
        return F.linear(input, weight, self.bias, self.name)
