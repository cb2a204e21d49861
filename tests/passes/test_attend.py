"""Attention is one operator where its scores are scaled by the root and nobody reads them."""

import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

ATTEND = "fused_attention_pass"
F = paddle.nn.functional


def attended(make, *arrays):
    """The operators behind the pass and behind that which cancels orders of axes; what was said."""
    recorded = Recorded(make, *arrays)
    outcome = recorded.through(ATTEND, "identity_op_clean_pass")
    same_values(recorded, outcome)
    return types(outcome.program), outcome


@pytest.mark.parametrize("masked", [False, True])
def test_attention_of_the_public_function_is_one_operator(masked):
    def make(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, mask if masked else None) * 2.0

    found, _ = attended(make, *(f32(2, 3, 2, 4) for _ in range(3)), f32(2, 1, 3, 3))
    assert found == ["flash_attn", "scale"]


def test_a_layer_of_attention_is_fused_within():
    found, outcome = attended(lambda x: paddle.nn.MultiHeadAttention(8, 2)(x), f32(2, 3, 8))
    assert found.count("flash_attn") == 1 and "softmax" not in found
    assert len(outcome.fired(ATTEND)) == 1


def test_scores_that_are_read_or_scaled_otherwise_stay():
    def read(q, k, v):
        weights = F.softmax(paddle.matmul(q * 0.5, k, transpose_y=True))
        return paddle.matmul(weights, v), weights

    arrays = [f32(1, 2, 3, 4) for _ in range(3)]
    found, outcome = attended(read, *arrays)
    assert "flash_attn" not in found and "is fetched" in outcome.explain()

    def scaled(q, k, v):
        return paddle.matmul(F.softmax(paddle.matmul(q * 0.3, k, transpose_y=True)), v)

    found, outcome = attended(scaled, *arrays)
    assert "flash_attn" not in found
    assert "the scores are scaled by 0.3, not by the root of 4" in outcome.explain()
