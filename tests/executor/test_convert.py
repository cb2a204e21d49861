"""Values in the form that kernels take: what is inserted, what is shared, and equal results."""

import numpy as np

import scull as paddle
from scull.executor.plan import make_plan

TURN = "transfer_layout"


def types(out):
    feeds = tuple(v.name for v in out.block.program.list_vars() if v.is_data)
    plan = make_plan(out.block, feeds, (out.name,))
    return [step.operator.type for step in plan.instructions]


def convolved(x, filters, stride=1):
    weight = paddle.static.data(f"w{filters}", [filters, x.shape[-1], 3, 3])
    form = {"data_format": "NHWC", "stride": stride, "padding": 1}
    return paddle.nn.functional.conv2d(x, weight, **form)


def fed(main, *shapes):
    chance = np.random.default_rng(0)
    names = [v.name for v in main.list_vars() if v.is_data]
    return {
        n: chance.standard_normal(s).astype("float32") for n, s in zip(names, shapes, strict=True)
    }


def test_images_with_channels_last_are_turned_and_turned_back(main):
    x = paddle.static.data("x", [2, 8, 8, 3])
    out = convolved(x, 4)
    assert types(out) == [TURN, "conv2d", TURN]
    feed = fed(main, (2, 8, 8, 3), (4, 3, 3, 3))
    (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[out])
    paddle.disable_static()
    x, w = map(paddle.to_tensor, feed.values())
    first = paddle.nn.functional.conv2d(paddle.transpose(x, [0, 3, 1, 2]), w, padding=1)
    paddle.enable_static()
    assert np.array_equal(found, np.moveaxis(first.numpy(), 1, -1))


def test_between_two_such_operators_nothing_is_turned(main):
    x = paddle.static.data("x", [2, 8, 8, 3])
    pooled = paddle.nn.functional.max_pool2d(convolved(x, 4), 2, data_format="NHWC")
    out = paddle.exp(convolved(pooled, 5))
    assert types(out) == [TURN, "conv2d", "pool2d", "conv2d", TURN, "exp"]


def test_gradients_take_what_the_operator_took(main):
    x = paddle.static.data("x", [2, 6, 6, 3])
    x.stop_gradient = False
    out = convolved(x, 4)
    (slope,) = paddle.static.gradients([paddle.mean(out * out)], [x])
    plan = make_plan(slope.block, ("x", "w4"), (slope.name,))
    turned = [s.operator.inputs[0].name for s in plan.instructions if s.operator.type == TURN]
    assert turned.count("x") == 1
    feed = fed(main, (2, 6, 6, 3), (4, 3, 3, 3))
    (found,) = paddle.static.Executor().run(main, feed=feed, fetch_list=[slope])
    paddle.disable_static()
    x, w = map(paddle.to_tensor, feed.values())
    x.stop_gradient = False
    out = paddle.nn.functional.conv2d(x, w, data_format="NHWC", padding=1)
    paddle.mean(out * out).backward()
    paddle.enable_static()
    assert np.allclose(found, x.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_half_precision_is_widened_once_and_rounded_behind(main):
    x = paddle.static.data("x", [4, 6], "float16")
    first = paddle.nn.functional.softplus(x)
    second = paddle.nn.functional.gelu(x)
    out = first + second
    found = types(out)
    assert found.count("transfer_dtype") == 3
    value = np.linspace(-3, 3, 24, dtype="float16").reshape(4, 6)
    (made,) = paddle.static.Executor().run(main, feed={"x": value}, fetch_list=[out])
    paddle.disable_static()
    t = paddle.to_tensor(value)
    expected = paddle.nn.functional.softplus(t) + paddle.nn.functional.gelu(t)
    paddle.enable_static()
    assert made.dtype == np.float16
    assert np.array_equal(made, expected.numpy())


def test_what_is_overwritten_is_widened_anew(main):
    block = main.global_block()
    x = paddle.static.data("x", [4], "float16")
    v = paddle.tanh(x)
    first = paddle.nn.functional.softplus(v)
    paddle.assign(first, output=v)
    out = first + paddle.nn.functional.softplus(v)
    value = np.linspace(-1, 1, 4, dtype="float16")
    (made,) = paddle.static.Executor().run(main, feed={"x": value}, fetch_list=[out])
    paddle.disable_static()
    softplus = paddle.nn.functional.softplus
    once = softplus(paddle.tanh(paddle.to_tensor(value)))
    expected = (once + softplus(once)).numpy()
    paddle.enable_static()
    assert block.ops
    assert np.array_equal(made, expected)


def test_where_nothing_is_converted_the_operators_are_the_programs_own(main):
    x = paddle.static.data("x", [2, 3, 8, 8])
    out = paddle.exp(x)
    plan = make_plan(out.block, ("x",), (out.name,))
    assert [step.operator for step in plan.instructions] == main.global_block().ops
