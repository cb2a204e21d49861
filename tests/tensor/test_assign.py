"""What is assigned to a tensor lies in its own memory, and it goes on to need a gradient."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import InPlaceError


def needing(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


@pytest.mark.parametrize("value", [np.ones([2, 1], "float32"), paddle.ones([2, 1])])
def test_a_parameter_goes_on_to_learn(value):
    layer = paddle.nn.Linear(2, 1)
    optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
    assert paddle.assign(value, layer.weight) is layer.weight
    layer(paddle.ones([1, 2])).sum().backward()
    optimizer.step()
    assert layer.weight.trainable
    assert layer.weight.tolist() == [[0.5], [0.5]]


def test_tensors_that_share_memory_see_it():
    x = paddle.ones([2, 3])
    row, flat, apart = x[0], x.reshape([6]), x.detach()
    paddle.assign(paddle.full([2, 3], 7.0), x)
    assert {*row.tolist(), *flat.tolist(), *apart.numpy().ravel().tolist()} == {7.0}
    assert x.inplace_version == 1


def test_another_shape_or_element_type_is_taken_over():
    x = paddle.ones([2, 3])
    paddle.assign(paddle.full([4], 7, "int64"), x)
    assert (x.shape, x.dtype, x.tolist()) == ([4], paddle.int64, [7] * 4)


def test_gradients_flow_to_what_was_assigned_where_that_needs_one():
    x, out = needing(1.0, 2.0), paddle.zeros([2])
    paddle.assign(x * 3.0, out)
    (out * out).sum().backward()
    assert x.grad.tolist() == [18.0, 36.0]
    with paddle.no_grad():
        other = paddle.assign(x, paddle.zeros([2]))
    assert other.stop_gradient


def test_what_a_gradient_still_needs_is_not_assigned_over_unnoticed():
    x = needing(1.0, 2.0)
    y = x * 2.0
    z = y * y
    paddle.assign(paddle.ones([2]), y)
    with pytest.raises(InPlaceError, match="which `assign` changed in place afterwards"):
        z.sum().backward()


def test_a_static_function_assigns_to_a_buffer():
    class Sum(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", paddle.zeros([2]))

        def forward(self, x):
            paddle.assign(self.total + x, self.total)
            return self.total * 2.0

    layer = paddle.jit.to_static(Sum(), full_graph=True)
    found = [layer(paddle.ones([2])).tolist() for _ in range(2)]
    assert found == [[2.0, 2.0], [4.0, 4.0]]
    assert layer.total.tolist() == [2.0, 2.0]
