"""Which layers batches are watched at."""

from typing import Any

from scull import nn
from scull.nn.quant.functional_layers import add
from scull.nn.quant.quant_layers import QuantizedConv2D, QuantizedLinear

SIMULATED_LAYERS = [nn.Conv2D, nn.Linear]
WATCHED = (
    *SIMULATED_LAYERS,
    nn.BatchNorm2D,
    nn.AdaptiveMaxPool2D,
    nn.AdaptiveAvgPool2D,
    nn.AvgPool2D,
    nn.MaxPool2D,
    nn.ReLU,
    nn.ReLU6,
    nn.Hardswish,
    nn.Swish,
    nn.Sigmoid,
    nn.Softmax,
    nn.Tanh,
    add,
)


class PTQRegistry:
    """Tells the layers that are watched."""

    @classmethod
    def is_supported_layer(cls, layer: Any) -> bool:
        """Whether a layer, or a class of layers, is watched."""
        return kind_of(layer) in WATCHED

    @classmethod
    def is_registered_layer(cls, layer: Any) -> bool:
        """Whether it is watched, or rounds."""
        return kind_of(layer) in (*WATCHED, QuantizedConv2D, QuantizedLinear)

    @classmethod
    def is_simulated_quant_layer(cls, layer: Any) -> bool:
        """Whether a layer that rounds takes its place."""
        return kind_of(layer) in SIMULATED_LAYERS


def kind_of(layer: Any) -> Any:
    """The class of a layer; a class as it is."""
    return layer if isinstance(layer, type) else type(layer)
