"""The smallest Layers of those that random ones once showed to differ."""

import warnings

import numpy as np
import pytest

import scull as paddle


def doubled_if(v, t):
    if paddle.sum(v) > t:
        return v * 2.0
    return v


def dictionary_of_a_branch_recorded_again(x):
    state, items = {"v": x}, [x]
    if paddle.sum(x) > 9.0:
        return x
    items.append(x + state["v"])
    state["v"] = doubled_if(x * 1.0, -0.5)
    return x


def view_written_over(x):
    k = float(paddle.sum(x).numpy())
    b = x * 2.0
    b[1:] = b[1:]
    return b * k


def item_written_over(x):
    k = float(paddle.sum(x).numpy())
    b = x * 2.0
    c = b[1:]
    b[0] = 1.0
    return b.sum() * k + c.sum()


def run(function, value):
    x = paddle.to_tensor(np.array(value), stop_gradient=False)
    found = function(x)
    found.sum().backward()
    return found.numpy().tolist(), x.grad.numpy().tolist()


@pytest.mark.parametrize("whole", [True, False])
def test_a_dictionary_nobody_reads_later_is_what_it_was_when_a_branch_is_recorded_again(whole):
    function = dictionary_of_a_branch_recorded_again
    static = paddle.jit.to_static(function, full_graph=whole)
    for value in ([1.0, 2.0], [8.0, 9.0], [-1.0, 0.0]):
        assert run(static, value) == run(function, value)


@pytest.mark.parametrize("function", [view_written_over, item_written_over])
def test_what_a_piece_reads_only_the_shape_of_may_be_written_over(function):
    static = paddle.jit.to_static(function, full_graph=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert run(static, [1.0, 2.0, 3.0]) == run(function, [1.0, 2.0, 3.0])


class Asks(paddle.nn.Layer):
    """Asks for the value of a buffer that it changed."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", paddle.zeros([2], "float64"))

    def forward(self, x):
        self.seen = x * 2.0
        return x * self.seen.numpy().max()


class Reads(Asks):
    """Asks for the value of a buffer that others change."""

    def forward(self, x):
        return x * self.seen.numpy().max()


@pytest.mark.parametrize(("kind", "whole"), [(Asks, False), (Asks, True), (Reads, False)])
def test_the_value_of_a_buffer_is_that_of_the_run_not_of_the_recording(kind, whole):
    eager, static = kind(), paddle.jit.to_static(kind(), full_graph=whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for value in ([1.0, 0.5], [2.0, 1.0], [0.5, 3.0]):
            x = paddle.to_tensor(np.array(value))
            eager.seen.set_value(x)
            static.seen.set_value(x)
            np.testing.assert_array_equal(static(x).numpy(), eager(x).numpy())
