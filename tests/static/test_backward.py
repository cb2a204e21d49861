"""append_backward and gradients in Programs."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ShapeError
from scull.ir.verify import verify


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield
    paddle.disable_static()


def run(fetch, **feed):
    feed = {n: np.asarray(v, "float32") for n, v in feed.items()}
    return paddle.static.Executor().run(feed=feed, fetch_list=fetch)


def test_a_variable_with_several_consumers_gets_the_sum_of_its_partial_gradients():
    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    y = x * x + paddle.exp(x) + x
    (dx,) = paddle.static.gradients(y, x)
    types = [o.type for o in paddle.static.default_main_program().global_block().ops]
    assert types.count("sum") == 1
    (found,) = run([dx], x=[0.0, 1.0])
    np.testing.assert_allclose(found, [2.0, 3.0 + np.e], rtol=1e-6)


def test_second_and_third_derivatives_come_from_gradients_of_gradients():
    x = paddle.static.data("x", [1])
    x.stop_gradient = False
    y = paddle.tanh(x)
    (d1,) = paddle.static.gradients(y, x)
    (d2,) = paddle.static.gradients(d1, x)
    (d3,) = paddle.static.gradients(d2, x)
    verify(paddle.static.default_main_program())
    t = np.tanh(0.3)
    wanted = [1 - t**2, -2 * t * (1 - t**2), (6 * t**2 - 2) * (1 - t**2)]
    for found, value in zip(run([d1, d2, d3], x=[0.3]), wanted, strict=True):
        np.testing.assert_allclose(found, [value], rtol=1e-5)


def test_append_backward_returns_pairs_in_the_order_of_the_parameters():
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.nn.Linear(3, 2)(x))
    pairs = paddle.static.append_backward(loss)
    assert [(p.name, g.name) for p, g in pairs] == [
        ("linear_0.w_0", "linear_0.w_0@GRAD"),
        ("linear_0.b_0", "linear_0.b_0@GRAD"),
    ]


def test_a_loss_of_several_elements_counts_as_their_sum_and_of_unknown_size_is_refused():
    x = paddle.static.data("x", [4])
    weight = paddle.static.create_parameter([4], "float32")
    ((_, gradient),) = paddle.static.append_backward(x * weight)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    value = np.arange(4, dtype="float32")
    assert exe.run(feed={"x": value}, fetch_list=[gradient])[0].tolist() == value.tolist()
    open_ended = paddle.static.data("open", [-1, 4]) * weight
    with pytest.raises(ArgumentError, match=r"shape \(-1, 4\), of unknown size"):
        paddle.static.append_backward(open_ended)


def test_variables_of_no_grad_set_stop_gradients():
    x = paddle.static.data("x", [1])
    x.stop_gradient = False
    a, b = x * 2.0, x * 3.0
    (dx,) = paddle.static.gradients(a + b, x, no_grad_set={b.name})
    assert run([dx], x=[1.0])[0].tolist() == [2.0]


def test_a_gradient_of_a_target_has_its_shape():
    x = paddle.static.data("x", [None, 3])
    x.stop_gradient = False
    (dx,) = paddle.static.gradients(x * 2.0, x, paddle.ones([2, 3]))
    assert run([dx], x=np.ones((2, 3), "float32"))[0].tolist() == [[2.0] * 3] * 2
    with pytest.raises(ShapeError, match=r"a target is \[-1, 3\] and its gradient \[2\]"):
        paddle.static.gradients(x * 2.0, x, paddle.ones([2]))


def test_what_does_not_depend_on_a_source_has_no_gradient():
    x, y = paddle.static.data("x", [1]), paddle.static.data("y", [1])
    x.stop_gradient = y.stop_gradient = False
    assert paddle.static.gradients(x * 2.0, [x, y])[1] is None


def test_a_test_clone_has_no_gradients_no_updates_and_tests():
    x = paddle.static.data("x", [None, 4])
    out = paddle.nn.functional.dropout(paddle.nn.Linear(4, 4)(x), 0.5)
    paddle.optimizer.SGD(0.1).minimize(paddle.mean(out))
    main = paddle.static.default_main_program()
    test = main.clone(for_test=True)
    types = [o.type for o in test.global_block().ops]
    assert types == ["matmul_v2", "elementwise_add", "dropout", "reduce_mean"]
    assert test.global_block().ops[2].attr("is_test") is True
    assert main.global_block().ops[2].attr("is_test") is False


def seen_by(build):
    """What a callback is told of each gradient operator of the loss that `build` returns."""
    told = []

    def callback(block, context):
        operator = context["__current_op_desc__"]
        results = [n for n in operator.output_arg_names() if n in context]
        told.append((block.idx, operator.type(), [(n, context[n]) for n in results]))

    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    paddle.static.append_backward(build(x), [x], callbacks=(callback,))
    return told


def test_callbacks_are_called_for_every_gradient_operator_when_it_is_there():
    def build(x):
        y = x * 2.0
        return (paddle.exp(y) + y).sum()

    assert seen_by(build) == [
        (0, "reduce_sum_grad", [("tmp_1@GRAD", "tmp_1")]),
        (0, "elementwise_add_grad", [("exp_0.tmp_0@GRAD", "exp_0.tmp_0")]),
        (0, "exp_grad", []),
        (0, "sum", [("tmp_0@GRAD", "tmp_0")]),
        (0, "scale", [("x@GRAD", "x")]),
    ]


def test_callbacks_are_told_of_gradient_operators_in_blocks():
    def build(x):
        return paddle.static.nn.cond(x.sum() > 0, lambda: paddle.exp(x).sum(), lambda: x.sum())

    told = seen_by(build)
    inner = {(block, kind) for block, kind, _ in told if block}
    assert {kind for _, kind in inner} >= {"exp_grad", "reduce_sum_grad"}
    assert len({block for block, _ in inner}) == 2
    assert (0, "conditional_block_grad") in {(block, kind) for block, kind, _ in told}


def test_callbacks_that_are_none_are_refused():
    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    with pytest.raises(TypeError, match="callbacks' in append_backward must be list or tuple"):
        paddle.static.append_backward(x.sum(), callbacks=lambda block, context: None)
    with pytest.raises(ValueError, match="'callback' must be a callable object"):
        paddle.static.append_backward(x.sum(), callbacks=[3])
