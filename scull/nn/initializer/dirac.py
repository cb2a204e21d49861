"""Filters that pass their input on."""

from typing import Any

import numpy as np

from scull.core.dtype import DType
from scull.errors import ArgumentError
from scull.nn.initializer.assign import Table


class Dirac(Table):
    """Filters of a convolution that pass as many channels on as they can.

    Args:
        groups (int): into how many parts of its own the first axis is divided.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> conv = paddle.nn.Conv2D(1, 1, 3, weight_attr=paddle.nn.initializer.Dirac())
        >>> conv.weight.reshape([3, 3]).tolist()
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """

    word = "dirac"

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not isinstance(groups, int) or groups < 1:
            raise ArgumentError(f"groups is {groups!r}, 'groups' must be a positive integer.")
        self._groups = groups

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        if len(shape) not in (3, 4, 5):
            raise ArgumentError("Only Tensor with 3/4/5 dimensions can be initialized by Dirac")
        if shape[0] % self._groups:
            raise ArgumentError(f"{shape[0]} filters do not divide into {self._groups} groups")
        filters = np.zeros(shape, dtype.array)
        own = shape[0] // self._groups
        middle = tuple(n // 2 for n in shape[2:])
        for group in range(self._groups):
            for i in range(min(own, shape[1])):
                filters[(group * own + i, i, *middle)] = 1
        return filters
