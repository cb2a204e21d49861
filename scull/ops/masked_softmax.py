"""Softmax of scores of attention of which a mask or their order leaves some out."""

import math
from typing import Any

from scull.core.eager import composite
from scull.core.meta import agree
from scull.errors import ShapeError
from scull.ops.compare import where
from scull.ops.half import widening
from scull.ops.like import full_like
from scull.ops.math import exp
from scull.ops.move import tril_triu
from scull.ops.reduce import reduce_max, reduce_sum
from scull.ops.softmax import shifted_down, softmax, softmax_grad


def refuse_other_axes(**given: Any) -> None:
    """Refuse what has not the four axes of scores: batch, heads, queries, keys."""
    for name, x in given.items():
        if len(x.shape) != 4:
            raise ShapeError(f"{name} has {len(x.shape)} axes, 4 are needed")


def up_to_query(scores: Any) -> Any:
    """Softmax over the keys up to each query; the weights of later ones are 0."""
    before = tril_triu(full_like(scores, value=1.0), lower=True) > 0.5
    scores = where(before, scores, full_like(scores, value=-math.inf))
    e = exp(scores - reduce_max(scores, axis=(-1,), keepdim=True))
    e = tril_triu(e, lower=True)  # says that it is 0, also beside NaN
    total = reduce_sum(e, axis=(-1,), keepdim=True)
    return e * (full_like(total, value=1.0) / total)


@composite(type="fused_softmax_mask")
def softmax_mask_fuse(x, mask):
    """Softmax along the last axis of the sum of `x` and a `mask` that all heads share."""
    refuse_other_axes(x=x, mask=mask)
    for axis in (0, 2, 3):
        agree(x.shape[axis], mask.shape[axis], f"axis {axis} of x has size {{}} and of mask {{}}")
    agree(mask.shape[1], 1, "mask has {} heads, not {}")
    return softmax(x + mask, axis=-1)


@softmax_mask_fuse.grad("x")
def softmax_mask_fuse_grad(out: Any, dout: Any) -> Any:
    return softmax_grad(out, dout, -1)


def refuse_other_lengths(x: Any) -> None:
    """Refuse scores of more queries than keys, or fewer."""
    refuse_other_axes(x=x)
    agree(x.shape[2], x.shape[3], "x has {} queries and {} keys")


@composite(type="fused_softmax_mask_upper_triangle")
def softmax_mask_fuse_upper_triangle(x):
    """Softmax along the last axis over the keys up to the query: none behind it counts."""
    refuse_other_lengths(x)
    return up_to_query(x)


def causal_softmax(scores: Any) -> Any:
    """Softmax over the keys up to each query: one operator where there are as many of both."""
    square = scores.shape[-2] == scores.shape[-1]
    return softmax_mask_fuse_upper_triangle(scores) if square else up_to_query(scores)


@softmax_mask_fuse_upper_triangle.kernel
@widening
def softmax_mask_fuse_upper_triangle_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    refuse_other_lengths(x)
    later = ~xp.tri(*x.shape[-2:], dtype=bool)
    axis, shifted = shifted_down(xp, xp.where(later, x.dtype.type(-math.inf), x), -1, out)
    xp.exp(shifted, shifted)
    shifted *= 1 / xp.add.reduce(shifted, axis=axis, keepdims=True)
    xp.copyto(shifted, 0, where=later)
    return shifted


@softmax_mask_fuse_upper_triangle.grad("x")
def softmax_mask_fuse_upper_triangle_grad(out: Any, dout: Any) -> Any:
    return softmax_grad(out, dout, -1)
