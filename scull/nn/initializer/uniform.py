"""Numbers between two bounds, all equally likely."""

from typing import Any

from scull.core.dtype import DType, bfloat16
from scull.errors import ArgumentError
from scull.nn.initializer.initializer import Initializer
from scull.ops import random


class UniformFill(Initializer):
    """What initializers that draw by `uniform_random` have in common."""

    narrow, word = False, "uniform_random"

    def record(self, param: Any, block: Any) -> Any:
        """The empty slots of `uniform_random` are written, as Paddle writes them."""
        start = len(block.ops)
        made = super().record(param, block)
        first = block.ops[start]
        first.says_inputs = first.type == "uniform_random"
        return made

    def drawn(self, dtype: DType) -> DType:
        uniform = getattr(self, "_uniform", True)
        return dtype if uniform and dtype is bfloat16 else super().drawn(dtype)

    def between(self, bound: float, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        """Numbers from `-bound` to `bound`."""
        return random.uniform(shape=shape, dtype=dtype, min=-bound, max=bound, seed=seed)


class UniformInitializer(UniformFill):
    """Numbers from `low` to `high`; the `diag_*` put `diag_val` in every `diag_step`-th place."""

    def __init__(
        self,
        low: float = -1.0,
        high: float = 1.0,
        seed: int = 0,
        diag_num: int = 0,
        diag_step: int = 0,
        diag_val: float = 1.0,
    ) -> None:
        if high < low:
            raise ArgumentError(f"low is {low} and high {high}; high should be greater or equal")
        self._low, self._high, self.seed = low, high, seed
        self._diagonal = {"diag_num": diag_num, "diag_step": diag_step, "diag_val": diag_val}

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        return random.uniform(
            shape=shape, dtype=dtype, min=self._low, max=self._high, seed=seed, **self._diagonal
        )


class Uniform(UniformInitializer):
    """Numbers between two bounds, all equally likely.

    Args:
        low (float): the lower bound.
        high (float): the upper bound.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(9, 9, weight_attr=paddle.nn.initializer.Uniform(-0.1, 0.1))
        >>> bool(abs(linear.weight.numpy()).max() <= 0.1)
        True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        super().__init__(low, high)
