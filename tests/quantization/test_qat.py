"""Training with rounded numbers: what is rounded, how gradients pass, what is saved."""

import copy

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.quantization import QAT, BaseQuanter, QuantConfig, quanter
from scull.quantization.quanters import FakeQuanterWithAbsMaxObserver
from tests.quantization.network import lenet, pictures, resnet, stepped, trained

NETWORKS = pytest.mark.parametrize("network", [lenet, resnet])


def both(**options):
    """A configuration that rounds inputs and weights of all layers."""
    factory = FakeQuanterWithAbsMaxObserver(**options)
    return QuantConfig(activation=factory, weight=factory)


def predicted(prefix, image):
    """What a predictor makes of the model saved under `prefix`."""
    config = paddle.inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    predictor = paddle.inference.create_predictor(config)
    predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(image)
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


@NETWORKS
def test_a_network_learns_and_gives_the_same_converted_saved_and_loaded(network, tmp_path):
    paddle.seed(3)
    qat = QAT(both())
    model = qat.quantize(network())
    losses = trained(model)
    assert losses[-1] < 0.7 * losses[0]
    model.eval()
    image = pictures(4)[0]
    made = qat.convert(model)
    expected = made(image).numpy()
    reach = np.abs(expected).max()  # converted, what is below -scale has one step more
    np.testing.assert_allclose(model(image).numpy(), expected, atol=0.05 * reach)
    spec = paddle.static.InputSpec([None, 1, 8, 8], "float32", "image")
    paddle.jit.save(made, str(tmp_path / "made"), [spec])
    np.testing.assert_allclose(
        paddle.jit.load(str(tmp_path / "made"))(image).numpy(), expected, rtol=1e-5, atol=1e-5
    )
    found = predicted(tmp_path / "made", image.numpy())
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_weights_of_a_converted_model_are_whole_steps():
    qat = QAT(both(bit_length=4))
    model = qat.quantize(nn.Sequential(nn.Linear(5, 4)))
    model(paddle.ones([2, 5]))
    weight, scale = model[0].weight.numpy(), float(model[0].weight_quanter.scales())
    steps = qat.convert(model)[0].weight.numpy()
    np.testing.assert_array_equal(steps, np.clip(np.rint(weight / scale * 7), -8, 7))
    np.testing.assert_array_equal(model[0].weight.numpy(), weight)  # the other is as it was
    kept = qat.convert(model, remain_weight=True)
    np.testing.assert_array_equal(kept[0].weight.numpy(), weight)
    assert qat.convert(model, inplace=True) is model


def test_the_scale_is_a_moving_mean_of_the_largest_magnitudes():
    layer = FakeQuanterWithAbsMaxObserver(moving_rate=0.5)._instance(nn.Linear(1, 1))
    state = accum = 1.0
    for factor in (1.0, -4.0, 2.0):
        layer(paddle.to_tensor([0.25 * factor, factor]))
        state, accum = 0.5 * state + 1, 0.5 * accum + abs(factor)
        np.testing.assert_allclose(float(layer.scales()), accum / state, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_what_is_kept_has_its_own_element_type(dtype):
    layer = FakeQuanterWithAbsMaxObserver()._instance(nn.Linear(1, 1))
    x = paddle.to_tensor([0.25, -1.0]).astype(dtype)
    assert layer(x).dtype is x.dtype
    assert {str(p.dtype) for p in layer.parameters()} == {"paddle.float32"}
    assert float(layer.scales()) == 1.0


def test_mixed_precision_rounds_what_it_casts():
    paddle.seed(6)
    model = QAT(both()).quantize(lenet())
    image = pictures(2)[0]
    expected = model(image).numpy()
    with paddle.amp.auto_cast(dtype="bfloat16"):
        found = model(image)
    reach = np.abs(expected).max()
    np.testing.assert_allclose(found.astype("float32").numpy(), expected, atol=0.1 * reach)
    found.astype("float32").sum().backward()
    assert all(p.grad is not None for p in model.parameters() if not p.stop_gradient)


def test_a_tested_quanter_keeps_its_scale_and_cuts_off():
    layer = FakeQuanterWithAbsMaxObserver(bit_length=4)._instance(nn.Linear(1, 1))
    layer(paddle.to_tensor([1.0, -0.5]))
    scale = float(layer.scales())
    layer.eval()
    x = np.array([0.3, -0.71, 40.0, -40.0], "float32")
    np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), stepped(x, scale, 4), rtol=1e-6)
    assert float(layer.scales()) == scale


def test_gradients_pass_as_if_nothing_were_rounded():
    model = QAT(both(bit_length=3)).quantize(nn.Sequential(nn.Linear(2, 1, bias_attr=False)))
    x = paddle.to_tensor([[0.3, -0.7]], stop_gradient=False)
    model(x).backward()
    layer = model[0]
    weight = stepped(layer.weight.numpy(), float(layer.weight_quanter.scales()), 3)
    inputs = stepped(x.numpy(), float(layer.activation_quanter.scales()), 3)
    np.testing.assert_allclose(x.grad.numpy(), weight.T, rtol=1e-5)
    np.testing.assert_allclose(layer.weight.grad.numpy(), inputs.T, rtol=1e-5)


def test_what_quanters_keep_is_state_that_nothing_trains():
    model = QAT(both()).quantize(nn.Sequential(nn.Linear(2, 1)))
    names = [f"0.{which}_quanter._{kind}" for which in ("weight", "activation") for kind in KEPT]
    assert list(model.state_dict()) == ["0.weight", "0.bias", *names]
    assert all(p.stop_gradient for n, p in model.named_parameters() if "quanter" in n)
    other = QAT(both()).quantize(nn.Sequential(nn.Linear(2, 1)))
    model(paddle.full([1, 2], 3.0))
    assert other.set_state_dict(model.state_dict()) == ([], [])
    assert float(other[0].activation_quanter.scales()) == float(
        model[0].activation_quanter.scales()
    )


KEPT = ("scale", "state", "accum")


def test_names_of_what_is_kept_begin_as_said():
    with paddle.utils.unique_name.guard():
        made = [FakeQuanterWithAbsMaxObserver(name=n)._instance(None) for n in ("a", "a", None)]
    names = [layer.scales().name for layer in made]
    assert names == ["a.scale_0", "a.scale_1", "quant_dequant.scale_0"]


@NETWORKS
def test_a_function_made_static_moves_the_same_scales(network):
    paddle.seed(5)
    model = QAT(both()).quantize(network())
    static = paddle.jit.to_static(copy.deepcopy(model), full_graph=True)
    image = pictures(3)[0]
    for _ in range(2):
        np.testing.assert_allclose(
            static(image).numpy(), model(image).numpy(), rtol=1e-4, atol=1e-4
        )
    for (name, mine), theirs in zip(model.named_parameters(), static.parameters(), strict=True):
        if name.endswith(("_scale", "_state", "_accum")):
            np.testing.assert_allclose(theirs.numpy(), mine.numpy(), rtol=1e-4, err_msg=name)


def test_a_program_trains_with_rounding():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [4, 2])
        far = nn.Linear(2, 1, nn.initializer.Constant(0.1))
        model = QAT(both()).quantize(nn.Sequential(far))
        loss = paddle.mean((model(x) - x.sum(1, keepdim=True)) ** 2)
        paddle.optimizer.SGD(0.1).minimize(loss)
    executor = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor.run(startup)
        feed = {"x": np.array([[1, 0], [0, 1], [1, 1], [-1, 0]], "float32")}
        losses = [executor.run(main, feed, [loss])[0].item() for _ in range(20)]
    paddle.disable_static()
    assert losses[-1] < 0.2 * losses[0]
    rounds = [op for op in main.global_block().ops if op.type.startswith("fake_")]
    assert [op.output("Out") for op in rounds if "grad" not in op.type] == [
        ["x.quantized.dequantized"],
        ["linear_0.w_0.quantized.dequantized"],
    ]


def test_a_model_saved_before_it_is_converted_rounds_as_it_did(tmp_path):
    model = QAT(both()).quantize(nn.Sequential(nn.Linear(2, 3)))
    x = paddle.to_tensor([[0.4, -1.3]])
    model(x)
    model.eval()
    paddle.jit.save(model, str(tmp_path / "raw"), [paddle.static.InputSpec([1, 2], "float32")])
    np.testing.assert_allclose(
        paddle.jit.load(str(tmp_path / "raw"))(x * 3).numpy(), model(x * 3).numpy(), rtol=1e-6
    )


def test_padding_that_is_no_zeros_is_there_after_rounding():
    layer = nn.Conv2D(1, 1, 3, padding=1, padding_mode="reflect", bias_attr=False)
    layer.weight.set_value(np.ones([1, 1, 3, 3], "float32"))
    model = QAT(both(bit_length=16)).quantize(nn.Sequential(layer))
    x = np.arange(9, dtype="float32").reshape(1, 1, 3, 3) / 8
    model(paddle.to_tensor(x))
    model.eval()
    np.testing.assert_allclose(
        model(paddle.to_tensor(x)).numpy(), layer(paddle.to_tensor(x)), atol=1e-3
    )


@quanter("Counting")
class CountingLayer(BaseQuanter):
    """Rounds to halves and counts its calls."""

    def __init__(self, layer, offset=0):
        super().__init__()
        self.kind, self.calls = type(layer).__name__, offset

    def forward(self, x):
        self.calls += 1
        return x + (paddle.round(x * 2) / 2 - x).detach()

    def scales(self):
        return paddle.to_tensor([63.5])

    def zero_points(self):
        return None

    def quant_axis(self):
        return None

    def bit_length(self):
        return 8


def test_a_factory_of_a_quanter_of_a_user_stands_beside_it():
    factory = Counting(offset=10)  # noqa: F821  the decorator put it here
    assert str(factory) == "Counting(offset=10)"
    qat = QAT(QuantConfig(factory, factory))
    plain = nn.Linear(2, 2)
    plain.weight.set_value(np.float32([[0.9, -1.1], [0.1, 1.05]]))  # no product between two steps
    model = qat.quantize(nn.Sequential(plain, nn.Sigmoid()))
    x = paddle.to_tensor([[0.7, -1.4]], stop_gradient=False)
    y = model(x)
    layer = model[0]
    assert (layer.weight_quanter.kind, layer.weight_quanter.calls) == ("Linear", 11)
    assert model[1]._observer.kind == "Sigmoid"
    rounded = np.array([[0.5, -1.5]]) @ (np.rint(layer.weight.numpy() * 2) / 2)
    rounded = np.rint(rounded * 2) / 2
    np.testing.assert_allclose(y.numpy(), 1 / (1 + np.exp(-rounded)), rtol=1e-6)
    y.sum().backward()
    assert np.abs(x.grad.numpy()).max() > 0
    np.testing.assert_allclose(qat.convert(model)(x).numpy(), y.numpy(), rtol=1e-6)


def test_only_a_model_in_training_is_prepared_for_it():
    model = nn.Sequential(nn.Linear(2, 2))
    model.eval()
    with pytest.raises(AssertionError, match=r"set training mode by model.train"):
        QAT(both()).quantize(model)


def test_a_model_is_converted_once():
    model = QAT(both()).quantize(nn.Sequential(nn.Linear(2, 2)))
    layer = model[0]
    layer._convert()
    with pytest.raises(AssertionError, match="only once"):
        layer._convert()


def test_a_class_that_leaves_something_open_is_no_quanter():
    class Half(BaseQuanter):
        def forward(self, x):
            return x

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_a_converted_model_is_recorded_as_steps_and_back():
    with paddle.utils.unique_name.guard():
        qat = QAT(both(bit_length=6))
        model = qat.quantize(nn.Sequential(nn.Linear(2, 1)))
        model(paddle.ones([1, 2]))
        model.eval()
        made = qat.convert(model)
        spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
        static = paddle.jit.to_static(made, input_spec=spec, full_graph=True)
        block = static.forward.concrete_program.main_program.global_block()
    rounds = [op for op in block.ops if op.type.endswith("quantize_linear")]
    found = [(op.type, op.input("X"), op.input("Scale"), op.output("Y")) for op in rounds]
    weight = "linear_0.w_0_deepcopy_0_deepcopy_2"
    assert [op.type for op in block.ops][:5] == [
        "quantize_linear",
        "dequantize_linear",
        "dequantize_linear",
        "matmul_v2",
        "elementwise_add",
    ]
    steps, back, of_weight = (
        f"linear_{n}.tmp_0" for n in ("quanter_1", "dequanter_1", "dequanter_0")
    )
    assert found == [
        ("quantize_linear", ["x"], ["quant_dequant.scale_4"], [steps]),
        ("dequantize_linear", [steps], ["quant_dequant.scale_5"], [back]),
        ("dequantize_linear", [weight], ["quant_dequant.scale_3"], [of_weight]),
    ]
    for op in rounds:
        said = [op.attr(n) for n in ("bit_length", "quant_axis", "round_type", "is_test")]
        assert said == [6, -1, 0, True]
