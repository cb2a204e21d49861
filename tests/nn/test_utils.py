"""Gradients clipped in place, parameters as one vector, weights as a length and a direction."""

import numpy as np
import pytest

import scull as paddle
from scull import nn
from scull.nn import utils


def learnt():
    """A layer with gradients."""
    paddle.seed(0)
    layer = nn.Linear(3, 2)
    (layer(paddle.randn([4, 3])) ** 2).sum().backward()
    return layer


@pytest.mark.parametrize("kind", [1.0, 2.0, float("inf")])
def test_gradients_are_scaled_to_the_norm_asked(kind):
    layer = learnt()
    before = np.concatenate([p.grad.numpy().ravel() for p in layer.parameters()])
    norm = np.linalg.norm(before, kind)
    found = utils.clip_grad_norm_(layer.parameters(), 0.5, kind)
    after = np.concatenate([p.grad.numpy().ravel() for p in layer.parameters()])
    assert np.allclose(found.item(), norm) and np.allclose(after, before * 0.5 / norm, rtol=1e-4)


def test_gradients_are_cut_at_a_value():
    layer = learnt()
    before = layer.weight.grad.numpy().copy()
    utils.clip_grad_value_(layer.parameters(), 0.1)
    assert np.array_equal(layer.weight.grad.numpy(), before.clip(-0.1, 0.1).astype("float32"))


def test_parameters_go_to_a_vector_and_back():
    layer, other = nn.Linear(3, 2), nn.Linear(3, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    utils.vector_to_parameters(vector, other.parameters())
    assert vector.shape == [8] and np.array_equal(other.weight.numpy(), layer.weight.numpy())


def test_a_normed_weight_keeps_its_value_and_learns_through_its_parts():
    layer, x = nn.Linear(3, 2), paddle.randn([4, 3])
    asked, before = layer(x).numpy(), layer.weight.numpy().copy()
    utils.weight_norm(layer, dim=1)
    assert {"weight_g", "weight_v"} <= set(layer.state_dict())
    y = layer(x)
    assert np.allclose(y.numpy(), asked, atol=1e-6)
    y.sum().backward()
    assert layer.weight_g.grad is not None and layer.weight_v.grad is not None
    utils.remove_weight_norm(layer)
    assert np.allclose(layer.weight.numpy(), before, atol=1e-6)
