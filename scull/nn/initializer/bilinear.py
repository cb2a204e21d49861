"""Filters that enlarge images."""

from typing import Any

import numpy as np

from scull.core.dtype import DType, float32
from scull.errors import ArgumentError, ArgumentTypeError
from scull.nn.initializer.assign import Table


class Bilinear(Table):
    """Filters of a transposed convolution that enlarge images by bilinear interpolation.

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv2D(1, 1, 4, weight_attr=paddle.nn.initializer.Bilinear())
        >>> conv.weight.shape
        [1, 1, 4, 4]
    """

    word = "bilinear_init"

    def drawn(self, dtype: DType) -> DType:
        if not dtype.is_float:
            raise ArgumentTypeError(f"filters that interpolate are not of {dtype.name}")
        return float32

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        if len(shape) != 4:
            raise ArgumentError("the length of shape must be 4.")
        if shape[2] != shape[3]:
            raise ArgumentError("shape[2] must be equal to shape[3].")
        size = shape[3]
        half = -(-size // 2)
        centre = (2 * half - 1 - half % 2) / (2.0 * half)
        places = np.arange(size * size)
        x, y = places % size, (places / size) % size  # the fraction of y is Paddle's
        one = (1 - np.abs(x / half - centre)) * (1 - np.abs(y / half - centre))
        return np.broadcast_to(one.reshape(size, size), shape)
