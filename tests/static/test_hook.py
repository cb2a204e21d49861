"""Hooks of Variables: functions that gradients pass through whenever a Program runs."""

import gc

import numpy as np
import pytest

import scull as paddle
from scull.errors import TapeError, UnsupportedError


def doubled(gradient):
    return gradient * 2


def behind_its_uses(x):
    y = x + 4
    f = y + x
    z = f**2
    y.register_hook(doubled)
    f.register_hook(doubled)
    x.register_hook(doubled)
    return z


def twice(x):
    x.register_hook(doubled)
    x.register_hook(doubled)
    return x**2


def in_rounds(x):
    for _ in range(paddle.full([], 3, "int64")):
        x = x * x
        x.register_hook(doubled)
    return x


def in_a_branch(x):
    if x.sum() > 0:
        y = x * 2
        y.register_hook(lambda g: g + 1)
    else:
        y = x * 3
    return y


def before_and_after_a_write(x):
    y = x * 2
    y.register_hook(doubled)
    y.add_(paddle.ones([1]))
    z = y * 3
    y.register_hook(lambda g: g + 1)
    return z * y


def taken_away(x):
    y = x * 2
    y.register_hook(doubled).remove()
    return y


@pytest.mark.parametrize(
    "function",
    [behind_its_uses, twice, in_rounds, in_a_branch, before_and_after_a_write, taken_away],
    ids=lambda f: f.__name__,
)
def test_hooks_change_gradients_as_in_eager_mode(function):
    found = []
    for ran in (function, paddle.jit.to_static(function, full_graph=True)):
        for start in (2.0, 2.0, 3.0):
            x = paddle.to_tensor([start], stop_gradient=False)
            ran(x).sum().backward()
            found.append(x.grad.item())
            gc.collect()  # nothing but the Program holds the functions
    assert found[:3] == found[3:]


def test_a_hook_sees_the_gradient_of_every_run_and_may_leave_it():
    seen = []

    @paddle.jit.to_static(full_graph=True)
    def function(x):
        y = x * 2
        y.register_hook(lambda g: seen.append(g.numpy().tolist()))
        return y * y

    for start in (1.0, 2.0):
        x = paddle.to_tensor([start], stop_gradient=False)
        function(x).backward()
        assert x.grad.item() == 8 * start
    assert seen == [[4.0], [8.0]]


@pytest.mark.parametrize("full_graph", [None, True, False])
def test_hooks_run_in_their_order_in_a_whole_step(full_graph):
    def trained():
        layer = paddle.nn.Linear(3, 2, weight_attr=paddle.nn.initializer.Constant(0.3))
        optimizer, seen = paddle.optimizer.SGD(0.1, parameters=layer.parameters()), []

        def step(x):
            h = layer(x)
            h.register_hook(lambda g: g.clip(-0.05, 0.05))
            h.register_hook(lambda g: seen.append(float(g.abs().max())))
            (h**2).sum().backward()
            optimizer.step()
            optimizer.clear_grad()

        if full_graph is not None:
            step = paddle.jit.to_static(step, full_graph=full_graph)
        for rows in (1, 2, 1):
            step(paddle.ones([rows, 3]))
        return seen, layer.weight.numpy()

    seen, weight = trained()
    assert seen == pytest.approx([0.05, 0.05, 0.05])
    np.testing.assert_allclose(weight, np.full((3, 2), 0.3 - 4 * 0.005), rtol=1e-6)


def test_a_gradient_that_a_hook_made_has_no_gradient_in_a_static_function():
    @paddle.jit.to_static(full_graph=True)
    def function(x):
        y = x * x
        y.register_hook(doubled)
        return (y * x).sum()

    x = paddle.to_tensor([2.0], stop_gradient=False)
    (dx,) = paddle.grad(function(x), x, create_graph=True)
    assert dx.item() == 20.0
    with pytest.raises(UnsupportedError, match="a hook changed this gradient"):
        dx.backward()


def test_a_hook_of_a_program_of_operators():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2])
            x.stop_gradient = False
            y = x * 3
            y.register_hook(doubled)
            (dx,) = paddle.static.gradients(y * y, [x])
            feed = {"x": np.ones(2, "float32")}
            (found,) = paddle.static.Executor().run(feed=feed, fetch_list=[dx])
    finally:
        paddle.disable_static()
    assert found.tolist() == [36.0, 36.0]


def test_a_saved_model_has_no_hooks_and_no_gradients_of_python(tmp_path):
    class Tripled(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, dout):
            return dout * 5

    class Net(paddle.nn.Layer):
        def forward(self, x):
            y = Tripled.apply(x)
            y.register_hook(doubled)
            return y + 1

    path = str(tmp_path / "net")
    net = Net()
    paddle.jit.save(net, path, [paddle.static.InputSpec([None], stop_gradient=False)])
    loaded = paddle.jit.load(path)
    types = {o.type for b in loaded.program().blocks for o in b.ops}
    assert not types & {"python_gradient", "py_func"}
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert loaded(x).tolist() == net(x).tolist() == [4.0, 7.0]
    paddle.jit.to_static(net, full_graph=True)(x).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_a_hook_needs_a_gradient_a_function_and_the_place_of_its_tensor():
    def fails(function, kind, law):
        x = paddle.to_tensor([1.0], stop_gradient=False)
        with pytest.raises(kind, match=law):
            paddle.jit.to_static(function, full_graph=True)(x)

    def outside(x):
        y = x * 2
        if x.sum() > 0:
            y.register_hook(doubled)
        return y

    fails(lambda x: x.detach().register_hook(doubled), TapeError, "stop gradient")
    fails(lambda x: (x * 2).register_hook(3), TypeError, "a hook is called, and int cannot be")
    fails(outside, UnsupportedError, "made outside this branch")
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.warns(UserWarning, match="in pieces"):
        paddle.jit.to_static(outside, full_graph=False)(x).backward()
    assert x.grad.item() == 4.0
