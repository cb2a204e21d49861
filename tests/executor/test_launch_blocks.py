"""Blocks on a device: branches, loops, lists and their gradients give the bits of the host."""

import numpy as np
import pytest

import scull as paddle
from scull.core.place import Place
from scull.flags import flags

STEPS = 4


def data():
    x = paddle.static.data("x", [3, 3])
    x.stop_gradient = False
    return x


def number(value):
    return paddle.full([1], value, "int64")


def with_slope(x, h):
    loss = paddle.mean(h)
    (slope,) = paddle.static.gradients([loss], [x])
    return [loss, slope]


def a_list():
    x = data()
    found = paddle.tensor.array_write(x, number(0))
    found = paddle.tensor.array_write(paddle.tanh(x), number(1), found)
    return [paddle.tensor.array_read(found, number(1)), paddle.tensor.array_length(found)]


def a_list_in_a_loop():
    x, found = data(), paddle.tensor.create_array("float32")
    found = paddle.tensor.array_write(x, number(0), found)

    def body(i, h):
        paddle.tensor.array_write(paddle.tanh(h), i + 1, found)
        return i + 1, h * 0.5

    paddle.static.nn.while_loop(lambda i, h: i < 3, body, [number(0), x])
    return [paddle.tensor.array_length(found), paddle.tensor.array_read(found, number(2))]


def the_slope_of_a_branch():
    x = data()
    return with_slope(
        x, paddle.static.nn.cond(paddle.mean(x) > 0, lambda: paddle.tanh(x), lambda: x * x)
    )


def the_slope_of_a_loop():
    x = data()
    body = [lambda i, h: i < STEPS, lambda i, h: (i + 1, paddle.tanh(h @ x))]
    return with_slope(x, paddle.static.nn.while_loop(*body, [number(0), x])[1])


def the_slope_of_a_branch_in_a_loop():
    x = data()

    def body(i, h):
        above = paddle.mean(h) > 0.1
        return i + 1, paddle.static.nn.cond(
            above, lambda: paddle.tanh(h), lambda: h * x + paddle.uniform([3, 3])
        )

    return with_slope(
        x, paddle.static.nn.while_loop(lambda i, h: i < STEPS, body, [number(0), x])[1]
    )


def the_slope_of_a_loop_whose_value_grows():
    x = data()
    body = [lambda i, h: i < STEPS, lambda i, h: (i + 1, paddle.concat([h, x]))]
    return with_slope(x, paddle.static.nn.while_loop(*body, [number(0), x * 1.0])[1])


def the_slope_of_branches_that_take_turns():
    x = data()

    def body(i, h):
        return i + 1, paddle.static.nn.cond(i < 1, lambda: h * x, lambda: h + x)

    return with_slope(
        x, paddle.static.nn.while_loop(lambda i, h: i < STEPS, body, [number(0), x * 1.0])[1]
    )


def training_through_a_branch():
    hidden = paddle.static.nn.fc(data(), 3)
    above = paddle.mean(hidden) > 0
    loss = paddle.mean(
        paddle.static.nn.cond(above, lambda: paddle.tanh(hidden), lambda: hidden * hidden)
    )
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [loss]


PROGRAMS = (
    a_list,
    a_list_in_a_loop,
    the_slope_of_a_branch,
    the_slope_of_a_loop,
    the_slope_of_a_branch_in_a_loop,
    the_slope_of_a_loop_whose_value_grows,
    the_slope_of_branches_that_take_turns,
    training_through_a_branch,
)


def results(build, place):
    """What three runs of a new Program fetch."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        fetches = build()
    paddle.seed(3)
    scope, exe = paddle.static.Scope(), paddle.static.Executor(place)
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(0).standard_normal((3, 3)).astype("float32")}
    return [v for _ in range(3) for v in exe.run(main, feed, fetches, scope=scope)]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("build", PROGRAMS, ids=lambda build: build.__name__)
def test_on_a_device_are_the_bits_of_the_host_of(build, count):
    expected = results(build, None)
    with flags(DEVICE_STREAMS=count, SIM_SEED=count):
        found = results(build, Place("sim"))
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
