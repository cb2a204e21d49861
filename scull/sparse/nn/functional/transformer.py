"""Attention between the places that a sparse mask stores."""

import math
from typing import Any

from scull.errors import ShapeError
from scull.ops.compare import where
from scull.ops.create import cast, scale
from scull.ops.move import reshape, transpose
from scull.sparse.binary import masked_matmul, matmul
from scull.sparse.conversion import placed
from scull.sparse.nn.functional.activation import softmax
from scull.sparse.place import picked
from scull.sparse.tensor import CsrTensor, needs_sparse, refuse_static
from scull.tensor.size import needs_tensor

LEAST = -1e30  # far below every score


def attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_mask: Any,
    key_padding_mask: Any = None,
    attn_mask: Any = None,
    name: str | None = None,
) -> Any:
    """Attention where each query looks at the keys that a mask stores for it alone.

    .. math:: softmax(query key^T / sqrt(numbers)) value

    Args:
        query (Tensor): of shape ``[batch, heads, places, numbers]``.
        key (Tensor): of the same shape.
        value (Tensor): of the same shape.
        sparse_mask (Tensor): sparse, by rows, ``[batch * heads, places, places]``; its values do
            not matter.
        key_padding_mask (Tensor, optional): 0 for keys that nobody looks at, ``[batch, places]``.
        attn_mask (Tensor, optional): 0 where a query does not look, ``[places, places]``.
        name (str, optional): not used.

    Returns:
        Tensor: of the shape of `query`; 0 for a query that looks nowhere.

    Raises:
        ShapeError: an operand has other axes.
        UnsupportedError: `sparse_mask` is not stored by rows.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[[[1.0], [2.0]]]])
        >>> mask = paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [1.0, 1.0], [1, 2, 2])
        >>> paddle.sparse.nn.functional.attention(x, x, x, mask).tolist()
        [[[[2.0], [1.0]]]]
    """
    refuse_static(query, key, value)
    for parameter, v in {"query": query, "key": key, "value": value}.items():
        needs_tensor(v, "attention", parameter)
        if len(v.shape) != 4 or v.shape != query.shape:
            raise ShapeError(f"`{parameter}` has the shape {v.shape}, 4 axes as `query` are needed")
    needs_sparse(sparse_mask, "attention", CsrTensor, parameter="sparse_mask")
    for parameter, v in {"key_padding_mask": key_padding_mask, "attn_mask": attn_mask}.items():
        if v is not None:
            needs_tensor(v, "attention", parameter)
    batch, heads, places, numbers = query.shape
    if sparse_mask.sizes != (batch * heads, places, places):
        raise ShapeError(f"`sparse_mask` is {sparse_mask.shape}, not one matrix a head")
    flat = (batch * heads, places, numbers)
    left = scale(reshape(query, shape=flat), scale=1 / math.sqrt(numbers))
    right = transpose(reshape(key, shape=flat), perm=(0, 2, 1))
    scores = masked_matmul(left, right, sparse_mask)
    seen = looked_at(sparse_mask, heads, key_padding_mask, attn_mask)
    if seen is not None:
        scores = scores.like(where(seen, scores.held, LEAST))
    weights = softmax(scores)
    if seen is not None:
        weights = weights.like(weights.held * cast(seen, out_dtype=weights.dtype))
    return reshape(matmul(weights, reshape(value, shape=flat)), shape=query.shape)


def looked_at(mask: CsrTensor, heads: int, key_padding: Any, attn: Any) -> Any:
    """Which stored places two dense masks leave, of bool; None without masks."""
    matrix, row, column = placed(mask).places
    size = mask.sizes[-1]
    found = None
    if key_padding is not None:
        if list(key_padding.shape) != [mask.sizes[0] // heads, size]:
            raise ShapeError(f"`key_padding_mask` is {key_padding.shape}, not a number a key")
        found = picked(reshape(key_padding, shape=(-1,)), matrix // heads * size + column) != 0
    if attn is not None:
        if list(attn.shape) != [size, size]:
            raise ShapeError(f"`attn_mask` is {attn.shape}, not a number a query and a key")
        other = picked(reshape(attn, shape=(-1,)), row * size + column) != 0
        found = other if found is None else found & other
    return found
