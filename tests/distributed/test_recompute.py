"""Layers whose inner values are computed again for backward."""

import importlib

import numpy as np
import pytest
from scull.distributed.fleet.utils import recompute

import scull as paddle
from scull.distributed import fleet
from scull.distributed.fleet.recompute import recompute_sequential
from scull.errors import ArgumentError, TapeError

WAYS = pytest.mark.parametrize("way", [{}, {"use_reentrant": False}], ids=["layer", "hooks"])
X = np.linspace(-1, 1, 6).reshape(2, 3).astype("float32")


def leaf():
    return paddle.to_tensor(X, stop_gradient=False)


def direct(function, *arguments, **_):
    return function(*arguments)


def trained(call, **way):
    """Everything that a step of a net with dropout gives."""
    paddle.seed(5)
    inner, outer = paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 2)
    drop, x = paddle.nn.Dropout(0.5), leaf()

    def block(v, factor):
        return paddle.tanh(drop(inner(v))) * factor, None, v * 2

    y, none, z = call(block, x, 3.0, **way)
    assert none is None
    out = call(lambda v: paddle.nn.functional.softmax(outer(v)), y, **way)
    (out[:, 0].sum() + z.mean()).backward()
    return [t.numpy() for t in (out, x.grad, inner.weight.grad, outer.bias.grad, paddle.rand([2]))]


@WAYS
def test_gradients_and_random_numbers_are_those_of_a_plain_call(way):
    for found, expected in zip(trained(recompute, **way), trained(direct), strict=True):
        assert np.array_equal(found, expected)


@WAYS
def test_the_function_runs_again_in_backward_alone(way):
    runs = []

    def block(v):
        runs.append(paddle.is_grad_enabled())
        return recompute(lambda u: u * u, v, **way) * 2

    x = leaf()
    y = recompute(block, x, **way)
    assert len(runs) == 1
    y.sum().backward()
    assert len(runs) == 2
    assert runs[1]
    assert np.array_equal(x.grad.numpy(), 4 * X)
    with paddle.no_grad():
        assert recompute(block, x, **way).stop_gradient


@WAYS
def test_casts_are_those_of_the_first_call(way):
    x, w = leaf(), paddle.ones([3, 2])
    seen = []
    with paddle.amp.auto_cast(dtype="bfloat16"):
        y = recompute(lambda v: (seen.append((v @ w).dtype), v @ w)[1], x, **way)
    y.sum().backward()
    assert seen == [paddle.bfloat16] * 2
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_without_a_gradient_among_the_arguments_only_hooks_train_what_is_within():
    net, x = paddle.nn.Linear(3, 2), paddle.to_tensor(X)
    with pytest.warns(UserWarning, match="None of the inputs to current recompute block need"):
        assert recompute(net, x).stop_gradient
    recompute(lambda v, times: net(v) * times, x, times=3, use_reentrant=False).sum().backward()
    assert net.bias.grad.tolist() == [6.0, 6.0]
    with pytest.raises(ArgumentError, match="please set use_reentrant=False"):
        recompute(net, x, times=3)


def test_it_stands_where_scripts_look_for_it():
    assert importlib.import_module("scull.incubate.distributed.fleet").recompute is recompute
    assert fleet.utils.recompute is fleet.recompute.recompute is recompute


def test_another_second_run_is_refused():
    factors = [1]

    def block(v):
        for _ in range(len(factors)):
            v = v * v
        return v

    y = recompute(block, leaf(), use_reentrant=False)
    factors.append(2)
    with pytest.raises(TapeError, match="not do the same the second time"):
        y.sum().backward()


def test_a_sequence_is_recomputed_but_for_its_last_segment():
    runs = []
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 3), paddle.nn.Tanh(), paddle.nn.Linear(3, 2))
    for i, layer in enumerate(net):
        layer.register_forward_pre_hook(lambda *_, i=i: runs.append(i))
    x = leaf()
    y = recompute_sequential({"segments": 2}, net, x)
    assert np.array_equal(y.numpy(), net(x).numpy())
    runs.clear()
    y.sum().backward()
    assert runs == [0]


def test_a_function_made_static_has_it_within():
    net, x = paddle.nn.Linear(3, 2), leaf()
    static = paddle.jit.to_static(lambda v: recompute(net, v))
    static(x).sum().backward()
    assert net.bias.grad.tolist() == [2.0, 2.0]
