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
