"""Samples of attention."""

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples


def attended(q, k, v, seed=None, mask=None, *, causal, return_softmax, **_):
    """The formula, head by head."""
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape)) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    out = np.einsum("bhqk,bkhd->bqhd", weights, v)
    return out, weights if return_softmax else None, None, None


@samples("flash_attn", reference=attended)
def flash_attn_samples():
    sized = {"unknown_sizes": False}
    three = f32(2, 3, 2, 4), f32(2, 3, 2, 4), f32(2, 3, 2, 4)
    yield call(*three, **sized)
    yield call(*three, causal=True, grad=("q", "v"), **sized)
    yield call(*three, None, f32(2, 1, 3, 3), return_softmax=True, **sized)
    yield call(
        f32(1, 2, 1, 4), f32(1, 5, 1, 4), f32(1, 5, 1, 3), dropout=0.5, is_test=True, **sized
    )
    yield call(f64(1, 2, 1, 4), f64(1, 2, 1, 4), f64(1, 2, 1, 4), **sized)
    yield fails(ShapeError, "q has 3 axes, 4 are needed", f32(3, 2, 4), *three[1:])
    yield fails(ShapeError, "heads have elements", f32(2, 3, 2, 0), f32(2, 3, 2, 0), three[2])
    yield fails(ArgumentError, "dropout is 0.5", *three, dropout=0.5)
