"""Composites become their parts, gradients too; what cannot be told apart says why."""

import numpy as np
import pytest

import scull as paddle
from scull.core.op import op_of
from scull.passes.decompose import decomposed
from tests.passes.check import Recorded, f32, same_values, types

APART = "decomposition_pass"


def apart(make, *arrays, exact=False, **options):
    """The operators of a Program made of parts, and what was said."""
    recorded = Recorded(make, *arrays, **options)
    outcome = recorded.through(APART)
    same_values(recorded, outcome, exact=exact)
    return types(outcome.program), outcome


@pytest.mark.parametrize(
    "make",
    [
        lambda x: paddle.nn.functional.gelu(x),
        lambda x: paddle.nn.functional.silu(x),
        lambda x: paddle.nn.functional.softmax(x),
        lambda x: paddle.nn.functional.layer_norm(x, [4]),
        lambda x: paddle.nn.functional.log_softmax(x),
        lambda x: paddle.nn.functional.softplus(x),
        lambda x: paddle.nn.functional.mish(x),
    ],
)
@pytest.mark.parametrize("unknown", [False, True])
def test_composites_become_primitives(make, unknown):
    found, outcome = apart(make, f32(3, 4), unknown=unknown)
    assert all(not op_of(t).composite for t in found), found
    assert outcome.fired()


def test_a_step_of_training_becomes_primitives(golden):
    def make(x, label):
        hidden = paddle.static.nn.fc(x, 4, activation="gelu")
        loss = paddle.nn.functional.softmax_with_cross_entropy(hidden, label).mean()
        paddle.optimizer.Momentum(0.1).minimize(loss)
        return loss

    found, outcome = apart(make, f32(2, 3), np.array([[1], [3]]))
    left = sorted({t for t in found if op_of(t).composite})
    text = "\n".join([*found, "", *(f"stays: {e}" for e in outcome.events[APART] if not e.fired)])
    assert left == [] and text == golden


def test_statistics_are_written_where_they_were():
    def make(x):
        y = paddle.nn.BatchNorm2D(2)(paddle.nn.functional.gelu(x))
        loss = (y * y * y).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    apart(make, f32(2, 2, 3, 3))


def test_what_stays_is_asked_for():
    recorded = Recorded(lambda x: paddle.nn.functional.gelu(paddle.nn.functional.silu(x)), f32(2))
    made = decomposed(recorded.main, stays=lambda op: op.name == "gelu")
    assert types(made) == ["sigmoid", "elementwise_mul", "gelu"]


def test_grouped_updates_become_those_of_each():
    def make(x):
        loss = paddle.static.nn.fc(x, 2).mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
        return loss

    recorded = Recorded(make, f32(2, 3))
    outcome = recorded.through("fuse_all_optimizer_ops_pass", APART)
    same_values(recorded, outcome)
    assert types(outcome.program).count("adam") == 2 and "merged_adam" not in types(outcome.program)


def test_loops_are_taken_apart_within():
    def make(x):
        return paddle.static.nn.while_loop(
            lambda i, y: i < 3,
            lambda i, y: [i + 1, paddle.nn.functional.silu(y)],
            [paddle.zeros([], "int64"), x],
        )[1]

    recorded = Recorded(make, f32(3))
    outcome = recorded.through(APART)
    same_values(recorded, outcome, exact=False)
    assert "silu" not in types(outcome.program, 1)
