"""The parts of transformers, each with its dropout, its sum and its norm."""

from typing import Any

from scull.errors import AssertError, ShapeError
from scull.incubate.nn.functional.fused_matmul_bias import fused_linear
from scull.incubate.nn.functional.norm import normalised, summed
from scull.nn import functional as F
from scull.nn.functional.attention import attention_mask
from scull.nn.functional.omission import dropout
from scull.tensor.join import concat, stack, unbind
from scull.tensor.linalg import matmul
from scull.tensor.manipulation import reshape, transpose
from scull.tensor.size import needs_tensor


def fused_bias_dropout_residual_layer_norm(
    x: Any,
    residual: Any,
    bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """``layer_norm(residual + dropout(bias + x))`` over the last axis.

    Args:
        x (Tensor): of floating-point numbers.
        residual (Tensor): of the shape of `x`.
        bias (Tensor, optional): a number for each place of the last axis.
        ln_scale (Tensor, optional): what the norm is multiplied by there.
        ln_bias (Tensor, optional): what is added to it there.
        dropout_rate (float): the chance of an element to be dropped.
        ln_epsilon (float): added to the variance.
        training (bool): False drops none.
        mode (str): "upscale_in_train" or "downscale_in_infer", as for `dropout`.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn import functional as F
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> norm = F.fused_bias_dropout_residual_layer_norm(x, x, training=False, ln_epsilon=0.0)
        >>> norm.tolist()
        [[-1.0, 1.0]]
    """
    needs_tensor(x, "fused_bias_dropout_residual_layer_norm")
    dropped = dropout(summed(x, bias, None), dropout_rate, training=training, mode=mode)
    return normalised(residual + dropped, ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Any,
    linear1_weight: Any,
    linear2_weight: Any,
    linear1_bias: Any = None,
    linear2_bias: Any = None,
    ln1_scale: Any = None,
    ln1_bias: Any = None,
    ln2_scale: Any = None,
    ln2_bias: Any = None,
    dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5,
    activation: str = "relu",
    ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    name: str | None = None,
) -> Any:
    """The network at each place of a transformer: two products, with what stands around them.

    Args:
        x (Tensor): of shape ``[batch, places, numbers]``.
        linear1_weight (Tensor): of shape ``[numbers, more numbers]``.
        linear2_weight (Tensor): the way back.
        linear1_bias (Tensor, optional): added to the first product.
        linear2_bias (Tensor, optional): added to the second one.
        ln1_scale (Tensor, optional): what the norm of `x` is multiplied by.
        ln1_bias (Tensor, optional): what is added to it.
        ln2_scale (Tensor, optional): what the norm of the result is multiplied by.
        ln2_bias (Tensor, optional): what is added to it.
        dropout1_rate (float): the chance of an activation to be dropped.
        dropout2_rate (float): the chance of an element of the second product.
        activation (str): the name of a function of `paddle.nn.functional`.
        ln1_epsilon (float): added to the variance of `x`.
        ln2_epsilon (float): added to that of the result.
        pre_layer_norm (bool): whether `x` is normalised, not the result.
        training (bool): False drops none.
        mode (str): "upscale_in_train" or "downscale_in_infer", as for `dropout`.
        ring_id (int): not used: one process computes.
        add_residual (bool): whether `x` is added.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn import functional as F
        >>> x, w = paddle.ones([1, 1, 2]), paddle.zeros([2, 2])
        >>> F.fused_feedforward(x, w, w, pre_layer_norm=True).tolist()
        [[[1.0, 1.0]]]
    """
    needs_tensor(x, "fused_feedforward")
    out = normalised(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    out = getattr(F, activation)(fused_linear(out, linear1_weight, linear1_bias))
    out = dropout(out, dropout1_rate, training=training, mode=mode)
    out = fused_linear(out, linear2_weight, linear2_bias)
    out = dropout(out, dropout2_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    return out if pre_layer_norm else normalised(out, ln2_scale, ln2_bias, ln2_epsilon)


def fused_multi_head_attention(
    x: Any,
    qkv_weight: Any,
    linear_weight: Any,
    pre_layer_norm: bool = False,
    pre_ln_scale: Any = None,
    pre_ln_bias: Any = None,
    ln_scale: Any = None,
    ln_bias: Any = None,
    pre_ln_epsilon: float = 1e-05,
    qkv_bias: Any = None,
    linear_bias: Any = None,
    cache_kv: Any = None,
    attn_mask: Any = None,
    dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-05,
    training: bool = True,
    mode: str = "upscale_in_train",
    ring_id: int = -1,
    add_residual: bool = True,
    num_heads: int = -1,
    transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:
    """Attention within a sequence, with the products and the norm around it.

    Args:
        x (Tensor): of shape ``[batch, places, numbers]``.
        qkv_weight (Tensor): of queries, keys and values, ``[3, heads, numbers of one, numbers]``.
        linear_weight (Tensor): of the product behind, ``[numbers, numbers]``.
        pre_layer_norm (bool): whether `x` is normalised, not the result.
        pre_ln_scale (Tensor, optional): what the norm of `x` is multiplied by.
        pre_ln_bias (Tensor, optional): what is added to it.
        ln_scale (Tensor, optional): what the norm of the result is multiplied by.
        ln_bias (Tensor, optional): what is added to it.
        pre_ln_epsilon (float): added to the variance of `x`.
        qkv_bias (Tensor, optional): of shape ``[3, heads, numbers of one]``.
        linear_bias (Tensor, optional): added to the product behind.
        cache_kv (Tensor, optional): keys and values of places before, ``[2, batch, heads, places,
            numbers of one]``.
        attn_mask (Tensor, optional): added to the scores; of truth values: where to look.
        dropout_rate (float): the chance of an element of the product behind to be dropped.
        attn_dropout_rate (float): the chance of a weight.
        ln_epsilon (float): added to the variance of the result.
        training (bool): False drops none.
        mode (str): "upscale_in_train" or "downscale_in_infer", as for `dropout`.
        ring_id (int): not used: one process computes.
        add_residual (bool): whether `x` is added.
        num_heads (int): how many heads there are where `transpose_qkv_wb`.
        transpose_qkv_wb (bool): whether `qkv_weight` is ``[numbers, 3 * numbers]``, its bias a row.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape and dtype of `x`; behind it the cache with these places, if given one.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn import functional as F
        >>> x, w = paddle.ones([1, 3, 2]), paddle.ones([3, 1, 2, 2])
        >>> F.fused_multi_head_attention(x, w, paddle.zeros([2, 2]), True).tolist()
        [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]
    """
    needs_tensor(x, "fused_multi_head_attention")
    if len(x.shape) != 3:
        raise ShapeError(f"The rank of the x should be 3, but received {len(x.shape)}.")
    check_weight(x, qkv_weight, num_heads, transpose_qkv_wb)
    out = normalised(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    q, k, v = projected(out, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    if cache_kv is not None:
        k, v = (concat([old, new], 2) for old, new in zip(unbind(cache_kv), (k, v), strict=True))
    scores = matmul(q * q.shape[-1] ** -0.5, k, transpose_y=True)
    mask = attention_mask(attn_mask, scores.dtype)
    weights = F.softmax(scores if mask is None else scores + mask)
    weights = dropout(weights, attn_dropout_rate, training=training, mode=mode)
    out = reshape(transpose(matmul(weights, v), [0, 2, 1, 3]), [0, 0, -1])
    out = fused_linear(out, linear_weight, linear_bias)
    out = dropout(out, dropout_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    out = out if pre_layer_norm else normalised(out, ln_scale, ln_bias, ln_epsilon)
    return out if cache_kv is None else (out, stack([k, v]))


def check_weight(x: Any, weight: Any, heads: int, flat: bool) -> None:
    """Refuse weights of queries, keys and values that do not go with `x`."""
    sizes, numbers = list(weight.shape), x.shape[2]
    if flat and heads <= 0:
        raise AssertError(
            "When enable transpose_qkv_wb, the num_heads should be provided and greater than 0."
        )
    if flat and sizes != [numbers, 3 * numbers]:
        raise AssertError(f"qkv_weight is {sizes}, not {[numbers, 3 * numbers]} as x asks for")
    if not flat and (len(sizes) != 4 or sizes[0] != 3 or sizes[3] != numbers):
        raise AssertError(f"qkv_weight is {sizes}, not [3, num_head, head_dim, {numbers}]")
    if numbers % heads if flat else sizes[1] * sizes[2] != numbers:
        raise AssertError("embed_dim must be divisible by num_heads.")


def projected(x: Any, weight: Any, bias: Any, heads: int, flat: bool) -> list[Any]:
    """Queries, keys and values, of shape ``[batch, heads, places, numbers of one]``."""
    heads = heads if flat else weight.shape[1]
    wide = weight if flat else reshape(weight, [-1, x.shape[2]])
    row = None if bias is None else reshape(bias, [-1])
    parts = reshape(fused_linear(x, wide, row, not flat), [0, 0, 3, heads, -1])
    return unbind(transpose(parts, [2, 0, 3, 1, 4]))
