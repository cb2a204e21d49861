"""One value everywhere."""

from typing import Any

from scull.core.dtype import DType
from scull.nn.initializer.initializer import Initializer
from scull.ops.create import fill_constant


class ConstantInitializer(Initializer):
    """`value` everywhere."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        self._value, self._force_cpu = value, force_cpu

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        number = float(self._value)
        return fill_constant(
            shape=shape, dtype=dtype, value=number, str_value=str(number), force_cpu=self._force_cpu
        )


class Constant(ConstantInitializer):
    """One value everywhere.

    Args:
        value (float): the value.

    Examples:
        >>> import scull as paddle
        >>> attr = paddle.nn.initializer.Constant(2.0)
        >>> paddle.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
        [[2.0, 2.0]]
    """

    def __init__(self, value: float = 0.0) -> None:
        super().__init__(value)
