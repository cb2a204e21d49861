"""Transformers: attention against its formula, masks, caches, layers."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ShapeError

nn, F = paddle.nn, paddle.nn.functional


def tensor(*shape):
    return paddle.to_tensor(np.random.default_rng(1).random(shape, dtype="float32"))


def test_heads_of_attention_have_numbers():
    empty = paddle.zeros([2, 3, 1, 0])
    with pytest.raises(ShapeError, match="heads of query have 0 numbers"):
        F.scaled_dot_product_attention(empty, empty, empty)
    offset = paddle.to_tensor(np.tile(np.array([0, 1], "int32"), (2, 3, 1)))
    columns = paddle.zeros([2, 3, 1], "int32")
    with pytest.raises(ShapeError, match="heads of query have 0 numbers"):
        F.sparse_attention(empty, empty, empty, offset, columns)


def test_attention_is_a_mean_weighed_by_the_softmax_of_products():
    x, attention = tensor(2, 3, 4), nn.MultiHeadAttention(4, 2, need_weights=True)
    out, weights = attention(x)
    q, k, v = (
        p(x).numpy().reshape(2, 3, 2, 2).swapaxes(1, 2)
        for p in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    scores = np.exp(q @ k.swapaxes(2, 3) / 2**0.5)
    shares = scores / scores.sum(-1, keepdims=True)
    np.testing.assert_allclose(weights.numpy(), shares, rtol=1e-5)
    mixed = (shares @ v).swapaxes(1, 2).reshape(2, 3, 4)
    expected = attention.out_proj(paddle.to_tensor(mixed))
    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5)


def test_a_mask_of_truth_values_says_where_to_look():
    x, attention = tensor(1, 3, 4), nn.MultiHeadAttention(4, 2, need_weights=True)
    look = paddle.to_tensor(np.tril(np.ones((3, 3), bool)))
    _, weights = attention(x, attn_mask=look)
    assert not np.triu(weights.numpy()[0, 0], 1).any()
    np.testing.assert_allclose(
        F.scaled_dot_product_attention(x[:, :, None], x[:, :, None], x[:, :, None], look).numpy(),
        F.scaled_dot_product_attention(
            x[:, :, None], x[:, :, None], x[:, :, None], is_causal=True
        ).numpy(),
        rtol=1e-6,
    )


@pytest.mark.parametrize("before", [False, True])
def test_a_decoder_with_a_cache_makes_one_place_at_a_time(before):
    layer = nn.TransformerDecoderLayer(8, 2, 16, 0.0, normalize_before=before)
    decoder = nn.TransformerDecoder(layer, 2, nn.LayerNorm(8))
    memory, x = tensor(2, 5, 8), tensor(2, 4, 8)
    mask = nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(4)
    whole = decoder(x, memory, mask)
    cache, parts = decoder.gen_cache(memory), []
    for i in range(4):
        out, cache = decoder(x[:, i : i + 1], memory, cache=cache)
        parts.append(out.numpy())
    np.testing.assert_allclose(whole.numpy(), np.concatenate(parts, 1), rtol=1e-4, atol=1e-5)


def test_an_encoder_with_a_cache_makes_one_place_at_a_time():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 2)
    x = tensor(2, 3, 8)
    mask = paddle.to_tensor(np.tril(np.ones((3, 3), bool)))
    whole, cache, parts = encoder(x, mask), encoder.gen_cache(x), []
    for i in range(3):
        out, cache = encoder(x[:, i : i + 1], cache=cache)
        parts.append(out.numpy())
    np.testing.assert_allclose(whole.numpy(), np.concatenate(parts, 1), rtol=1e-4, atol=1e-5)


def test_a_transformer_trains():
    paddle.seed(0)
    net = nn.Transformer(8, 2, 1, 1, 16, 0.0)
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    src, tgt, aim = tensor(4, 5, 8), tensor(4, 3, 8), tensor(4, 3, 8) * 2
    losses = []
    for _ in range(10):
        loss = F.mse_loss(net(src, tgt), aim)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert all(p.name for p in net.parameters())


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="embed_dim must be divisible by num_heads"):
        nn.MultiHeadAttention(5, 2)
    with pytest.raises(ValueError, match="Expected nhead to be greater than 0"):
        nn.TransformerEncoderLayer(8, 0, 16)
    with pytest.raises(ValueError, match="length of param_attr should be 2"):
        nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[None])


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_a_mask_of_other_floats_counts_as_one_of_the_scores(dtype):
    x, attention = tensor(2, 3, 4), nn.MultiHeadAttention(4, 2)
    mask = paddle.to_tensor(np.triu(np.full((3, 3), -8.0, "float32"), 1))
    out = attention(x, attn_mask=mask.astype(dtype))
    assert out.dtype is paddle.float32
    np.testing.assert_array_equal(out.numpy(), attention(x, attn_mask=mask).numpy())
    heads = x[:, :, None]
    found = F.scaled_dot_product_attention(heads, heads, heads, mask.astype(dtype))
    expected = F.scaled_dot_product_attention(heads, heads, heads, mask)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert found.dtype is paddle.float32


def test_what_scores_of_float16_may_look_at_is_said_by_truth_values():
    x = paddle.to_tensor([[[[1.0]], [[3.0]]]], dtype="float16")
    sees = paddle.to_tensor([[[[True, False], [True, True]]]])
    net = nn.MultiHeadAttention(1, 1)
    for part in (net.q_proj, net.k_proj, net.v_proj, net.out_proj):
        part.weight.set_value(paddle.ones([1, 1]))
    out = net.astype("float16")(x[:, :, 0], attn_mask=sees)
    assert out[0, 0].item() == 1.0  # the first place sees itself only
    assert 2.9 < out[0, 1].item() <= 3.0


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_gives_the_weights_too(causal):
    flash_attention = F.flash_attention.flash_attention
    q, k, v = (paddle.randn([2, 4, 2, 3]) for _ in range(3))
    out, weights = flash_attention(q, k, v, causal=causal, return_softmax=True)
    expected = paddle.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    assert np.array_equal(out.numpy(), expected.numpy())
    assert np.allclose(weights.numpy().sum(-1), 1)
    assert np.all((weights.numpy()[..., 0, 1:] == 0) == causal)
    means = np.einsum("bhqk,bkhd->bqhd", weights.numpy(), v.numpy())
    assert np.allclose(out.numpy(), means, atol=1e-6)
    none = flash_attention(q, k, v, 0.5, causal, training=False)
    assert np.array_equal(none[0].numpy(), out.numpy())
    assert none[1] is None


def test_attention_asks_one_method_for_what_it_compares():
    class Doubled(nn.MultiHeadAttention):
        def _prepare_qkv(self, query, key, value, cache=None):
            q, k, v, *kept = super()._prepare_qkv(query, key, value, cache)
            return q, k, v * 2.0, *kept

    x, attention = tensor(2, 3, 4), Doubled(4, 2, bias_attr=False)
    plain = nn.MultiHeadAttention(4, 2, bias_attr=False)
    plain.set_state_dict(attention.state_dict())
    np.testing.assert_allclose(attention(x).numpy(), 2 * plain(x).numpy(), rtol=1e-5)
    cache = plain.gen_cache(x)
    assert len(plain._prepare_qkv(x, x, x)) == 3
    assert plain._prepare_qkv(x, x, x, cache)[3].k.shape == [2, 2, 3, 2]
