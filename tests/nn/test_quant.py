"""Layers that round as older tools put them in, and products with weights of few bits."""

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.nn import quant
from scull.nn.quant import quant_layers as layers
from tests.quantization.network import stepped

T = paddle.to_tensor
X = np.array([[0.3, -0.7], [1.2, 0.05]], "float32")


def test_the_largest_magnitude_is_the_scale_of_each_call():
    layer = layers.FakeQuantAbsMax(quant_bits=4, quant_on_weight=True)
    x = T(X, stop_gradient=False)
    for factor in (1.0, 0.5):
        np.testing.assert_allclose(
            layer(x * factor).numpy(), stepped(X * factor, 1.2 * factor, 4), rtol=1e-5
        )
        assert float(layer._scale) == np.float32(1.2 * factor)
    layer(x).sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert layers.FakeQuantAbsMax()._scale is None


def test_a_moving_mean_is_the_scale_until_it_is_tested():
    layer = layers.FakeQuantMovingAverageAbsMax("own", moving_rate=0.5, quant_bits=4)
    scale = (0.5 * 1 + 1.2) / (0.5 * 1 + 1)
    np.testing.assert_allclose(layer(T(X)).numpy(), stepped(X, scale, 4), rtol=1e-5)
    layer.eval()
    np.testing.assert_allclose(layer(T(X * 9)).numpy(), stepped(X * 9, scale, 4), rtol=1e-5)
    np.testing.assert_allclose(float(layer._scale), scale, rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_channels_have_scales_of_their_own(axis):
    layer = layers.FakeQuantChannelWiseAbsMax(
        channel_num=2, quant_axis=axis, quant_bits=4, quant_on_weight=True
    )
    scale = np.abs(X).max(1 - axis, keepdims=True)
    np.testing.assert_allclose(layer(T(X)).numpy(), stepped(X, scale, 4), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(layer._scale.numpy(), scale.reshape(-1))
    with pytest.raises(AssertionError, match="only can be used on weight"):
        layers.FakeQuantChannelWiseAbsMax(channel_num=2)


def test_what_is_only_watched_passes_unchanged():
    layer = quant.QuantStub(moving_rate=0.5)
    for factor in (1.0, 2.0):
        np.testing.assert_array_equal(layer(T(X * factor)).numpy(), X * np.float32(factor))
    np.testing.assert_allclose(float(layer._scale), (0.5 * 1.2 + 2.4) / 1.5, rtol=1e-6)
    layer.eval()
    layer(T(X * 100))
    np.testing.assert_allclose(float(layer._scale), 2.0, rtol=1e-6)


def test_scales_move_in_a_function_made_static_too():
    whole = nn.Sequential(
        layers.FakeQuantAbsMax(quant_on_weight=True), layers.MovingAverageAbsMaxScale()
    )
    static = paddle.jit.to_static(whole, full_graph=True)
    static(T(X))
    static(T(X * 2))
    np.testing.assert_allclose(float(whole[0]._scale), 2.4, rtol=1e-6)
    np.testing.assert_allclose(float(whole[1]._scale), (0.9 * 1.2 + 2.4) / 1.9, rtol=1e-6)


CASES = [
    (layers.QuantizedLinear, lambda: nn.Linear(2, 3), (4, 2), 1),
    (layers.QuantizedConv2D, lambda: nn.Conv2D(2, 3, 3, padding=1), (1, 2, 5, 5), 0),
    (
        layers.QuantizedConv2D,
        lambda: nn.Conv2D(2, 4, 3, stride=2, padding=1, groups=2, padding_mode="replicate"),
        (1, 2, 5, 5),
        0,
    ),
    (layers.QuantizedConv2DTranspose, lambda: nn.Conv2DTranspose(2, 3, 3, 2), (1, 2, 4, 4), 1),
]


@pytest.mark.parametrize("made, plain, shape, axis", CASES)
@pytest.mark.parametrize("kind", ["abs_max", "channel_wise_abs_max"])
def test_a_layer_computes_as_another_does_with_rounded_numbers(made, plain, shape, axis, kind):
    paddle.seed(1)
    layer = plain()
    rounding = made(layer, weight_quantize_type=kind, weight_bits=5, activation_bits=4)
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    found = rounding(T(x)).numpy()
    weight = layer.weight.numpy()
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = np.abs(weight).max(others if kind != "abs_max" else None, keepdims=True)
    layer.weight.set_value(stepped(weight, scale, 5).astype("float32"))
    expected = layer(T(stepped(x, np.abs(x).max(), 4).astype("float32"))).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_names_of_what_a_layer_keeps_follow_those_of_the_other():
    with paddle.utils.unique_name.guard():
        made = layers.QuantizedLinear(
            nn.Linear(1, 1), activation_quantize_type="moving_average_abs_max"
        )
    names = [p.name for p in made.parameters()][2:]
    assert names == [f"linear_0.{n}_0" for n in ("w_0.scale", "scale", "state", "accum")]


def test_layers_of_a_user_round_and_come_before():
    layer = nn.Linear(2, 2, bias_attr=False)
    made = layers.QuantizedLinear(
        layer, act_pre_layer=nn.ReLU, weight_quant_layer=nn.Identity, act_quant_layer=nn.Tanh
    )
    expected = np.tanh(np.maximum(X, 0)) @ layer.weight.numpy()
    np.testing.assert_allclose(made(T(X)).numpy(), expected, rtol=1e-5)


def test_a_kind_that_is_not_there_is_refused():
    with pytest.raises(KeyError, match="none"):
        layers.QuantizedLinear(nn.Linear(1, 1), weight_quantize_type="none")
    with pytest.raises(AssertionError, match="channel_num"):
        layers.QuantizedLinear(nn.Linear(1, 1), activation_quantize_type="channel_wise_abs_max")


def test_both_matrices_of_a_product_are_rounded():
    found = layers.QuantizedMatmul(activation_bits=4)(T(X), T(X), transpose_y=True).numpy()
    rounded = stepped(X, 1.2, 4)
    np.testing.assert_allclose(found, rounded @ rounded.T, rtol=1e-5)


def test_one_result_of_a_layer_is_watched_or_rounded_several_are_not():
    watched = layers.MAOutputScaleLayer(nn.ReLU())
    np.testing.assert_array_equal(watched(T(X)).numpy(), np.maximum(X, 0))
    assert float(watched._ma_output_scale._scale) == np.float32(1.2)
    rounding = layers.FakeQuantMAOutputScaleLayer(nn.ReLU(), activation_bits=4)
    scale = (0.9 + 1.2) / 1.9
    np.testing.assert_allclose(
        rounding(T(X)).numpy(), stepped(np.maximum(X, 0), scale, 4), rtol=1e-5
    )

    class Two(nn.Layer):
        def forward(self, x):
            return x, x

    for kind in (layers.MAOutputScaleLayer, layers.FakeQuantMAOutputScaleLayer):
        assert all((kind(Two())(T(X))[i].numpy() == X).all() for i in range(2))


@pytest.mark.parametrize(
    "layer, arguments, expected",
    [
        (quant.add(), (T(X), T(X)), X + X),
        (quant.subtract(), (T(X), T(X)), X - X),
        (quant.multiply(), (T(X), T(X)), X * X),
        (quant.divide(), (T(X), T(X)), X / X),
        (quant.reshape(), (T(X), [4]), X.reshape(4)),
        (quant.transpose(), (T(X), [1, 0]), X.T),
        (quant.concat(), ([T(X), T(X)], 1), np.concatenate([X, X], 1)),
        (quant.flatten(), (T(X),), X.reshape(-1)),
        (quant.matmul(), (T(X), T(X), True), X.T @ X),
    ],
)
def test_functions_are_layers(layer, arguments, expected):
    assert isinstance(layer, quant.FloatFunctionalLayer)
    np.testing.assert_allclose(layer(*arguments).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("algo, bits", [("weight_only_int8", 8), ("weight_only_int4", 4)])
@pytest.mark.parametrize("arch", [None, 70, 75, 80, 86])
def test_a_weight_is_found_again_in_the_product(algo, bits, arch):
    weight = np.random.default_rng(2).normal(size=(128, 32)).astype("float16")
    stored, scale = quant.weight_quantize(T(weight), algo, arch)
    assert (stored.shape, str(stored.dtype)) == ([32 * bits // 8, 128], "paddle.int8")
    bias = np.arange(32, dtype="float32")
    found = quant.weight_only_linear(
        paddle.eye(128), stored, T(bias), scale, f"int{bits}", arch
    ).numpy()
    step = np.abs(weight).max(0) / (2 ** (bits - 1) - 1)
    assert (np.abs(found - bias - weight) <= 0.51 * step).all()
    if arch is None:
        back = quant.weight_dequantize(stored, scale, algo, "float32")
        np.testing.assert_allclose(back.numpy(), found - bias, atol=1e-5)


def test_gradients_pass_a_product_with_a_stored_weight():
    weight, scale = T(np.array([[2, -3], [5, 7]], "int8")), T([0.5, 0.25])
    x = T([[1.0, 2.0]], stop_gradient=False)
    quant.weight_only_linear(x, weight, None, scale).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[2 * 0.5 + 5 * 0.25, -3 * 0.5 + 7 * 0.25]])


def test_columns_with_outliers_are_multiplied_as_they_are():
    weight, scale = np.array([[3, -5, 2], [1, 4, -6]], "int8"), np.array([0.5, 0.25], "float32")
    x = np.array([[0.11, 60.03, 0.5], [-0.4, 1.07, 0.21]], "float32")
    found = quant.llm_int8_linear(T(x), T(weight), None, T(scale)).numpy()
    small = x * [1, 0, 1]
    steps = np.abs(small).max(1, keepdims=True) / 127
    expected = (np.rint(small / steps) * steps + x * [0, 1, 0]) @ weight.T * scale
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("function", [quant.weight_only_linear, quant.llm_int8_linear])
def test_a_product_has_scales(function):
    with pytest.raises(ValueError, match="has a `weight_scale`"):
        function(T(X), T(np.ones([3, 2], "int8")))


def test_a_gpu_that_is_not_known_is_refused():
    with pytest.raises(AssertionError, match="SM70/75/80/86"):
        quant.weight_quantize(paddle.ones([64, 16], "float16"), arch=60)
