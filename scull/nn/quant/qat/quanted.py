"""What layers have in common whose input and weight are rounded."""

from typing import Any

from scull.nn.quant.format import ConvertibleQuantedLayer


class Quanted(ConvertibleQuantedLayer):
    """A layer with the parameters of another, whose input and weight pass a quanter.

    Args:
        layer (Layer): the other.
        q_config (SingleLayerConfig): makes the quanters; there is none where it has None.
    """

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__()
        self.weight, self.bias = layer.weight, layer.bias
        self.weight_quanter = made(q_config.weight, layer)
        self.activation_quanter = made(q_config.activation, layer)

    def rounded(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight after their quanters."""
        if self.activation_quanter is not None:
            input = self.activation_quanter(input)
        if self.weight_quanter is None:
            return input, self.weight
        return input, self.weight_quanter(self.weight)

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        return ["activation_quanter"]


def made(factory: Any, layer: Any) -> Any:
    """The quanter that a factory makes for `layer`; None of none."""
    return None if factory is None else factory._instance(layer)
