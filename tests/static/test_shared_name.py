"""One name is one variable: parameters made twice, results of one name."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ShapeError


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        yield main
    paddle.disable_static()


def shared():
    start = paddle.nn.initializer.Constant(3.0)
    return paddle.ParamAttr(name="w", initializer=start)


def by_fc(x):
    return paddle.static.nn.fc(x, 1, weight_attr=shared(), bias_attr=False)


def by_linear(x):
    return paddle.nn.Linear(1, 1, shared(), False)(x)


@pytest.mark.parametrize("layer", [by_fc, by_linear])
def test_gradients_of_all_uses_of_a_parameter_made_twice_add_up(main, layer):
    x = paddle.static.data("x", [1, 1])
    loss = paddle.mean(layer(layer(x)))
    paddle.static.append_backward(loss)
    assert [p.name for p in main.all_parameters()] == ["w"]
    scope, exe = paddle.static.Scope(), paddle.static.Executor()
    exe.run(paddle.static.default_startup_program(), scope=scope)
    feed = {"x": np.ones((1, 1), "float32")}
    found = exe.run(main, feed=feed, fetch_list=[loss, "w@GRAD"], scope=scope)
    assert [v.item() for v in found] == [9.0, 6.0]


def test_a_parameter_of_a_known_name_and_another_shape_is_refused():
    x = paddle.static.data("x", [1, 2])
    first = paddle.static.nn.fc(x, 3, weight_attr=shared(), bias_attr=False)
    with pytest.raises(ShapeError, match="'w' has been created before"):
        paddle.static.nn.fc(first, 4, weight_attr=shared(), bias_attr=False)


def test_a_program_with_two_results_of_one_name_is_cloned(main):
    x = paddle.static.data("x", [2])
    with paddle.utils.unique_name.guard():
        first = x + 1.0
    with paddle.utils.unique_name.guard():
        second = x * 2.0
    assert first.name == second.name
    twin = main.clone(for_test=True)
    feed = {"x": np.ones(2, "float32")}
    (found,) = paddle.static.Executor().run(twin, feed=feed, fetch_list=[second.name])
    assert found.tolist() == [2.0, 2.0]
