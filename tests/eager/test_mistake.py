"""What is no tensor is refused by name, with the operator and the user's line."""

import pytest

import scull as paddle
from scull.errors import ArgumentTypeError


@pytest.mark.parametrize(
    ("call", "law"),
    [
        (lambda: paddle.nn.functional.relu("a"), "argument `x` must be Tensor, but got str"),
        (lambda: paddle.matmul(paddle.ones([1]), "b"), "must be int, float, bool or Tensor, but"),
        (lambda: paddle.nn.functional.softmax({}), "must be Tensor, but got dict"),
    ],
)
def test_what_is_no_tensor_is_named(call, law):
    with pytest.raises(ArgumentTypeError, match=law) as caught:
        call()
    assert "test_mistake.py:" in str(caught.value)


@pytest.mark.parametrize("value", ["x", None, [None, 1], {}])
def test_only_numbers_are_assigned(value):
    x = paddle.ones([2, 2])
    with pytest.raises(ArgumentTypeError, match=f"a value of type {type(value).__name__} is no"):
        x[0] = value
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_of_a_tuple_of_results_the_first_is_taken():
    x = paddle.to_tensor([[1.0, -2.0]], stop_gradient=False)
    weight, other = paddle.to_tensor([[3.0], [1.0]]), paddle.ones([7])
    y = paddle.nn.functional.linear((x, other), weight)
    z = paddle.nn.functional.relu((x,))
    assert y.tolist() == [[1.0]] and z.tolist() == [[1.0, 0.0]]
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [[4.0, 1.0]]
    for strange in ([x], (), (1.0, x)):
        with pytest.raises(ArgumentTypeError, match="argument `x` must be Tensor, but got"):
            paddle.nn.functional.relu(strange)
