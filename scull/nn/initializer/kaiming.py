"""First values that keep the size of activations through rectifiers (He et al., ICCV 2015)."""

import math
from typing import Any

from scull.core.dtype import DType
from scull.nn.initializer.initializer import calculate_gain, fans
from scull.nn.initializer.uniform import UniformFill
from scull.ops.random import gaussian


class MSRAInitializer(UniformFill):
    """Of deviation ``gain / sqrt(fan_in)``, uniform or normal."""

    word = "masra_init"

    def __init__(
        self,
        uniform: bool = True,
        fan_in: float | None = None,
        seed: int = 0,
        negative_slope: float = 0,
        nonlinearity: str = "relu",
    ) -> None:
        self._uniform, self._fan_in, self.seed = uniform, fan_in, seed
        self._negative_slope, self._nonlinearity = negative_slope, nonlinearity

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        fan_in = fans(shape)[0] if self._fan_in is None else self._fan_in
        gain = calculate_gain(self._nonlinearity, self._negative_slope)
        if self._uniform:
            return self.between(gain * math.sqrt(3.0 / float(fan_in)), shape, dtype, seed)
        std = gain / math.sqrt(float(fan_in))
        return gaussian(shape=shape, dtype=dtype, mean=0.0, std=std, seed=seed)


class KaimingNormal(MSRAInitializer):
    """Normal numbers of the deviation ``gain / sqrt(fan_in)``.

    Args:
        fan_in (float, optional): on how many elements one of the output depends; None: the shape
            tells.
        negative_slope (float): the slope of leaky_relu below 0.
        nonlinearity (str): what follows; it decides the gain.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.KaimingNormal())
    """

    def __init__(
        self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"
    ) -> None:
        super().__init__(False, fan_in, 0, negative_slope, nonlinearity)


class KaimingUniform(MSRAInitializer):
    """Numbers between ``-x`` and ``x``, where x is ``gain * sqrt(3 / fan_in)``.

    Args:
        fan_in (float, optional): on how many elements one of the output depends; None: the shape
            tells.
        negative_slope (float): the slope of leaky_relu below 0.
        nonlinearity (str): what follows; it decides the gain.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(6, 2, weight_attr=paddle.nn.initializer.KaimingUniform())
        >>> bool(abs(linear.weight.numpy()).max() <= 1)
        True
    """

    def __init__(
        self, fan_in: float | None = None, negative_slope: float = 0.0, nonlinearity: str = "relu"
    ) -> None:
        super().__init__(True, fan_in, 0, negative_slope, nonlinearity)
