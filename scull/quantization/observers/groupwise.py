"""The largest magnitudes of rows of a weight in groups."""

from typing import Any

from scull.errors import AssertError
from scull.quantization.base_observer import BaseObserver
from scull.quantization.factory import QuanterFactory
from scull.tensor import abs, max, reshape, zeros_like


class GroupWiseWeightObserver(QuanterFactory):
    """Makes observers of the largest magnitude of each column in groups of rows.

    Args:
        quant_bits (int): how many bits hold a step.
        group_size (int): how many rows share a scale.

    Examples:
        >>> from scull.quantization.observers import GroupWiseWeightObserver
        >>> GroupWiseWeightObserver(quant_bits=4, group_size=64)
        GroupWiseWeightObserver(quant_bits=4,group_size=64)
    """

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self) -> Any:
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(BaseObserver):
    """What it is called with, unchanged; each group of rows has a scale for each column.

    Args:
        layer (Layer): the one whose weight is observed.
        quant_bits (int): how many bits hold a step.
        group_size (int): how many rows share a scale.
    """

    def __init__(self, layer: Any, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__()
        self.quant_bits, self.group_size = quant_bits, group_size
        self._layer = layer
        self._max = self._scale = self._zero_point = None

    def forward(self, inputs: Any) -> Any:
        """`inputs`, a matrix of which `group_size` divides the rows."""
        self._max = self._cal_abs_max(inputs)
        return inputs

    def _cal_abs_max(self, inputs: Any) -> Any:
        """The largest magnitude of each column in each group of rows."""
        if len(inputs.shape) != 2:
            raise AssertError("Currently only support 2D tensor")
        rows, columns = inputs.shape
        if rows % self.group_size:
            raise AssertError("group_size must be a factor of input channels")
        return max(abs(reshape(inputs.detach(), [-1, self.group_size, columns])), axis=1)

    def min_value(self) -> float:
        return 0.0

    def max_value(self) -> Any:
        return self._max

    def bit_length(self) -> int:
        return self.quant_bits

    def quant_axis(self) -> int:
        return -1

    def cal_thresholds(self) -> None:
        """Let the scales be the largest magnitudes seen last."""
        if self._scale is None:
            self._scale = self._max
        self._zero_point = zeros_like(self._scale)

    def scales(self) -> Any:
        """The largest magnitudes, [rows / group_size, columns]."""
        if self._scale is None:
            self.cal_thresholds()
        return self._scale

    def zero_points(self) -> Any:
        """Zeros of the shape of the scales."""
        if self._zero_point is None:
            self.cal_thresholds()
        return self._zero_point
