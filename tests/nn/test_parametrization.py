"""`paddle.nn.utils`: clipping in place, weights in parts, parameters as one vector."""

import numpy as np
import pytest

import scull as paddle

parts = paddle.nn.utils


def layer_with_gradients():
    layer = paddle.nn.Linear(2, 3)
    layer(paddle.to_tensor([[1.0, 2.0]])).sum().backward()
    return layer


@pytest.mark.parametrize("norm, total", [(1, 12.0), (2, 18**0.5), (float("inf"), 2.0)])
def test_gradients_are_scaled_to_a_norm(norm, total):
    layer = layer_with_gradients()
    found = parts.clip_grad_norm_(layer.parameters(), 1.0, norm)
    assert found.item() == pytest.approx(total)
    np.testing.assert_allclose(layer.bias.grad.numpy(), np.ones(3) / total, rtol=1e-5)
    assert parts.clip_grad_norm_(layer.parameters(), 2.0, norm).item() == pytest.approx(1.0)
    np.testing.assert_allclose(layer.bias.grad.numpy(), np.ones(3) / total, rtol=1e-5)


def test_gradients_are_kept_within_a_value():
    layer = layer_with_gradients()
    parts.clip_grad_value_(layer.parameters(), 1.5)
    assert layer.weight.grad.tolist() == [[1.0] * 3, [1.5] * 3]


def test_a_norm_that_is_no_number_can_be_refused():
    layer = paddle.nn.Linear(2, 3)
    (layer(paddle.ones([1, 2])).sum() * float("inf")).backward()
    with pytest.raises(RuntimeError, match="non-finite"):
        parts.clip_grad_norm_(layer.parameters(), 1.0, error_if_nonfinite=True)
    with pytest.raises(ValueError, match="norm_type only support"):
        parts.clip_grad_norm_(layer.parameters(), 1.0, 3)


def test_parameters_are_one_vector_and_back():
    a, b = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
    parts.vector_to_parameters(parts.parameters_to_vector(a.parameters()), b.parameters())
    for x, y in zip(a.parameters(), b.parameters(), strict=True):
        assert np.array_equal(x.numpy(), y.numpy())


@pytest.mark.parametrize("dim", [0, 1, None])
def test_a_weight_in_two_parts_is_the_same_weight(dim):
    layer, x = paddle.nn.Linear(2, 3), paddle.ones([1, 2])
    before = layer(x).numpy()
    parts.weight_norm(layer, dim=dim)
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-5)
    layer.weight_g.set_value(layer.weight_g * 2)
    longer = layer(x) - layer.bias
    np.testing.assert_allclose(longer.numpy(), 2 * (before - layer.bias.numpy()), rtol=1e-4)
    longer.sum().backward()
    assert layer.weight_g.grad is not None
    assert layer.weight_v.grad is not None
    parts.remove_weight_norm(layer)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        parts.remove_weight_norm(layer)


def test_the_largest_singular_value_becomes_1():
    layer = parts.spectral_norm(paddle.nn.Linear(4, 3), n_power_iterations=30)
    layer(paddle.ones([1, 4])).sum().backward()
    assert np.linalg.norm(layer.weight.numpy(), 2) == pytest.approx(1.0, rel=1e-4)
    assert layer.weight_orig.grad is not None
    assert "weight" not in layer.state_dict()
    with pytest.raises(RuntimeError, match="two spectral_norm hooks"):
        parts.spectral_norm(layer)
