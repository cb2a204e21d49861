"""Parameters whose first values wait."""

import numpy as np
import pytest

import scull as paddle


def test_parameters_wait_for_their_values_without_memory():
    with paddle.LazyGuard():
        net = paddle.nn.Linear(1000, 1000)
    assert net.weight.shape == [1000, 1000]
    assert net.weight.array.strides == (0, 0)
    assert not net.weight._is_initialized()
    assert paddle.isnan(net(paddle.ones([1, 1000]))).all()
    for parameter in net.parameters():
        parameter.initialize()
    assert net.weight._is_initialized()
    assert net.weight.abs().max() > 0
    assert net.bias.tolist() == [0.0] * 1000
    with pytest.raises(AssertionError, match="has its value"):
        net.weight.initialize()
    assert paddle.nn.Linear(2, 2).weight._is_initialized()


def test_the_same_values_are_drawn_as_at_once():
    paddle.seed(1)
    expected = paddle.nn.Linear(2, 3).weight.numpy()
    with paddle.LazyGuard():
        net = paddle.nn.Linear(2, 3)
    paddle.seed(1)
    net.weight.initialize()
    assert np.array_equal(net.weight.numpy(), expected)


def test_a_state_is_a_value():
    with paddle.LazyGuard():
        net = paddle.nn.Linear(2, 3)
    net.set_state_dict({"weight": np.ones([2, 3], "float32"), "bias": np.ones(3, "float32")})
    assert net.weight._is_initialized()
    assert net(paddle.ones([1, 2])).tolist() == [[3.0, 3.0, 3.0]]
