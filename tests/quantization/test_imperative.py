"""The older tools: what they put into a model, the scales they find, what they save."""

import math

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.nn.quant import quant_layers as layers
from scull.quantization.imperative import (
    AbsmaxQuantizer,
    HistQuantizer,
    ImperativePTQ,
    ImperativeQuantAware,
    KLQuantizer,
    PerChannelAbsmaxQuantizer,
    PTQConfig,
    PTQRegistry,
    default_ptq_config,
)
from tests.quantization.network import lenet, pictures, stepped, trained

T = paddle.to_tensor
SPEC = [paddle.static.InputSpec([None, 1, 8, 8], "float32", "image")]


@pytest.mark.parametrize("kind", ["abs_max", "channel_wise_abs_max"])
def test_a_network_learns_and_gives_the_same_saved_and_loaded(kind, tmp_path):
    paddle.seed(7)
    model = lenet()
    tool = ImperativeQuantAware(weight_quantize_type=kind)
    assert tool.quantize(model) is model
    losses = trained(model)
    assert losses[-1] < 0.7 * losses[0]
    image = pictures(4)[0]
    tool.save_quantized_model(model, str(tmp_path / "made"), SPEC)
    assert model.training
    model.eval()
    loaded = paddle.jit.load(str(tmp_path / "made"))
    np.testing.assert_allclose(loaded(image).numpy(), model(image).numpy(), rtol=1e-5, atol=1e-5)
    types = {op.type for op in loaded.program().global_block().ops}
    assert "moving_average_abs_max_scale" not in types
    assert "fake_quantize_dequantize_moving_average_abs_max" in types


class Model(nn.Layer):
    """A layer of each kind there is a rule for."""

    def __init__(self):
        super().__init__()
        self.first, self.left = nn.Linear(2, 2), nn.Linear(2, 2)
        self.left.skip_quant = True
        self.sum, self.joined = nn.quant.add(), nn.quant.concat()
        self.rest = nn.Sequential(nn.Conv2DTranspose(1, 1, 1), nn.ReLU())
        self.seen = nn.quant.QuantStub()


def test_every_layer_is_rounded_or_watched():
    model = ImperativeQuantAware().quantize(Model())
    found = {name: type(layer) for name, layer in model.named_children()}
    watched, after = layers.MAOutputScaleLayer, layers.FakeQuantMAOutputScaleLayer
    assert found == {
        "first": watched,
        "left": watched,
        "sum": after,
        "joined": watched,
        "rest": nn.Sequential,
        "seen": layers.MovingAverageAbsMaxScale,
    }
    assert type(model.first._layer) is layers.QuantizedLinear
    assert type(model.left._layer) is nn.Linear
    assert type(model.rest[0]._layer) is layers.QuantizedConv2DTranspose
    only = ImperativeQuantAware(quantizable_layer_type=["Linear"]).quantize(Model())
    assert type(only.rest[0]._layer) is nn.Conv2DTranspose


@pytest.mark.parametrize(
    "said, law",
    [
        ({"weight_quantize_type": "none"}, "Unsupported weight_quantize_type: none"),
        ({"activation_quantize_type": "abs_max"}, "Unsupported activation_quantize_type"),
        ({"quantizable_layer_type": ["ReLU"]}, "ReLU is unspported"),
        ({"weight_bits": 20}, "weight_bits should be"),
    ],
)
def test_what_is_not_there_is_refused(said, law):
    with pytest.raises(AssertionError, match=law):
        ImperativeQuantAware(**said)


def test_a_tool_changes_layers():
    with pytest.raises(AssertionError, match="must be the instance"):
        ImperativeQuantAware().quantize(3)
    with pytest.raises(AssertionError, match="must be the instance"):
        ImperativePTQ().quantize(3)


def test_batches_say_the_scales_of_inputs(tmp_path):
    linear = nn.Linear(2, 3, bias_attr=False)
    model = nn.Sequential(linear, nn.ReLU())
    model.eval()
    tool = ImperativePTQ(PTQConfig(AbsmaxQuantizer(), PerChannelAbsmaxQuantizer()))
    watched = tool.quantize(model)
    assert watched is not model
    x = np.array([[0.3, -0.7], [1.2, 0.05]], "float32")
    for factor in (1.0, 0.5):
        found = watched(T(x * factor)).numpy()
        np.testing.assert_array_equal(found, model(T(x * factor)).numpy())
    spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    tool.save_quantized_model(watched, str(tmp_path / "made"), spec)
    weight = linear.weight.numpy()
    rounded = stepped(x * 2, 1.2) @ stepped(weight, np.abs(weight).max(0))
    found = paddle.jit.load(str(tmp_path / "made"))(T(x * 2)).numpy()
    np.testing.assert_allclose(found, np.maximum(rounded, 0), rtol=1e-4, atol=1e-6)


def test_a_convolution_is_calibrated_with_histograms(tmp_path):
    paddle.seed(8)
    model = lenet()
    model.eval()
    image = pictures(4)[0]
    tool = ImperativePTQ(default_ptq_config)
    watched = tool.quantize(model)
    watched(image)
    expected = model(image).numpy()
    tool.save_quantized_model(watched, str(tmp_path / "made"), SPEC)
    found = paddle.jit.load(str(tmp_path / "made"))(image).numpy()
    assert 0 < np.abs(found - expected).mean() < 0.1 * np.abs(expected).max()


def test_channels_are_those_of_the_output():
    weight = T(np.arange(-6, 6, dtype="float32").reshape(3, 4))
    quantizer = PerChannelAbsmaxQuantizer()
    quantizer.sample_data(nn.Linear(3, 4), (weight,))
    quantizer.cal_thresholds()
    assert quantizer.thresholds == [[6.0, 5.0, 4.0, 5.0]]
    quantizer = PerChannelAbsmaxQuantizer()
    quantizer.sample_data(nn.Conv2D(1, 3, 2), (weight.reshape([3, 1, 2, 2]),))
    assert quantizer.abs_max_vals == [[6.0, 2.0, 5.0]]


def test_a_histogram_grows_by_whole_bins():
    quantizer = HistQuantizer(bins=4, upsample_bins=2, hist_percent=0.5)
    quantizer.sample_data(None, (T([0.1, 0.3, 0.6, 1.0]),))
    assert quantizer.hists[0].tolist() == [1.0, 1.0, 1.0, 1.0]
    quantizer.sample_data(None, (T([1.4]),))  # fits into three halves of 1
    assert quantizer.abs_max_vals == [1.5]
    assert quantizer.hists[0].tolist() == [1.5, 1.5, 1.0, 1.0]  # 3, 3, 2 and 0 halves, and 1
    quantizer.cal_thresholds()
    assert quantizer.thresholds == [
        0.5 * 1.5 / 4
    ]  # half of all lie in 2 bins; the middle of one less


def divergence(counts, end, steps):
    """Bin by bin, where each step takes a whole number of bins and the last one the rest."""
    width = end // steps
    groups = [range(i * width, (i + 1) * width) for i in range(steps - 1)]
    groups.append(range((steps - 1) * width, end))
    rounded = np.zeros(end)
    for group in groups:
        held = [i for i in group if counts[i]]
        for i in held:
            rounded[i] = sum(counts[j] for j in group) / len(held)
    true = np.array(counts[:end], float)
    true[-1] += sum(counts[end:])
    total, other = true.sum(), rounded.sum()
    return sum(
        p / total * math.log(p / total / (q / other))
        for p, q in zip(true, rounded, strict=True)
        if p
    )


def test_the_cut_that_tells_most_is_chosen():
    values = np.abs(np.random.default_rng(5).normal(size=4000)).astype("float32")
    quantizer = KLQuantizer(quant_bits=4, bins=64)
    quantizer.sample_data(None, (T(values),))
    quantizer.cal_thresholds()
    counts = np.histogram(values, 64, (0, values.max()))[0]
    ends = [end for end in range(31, 65) if counts[end - 1]]
    best = min(ends, key=lambda end: divergence(counts, end, 7))
    np.testing.assert_allclose(quantizer.thresholds, [(best + 0.5) * values.max() / 64], rtol=1e-6)
    assert best < 64


def test_quantizers_of_the_wrong_kind_are_refused():
    with pytest.raises(AssertionError, match="finds no scales of inputs"):
        PTQConfig(PerChannelAbsmaxQuantizer(), AbsmaxQuantizer())
    with pytest.raises(AssertionError, match="finds no scales of weights"):
        PTQConfig(KLQuantizer(), KLQuantizer())


def test_the_registry_tells_what_is_watched():
    assert PTQRegistry.is_supported_layer(nn.Linear(1, 1))
    assert PTQRegistry.is_simulated_quant_layer(nn.Conv2D)
    assert not PTQRegistry.is_simulated_quant_layer(nn.ReLU)
    assert not PTQRegistry.is_supported_layer(nn.LayerNorm)
    assert PTQRegistry.is_registered_layer(layers.QuantizedLinear)
