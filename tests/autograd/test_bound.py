"""Gradient operators bound for a plan give what they give without."""

import numpy as np
import pytest

from scull.autograd.bound import bound_gradient
from scull.core.op import op_of

X, Y = np.random.RandomState(0).rand(2, 3), np.random.RandomState(1).rand(3)
OUT = np.random.RandomState(2).rand(2, 3)
CASES = {
    "elementwise_mul_grad": {"x": X, "y": Y, "dout": OUT},
    "elementwise_add_grad": {"x": X, "y": Y, "dout": OUT},
    "elementwise_div_grad": {"x": X, "y": Y, "out": X / Y, "dout": OUT},
    "tanh_grad": {"x": X, "out": np.tanh(X), "dout": OUT},
    "matmul_v2_grad": {"x": X, "y": OUT, "dout": np.ones((2, 2))},
    "scale_grad": {"dout": OUT},
}


@pytest.mark.parametrize("name", CASES)
def test_every_choice_of_results_is_that_of_the_rules(name):
    g = op_of(name)
    values = [CASES[name].get(n) for n in g.inputs]
    attrs = dict(g.attrs) | ({"transpose_y": True} if "matmul" in name else {})
    attrs.pop("wanted", None)
    choices = [(n,) for n in g.outputs] + [g.outputs]
    for wanted in choices:
        kernel = bound_gradient(g, {**attrs, "wanted": wanted})
        assert kernel is not None
        expected = g.compute(*values, **attrs, wanted=wanted)
        found = kernel(*values)
        pairs = zip(expected, found, strict=True) if len(g.outputs) > 1 else [(expected, found)]
        for a, b in pairs:
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(a, b)


def test_an_operator_with_a_kernel_or_an_axis_is_left_to_that():
    assert bound_gradient(op_of("batch_norm_grad"), {}) is None
    add = op_of("elementwise_add_grad")
    assert bound_gradient(add, {**add.attrs, "axis": 0}) is None
    assert bound_gradient(op_of("elementwise_add"), {}) is None
