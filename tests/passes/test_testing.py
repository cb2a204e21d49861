"""What is saved in training tests, and dropout that drops nothing goes."""

import numpy as np
import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

TESTS, PLAIN = "is_test_pass", "simplify_with_basic_ops_pass"


def test_statistics_are_left_alone_and_whoever_reads_them_reads_the_old():
    def make(x):
        layer = paddle.nn.BatchNorm2D(2)
        y = layer(x)
        return y, layer._mean + 1.0

    recorded = Recorded(make, f32(2, 2, 3, 3))
    outcome = recorded.through(TESTS, frozen=True)
    _, kept = recorded.run(outcome.program)
    assert np.array_equal(kept["batch_norm2d_0.w_1"], np.zeros(2))
    y, mean = recorded.run(outcome.program)[0]
    np.testing.assert_allclose(y, recorded.feeds["x0"] / np.sqrt(1 + 1e-5), rtol=1e-5)
    assert mean.tolist() == [1.0, 1.0]
    assert [e.what for e in outcome.fired(TESTS)] == ["the same for tests"]


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_dropout_for_tests_is_a_scale(mode):
    def make(x):
        y = paddle.nn.functional.dropout(x, 0.25, training=False, mode=mode)
        return y + paddle.uniform([3])

    recorded = Recorded(make, f32(3))
    outcome = recorded.through(PLAIN)
    assert "dropout" in types(recorded.main) and "dropout" not in types(outcome.program)
    (first, *_) = outcome.program.global_block().ops
    assert first.type == "scale"
    assert first.attr("scale") == (1.0 if mode == "upscale_in_train" else 0.75)


def test_dropout_for_training_stays_and_says_so():
    recorded = Recorded(lambda x: paddle.nn.functional.dropout(x, 0.25), f32(3))
    outcome = recorded.through(PLAIN)
    same_values(recorded, outcome)
    assert outcome.explain().endswith("stays: it is for training")
    tested = recorded.through(TESTS, PLAIN, "identity_scale_op_clean_pass")
    assert types(tested.program) == ["scale"]
