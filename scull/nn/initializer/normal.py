"""Normal numbers."""

from typing import Any

from scull.core.dtype import DType
from scull.nn.initializer.initializer import Initializer
from scull.ops.random import gaussian, truncated_gaussian_random


class NormalInitializer(Initializer):
    """Normal numbers around `loc` with the deviation `scale`; a `seed` always draws the same."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._mean, self._std_dev, self.seed = loc, scale, seed

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        return gaussian(shape=shape, dtype=dtype, mean=self._mean, std=self._std_dev, seed=seed)


class Normal(NormalInitializer):
    """Normal numbers.

    Args:
        mean (float): around what.
        std (float): their deviation.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Normal(0.0, 0.02))
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(loc=mean, scale=std)


class TruncatedNormalInitializer(Initializer):
    """Normal numbers around `loc`, none further away than twice `scale`."""

    narrow, word = False, "truncated_gaussian_random"

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        self._mean, self._std_dev, self.seed = loc, scale, seed

    def value(self, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
        return truncated_gaussian_random(
            shape=shape, dtype=dtype, mean=self._mean, std=self._std_dev, seed=seed
        )


class TruncatedNormal(TruncatedNormalInitializer):
    """Normal numbers, none further away from their mean than twice the deviation.

    Args:
        mean (float): around what.
        std (float): the deviation of those that are not cut off.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(9, 9, weight_attr=paddle.nn.initializer.TruncatedNormal())
        >>> bool(abs(linear.weight.numpy()).max() <= 2)
        True
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        super().__init__(loc=mean, scale=std)
