"""A linear layer whose input and weight are rounded."""

from typing import Any

from scull.nn import functional as F
from scull.nn.quant.format import ConvertibleQuantedLayer


def made(factory: Any, layer: Any) -> Any:
    """The quanter that a factory makes for `layer`; None of none."""
    return None if factory is None else factory._instance(layer)


class QuantedLinear(ConvertibleQuantedLayer):
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
        super().__init__()
        self.weight, self.bias, self.name = layer.weight, layer.bias, layer.name
        self.weight_quanter = made(q_config.weight, layer)
        self.activation_quanter = made(q_config.activation, layer)

    def forward(self, input: Any) -> Any:
        """The product of the rounded `input` and the rounded weight, and the bias."""
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        weight = self.weight
        if self.weight_quanter is not None:
            weight = self.weight_quanter(weight)
        return self._linear_forward(input, weight)

    def _linear_forward(self, input: Any, weight: Any) -> Any:
        return F.linear(input, weight, self.bias, self.name)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
