"""A convolution whose input and weight are rounded."""

from typing import Any

from scull.nn import functional as F
from scull.nn.quant.format import ConvertibleQuantedLayer
from scull.nn.quant.qat.linear import made


class QuantedConv2D(ConvertibleQuantedLayer):
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
        super().__init__()
        self._groups, self._stride, self._dilation = layer._groups, layer._stride, layer._dilation
        self._padding, self._padding_mode = layer._padding, layer._padding_mode
        self._data_format = layer._data_format
        if layer._padding_mode != "zeros":
            self._reversed_padding_repeated_twice = layer._reversed_padding_repeated_twice
        self.weight, self.bias = layer.weight, layer.bias
        self.weight_quanter = made(q_config.weight, layer)
        self.activation_quanter = made(q_config.activation, layer)

    def forward(self, input: Any) -> Any:
        """The convolution of the rounded `input` with the rounded weight, and the bias."""
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        weight = self.weight
        if self.weight_quanter is not None:
            weight = self.weight_quanter(weight)
        return self._conv_forward(input, weight)

    def _conv_forward(self, inputs: Any, weights: Any) -> Any:
        padding = self._padding
        if self._padding_mode != "zeros":
            around = self._reversed_padding_repeated_twice
            inputs = F.pad(inputs, around, self._padding_mode, data_format=self._data_format)
            padding = 0
        return F.conv2d(
            inputs,
            weights,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]
