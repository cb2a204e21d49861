"""Integers that ask for a gradient have one, as in the reference."""

import numpy as np
import pytest

import scull as paddle


def test_parts_of_an_integer_tensor_pass_gradients_on():
    x = paddle.to_tensor(np.arange(6).reshape(2, 3), stop_gradient=False)
    first, _ = paddle.split(x, [1, 2], axis=1)
    first.sum().backward()
    assert x.grad.tolist() == [[1, 0, 0], [1, 0, 0]] and x.grad.dtype == paddle.int64


def test_a_grid_of_integers_passes_gradients_on():
    x = paddle.to_tensor([1, 2], stop_gradient=False)
    y = paddle.to_tensor([3, 4, 5], stop_gradient=False)
    paddle.add_n(list(paddle.meshgrid(x, y))).sum().backward()
    assert x.grad.tolist() == [3, 3] and y.grad.tolist() == [2, 2, 2]


def test_places_ask_for_a_gradient_and_pass_none_on():
    x = paddle.to_tensor([3.0, 1.0, 2.0], stop_gradient=False)
    values, places = paddle.topk(x, 2)
    assert not places.stop_gradient
    (values.sum() + places.astype("float32").sum()).backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


def test_a_layer_of_ones_own_passes_gradients_through_integers():
    class Whole(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return paddle.cast(x, "int32")

        @staticmethod
        def backward(ctx, dy):
            return paddle.cast(dy * 2, "float32")

    x = paddle.to_tensor([1.5, 2.5], stop_gradient=False)
    Whole.apply(x).astype("float32").sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("parts", [paddle.split, paddle.chunk, lambda x, n: paddle.unbind(x)])
def test_a_part_that_is_summed_gives_the_others_zeros_of_their_own_element_type(parts):
    x = paddle.to_tensor([[1, 2], [3, 4]], dtype="int32", stop_gradient=False)
    parts(x, 2)[0].sum().backward()
    assert x.grad.dtype == paddle.int32
    assert x.grad.tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize(("dtype", "other"), [("float32", "float64"), ("bool", None)])
def test_the_gradient_of_a_sum_has_the_element_type_of_what_was_summed(dtype, other):
    x = paddle.ones([2, 3], dtype)
    x.stop_gradient = False
    paddle.sum(x, axis=1, dtype=other).sum().backward()
    assert x.grad.dtype == getattr(paddle, dtype)
