"""`layer_norm` of a sum."""

from typing import Any

from scull.incubate.nn.functional.norm import refuse_whole, summed
from scull.ir.mode import in_dynamic_mode
from scull.ops.norm import layer_norm
from scull.tensor.size import needs_tensor


def fused_layer_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    residual_alpha: float = 1.0,
    begin_norm_axis: int = 1,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """Zero mean and unit variance of ``x + bias + residual_alpha * residual``.

    Args:
        x (Tensor): of floating-point numbers.
        norm_weight (Tensor | None): what each element from `begin_norm_axis` on is multiplied by.
        norm_bias (Tensor | None): what is added there; without both the sum is the result.
        epsilon (float): added to the variance.
        residual_alpha (float): a factor of `residual`.
        begin_norm_axis (int): the first axis to take the mean over.
        bias (Tensor, optional): added to `x`.
        residual (Tensor, optional): of the shape of `x`.
        quant_scale (float): results are not of 8 bits: not above 0.
        quant_round_type (float): not used.
        quant_max_bound (float): not used.
        quant_min_bound (float): not used.

    Returns:
        tuple: the result, the sum, means and variances; in a Program the result, and the sum
        where there is a residual.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_layer_norm
        >>> x, one = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> fused_layer_norm(x, one, one, 0.0)[0].tolist()
        [[0.0, 2.0]]
    """
    needs_tensor(x, "fused_layer_norm")
    refuse_whole(quant_scale)
    total = summed(x, bias, residual, residual_alpha)
    begin = begin_norm_axis + (len(x.shape) if begin_norm_axis < 0 else 0)
    mean, variance, out = layer_norm(
        total, norm_weight, norm_bias, epsilon=epsilon, begin_norm_axis=begin
    )
    out = total if norm_weight is None and norm_bias is None else out
    if in_dynamic_mode():
        return out, total, mean, variance
    return out if residual is None else (out, total)
