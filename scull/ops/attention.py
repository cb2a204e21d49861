"""Attention as one operator, on tensors of batches, positions, heads and elements."""

from scull.core.eager import composite
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.create import scale
from scull.ops.elementwise import add
from scull.ops.linear import matmul
from scull.ops.masked_softmax import causal_softmax
from scull.ops.move import transpose
from scull.ops.softmax import softmax

HEADS_FIRST = (0, 2, 1, 3)
NAMES = ("q", "k", "v", "fixed_seed_offset", "attn_mask")
RESULTS = ("out", "softmax", "softmax_lse", "seed_offset")


@composite(
    outputs=RESULTS,
    hidden=RESULTS[1:],
    slots={name: name for name in (*NAMES, *RESULTS)},
)
def flash_attn(
    q,
    k,
    v,
    fixed_seed_offset=None,
    attn_mask=None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    is_test: bool = False,
    rng_name: str = "",
):
    """The mean of `v` weighted by ``softmax(q @ k / sqrt(size) + attn_mask)``, in each head.

    The weights are given if `return_softmax`; of dropout none is done.
    """
    if dropout and not is_test:
        raise ArgumentError(f"dropout is {dropout}, and attention as one operator drops nothing")
    for name, x in (("q", q), ("k", k), ("v", v)):
        if len(x.shape) != 4:
            raise ShapeError(f"{name} has {len(x.shape)} axes, 4 are needed")
    size = q.shape[-1]
    if size == 0:
        raise ShapeError(f"q is {meta_of(q)}; heads have elements")
    q, k, v = (transpose(x, perm=HEADS_FIRST) for x in (q, k, v))
    scores = matmul(scale(q, scale=size**-0.5), k, transpose_y=True)
    if attn_mask is not None:
        scores = add(scores, attn_mask)
    weights = causal_softmax(scores) if causal else softmax(scores)
    out = transpose(matmul(weights, v), perm=HEADS_FIRST)
    return out, weights if return_softmax else None, None, None
