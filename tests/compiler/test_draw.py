"""Random numbers in machine code: those the instructions draw, in blocks, once."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core import session
from scull.errors import ArgumentError
from scull.flags import flags
from tests.executor.test_compiled import calls_of, program_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
SHAPE = [7, 37]  # rows begin anywhere in a block


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def drawn():
    """Results of draws: those that are exact, and one that is rounded."""
    paddle.static.default_main_program().random_seed = 0  # operators have no seeds
    x = paddle.static.data("x", SHAPE)
    chance = paddle.static.data("chance", SHAPE)
    paddle.randperm(3)  # an instruction that draws, too
    dropped = F.dropout(x, 0.3)
    exact = [
        dropped,
        paddle.uniform(SHAPE, min=-2.0, max=3.0) + x * 0.0,
        paddle.uniform(SHAPE, "float64") + paddle.cast(x, "float64") * 0.0,
        paddle.randint(-5, 90, SHAPE) + paddle.cast(x * 0.0, "int64"),
        paddle.bernoulli(chance),
        paddle.nn.functional.rrelu(x, 0.1, 0.4, training=True),
        F.dropout(x, 0.5, axis=0),
        paddle.uniform([5], seed=11) + x[0, :5] * 0.0,
    ]
    return [*exact, paddle.normal(0.5, 2.0, SHAPE) * 1.0 + x * 0.0]


def fed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=SHAPE).astype("float32")
    return {"x": x, "chance": rng.uniform(size=SHAPE).astype("float32")}


def runs(build, feed, mode, count=3):
    """What a Program gives in some runs in a row, the draws that are left, its functions."""
    main, startup, outs = program_of(build)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    paddle.seed(5)
    with flags(COMPILE=mode), paddle.static.scope_guard(scope):
        exe.run(startup)
        found = [exe.run(main, feed=feed, fetch_list=outs) for _ in range(count)]
    return found, session.generator().get_state(), calls_of(main)


def test_draws_are_those_of_the_instructions_run_after_run():
    expected, state, _ = runs(drawn, fed(), "off")
    found, after, ((*calls,),) = runs(drawn, fed(), "eager")
    assert after == state
    assert len(calls) == 1
    for got, want in zip(found, expected, strict=True):
        for x, y in zip(got[:-1], want[:-1], strict=True):
            np.testing.assert_array_equal(x, y)
        np.testing.assert_allclose(got[-1], want[-1], rtol=2e-6, atol=2e-6)
    assert (found[0][0] != found[1][0]).any()
    np.testing.assert_array_equal(found[0][-2], found[1][-2])  # which has a seed


def learning():
    """A step of a perceptron with dropout, by rows that begin anywhere in a block."""
    paddle.static.default_main_program().random_seed = 0
    x, y = paddle.static.data("x", [16, 20]), paddle.static.data("y", [16, 1], "int64")
    h = F.dropout(F.relu(paddle.nn.Linear(20, 37)(x)), 0.4)
    loss = F.cross_entropy(paddle.nn.Linear(37, 5)(F.dropout(h, 0.1)), y)
    paddle.optimizer.Adam(0.01).minimize(loss)
    return [loss]


def test_a_step_with_dropout_is_one_function_that_draws_each_word_once():
    rng = np.random.default_rng(0)
    feed = {"x": rng.normal(size=(16, 20)).astype("f4"), "y": rng.integers(0, 5, (16, 1))}
    expected, _, _ = runs(learning, feed, "off", 5)
    found, _, ((*calls,),) = runs(learning, feed, "eager", 5)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    (call,) = calls
    assert str(call.native.region).count("random_half") == 2


def attending():
    """Dropout of what has several axes, between products and sums of rows."""
    paddle.static.default_main_program().random_seed = 0
    x = paddle.static.data("x", [2, 6, 16])
    layer = paddle.nn.TransformerEncoderLayer(16, 2, 24, 0.3)
    loss = paddle.mean(paddle.nn.Linear(16, 3)(layer(x)) ** 2)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return [loss]


def test_gradients_read_the_masks_that_the_way_forward_keeps():
    feed = {"x": np.random.default_rng(0).normal(size=(2, 6, 16)).astype("f4")}
    expected, _, _ = runs(attending, feed, "off", 4)
    found, _, ((*calls,),) = runs(attending, feed, "eager", 4)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    (call,) = calls
    assert str(call.native.region).count("random_half") == 4


def test_a_chance_out_of_range_is_told_as_ever():
    x = np.array([0.5, 0.25, 1.5], "float32")

    def build():
        return [paddle.bernoulli(paddle.static.data("x", [3]) * 1.0)]

    for mode in ("off", "eager"):
        with pytest.raises(ArgumentError, match=r"a probability lies outside \[0, 1\]"):
            runs(build, {"x": x}, mode)
