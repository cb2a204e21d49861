"""Gradients of gradients in Programs, where something once was wrong."""

import numpy as np
import pytest

import scull as paddle


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield
    paddle.disable_static()


def data(name, *shape):
    x = paddle.static.data(name, list(shape), "float64")
    x.stop_gradient = False
    return x


def run(fetch, **feed):
    return paddle.static.Executor().run(feed=feed, fetch_list=fetch)


def test_an_operator_with_absent_lists_is_differentiated_twice():
    x = data("x", 4, 5)
    part = x[1:3, 2:4]
    (dx,) = paddle.static.gradients([part * part * part], [x])
    (again,) = paddle.static.gradients([dx], [x])
    (found,) = run([again], x=np.full((4, 5), 2.0))
    expected = np.zeros((4, 5))
    expected[1:3, 2:4] = 12
    np.testing.assert_array_equal(found, expected)


def test_gradients_of_a_list_are_sent_on_from_every_entry():
    x, y, seed = data("x", 2, 3), data("y", 1, 3), data("seed", 3, 3)
    given = paddle.static.gradients([paddle.concat([x, y])], [x, y], [seed])
    a, b = data("a", 2, 3), data("b", 1, 3)
    (back,) = paddle.static.gradients(given, [seed], [a, b])
    one, two = np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3) + 10
    feed = {"x": one, "y": two, "seed": np.ones((3, 3)), "a": one, "b": two}
    (found,) = run([back], **feed)
    np.testing.assert_array_equal(found, np.concatenate([one, two]))


def test_second_gradients_pass_through_what_an_operator_keeps_for_its_gradient():
    x = data("x", 2, 3)
    y = paddle.nn.functional.layer_norm(x, 3)
    (dx,) = paddle.static.gradients([y * y * y], [x])
    (again,) = paddle.static.gradients([dx * dx], [x])
    given = np.array([[1.0, 2.0, 4.0], [0.5, -1.0, 3.0]])
    (found,) = run([again], x=given)
    paddle.disable_static()
    t = paddle.to_tensor(given, stop_gradient=False)
    z = paddle.nn.functional.layer_norm(t, 3)
    (dt,) = paddle.grad(z * z * z, t, create_graph=True)
    (expected,) = paddle.grad(dt * dt, t)
    paddle.enable_static()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
