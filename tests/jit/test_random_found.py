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


class Joins(paddle.nn.Layer):
    """Joins a list in one branch that grows in the other."""

    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([3])

    def forward(self, x):
        self.hidden, items = x, [x]
        if paddle.mean(x) > 0.25:
            self.hidden = paddle.stack(items).sum(axis=0)
        else:
            items.append(paddle.tanh(items[-1] + self.scale))
        return x * 1.0


class Keeps(paddle.nn.Layer):
    """Reads a buffer that a branch overwrites, which is recorded twice since a list grows there."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", paddle.zeros([3]))

    def forward(self, x):
        self.seen = self.seen + x.detach() * 0.5
        b, items = paddle.tanh(x + self.seen), [x]
        if not x.sum() < 0.5:
            items.append(b)
        else:
            self.seen = self.seen + 1.0
        return paddle.stack(items).sum() + b.sum()


@pytest.mark.parametrize("kind", [Joins, Keeps])
def test_gradients_of_branches_where_lists_grow_and_buffers_change(kind):
    eager, static = kind(), paddle.jit.to_static(kind(), full_graph=True)
    static.set_state_dict(eager.state_dict())
    for sign in (1.0, -1.0, 1.0):
        found = []
        for net in (eager, static):
            x = paddle.to_tensor([sign, 2.0 * sign, 0.5], stop_gradient=False)
            result = net(x)
            (result.sum() + getattr(net, "hidden", x).sum()).backward()
            found.append([v.numpy() for v in (result, x.grad, *net.buffers())])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6)
