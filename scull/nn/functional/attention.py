"""Attention: what each place of a sequence takes from others."""

from typing import Any

from scull.core.dtype import dtype_of, float32, int32
from scull.errors import ArgumentError, ShapeError
from scull.nn.functional.activation import softmax
from scull.nn.functional.omission import dropout
from scull.ops.create import cast, scale
from scull.ops.elementwise import add
from scull.ops.linear import matmul
from scull.ops.masked_softmax import causal_softmax
from scull.ops.move import transpose
from scull.ops.promotion import cast_to
from scull.tensor.creation import arange, full, zeros
from scull.tensor.join import put_along_axis
from scull.tensor.manipulation import expand, reshape
from scull.tensor.matrix import triu
from scull.tensor.search import searchsorted, where
from scull.tensor.size import needs_tensor


def attention_mask(mask: Any, dtype: Any) -> Any:
    """What is added to scores of `dtype`: `mask`, or -1e9 where truth values and integers say 0."""
    dtype = dtype_of(dtype)
    if mask is None:
        return None
    if mask.dtype.is_float:
        return cast_to(mask, dtype)
    wide = float32 if dtype.itemsize == 2 else dtype  # float16 has no 1e9
    shares = cast(mask, out_dtype=wide, in_dtype=mask.dtype)
    return cast_to(scale(shares, scale=1e9, bias=-1e9), dtype)


def causal_mask(length: int, dtype: Any = None) -> Any:
    """0 where a place may look: at itself and before; minus infinity elsewhere."""
    return triu(full([length, length], float("-inf"), dtype), 1)


def scaled(query: Any) -> Any:
    """Queries of any axes, the last of numbers, over the root of how many these are."""
    numbers = query.shape[-1]
    if numbers == 0:
        raise ShapeError("heads of query have 0 numbers, attention is of 1 or more")
    return scale(query, scale=numbers**-0.5)


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

    Raises:
        ShapeError: the heads have no numbers.

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
    if attn_mask is not None:
        needs_tensor(attn_mask, "scaled_dot_product_attention", "attn_mask")

    def weigh(scores: Any) -> Any:
        mask = attention_mask(attn_mask, scores.dtype)
        return softmax(scores if mask is None else add(scores, mask))

    chosen = causal_softmax if is_causal else weigh
    return attended(query, key, value, chosen, dropout_p, training)[0]


def attended(q: Any, k: Any, v: Any, weigh: Any, dropped: float, training: bool) -> tuple[Any, Any]:
    """The mean of values by the weights that `weigh` makes of scores, and these weights."""
    q, k, v = (transpose(x, perm=(0, 2, 1, 3)) for x in (q, k, v))
    weights = weigh(matmul(scaled(q), k, transpose_y=True))
    if dropped:
        weights = dropout(weights, dropped, training=training)
    return transpose(matmul(weights, v), perm=(0, 2, 1, 3)), weights


def flash_attention(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean of `value`, weighed by how well each key goes with each query, and the weights.

    Args:
        query (Tensor): of shape ``[batch, places, heads, numbers]``.
        key (Tensor): as many heads and numbers.
        value (Tensor): of the shape of `key`.
        dropout (float): the chance of a weight to be dropped.
        causal (bool): whether no place looks at later ones.
        return_softmax (bool): whether the weights are returned, else None.
        fixed_seed_offset (Tensor, optional): of no effect.
        rng_name (str): of no effect.
        training (bool): whether weights are dropped at all.
        name (str, optional): not used.

    Raises:
        ShapeError: the heads have no numbers.

    Returns:
        tuple[Tensor, Tensor | None]: of the shape of `query`; ``[batch, heads, places, places]``.

    Examples:
        >>> import scull as paddle
        >>> from scull.nn.functional.flash_attention import flash_attention
        >>> x = paddle.ones([1, 3, 2, 4])
        >>> flash_attention(x, x, x, causal=True)[0].shape
        [1, 3, 2, 4]
    """
    weigh = causal_softmax if causal else softmax
    out, weights = attended(query, key, value, weigh, dropout, training)
    return out, weights if return_softmax else None


def sparse_attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_csr_offset: Any,
    sparse_csr_columns: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Any:
    """Attention where each query looks at the keys that are listed for it alone.

    Args:
        query (Tensor): of shape ``[batch, heads, places, numbers]``.
        key (Tensor): of the same shape.
        value (Tensor): of the same shape.
        sparse_csr_offset (Tensor): where the keys of each query begin, and where the last end:
            int32, ``[batch, heads, places + 1]``.
        sparse_csr_columns (Tensor): the keys, those of one query behind those of another: int32,
            ``[batch, heads, all of them]``.
        key_padding_mask (Tensor, optional): 0 for keys that nobody looks at, ``[batch, places]``.
        attn_mask (Tensor, optional): 0 where a query does not look, ``[places, places]``.
        name (str, optional): not used.

    Raises:
        ShapeError: an operand has other axes, or the heads have no numbers.

    Returns:
        Tensor: of the shape of `query`; 0 for a query that looks nowhere.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0], [2.0]]]])
        >>> offset = paddle.to_tensor([[[0, 1, 2]]], "int32")
        >>> columns = paddle.to_tensor([[[1, 0]]], "int32")
        >>> paddle.nn.functional.sparse_attention(x, x, x, offset, columns).tolist()
        [[[[2.0], [1.0]]]]
    """
    operands = {"query": query, "key": key, "value": value}
    listed = {"sparse_csr_offset": sparse_csr_offset, "sparse_csr_columns": sparse_csr_columns}
    masks = {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask}
    for parameter, x in (operands | listed | masks).items():
        if x is not None or parameter not in masks:
            needs_tensor(x, "sparse_attention", parameter)
    for parameters, count in ((operands, 4), (listed, 3)):
        for parameter, x in parameters.items():
            if len(x.shape) != count:
                raise ShapeError(f"{parameter} has {len(x.shape)} axes, {count} are needed")
    batch, heads, places, _ = query.shape
    some = sparse_csr_columns.shape[-1]
    order = expand(arange(some, dtype="int32"), [batch, heads, some])
    rows = searchsorted(sparse_csr_offset, order, right=True) - 1
    spots = rows * places + cast(sparse_csr_columns, out_dtype=rows.dtype, in_dtype=int32)
    nowhere = zeros([batch, heads, places * places], query.dtype)
    seen = put_along_axis(nowhere, spots, 1.0, 2, broadcast=False)
    seen = reshape(seen, [batch, heads, places, places])
    if key_padding_mask is not None:
        kept = (key_padding_mask != 0).astype(query.dtype)
        seen = seen * reshape(kept, [batch, 1, 1, places])
    if attn_mask is not None:
        seen = seen * (attn_mask != 0).astype(query.dtype)
    scores = matmul(scaled(query), key, transpose_y=True)
    least = full([1], LEAST[scores.dtype.name], scores.dtype)
    return matmul(softmax(where(seen > 0, scores, least)) * seen, value)


LEAST = {"float16": -6e4, "bfloat16": -1e30, "float32": -1e30, "float64": -1e30}
