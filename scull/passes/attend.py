"""Attention: products, a softmax and a product again as one operator."""

from typing import Any

from scull.core.attribute import rounded
from scull.ir.variable import Variable
from scull.ops.attention import HEADS_FIRST, flash_attn
from scull.ops.create import scale
from scull.ops.elementwise import add
from scull.ops.linear import matmul
from scull.ops.move import transpose
from scull.ops.softmax import softmax
from scull.passes.rewrite import Rewrite, require, rewriting


def check_heads(q: Variable, k: Variable, v: Variable, factor: float) -> None:
    """Heads of one size, and scores divided by the root of it."""
    for x in (q, k, v):
        require(x.ndim == 4, f"`{x.name}` is {x.meta}, not of batches, heads and positions")
    size = q.shape[-1]
    require(size > 0, f"`{q.name}` is {q.meta}, of heads of an unknown size")
    fits = rounded(size**-0.5) == factor
    require(fits, f"the scores are scaled by {factor:.6g}, not by the root of {size}")


def heads(x: Any) -> Any:
    """`x` with positions before heads, or the other way."""
    return transpose(x, perm=HEADS_FIRST)


class Attend(Rewrite):
    """``softmax(q * s @ k) @ v``, with a mask added to the scores or without."""

    def pattern(self, q: Any, k: Any, v: Any, *, factor: Any) -> Any:
        scores = matmul(scale(q, scale=factor), k, transpose_y=True)
        return matmul(softmax(scores), v)

    def when(self, q: Any, k: Any, v: Any, factor: float) -> None:
        check_heads(q, k, v, factor)

    def replace(self, q: Any, k: Any, v: Any, factor: float) -> Any:
        return heads(flash_attn(heads(q), heads(k), heads(v))[0])


class AttendMasked(Rewrite):
    """The same with a mask added to the scores."""

    def pattern(self, q: Any, k: Any, v: Any, mask: Any, *, factor: Any) -> Any:
        scores = matmul(scale(q, scale=factor), k, transpose_y=True)
        return matmul(softmax(add(scores, mask)), v)

    def when(self, q: Any, k: Any, v: Any, mask: Any, factor: float) -> None:
        check_heads(q, k, v, factor)

    def replace(self, q: Any, k: Any, v: Any, mask: Any, factor: float) -> Any:
        return heads(flash_attn(heads(q), heads(k), heads(v), None, mask)[0])


PASSES = (
    rewriting(
        "fused_attention_pass",
        "products, a softmax and a product again are attention",
        Attend(),
        AttendMasked(),
    ),
)
