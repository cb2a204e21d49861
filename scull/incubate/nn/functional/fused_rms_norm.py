"""The norm by the root of the mean of squares, of a sum."""

from typing import Any

from scull.core.dtype import float32
from scull.incubate.nn.functional.norm import refuse_whole, summed
from scull.ir.mode import in_dynamic_mode
from scull.ops.promotion import cast_to
from scull.tensor.function import rsqrt, square
from scull.tensor.manipulation import reshape
from scull.tensor.reduction import mean
from scull.tensor.size import needs_tensor


def fused_rms_norm(
    x: Any,
    norm_weight: Any,
    norm_bias: Any,
    epsilon: float,
    begin_norm_axis: int,
    bias: Any = None,
    residual: Any = None,
    quant_scale: float = -1,
    quant_round_type: float = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Any:
    """``x + bias + residual`` over the root of the mean of its squares.

    Args:
        x (Tensor): of floating-point numbers.
        norm_weight (Tensor): what each element from `begin_norm_axis` on is multiplied by.
        norm_bias (Tensor | None): what is added there.
        epsilon (float): added to the mean of squares.
        begin_norm_axis (int): the first axis to take the mean over.
        bias (Tensor, optional): added to `x`.
        residual (Tensor, optional): of the shape of `x`.
        quant_scale (float): results are not of 8 bits: not above 0.
        quant_round_type (float): not used.
        quant_max_bound (float): not used.
        quant_min_bound (float): not used.

    Returns:
        tuple: the result and the sum; in a Program the result, and the sum where there is a
        residual.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.functional import fused_rms_norm
        >>> x, weight = paddle.to_tensor([[3.0, 3.0]]), paddle.to_tensor([1.0, 2.0])
        >>> fused_rms_norm(x, weight, None, 0.0, 1)[0].tolist()
        [[1.0, 2.0]]
    """
    needs_tensor(x, "fused_rms_norm")
    refuse_whole(quant_scale)
    total = summed(x, bias, residual)
    rank = len(x.shape)
    axes = list(range(begin_norm_axis % rank, rank))
    sizes = [x.shape[i] for i in axes]
    wide = total if total.dtype.itemsize > 2 else cast_to(total, float32)
    normal = wide * rsqrt(mean(square(wide), axes, keepdim=True) + epsilon)
    out = cast_to(normal, x.dtype) * reshape(norm_weight, sizes)
    out = out if norm_bias is None else out + reshape(norm_bias, sizes)
    if in_dynamic_mode():
        return out, total
    return out if residual is None else (out, total)
