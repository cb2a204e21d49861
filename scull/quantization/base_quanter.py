"""What every quanter can be asked."""

from abc import ABCMeta, abstractmethod
from typing import Any

from scull.nn.layer.layers import Layer


class BaseQuanter(Layer, metaclass=ABCMeta):
    """The parent of layers that round what they are called with, or watch it to round it later.

    Examples:
        >>> import scull as paddle
        >>> class Halves(paddle.quantization.BaseQuanter):
        ...     def forward(self, input):
        ...         return paddle.round(input * 2.0) / 2.0
        ...     def scales(self):
        ...         return paddle.to_tensor([63.5])
        ...     def zero_points(self):
        ...         return None
        ...     def quant_axis(self):
        ...         return -1
        ...     def bit_length(self):
        ...         return 8
        >>> Halves()(paddle.to_tensor([0.7])).tolist()
        [0.5]
    """

    @abstractmethod
    def forward(self, input: Any) -> Any:
        """`input`, rounded or as it is."""

    @abstractmethod
    def scales(self) -> Any:
        """The largest number that steps reach: one, one a channel, or None."""

    @abstractmethod
    def zero_points(self) -> Any:
        """The steps that stand for 0; None where 0 does."""

    @abstractmethod
    def quant_axis(self) -> Any:
        """The axis that has a scale for each place; -1 or None where all share one."""

    @abstractmethod
    def bit_length(self) -> Any:
        """How many bits hold a step."""
