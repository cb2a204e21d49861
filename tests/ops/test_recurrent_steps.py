"""Recurrent layers as machine code: loops of a region, equal to the kernels of the instructions."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
from scull.compiler.flow import Loop, controls
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


def test_sequences_of_several_lengths_are_left_to_the_kernel():
    def build(x, lengths):
        return paddle.nn.GRU(5, 4)(x, sequence_length=lengths)[0]

    case = Case(build, x=normal(3, 6, 5), lengths=np.array([2, 6, 1]))
    for got, want in zip(case.run("eager"), case.run("off"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
