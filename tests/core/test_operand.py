"""Operands before a call: which may stand alone, and which only beside a tensor."""

import numpy as np
import pytest

import scull as paddle
from scull.core.meta import WEAK
from scull.core.operand import weak_meta
from scull.errors import ArgumentTypeError

ALONE = [
    (lambda: paddle.nn.functional.relu(1), "relu", "int"),
    (lambda: paddle.nn.functional.softmax(1.5), "softmax", "float"),
    (lambda: paddle.exp(True), "exp", "bool"),
    (lambda: paddle.add(1, 2), "add", "int"),
    (lambda: paddle.nn.functional.dropout(1), "dropout", "int"),
]


@pytest.fixture(params=["eager", "static"])
def mode(request):
    """Each mode in turn."""
    if request.param == "eager":
        yield
        return
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        yield
    paddle.disable_static()


@pytest.mark.parametrize(("call", "name", "kind"), ALONE)
def test_a_number_is_refused_where_no_tensor_is_beside_it(call, name, kind, mode):
    law = rf"{name}\(\): argument `x` must be Tensor, but got {kind}"
    with pytest.raises(ArgumentTypeError, match=law):
        call()


def test_a_number_beside_a_tensor_takes_its_element_type(mode):
    x = paddle.ones([2], "float64")
    assert paddle.add(x, 2).dtype is paddle.add(2, x).dtype is x.dtype


def test_a_condition_gives_numbers_no_element_type_but_they_may_stand_there():
    found = paddle.where(paddle.to_tensor([True, False]), 1.0, 2.0)
    assert found.tolist() == [1.0, 2.0] and found.dtype.name == "float64"


def test_a_number_of_numpy_keeps_its_element_type():
    assert weak_meta(1.5).dtype is WEAK
    assert weak_meta(np.float64(1.5)).dtype.name == "float64"


def test_of_a_tuple_an_operator_takes_the_first_tensor_as_of_what_a_recurrent_network_returns():
    x = paddle.to_tensor([[1.0, -2.0]], stop_gradient=False)
    out = paddle.nn.functional.relu((x, paddle.zeros([3])))
    out.sum().backward()
    assert out.tolist() == [[1.0, 0.0]] and x.grad.tolist() == [[1.0, 0.0]]
    network = paddle.nn.Sequential(paddle.nn.LSTM(2, 3), paddle.nn.ReLU(), paddle.nn.LSTM(3, 2))
    outputs, _ = paddle.nn.Sequential(network, paddle.nn.Tanh(), paddle.nn.GRU(2, 4))(x[None])
    assert outputs.shape == [1, 1, 4]


@pytest.mark.parametrize("strange", [(), (1,), (None,), ([1.0],)])
def test_a_tuple_without_a_tensor_in_front_is_refused(strange):
    with pytest.raises(ArgumentTypeError, match=r"relu\(\): argument `x` must be Tensor"):
        paddle.nn.functional.relu(strange)


def test_a_tuple_of_tensors_is_no_operand_of_arithmetic():
    with pytest.raises(ArgumentTypeError, match="must be int, float, bool or Tensor, but got tup"):
        paddle.ones([2]) + (paddle.ones([2]),)
