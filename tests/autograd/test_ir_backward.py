"""`paddle.autograd.ir_backward.grad` appends gradients to a Program."""

import numpy as np
import pytest

import scull as paddle
from scull.autograd.ir_backward import grad
from scull.errors import ArgumentError


def test_gradients_of_a_program_and_what_stops_them():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [3])
        x.stop_gradient = False
        y = x * x
        (plain,) = grad(y, [x])
        (weighed,) = grad([y], x, grad_outputs=[x])
        assert grad(y + 1.0, [x], no_grad_vars=[y]) == [None]
        with pytest.raises(ArgumentError, match="2 grad_outputs are given for 1 outputs"):
            grad(y, x, [x, x])
        feed = {"x": np.arange(3, dtype="float32")}
        program = paddle.static.default_main_program()
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=[plain, weighed])
    paddle.disable_static()
    assert np.array_equal(found[0], [0, 2, 4]) and np.array_equal(found[1], [0, 2, 8])
