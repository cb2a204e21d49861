"""Matrices whose rows, or columns, are orthogonal."""

import math
from typing import Any

import numpy as np

from scull.core.dtype import DType, float64
from scull.core.eager import SILENT
from scull.core.interpreter import interpreting
from scull.errors import ArgumentError
from scull.nn.initializer.assign import Table
from scull.ops.random import gaussian


class Orthogonal(Table):
    """A matrix (of the first axis and all others together) with orthogonal rows or columns.

    It is drawn when the parameter is made; in static mode the startup Program holds its values.

    Args:
        gain (float): the length of its rows or columns.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> attr = paddle.nn.initializer.Orthogonal()
        >>> w = paddle.nn.Linear(2, 3, weight_attr=attr).weight.numpy()
        >>> bool((abs(w @ w.T - [[1, 0], [0, 1]]) < 1e-6).all())
        True
    """

    word = "orthogonal"

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        if gain is None:
            raise ArgumentError("gain should not be None")
        self._gain = gain

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        if len(shape) < 2:
            raise ArgumentError(
                "Only Tensor with 2 or more dimensions can be initialized by Orthogonal"
            )
        rows, columns = shape[0], math.prod(shape[1:])
        sizes = max(rows, columns), min(rows, columns)
        with interpreting(SILENT):
            drawn = gaussian(shape=sizes, dtype=float64).array
        q, r = np.linalg.qr(drawn)
        q *= np.sign(np.diagonal(r))
        matrix = q if rows >= columns else q.T
        return (matrix * self._gain).reshape(shape)
