"""Rows of functions: which plans are one, and that they give what the plans give, bit by bit."""

import numpy as np
import pytest

import scull as paddle
from tests.inference.models import data, loop, opened, perceptron, residual

ODD = np.array([[-0.0, 0.0, np.nan, np.inf], [-np.inf, 1e-40, -1.5, 3e38]], "float32")


def of(function, *shapes):
    """A model that is one function of one input."""

    def make():
        x = data("x", [None, 4])
        return [x], [function(x)]

    return make


def weight(*shape):
    """A value that is saved."""
    return paddle.static.create_parameter(list(shape), "float32")


ROWS = {
    "perceptron": perceptron,
    "relu": of(paddle.nn.functional.relu),
    "constants on the left": of(lambda x: weight(4) - x / weight(4)),
    "products that are turned": of(lambda x: paddle.matmul(x, weight(6, 4), transpose_y=True)),
    "several constants": of(
        lambda x: paddle.nn.functional.layer_norm(x, [4], weight(4), weight(4))
    ),
    "a reduction to a number": of(lambda x: paddle.exp(x.sum())),
    "a view": of(lambda x: paddle.transpose(x, [1, 0]) + 1.0),
}
OTHERS = {
    "several inputs": loop,
    "several outputs": residual,
    "what is read twice": of(lambda x: paddle.exp(x) * paddle.tanh(x)),
    "a square": of(lambda x: (y := paddle.exp(x)) * y),
    "a result that is a view": of(lambda x: paddle.transpose(x, [1, 0])),
    "random numbers": of(lambda x: x + paddle.uniform([4])),
    "a list": of(lambda x: paddle.concat([x, weight(2, 4)])),
    "a large step": of(lambda x: paddle.matmul(x, weight(4, 65536)).sum()),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore:(overflow|invalid):RuntimeWarning")
def test_a_row_gives_the_bits_of_its_plan(name, tmp_path):
    predictor = opened(tmp_path, ROWS[name])
    predictor(ODD)
    assert predictor.function.ready.chain is not None
    for x in (ODD, ODD[:1], ODD[::-1], np.asfortranarray(ODD), ODD[:0]):
        (expected,) = predictor.function([x])
        found = predictor(x)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
        assert found.flags.owndata and found.flags.writeable


@pytest.mark.parametrize("name", OTHERS)
def test_other_plans_are_no_row(name, tmp_path):
    predictor = opened(tmp_path, OTHERS[name])
    assert predictor.function.prepared().chain is None
