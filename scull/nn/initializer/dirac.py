"""Filters that pass their input on."""

from typing import Any

import numpy as np

from scull.core.dtype import DType, float32, int64
from scull.core.interpreter import interpreting
from scull.errors import ArgumentError
from scull.ir.recorder import Recorder
from scull.nn.initializer.assign import Table
from scull.ops.create import assign_value, cast, fill_constant
from scull.ops.index import scatter
from scull.ops.move import reshape


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

    def record(self, param: Any, block: Any) -> Any:
        """Append zeros, ones put in their places, and a cast to other elements than float32."""
        shape = tuple(param.meta.shape)
        places = np.flatnonzero(self.numbers(shape, float32)).tolist()
        narrow = param.dtype is float32
        with interpreting(Recorder(block)) as recorder:
            zeros = reshape(fill_constant(shape=shape, value=0.0, dtype=float32), shape=(-1,))
            at = assign_value(shape=(len(places),), dtype=int64, int64_values=places)
            ones = [1.0] * len(places)
            one = assign_value(shape=(len(places),), dtype=float32, fp32_values=ones)
            put = scatter(zeros, at, one, overwrite=True)
            with recorder.into(param) if narrow else recorder.naming(f"dirac.{param.name}"):
                found = reshape(put, shape=shape)
            if not narrow:
                with recorder.into(param):
                    cast(found, in_dtype=float32, out_dtype=param.dtype)
        return param.op

    def numbers(self, shape: tuple[int, ...], dtype: DType) -> Any:
        if len(shape) not in (3, 4, 5):
            raise AssertionError("Only Tensor with 3/4/5 dimensions can be initialized by Dirac")
        if shape[0] % self._groups:
            raise AssertionError(f"{shape[0]} filters do not divide into {self._groups} groups")
        filters = np.zeros(shape, dtype.array)
        own = shape[0] // self._groups
        middle = tuple(n // 2 for n in shape[2:])
        for group in range(self._groups):
            for i in range(min(own, shape[1])):
                filters[(group * own + i, i, *middle)] = 1
        return filters
