"""Norms of sums."""

from typing import Any

from scull.errors import UnsupportedError
from scull.ops.create import scale
from scull.ops.norm import layer_norm


def summed(x: Any, bias: Any, residual: Any, alpha: float = 1.0) -> Any:
    """`x` and what is added before a norm."""
    x = x if bias is None else x + bias
    if residual is None:
        return x
    return x + (residual if alpha == 1 else scale(residual, scale=alpha))


def refuse_whole(quant_scale: float) -> None:
    """Refuse to give numbers of 8 bits."""
    if quant_scale > 0:
        raise UnsupportedError(f"quant_scale is {quant_scale}: results are not of 8 bits")


def normalised(
    x: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-5, begin: int = -1
) -> Any:
    """Zero mean and unit variance over the axes from `begin` on."""
    begin += len(x.shape) if begin < 0 else 0
    return layer_norm(x, weight, bias, epsilon=epsilon, begin_norm_axis=begin)[-1]
