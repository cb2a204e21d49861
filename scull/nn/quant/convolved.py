"""Convolutions by what another layer was told, with a weight that is given."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.convolution import Convolution

TOLD = (
    "_groups _stride _dilation _padding _padding_mode _updated_padding _data_format"
    " _reversed_padding_repeated_twice"  # where the border is not zeros
)


def take(layer: Any, other: Any) -> None:
    """Let `layer` know what the convolution `other` was told."""
    for name in TOLD.split():
        if hasattr(other, name):
            setattr(layer, name, getattr(other, name))


def convolved(layer: Any, x: Any, weight: Any) -> Any:
    """The convolution of `x` with `weight`, as `layer` was told."""
    return F.conv2d(
        Convolution.surrounded(layer, x),
        weight,
        layer.bias,
        layer._stride,
        layer._updated_padding,
        layer._dilation,
        layer._groups,
        layer._data_format,
    )
