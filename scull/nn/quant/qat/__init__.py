"""Layers whose inputs and weights are rounded while they train."""

from scull.nn.quant.qat.conv import QuantedConv2D
from scull.nn.quant.qat.linear import QuantedLinear

__all__ = ["QuantedConv2D", "QuantedLinear"]
