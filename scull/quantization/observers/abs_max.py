"""The largest magnitude of all that was seen."""

from typing import Any

from scull.quantization.base_observer import BaseObserver
from scull.quantization.factory import QuanterFactory
from scull.tensor import abs, full, max, maximum

LEAST = 1e-7  # the scale of nothing but zeros


class AbsmaxObserver(QuanterFactory):
    """Makes observers of the largest magnitude.

    Args:
        quant_bits (int): how many bits hold a step.

    Examples:
        >>> from scull.quantization.observers import AbsmaxObserver
        >>> AbsmaxObserver(quant_bits=4)
        AbsmaxObserver(quant_bits=4)
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> Any:
        return AbsmaxObserverLayer


class AbsmaxObserverLayer(BaseObserver):
    """What it is called with, unchanged; the scale is the largest magnitude seen so far.

    Args:
        layer (Layer): the one that is observed.
        quant_bits (int): how many bits hold a step.
    """

    def __init__(self, layer: Any, quant_bits: int = 8) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self.abs_max_val = full([], LEAST)
        self.thresholds = None

    def forward(self, input: Any) -> Any:
        """`input`."""
        self.abs_max_val = maximum(self.abs_max_val, max(abs(input.detach())))
        return input

    def cal_thresholds(self) -> None:
        """Let the scale be the largest magnitude seen so far."""
        self.thresholds = self.abs_max_val

    def bit_length(self) -> int:
        return self._quant_bits

    def quant_axis(self) -> int:
        return -1

    def scales(self) -> Any:
        """The largest magnitude, as a number without axes."""
        self.cal_thresholds()
        return self.thresholds

    def zero_points(self) -> None:
        return None
