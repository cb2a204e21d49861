"""Operators of a Program taken apart into those their bodies are made of."""

import numpy as np
import pytest

import scull as paddle
from scull.base import core
from scull.errors import ArgumentTypeError
from scull.incubate.autograd.primapi import to_prim

X = np.arange(24, dtype="float32").reshape(2, 4, 3)


@pytest.fixture
def network():
    """A Program with layer_norm and softmax, and its result."""
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program, paddle.static.Program()):
        x = paddle.static.data("x", [-1, 4, 3])
        x.stop_gradient = False
        y = paddle.nn.functional.instance_norm(x)
        core._set_prim_all_enabled(True)
        yield program, paddle.nn.functional.relu(y * y), x
    core._set_prim_all_enabled(False)
    paddle.disable_static()


def types(program):
    return [o.type for o in program.global_block().ops]


def value(program, y):
    return paddle.static.Executor().run(program, feed={"x": X}, fetch_list=[y])[0]


def test_parts_give_the_values_and_gradients_of_the_whole(network):
    program, y, x = network
    whole = program.clone()
    before = value(program, y)
    to_prim(program.blocks)
    assert not {"instance_norm", "reduce_mean", "relu"} & set(types(program))
    assert {"reduce_sum", "elementwise_max"} <= set(types(program))
    np.testing.assert_allclose(value(program, y), before, rtol=1e-5)
    twin = whole.global_block()
    (d,) = paddle.static.gradients(y, [x])
    with paddle.static.program_guard(whole, paddle.static.Program()):
        (expected,) = paddle.static.gradients(twin.var(y.name), [twin.var("x")])
    np.testing.assert_allclose(value(program, d), value(whole, expected), atol=1e-4)


def test_results_that_are_operands_further_on_keep_their_names(network):
    program, _, _ = network
    names = [n for o in program.global_block().ops for n in o.output_arg_names]
    to_prim(program.blocks)
    after = {n for o in program.global_block().ops for n in o.output_arg_names}
    assert set(names) <= after
    known = program.global_block()
    assert all(known.has_var(n) for o in known.ops for n in o.input_arg_names)


def test_types_and_places_choose_what_stays(network):
    program, _, _ = network
    before = types(program)
    block = program.global_block()
    to_prim(block, blacklist={"instance_norm", "relu"})
    to_prim(block, whitelist={"softmax"})
    to_prim(block, start_idx=len(before))
    to_prim(block, backward_length=len(before))
    assert types(program) == before
    to_prim(block, whitelist={"instance_norm"})
    assert types(program) != before


def test_nothing_is_done_unless_it_was_asked_for(network):
    program, _, _ = network
    core._set_prim_all_enabled(False)
    before = types(program)
    to_prim(program.blocks)
    assert types(program) == before


def test_what_is_no_block_is_refused():
    with pytest.raises(ArgumentTypeError, match="a Block or a sequence of Blocks"):
        to_prim("block")


@pytest.fixture
def primitive():
    """The flag that asks for primitive operators."""
    core._set_prim_all_enabled(True)
    yield
    core._set_prim_all_enabled(False)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_batch_norm_in_parts_gives_values_gradients_and_statistics(primitive, training, layout):
    def net():
        paddle.seed(3)
        made = paddle.nn.BatchNorm2D(4, data_format=layout)
        made.weight.set_value(paddle.rand([4]))
        made.train() if training else made.eval()
        return made

    x = paddle.to_tensor(np.random.default_rng(0).random((2, 4, 3, 4), "float32"))
    x.stop_gradient = False
    results = []
    for layer in (net(), paddle.jit.to_static(net(), full_graph=True)):
        x.clear_grad()
        y = layer(x)
        (y * y * y).mean().backward()
        grads = [x.grad, layer.weight.grad, layer.bias.grad]
        results.append([y, *grads, layer._mean, layer._variance])
    for eager, static in zip(*results, strict=True):
        np.testing.assert_allclose(static.numpy(), eager.numpy(), rtol=1e-4, atol=1e-6)
    program = layer.forward.get_concrete_program(x)[1].train_program
    assert not {"batch_norm", "batch_norm_grad", "reduce_mean"} & set(types(program))


@pytest.mark.parametrize("axis", [None, 0, [-1, 0]])
@pytest.mark.parametrize("keepdim", [True, False])
def test_a_mean_in_parts_is_that_of_eager_mode(primitive, axis, keepdim):
    def function(x):
        return paddle.mean(x, axis, keepdim), paddle.nn.functional.relu(x - 9.0)

    for eager, static in zip(
        function(paddle.to_tensor(X)),
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(X)),
        strict=True,
    ):
        np.testing.assert_allclose(static.numpy(), eager.numpy(), rtol=1e-6)
