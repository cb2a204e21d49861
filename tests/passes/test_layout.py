"""Images have channels last inside; orders of axes change at the edges alone."""

import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

TURN, COPIES = "transfer_layout_pass", "identity_scale_op_clean_pass"
F = paddle.nn.functional


def turned(make, *arrays, **options):
    """The operators behind the pass, and what was said."""
    recorded = Recorded(make, *arrays, **options)
    outcome = recorded.through(TURN)
    same_values(recorded, outcome, exact=False)
    return types(outcome.program), outcome


def block(x):
    """A block of a residual network."""
    first = F.relu(paddle.nn.BatchNorm2D(3)(paddle.nn.Conv2D(3, 3, 3, padding=1)(x)))
    pooled = F.max_pool2d(paddle.nn.Conv2D(3, 3, 3, padding=1, bias_attr=False)(first), 2)
    return F.relu(pooled + F.avg_pool2d(x, 2))


@pytest.mark.parametrize("unknown", [False, True])
def test_a_residual_block_turns_its_images_once_on_the_way_in_and_once_out(unknown):
    found, outcome = turned(block, f32(2, 3, 6, 6), unknown=unknown)
    images = [
        o.attr("data_format")
        for o in outcome.program.global_block().ops
        if o.type in ("conv2d", "pool2d")
    ]
    assert images == ["NHWC"] * 4
    assert found.count("transpose2") == 3 and found[-1] == "transpose2"  # x, the bias, the result


def test_a_value_that_somebody_needs_as_it_was_is_turned_back():
    def make(x):
        y = paddle.nn.Conv2D(2, 3, 1, bias_attr=False)(x)
        return F.relu(y), y.sum(axis=1)

    found, _ = turned(make, f32(1, 2, 3, 3))
    assert sorted(found) == ["conv2d", "reduce_sum", "relu", *["transpose2"] * 3]


def test_what_is_not_of_images_or_has_them_so_already_stays():
    def last(x):
        return paddle.nn.Conv2D(3, 2, 1, data_format="NHWC", bias_attr=False)(x)

    found, outcome = turned(last, f32(1, 2, 2, 3))
    assert found == ["conv2d"] and "stays: they are NHWC already" in outcome.explain()
    found, outcome = turned(lambda x: paddle.nn.BatchNorm1D(3)(x), f32(4, 3))
    assert found == ["batch_norm"] and not outcome.fired()
    found, _ = turned(lambda x: F.relu(x) + x, f32(1, 2, 2, 3))
    assert found == ["relu", "elementwise_add"]


def test_a_step_of_training_keeps_what_its_gradients_read():
    def make(x):
        y = paddle.nn.Conv2D(2, 2, 3)(x)
        loss = (F.relu(y) * y).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    found, _ = turned(make, f32(1, 2, 4, 4))
    assert "conv2d_grad" in found
