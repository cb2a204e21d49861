"""A place in a model where what flows by is to be rounded, before a function that is no layer."""

from typing import Any

from scull.nn.layer.layers import Layer


class Stub(Layer):
    """What it is called with, unchanged; `QAT` and `PTQ` put a quanter in its place.

    Args:
        observer (QuanterFactory, optional): makes that quanter; the configuration does when None.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.quant.Stub()(3)
        3
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        """`input`."""
        return input


class QuanterStub(Layer):
    """What takes the place of a `Stub`: a quanter alone.

    Args:
        layer (Stub): the place.
        q_config (SingleLayerConfig): makes the quanter where the place does not say one.
    """

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory = q_config.activation if layer._observer is None else layer._observer
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input: Any) -> Any:
        """`input` after the quanter."""
        return input if self._observer is None else self._observer(input)
