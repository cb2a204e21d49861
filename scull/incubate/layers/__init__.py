"""Layers that Paddle has for parameter servers and for single devices: they can be imported."""

from scull.core.absent import absent
from scull.incubate.layers import nn
from scull.incubate.layers.nn import partial_concat, partial_sum, shuffle_batch

__getattr__ = absent(__name__, {nn.REASON: nn.NAMES})
__all__ = ["nn", "partial_concat", "partial_sum", "shuffle_batch"]
