"""What nobody needs goes; what acts, draws or is kept stays."""

import numpy as np

import scull as paddle
from scull.passes.pipeline import Pipeline
from tests.passes.check import Recorded, f32, same_values, types

DROP = "dead_code_elimination_pass"
X = f32(2)


def live(make, *arrays):
    """What is left of a Program, and what was said."""
    recorded = Recorded(make, *arrays)
    outcome = recorded.through(DROP)
    same_values(recorded, outcome)
    return types(outcome.program), outcome


def test_what_no_one_reads_goes_with_all_that_led_to_it():
    def make(x):
        paddle.tanh(paddle.exp(x))
        return x * 2.0

    found, outcome = live(make, X)
    assert found == ["scale"]
    assert [e.where for e in outcome.fired()] == ["`exp` (exp_0.tmp_0)", "`tanh` (tanh_0.tmp_0)"]


def test_what_draws_stays_for_what_draws_later():
    def make(x):
        paddle.uniform([3])
        return x + paddle.uniform([2])

    found, outcome = live(make, X)
    assert found.count("uniform_random") == 2
    assert "stays: it draws a number, and later draws would get another" in outcome.explain()


def test_what_acts_outside_stays():
    def make(x):
        made = x.block.create_var("made", shape=[2], dtype="float32")
        paddle.static.py_func(lambda v: np.asarray(v) * 2, x, made)
        return x * 2.0

    found, outcome = live(make, X)
    assert found == ["py_func", "scale"] and "stays: it calls Python" in outcome.explain()


def test_updates_stay_and_what_they_need():
    def make(x):
        w = paddle.create_parameter([2], "float32")
        loss = (x * w).sum()
        paddle.optimizer.Adam(0.1).minimize(loss)
        paddle.exp(loss)
        return loss

    found, _ = live(make, X)
    assert "adam" in found and "elementwise_mul_grad" in found and "exp" not in found


def test_blocks_keep_what_they_hand_on():
    def make(x):
        def body(i, y):
            paddle.tanh(y)
            return [i + 1, y * 2.0]

        return paddle.static.nn.while_loop(
            lambda i, y: i < 3, body, [paddle.zeros([], "int64"), x]
        )[1]

    recorded = Recorded(make, X)
    outcome = recorded.through(DROP)
    same_values(recorded, outcome)
    assert "tanh" in types(recorded.main, 1) and "tanh" not in types(outcome.program, 1)


def test_without_a_fetch_every_end_is_a_result():
    recorded = Recorded(lambda x: paddle.tanh(paddle.exp(x)), X)
    outcome = Pipeline([DROP]).run(recorded.main)
    assert types(outcome.program) == ["exp", "tanh"]
