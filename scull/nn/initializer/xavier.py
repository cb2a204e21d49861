"""First values that keep the size of activations (Glorot and Bengio, AISTATS 2010)."""

import math
from typing import Any

from scull.core.dtype import DType
from scull.nn.initializer.initializer import fans
from scull.nn.initializer.uniform import UniformFill
from scull.ops.random import gaussian


class XavierInitializer(UniformFill):
    """Of deviation ``sqrt(2 / (fan_in + fan_out))``, uniform or normal."""

    word = "xavier_init"

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        fan_out: float | None = None,
        seed: int = 0,
    ) -> None:
        self._uniform, self._fan_in, self._fan_out, self.seed = uniform, fan_in, fan_out, seed

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        fan_in, fan_out = fans(shape)
        fan_in = fan_in if self._fan_in is None else self._fan_in
        fan_out = fan_out if self._fan_out is None else self._fan_out
        if self._uniform:
            return self.between(math.sqrt(6.0 / float(fan_in + fan_out)), shape, dtype, seed)
        std = math.sqrt(2.0 / float(fan_in + fan_out))
        return gaussian(shape=shape, dtype=dtype, mean=0.0, std=std, seed=seed)


class XavierNormal(XavierInitializer):
    """Normal numbers of the deviation ``sqrt(2 / (fan_in + fan_out))``.

    Args:
        fan_in (float, optional): on how many elements one of the output depends; None: the shape
            tells.
        fan_out (float, optional): how many one of the input reaches; from the shape when None.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.XavierNormal())
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, name: str | None = None
    ) -> None:
        super().__init__(uniform=False, fan_in=fan_in, fan_out=fan_out)


class XavierUniform(XavierInitializer):
    """Numbers between ``-x`` and ``x``, where x is ``sqrt(6 / (fan_in + fan_out))``.

    Args:
        fan_in (float, optional): on how many elements one of the output depends; None: the shape
            tells.
        fan_out (float, optional): how many one of the input reaches; from the shape when None.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(3, 3, weight_attr=paddle.nn.initializer.XavierUniform())
        >>> bool(abs(linear.weight.numpy()).max() <= 1)
        True
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, name: str | None = None
    ) -> None:
        super().__init__(uniform=True, fan_in=fan_in, fan_out=fan_out)
