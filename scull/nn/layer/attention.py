"""Attention of several heads."""

from typing import Any, NamedTuple

from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.attention import attention_mask
from scull.nn.layer.cell import filled
from scull.nn.layer.layers import Layer
from scull.nn.layer.linear import Linear
from scull.ops.create import scale
from scull.ops.elementwise import add
from scull.ops.join import concat
from scull.ops.linear import matmul
from scull.ops.move import reshape, transpose


class Cache(NamedTuple):
    """Keys and values of the places so far; each step adds its own."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values that stay as they are."""

    k: Any
    v: Any


class MultiHeadAttention(Layer):
    """Several heads, each of which takes from other places what goes with its queries.

    Vaswani et al., "Attention is all you need", 2017.

    Args:
        embed_dim (int): how many numbers a place has.
        num_heads (int): how many heads there are.
        dropout (float): the chance of a weight to be dropped.
        kdim (int, optional): how many numbers a place of the keys has.
        vdim (int, optional): how many a place of the values has.
        need_weights (bool): whether the weights are returned, too.
        weight_attr (ParamAttr, optional): of the weights of the projections.
        bias_attr (ParamAttr | bool, optional): of their biases; False for none.

    Examples:
        >>> import scull as paddle
        >>> attention = paddle.nn.MultiHeadAttention(8, 2)
        >>> attention(paddle.ones([2, 4, 8])).shape
        [2, 4, 8]
    """

    Cache, StaticCache = Cache, StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        for word, number in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if number <= 0:
                raise ArgumentError(f"Expected {word} to be greater than 0, but received {number}")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.need_weights, self.head_dim = need_weights, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ArgumentError("embed_dim must be divisible by num_heads")
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def by_head(self, x: Any) -> Any:
        """`x` as [batch, head, place, number]."""
        apart = reshape(x, shape=(0, 0, self.num_heads, self.head_dim))
        return transpose(apart, perm=(0, 2, 1, 3))

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """The projected keys and values."""
        return self.by_head(self.k_proj(key)), self.by_head(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """Something for `forward` to begin with.

        Args:
            key (Tensor): what keys are made of; with `Cache` and no value it says the batch only.
            value (Tensor, optional): what values are made of; with `Cache` both are taken as made.
            type (type): `MultiHeadAttention.Cache` or `MultiHeadAttention.StaticCache`.
        """
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is None:
            shape = [-1, self.num_heads, 0, self.head_dim]
            return Cache(*(filled(key, shape, key.dtype, 0.0, 0, 0) for _ in range(2)))
        return Cache(key, value)

    def _prepare_qkv(self, query: Any, key: Any, value: Any, cache: Any = None) -> tuple[Any, ...]:
        """Queries, keys and values by head, and the next cache where there is one."""
        q = self.by_head(self.q_proj(query))
        if isinstance(cache, StaticCache):
            k, v = cache
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, Cache):
            k, v = concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)
            cache = Cache(k, v)
        return (q, k, v) if cache is None else (q, k, v, cache)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        """What each place of `query` takes, with weights and cache where there are.

        Args:
            query (Tensor): ``[batch, places, embed_dim]``.
            key (Tensor, optional): `query` when None.
            value (Tensor, optional): `query` when None.
            attn_mask (Tensor, optional): added to the scores, or where to look.
            cache (Cache | StaticCache, optional): keys and values made before.
        """
        key = query if key is None else key
        value = query if value is None else value
        q, k, v, *kept = self._prepare_qkv(query, key, value, cache)
        scores = matmul(scale(q, scale=self.head_dim**-0.5), k, transpose_y=True)
        mask = attention_mask(attn_mask, scores.dtype)
        weights = F.softmax(scores if mask is None else add(scores, mask))
        if self.dropout:
            weights = F.dropout(
                weights, self.dropout, training=self.training, mode="upscale_in_train"
            )
        out = transpose(matmul(weights, v), perm=(0, 2, 1, 3))
        out = self.out_proj(reshape(out, shape=(0, 0, self.embed_dim)))
        more = ([weights] if self.need_weights else []) + kept
        return (out, *more) if more else out
