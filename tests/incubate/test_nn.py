"""Functions and layers that are several others: they compute what those compute."""

import importlib

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.errors import ArgumentError, AssertError, ShapeError, UnsupportedError
from scull.incubate.nn import (
    FusedBiasDropoutResidualLayerNorm,
    FusedDropout,
    FusedDropoutAdd,
    FusedFeedForward,
    FusedLinear,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)
from scull.incubate.nn import functional as F
from scull.incubate.nn.attn_bias import LowerTriangularMask
from scull.incubate.nn.memory_efficient_attention import memory_efficient_attention


def real(*shape, seed=0):
    """An array that is the same in every run."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def tensor(*shape, seed=0):
    return paddle.to_tensor(real(*shape, seed=seed), stop_gradient=False)


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, 1e-5, 1e-6)


def test_products_add_a_bias_and_activate():
    x, w, bias = tensor(2, 3), tensor(4, 3, seed=1), tensor(4, seed=2)
    plain = x.numpy() @ w.numpy().T
    close(F.fused_linear(x, w, transpose_weight=True), plain)
    close(F.fused_matmul_bias(x, w, bias, transpose_y=True), plain + bias.numpy())
    found = F.fused_linear_activation(x, w, bias, trans_y=True, activation="relu")
    close(found, np.maximum(plain + bias.numpy(), 0))
    close(F.fused_linear_activation(x, w, bias, trans_y=True), plain + bias.numpy())


def test_the_residual_is_added_before_a_norm_and_given_back():
    x, bias, residual = tensor(2, 4), tensor(4, seed=1), tensor(2, 4, seed=2)
    weight = tensor(4, seed=3)
    total = x.numpy() + bias.numpy() + residual.numpy()
    out, kept = F.fused_rms_norm(x, weight, bias, 1e-6, 1, bias, residual)
    close(kept, total)
    root = np.sqrt((total**2).mean(-1, keepdims=True) + 1e-6)
    close(out, total / root * weight.numpy() + bias.numpy())
    total = x.numpy() + bias.numpy() + 0.5 * residual.numpy()
    found = F.fused_layer_norm(x, weight, None, 1e-6, 0.5, 1, bias, residual)
    centred = total - total.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)
    for part, expected in zip(found, (normal * weight.numpy(), total), strict=False):
        close(part, expected)
    alone = F.fused_layer_norm(x, None, None, 1e-6, bias=bias)
    close(alone[0], x.numpy() + bias.numpy())


def test_a_norm_may_be_over_several_axes_and_of_half_precision():
    x, weight = tensor(2, 3, 4), tensor(12, seed=1)
    root = np.sqrt((x.numpy() ** 2).mean((1, 2), keepdims=True))
    close(
        F.fused_rms_norm(x, weight, None, 0.0, 1)[0],
        x.numpy() / root * weight.numpy().reshape(3, 4),
    )
    large = paddle.full([1, 2], 300.0, "float16")
    (out, _) = F.fused_rms_norm(large, paddle.ones([2], "float16"), None, 0.0, -1)
    assert out.dtype == paddle.float16 and out.tolist() == [[1.0, 1.0]]


@pytest.fixture
def static():
    paddle.enable_static()
    yield paddle.static
    paddle.disable_static()


def test_a_program_has_the_sum_only_where_there_is_a_residual(static):
    with static.program_guard(static.Program()):
        x = static.data("x", [2, 4])
        one = paddle.ones([4])
        assert F.fused_rms_norm(x, one, None, 0.0, 1).shape == (2, 4)
        _, total = F.fused_layer_norm(x, one, one, 0.0, residual=x)
        (found,) = static.Executor().run(feed={"x": real(2, 4)}, fetch_list=[total])
    np.testing.assert_array_equal(found, 2 * real(2, 4))


@pytest.mark.parametrize("neighbours", [True, False])
def test_pairs_of_numbers_are_turned_by_their_place(neighbours):
    q, k = tensor(1, 3, 2, 4), tensor(1, 3, 2, 4, seed=1)
    angles = np.arange(3)[:, None] * np.array([1.0, 0.5])
    each = np.repeat(angles, 2, 1) if neighbours else np.tile(angles, 2)
    sin, cos = (paddle.to_tensor(f(each).astype("float32")) for f in (np.sin, np.cos))
    rest = {"sin": sin, "cos": cos, "use_neox_rotary_style": neighbours}
    found, of_keys, none = F.fused_rotary_position_embedding(q, k, **rest)
    assert none is None and of_keys.shape == [1, 3, 2, 4]
    order = [0, 1, 2, 3] if neighbours else [0, 2, 1, 3]  # such that pairs are neighbours
    pairs = np.ascontiguousarray(q.numpy()[..., order]).view("complex64")
    turned = pairs * np.exp(1j * angles)[:, None].astype("complex64")
    close(found, turned.view("float32")[..., np.argsort(order)])
    ids = paddle.to_tensor([[2, 1, 0]])
    back, _, _ = F.fused_rotary_position_embedding(q.flip(1), position_ids=ids, **rest)
    close(back.flip(1), found.numpy())


def test_a_sequence_may_be_of_any_length_when_it_is_computed():
    def turned(x):
        first, second, _ = F.fused_rotary_position_embedding(x, x)
        lengths = paddle.full([1, 1], 3, "int64")
        attended = F.variable_length_memory_efficient_attention
        return attended(first, second, x, lengths, lengths, causal=True)

    spec = [paddle.static.InputSpec([None, None, 2, 4])]
    x = tensor(1, 4, 2, 4)
    close(paddle.jit.to_static(turned, input_spec=spec)(x), turned(x).numpy())


def test_angles_follow_from_places_where_none_are_given():
    q = paddle.to_tensor([[[[1.0, 0.0, 1.0, 0.0]], [[1.0, 0.0, 1.0, 0.0]]]])
    found = F.fused_rotary_position_embedding(q)[0].numpy()[0, :, 0]
    turned = [np.cos(1.0), np.sin(1.0), np.cos(0.01), np.sin(0.01)]
    np.testing.assert_allclose(found, [[1, 0, 1, 0], turned], 1e-6)


def copy_attention(fused, plain, flat):
    """Give a fused layer the parameters of three projections and one behind."""
    parts = (plain.q_proj, plain.k_proj, plain.v_proj)
    weight = np.concatenate([p.weight.numpy() for p in parts], 1)
    bias = np.concatenate([p.bias.numpy() for p in parts])
    fused.qkv_weight.set_value(weight if flat else weight.T.reshape(fused.qkv_weight.shape))
    fused.qkv_bias.set_value(bias.reshape(fused.qkv_bias.shape))
    fused.linear_weight.set_value(plain.out_proj.weight)
    fused.linear_bias.set_value(plain.out_proj.bias)


@pytest.mark.parametrize("before", [False, True])
def test_a_fused_layer_of_an_encoder_is_the_plain_one(before):
    plain = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=before)
    fused = FusedTransformerEncoderLayer(8, 2, 16, 0.0, "gelu", normalize_before=before)
    for i, parameter in enumerate(plain.parameters()):
        parameter.set_value(real(*parameter.shape, seed=i))
    copy_attention(fused.fused_attn, plain.self_attn, flat=False)
    names = {"_linear1": plain.linear1, "_linear2": plain.linear2}
    for name, layer in names.items():
        getattr(fused.ffn, f"{name}_weight").set_value(layer.weight)
        getattr(fused.ffn, f"{name}_bias").set_value(layer.bias)
    norms = [(fused.fused_attn, "pre_ln" if before else "ln", plain.norm1)]
    norms += [(fused.ffn, "_ln1" if before else "_ln2", plain.norm2)]
    for owner, name, norm in norms:
        getattr(owner, f"{name}_scale").set_value(norm.weight)
        getattr(owner, f"{name}_bias").set_value(norm.bias)
    x, mask = tensor(2, 4, 8), paddle.to_tensor(np.tril(np.ones((4, 4), "bool")))
    found, expected = fused(x, mask), plain(x, mask)
    close(found, expected.numpy())
    gradient = paddle.grad((found * tensor(2, 4, 8, seed=9)).sum(), x)[0]
    close(gradient, paddle.grad((expected * tensor(2, 4, 8, seed=9)).sum(), x)[0].numpy())


def test_attention_goes_on_from_keys_and_values_of_places_before():
    layer = FusedMultiHeadAttention(4, 2, 0.0, 0.0, transpose_qkv_wb=True)
    plain = nn.MultiHeadAttention(4, 2)
    copy_attention(layer, plain, flat=True)
    x, cache = tensor(1, 3, 4), paddle.zeros([2, 1, 2, 0, 2])
    causal = paddle.to_tensor(np.tril(np.ones((3, 3), "bool")))
    whole, _ = layer(x, attn_mask=causal, cache=cache)
    for i in range(3):
        step, cache = layer(x[:, i : i + 1], cache=cache)
        close(step, whole.numpy()[:, i : i + 1])
    assert cache.shape == [2, 1, 2, 3, 2]


def test_layers_name_their_parameters_as_saved_models_do():
    keys = {
        FusedLinear(2, 3): ["weight", "bias"],
        FusedBiasDropoutResidualLayerNorm(2): ["linear_bias", "ln_scale", "ln_bias"],
        FusedFeedForward(2, 4, normalize_before=True): [
            *("_linear1_weight", "_linear1_bias", "_linear2_weight", "_linear2_bias"),
            *("_ln1_scale", "_ln1_bias"),
        ],
        FusedMultiHeadAttention(2, 1): [
            *("qkv_weight", "qkv_bias", "linear_weight", "linear_bias", "ln_scale", "ln_bias")
        ],
    }
    for layer, expected in keys.items():
        assert list(layer.state_dict()) == expected
    assert FusedLinear(2, 3, transpose_weight=True, bias_attr=False).weight.shape == [3, 2]
    assert str(FusedDropoutAdd(0.25)) == "FusedDropoutAdd(p=0.25, mode=upscale_in_train)"
    assert str(FusedFeedForward(2, 4)) == (
        "FusedFeedForward(d_model=2, dim_feedforward=4, dropout_rate=0.1, epsilon=1e-05, "
        "activation=relu, act_dropout_rate=0.1, normalize_before=False, dtype=float32)"
    )
    for name in ("fused_linear", "fused_dropout_add", "fused_transformer", "fused_dropout_nd"):
        importlib.import_module(f"scull.incubate.nn.layer.{name}")


def test_dropout_before_a_sum_thins_one_part():
    x, y = paddle.ones([1000]), paddle.full([1000], 10.0)
    found = FusedDropoutAdd(0.5)(x, y).numpy()
    assert set(found.tolist()) == {10.0, 12.0}
    found = F.fused_dropout_add(x, y, 0.5, False, "downscale_in_infer")
    assert set(found.tolist()) == {10.5}
    layer = FusedBiasDropoutResidualLayerNorm(4, 1.0)
    x, residual = tensor(2, 4), tensor(2, 4, seed=1)
    close(layer(x, residual), nn.LayerNorm(4)(residual).numpy())


def test_attention_over_what_a_mask_or_lengths_leave():
    q, k, v = (tensor(1, 3, 2, 4, seed=i) for i in range(3))
    expected = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    close(memory_efficient_attention(q, k, v, LowerTriangularMask()), expected.numpy())
    bias = tensor(1, 2, 3, 3, seed=3)
    expected = nn.functional.scaled_dot_product_attention(q, k, v, bias)
    close(memory_efficient_attention(q, k, v, bias), expected.numpy())
    turned = [x.transpose([0, 2, 1, 3]) for x in (q, k, v)]
    lengths = paddle.to_tensor([[2]])
    found = F.variable_length_memory_efficient_attention(*turned, lengths, lengths, causal=True)
    short = nn.functional.scaled_dot_product_attention(q[:, :2], k[:, :2], v[:, :2], None, 0, True)
    close(found[:, :, :2], short.transpose([0, 2, 1, 3]).numpy())
    assert (found[:, :, 2] == 0).all()


def test_what_makes_no_sense_is_refused():
    x, w = tensor(2, 3, 4), tensor(3, 2, 2, 4)
    with pytest.raises(ShapeError, match="The rank of the x should be 3, but received 2"):
        F.fused_multi_head_attention(x[0], w, w)
    with pytest.raises(AssertError, match=r"not \[3, num_head, head_dim, 4\]"):
        F.fused_multi_head_attention(x, w[:2], w)
    with pytest.raises(AssertError, match="embed_dim must be divisible by num_heads"):
        F.fused_multi_head_attention(x, w[:, :1], w)
    with pytest.raises(AssertError, match="num_heads should be provided"):
        F.fused_multi_head_attention(x, tensor(4, 12), w, transpose_qkv_wb=True)
    with pytest.raises(AssertError, match="nhead to be greater than 0, but received 0"):
        FusedMultiHeadAttention(4, 0)
    with pytest.raises(UnsupportedError, match="nranks is 2"):
        FusedFeedForward(4, 8, nranks=2)
    with pytest.raises(ArgumentError, match="sin and cos are given together"):
        F.fused_rotary_position_embedding(x.unsqueeze(2), sin=x)
    with pytest.raises(ArgumentError, match="q has 3 numbers"):
        F.fused_rotary_position_embedding(paddle.ones([1, 1, 1, 3]))
    with pytest.raises(UnsupportedError, match=r"quant_scale is 1.0"):
        F.fused_rms_norm(x, x, None, 0.0, 1, quant_scale=1.0)
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        FusedDropout(2.0)
    with pytest.raises(UnsupportedError, match="a kernel of GPUs"):
        paddle.incubate.nn.FusedEcMoe(4, 8, 2, "gelu")
    with pytest.raises(AssertError, match="attn_bias is a int"):
        memory_efficient_attention(x, x, x, 1)
