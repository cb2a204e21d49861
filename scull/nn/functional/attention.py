"""Attention: what each place of a sequence takes from others."""

from typing import Any

from scull.core.dtype import dtype_of
from scull.errors import ArgumentError
from scull.nn.functional.activation import softmax
from scull.nn.functional.omission import dropout
from scull.ops.create import cast, scale
from scull.ops.elementwise import add
from scull.ops.linear import matmul
from scull.ops.move import transpose
from scull.tensor.creation import full
from scull.tensor.matrix import triu
from scull.tensor.size import needs_tensor


def attention_mask(mask: Any, dtype: Any) -> Any:
    """What is added to scores: `mask` itself, or -1e9 where truth values and integers say 0."""
    if mask is None or mask.dtype.is_float:
        return mask
    dtype = dtype_of(dtype)
    return scale(cast(mask, out_dtype=dtype, in_dtype=mask.dtype), scale=1e9, bias=-1e9)


def causal_mask(length: int, dtype: Any = None) -> Any:
    """0 where a place may look: at itself and before; minus infinity elsewhere."""
    return triu(full([length, length], float("-inf"), dtype), 1)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """The mean of `value`, weighed by how well each key goes with each query.

    Args:
        query (Tensor): of shape ``[batch, places, heads, numbers]``.
        key (Tensor): as many heads and numbers.
        value (Tensor): of the shape of `key`.
        attn_mask (Tensor, optional): added to the scores; of truth values: where to look.
        dropout_p (float): the chance of a weight to be dropped.
        is_causal (bool): whether no place looks at later ones.
        training (bool): whether weights are dropped at all.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape of `query`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> paddle.nn.functional.scaled_dot_product_attention(x, x, x).shape
        [1, 3, 2, 4]
    """
    if is_causal and attn_mask is not None:
        raise ArgumentError("attn_mask is not used where is_causal is True: give one of them")
    q, k, v = (transpose(x, perm=(0, 2, 1, 3)) for x in (query, key, value))
    scores = matmul(scale(q, scale=query.shape[-1] ** -0.5), k, transpose_y=True)
    if attn_mask is not None:
        needs_tensor(attn_mask, "scaled_dot_product_attention", "attn_mask")
    mask = causal_mask(query.shape[1], query.dtype) if is_causal else attn_mask
    mask = attention_mask(mask, scores.dtype)
    weights = softmax(scores if mask is None else add(scores, mask))
    if dropout_p:
        weights = dropout(weights, dropout_p, training=training)
    return transpose(matmul(weights, v), perm=(0, 2, 1, 3))
