"""Matrices whose rows, or columns, are orthogonal."""

import math
from typing import Any

from scull.core.dtype import DType
from scull.core.interpreter import interpreting
from scull.errors import ArgumentError
from scull.ir.recorder import Recorder
from scull.nn.initializer.initializer import Initializer
from scull.ops.complex import sign
from scull.ops.create import cast, scale
from scull.ops.diagonal import diag
from scull.ops.elementwise import multiply
from scull.ops.factor import qr
from scull.ops.move import reshape, transpose
from scull.ops.random import gaussian


class Orthogonal(Initializer):
    """A matrix (of the first axis and all others together) with orthogonal rows or columns.

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

    narrow, word = False, "orthogonal"

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        if gain is None:
            raise ArgumentError("gain should not be None")
        self._gain = gain

    def record(self, param: Any, block: Any) -> Any:
        """Append a drawn matrix, its decomposition, and what makes that unique."""
        shape, dtype = tuple(param.meta.shape), self.drawn(param.dtype)
        wide = dtype is param.dtype
        with interpreting(Recorder(block)) as recorder:
            found = self.matrix(shape, dtype, block.program.random_seed)
            with recorder.into(param) if wide else recorder.naming(f"{self.word}.{param.name}"):
                found = scale(found, scale=float(self._gain))
            if not wide:
                with recorder.into(param):
                    cast(found, in_dtype=dtype, out_dtype=param.dtype)
        return param.op

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        return scale(self.matrix(shape, dtype, seed), scale=float(self._gain))

    def matrix(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        """Rows or columns of length 1, all orthogonal."""
        if len(shape) < 2:
            raise AssertionError(
                "Only Tensor with 2 or more dimensions can be initialized by Orthogonal"
            )
        rows, columns = shape[0], math.prod(shape[1:])
        sizes = max(rows, columns), min(rows, columns)
        q, r = qr(gaussian(shape=sizes, dtype=dtype, mean=0.0, std=1.0, seed=seed))
        q = multiply(q, sign(diag(r)))
        return reshape(q if rows >= columns else transpose(q, perm=(1, 0)), shape=shape)
