"""Rounding by what some batches show."""

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.nn.quant.format import LinearDequanter, LinearQuanter, LinearQuanterDequanter
from scull.quantization import PTQ, QuantConfig
from scull.quantization.observers import AbsmaxObserver, GroupWiseWeightObserver
from tests.quantization.network import lenet, pictures, resnet

T = paddle.to_tensor


@pytest.mark.parametrize("network", [lenet, resnet])
def test_a_calibrated_network_gives_the_same_saved_and_loaded(network, tmp_path):
    paddle.seed(4)
    model = network()
    model.eval()
    ptq = PTQ(QuantConfig(AbsmaxObserver(), AbsmaxObserver()))
    watched = ptq.quantize(model)
    image = pictures(5)[0]
    for factor in (0.5, 1.0):
        np.testing.assert_array_equal(
            watched(image * factor).numpy(), model(image * factor).numpy()
        )
    made = ptq.convert(watched)
    expected = made(image).numpy()
    reach = np.abs(model(image).numpy()).max()
    assert 0 < np.abs(expected - model(image).numpy()).max() < 0.2 * reach
    paddle.jit.save(made, str(tmp_path / "made"), [paddle.static.InputSpec([None, 1, 8, 8])])
    loaded = paddle.jit.load(str(tmp_path / "made"))
    np.testing.assert_allclose(loaded(image).numpy(), expected, rtol=1e-5, atol=1e-5)


def test_an_observer_remembers_the_largest_magnitude():
    observer = AbsmaxObserver(quant_bits=4)._instance(nn.ReLU())
    assert float(observer.scales()) == np.float32(1e-7)  # nothing was seen
    for values in ([1.0, -3.0], [2.0, 0.5]):
        assert observer(T(values)).tolist() == values
    assert (observer.scales().shape, float(observer.scales())) == ([], 3.0)
    assert observer.bit_length() == 4 and observer.quant_axis() == -1
    assert observer.zero_points() is None and not observer.state_dict()


def test_an_observer_does_not_stop_gradients():
    x = T([1.0, -2.0], stop_gradient=False)
    observer = AbsmaxObserver()._instance(nn.ReLU())
    (observer(x) ** 2).sum().backward()
    assert x.grad.tolist() == [2.0, -4.0] and observer.scales().stop_gradient


def test_a_function_made_static_observes():
    model = nn.Sequential(nn.ReLU())
    model.eval()
    watched = PTQ(QuantConfig(AbsmaxObserver(), None)).quantize(model)
    static = paddle.jit.to_static(watched, full_graph=True)
    for values in ([1.0, -3.0], [-7.0, 2.0], [5.0, 5.0]):
        static(T(values))
    assert float(watched[0]._observer.scales()) == 7.0


def test_only_a_model_that_is_trained_is_calibrated():
    with pytest.raises(AssertionError, match=r"set evaluation mode by model.eval"):
        PTQ(QuantConfig(AbsmaxObserver(), None)).quantize(nn.Sequential(nn.ReLU()))


def test_groups_of_rows_have_scales_of_their_own():
    weight = np.arange(24, dtype="float32").reshape(4, 6) - 11
    layer = nn.Linear(4, 6, bias_attr=False)
    layer.weight.set_value(weight)
    model = nn.Sequential(layer)
    model.eval()
    ptq = PTQ(QuantConfig(None, GroupWiseWeightObserver(quant_bits=4, group_size=2)))
    watched = ptq.quantize(model)
    watched(paddle.ones([1, 4]))
    largest = np.abs(weight.reshape(2, 2, 6)).max(1)
    np.testing.assert_array_equal(watched[0].weight_quanter.scales().numpy(), largest)
    assert watched[0].weight_quanter.zero_points().numpy().tolist() == [[0.0] * 6] * 2
    made = ptq.convert(watched)
    scale = largest.repeat(2, 0)
    steps = np.rint(weight / scale * 7)
    np.testing.assert_array_equal(made[0].weight.numpy(), steps)
    expected = np.eye(4, dtype="float32") @ (steps / 7 * scale)
    np.testing.assert_allclose(made(paddle.eye(4)).numpy(), expected, rtol=1e-6)


def test_groups_are_of_rows_of_a_matrix_and_divide_it():
    observer = GroupWiseWeightObserver(group_size=3)._instance(nn.Linear(1, 1))
    with pytest.raises(AssertionError, match="factor of input channels"):
        observer(paddle.ones([4, 2]))
    with pytest.raises(AssertionError, match="only support 2D"):
        observer(paddle.ones([3, 2, 1]))


@pytest.mark.parametrize("axis, scales", [(-1, [0.9]), (0, [0.3, 0.7]), (1, [0.3, 0.7])])
def test_steps_of_scales_and_back(axis, scales):
    x = np.array([[0.3, -0.7], [1.2, 0.05]], "float32")
    shape = [1 if i != axis else -1 for i in range(2)]
    scale = np.array(scales, "float32").reshape(shape)
    steps = np.clip(np.rint(x / scale * 127), -128, 127)
    np.testing.assert_array_equal(LinearQuanter(T(scales), quant_axis=axis)(T(x)).numpy(), steps)
    back = LinearDequanter(np.array(scales), quant_axis=axis)(T(steps)).numpy()
    np.testing.assert_allclose(back, steps * scale / 127, rtol=1e-6)


def test_a_part_that_is_missing_passes_on():
    x = T([0.24, 5.0])
    assert LinearQuanterDequanter(None, None)(x) is x
    both = LinearQuanterDequanter(
        LinearQuanter(1.0, bit_length=3), LinearDequanter(1.0, bit_length=3)
    )
    np.testing.assert_allclose(both(x).numpy(), [1 / 3, 1.0], rtol=1e-6)
