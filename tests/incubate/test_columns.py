"""Columns of several matrices."""

import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RangeError

X, Y = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]


@pytest.mark.parametrize(
    ("name", "options", "result", "gradient"),
    [
        ("concat", {}, [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]], [[0, 2, 4], [6, 8, 10]]),
        ("concat", {"start_index": 1, "length": 1}, [[1, 7], [4, 10]], [[0, 2, 0], [0, 8, 0]]),
        ("concat", {"start_index": -2}, [[1, 2, 7, 8], [4, 5, 10, 11]], [[0, 2, 4], [0, 8, 10]]),
        ("concat", {"start_index": -2, "length": 1}, [[1, 7], [4, 10]], [[0, 2, 0], [0, 8, 0]]),
        ("sum", {"start_index": 1, "length": 1}, [[8], [14]], [[0, 16, 0], [0, 28, 0]]),
        ("sum", {"length": 2}, [[6, 8], [12, 14]], [[12, 16, 0], [24, 28, 0]]),
    ],
)
def test_columns_of_matrices_are_joined_and_added(name, options, result, gradient):
    x, y = (paddle.to_tensor(v, stop_gradient=False) for v in (X, Y))
    found = getattr(paddle.incubate.layers, f"partial_{name}")([x, y], **options)
    (found * found).sum().backward()
    assert found.tolist() == result and x.grad.tolist() == gradient


def test_columns_are_taken_of_matrices():
    layers, x = paddle.incubate.layers, paddle.to_tensor(X)
    assert layers.partial_concat(x, length=1).tolist() == [[0.0], [3.0]]
    for function in (layers.partial_concat, layers.partial_sum):
        for wrong in (3, [3]):
            with pytest.raises(ArgumentTypeError):
                function(wrong)
        with pytest.raises(ArgumentError, match="no matrix"):
            function([])
        with pytest.raises(RangeError, match="outside"):
            function([x, x], start_index=3)
    with pytest.raises(ArgumentTypeError, match="takes a list, not a Tensor"):
        layers.partial_sum(x)
