"""Attention over sequences of several lengths that stand one above the other."""

from typing import Any

from scull.errors import UnsupportedError
from scull.incubate.nn.functional.place import places
from scull.nn.functional.activation import softmax
from scull.tensor.creation import full_like, zeros_like
from scull.tensor.linalg import matmul
from scull.tensor.logic import logical_or
from scull.tensor.manipulation import reshape
from scull.tensor.search import where
from scull.tensor.size import needs_tensor


def variable_length_memory_efficient_attention(
    query: Any,
    key: Any,
    value: Any,
    seq_lens: Any,
    kv_seq_lens: Any,
    mask: Any = None,
    scale: float | None = None,
    causal: bool = False,
    pre_cache_length: int = 0,
) -> Any:
    """The mean of `value`, weighed by how well each key goes with each query.

    Args:
        query (Tensor): of shape ``[batch, heads, places, numbers]``.
        key (Tensor): as many heads and numbers.
        value (Tensor): of the shape of `key`.
        seq_lens (Tensor): how many queries each sequence has, ``[batch, 1]``; those behind give 0.
        kv_seq_lens (Tensor): how many keys it has, ``[batch, 1]``.
        mask (Tensor, optional): added to the scores.
        scale (float, optional): a factor of the scores; 1 over the root of the numbers when None.
        causal (bool): whether no place looks at later ones.
        pre_cache_length (int): keys before the sequence are not known: 0.

    Returns:
        Tensor: of the shape of `query`.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn import functional as F
        >>> x, two = paddle.ones([1, 1, 3, 2]), paddle.to_tensor([[2]])
        >>> F.variable_length_memory_efficient_attention(x, x, x, two, two).tolist()
        [[[[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]]]
    """
    needs_tensor(query, "variable_length_memory_efficient_attention", "query")
    if pre_cache_length:
        raise UnsupportedError(f"pre_cache_length is {pre_cache_length}, only 0 is known")
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = matmul(query * factor, key, transpose_y=True)
    scores = scores if mask is None else scores + mask
    of_keys = reshape(places(key, 2), [1, 1, 1, -1])
    of_queries = reshape(places(query, 2), [1, 1, -1, 1])
    outside = of_keys >= reshape(kv_seq_lens, [-1, 1, 1, 1])
    if causal:
        outside = logical_or(outside, of_keys > of_queries)
    scores = where(outside, full_like(scores, float("-inf")), scores)
    found = matmul(softmax(scores), value)
    behind = of_queries >= reshape(seq_lens, [-1, 1, 1, 1])
    return where(behind, zeros_like(found), found)
