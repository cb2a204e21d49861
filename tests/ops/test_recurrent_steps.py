"""Recurrent layers as machine code: loops of a region, equal to the kernels of the instructions."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
from scull.compiler.flow import Loop, controls
from scull.flags import flags
from tests.executor.test_compiled_flow import Case, normal, static, trained  # noqa: F401

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
LAYERS = {"LSTM": paddle.nn.LSTM, "GRU": paddle.nn.GRU}
CASES = [
    ("LSTM", 1, "forward"),
    ("LSTM", 2, "bidirect"),
    ("GRU", 1, "bidirect"),
    ("GRU", 2, "forward"),
    ("tanh", 1, "bidirect"),
    ("relu", 2, "forward"),
]


def layer(kind, layers, direction):
    if kind in LAYERS:
        return LAYERS[kind](5, 7, num_layers=layers, direction=direction)
    return paddle.nn.SimpleRNN(5, 7, num_layers=layers, direction=direction, activation=kind)


@pytest.mark.parametrize(("kind", "layers", "direction"), CASES)
def test_a_training_step_through_a_recurrent_layer_is_one_function(kind, layers, direction):
    def build(x):
        out, last = layer(kind, layers, direction)(x)
        ends = last if isinstance(last, tuple) else (last,)
        loss = paddle.mean(out * out) + sum(paddle.mean(end) for end in ends)
        return [trained(loss), *paddle.static.gradients([loss], [x])]

    for steps in (1, 6):
        case = Case(build, x=normal(3, steps, 5))
        cells = layers * (2 if direction == "bidirect" else 1)
        assert case.agrees() == [Loop] * (3 * cells)  # back twice


def test_nothing_is_copied_between_the_loops_of_a_layer():
    def build(x):
        return trained(paddle.mean(paddle.nn.LSTM(5, 8)(x)[0]))

    case = Case(build, x=normal(2, 9, 5))
    case.agrees()
    region = case.calls[0].native.region
    forward, backward = controls(region.nodes)
    rows = {whole for _, whole in forward.writes}
    assert len(rows & {whole for _, whole in backward.reads}) == 5  # gates and old states
    assert len(forward.body) < 4 and not any(
        len(x.shape) == 1 and x.size > 999 for x in region.arena.blocks
    )


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_sequences_end_where_their_lengths_say(kind):
    def build(x, lengths):
        out, last = layer(kind, 2, "bidirect")(x, sequence_length=lengths)
        ends = last if isinstance(last, tuple) else (last,)
        loss = paddle.mean(out * out) + sum(paddle.mean(end) for end in ends)
        return [out, trained(loss), *paddle.static.gradients([loss], [x])]

    kinds = Case(build, x=normal(4, 6, 5), lengths=np.array([2, 6, 1, 5])).agrees()
    assert kinds == [Loop] * 12


def test_a_layer_and_its_gradient_are_code_in_functions_of_their_own():
    paddle.disable_static()
    found = []
    for mode in ("off", "eager"):
        paddle.seed(5)
        net = paddle.nn.LSTM(5, 7)
        net.forward = paddle.jit.to_static(net.forward)
        x = paddle.to_tensor(normal(2, 6, 5), stop_gradient=False)
        with flags(COMPILE=mode):
            loss = (net(x)[0] ** 2).mean()
            loss.backward()
        found.append([loss.numpy(), x.grad.numpy(), *(p.grad.numpy() for p in net.parameters())])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
