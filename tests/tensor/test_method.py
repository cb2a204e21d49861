"""Methods that Variables have and functions do not."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import UnsupportedError


@pytest.fixture
def program():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        yield main
    paddle.disable_static()


def types(program):
    return [operator.type for operator in program.global_block().ops]


def test_a_detached_variable_has_the_value_and_lets_no_gradient_through(program):
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    cut = x.detach()
    (dx,) = paddle.static.gradients([paddle.sum(x * cut)], [x])
    value = np.arange(6, dtype="float32").reshape(2, 3)
    found = paddle.static.Executor().run(feed={"x": value}, fetch_list=[cut, dx])
    assert (cut.name, cut.stop_gradient) == ("detach_x_0", True)
    assert types(program)[0] == "share_data"
    assert all(np.array_equal(f, value) for f in found)


def test_a_variable_is_copied_to_the_cpu_and_to_no_other_place(program):
    x = paddle.static.data("x", [2])
    y = x.cpu()
    (found,) = paddle.static.Executor().run(feed={"x": np.float32([1, 2])}, fetch_list=[y])
    assert (y.name, types(program)) == ("tmp_0", ["memcpy"])
    assert found.tolist() == [1, 2]
    with pytest.raises(UnsupportedError, match="no place of type 1"):
        x.cuda()


def test_the_size_of_a_variable_is_an_operator(program):
    size = paddle.static.data("x", [-1, 3]).size()
    (found,) = paddle.static.Executor().run(
        feed={"x": np.zeros((4, 3), "float32")}, fetch_list=[size]
    )
    assert (size.name, types(program), int(found)) == ("x_size_0", ["size"], 12)


def test_where_in_place_is_a_method_of_the_condition():
    x = paddle.ones([2])
    assert paddle.to_tensor([True, False]).where_(x, paddle.zeros([2])) is x
    assert x.tolist() == [1.0, 0.0]
