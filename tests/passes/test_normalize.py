"""Statistics of tests become part of a convolution before them."""

import numpy as np
import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

FOLD = "conv_bn_fuse_pass"


def statistics(layer, channels):
    """Let a layer of statistics have some that differ from channel to channel."""
    rng = np.random.default_rng(5)
    start = paddle.nn.initializer.Assign
    params = {
        "weight_attr": start(rng.uniform(0.5, 2, channels).astype("float32")),
        "bias_attr": start(rng.standard_normal(channels).astype("float32")),
    }
    made = layer(channels, **params)
    for buffer, low in ((made._mean, -1.0), (made._variance, 0.5)):
        value = rng.uniform(low, 2.0, channels).astype("float32")
        block = paddle.static.default_startup_program().global_block()
        block.append_op(
            "assign_value",
            {},
            {"Out": [block.var(buffer.name)]},
            {"shape": [channels], "dtype": paddle.float32, "fp32_values": value.tolist()},
        )
    return made


def network(convolution, layer=paddle.nn.BatchNorm2D, *, tests=True):
    """A convolution and what normalizes it."""

    def make(x):
        before = convolution()
        after = statistics(layer, 4)
        if tests:
            after.eval()
        return paddle.nn.functional.relu(after(before(x)))

    return make


CASES = {
    "with a bias": (lambda: paddle.nn.Conv2D(2, 4, 3, padding=1), "conv2d"),
    "without": (lambda: paddle.nn.Conv2D(2, 4, 3, bias_attr=False), "conv2d"),
    "of one place": (lambda: paddle.nn.Conv2D(2, 4, 1), "conv2d"),
    "depthwise": (lambda: paddle.nn.Conv2D(2, 4, 3, groups=2), "depthwise_conv2d"),
    "transposed": (lambda: paddle.nn.Conv2DTranspose(2, 4, 2), "conv2d_transpose"),
}


@pytest.mark.parametrize("case", CASES)
def test_statistics_behind_a_convolution_are_folded_into_it(case):
    convolution, type = CASES[case]
    recorded = Recorded(network(convolution), f32(2, 2, 5, 5))
    outcome = recorded.through("is_test_pass", FOLD, frozen=True)
    same_values(recorded, outcome, exact=False)
    found = [t for t in types(outcome.program) if t != "reshape2"]
    assert found[-3:] == [type if type in found else "conv2d", "elementwise_add", "relu"]
    assert "batch_norm" not in found and len(outcome.fired(FOLD)) == 1


def test_volumes_are_folded_too():
    recorded = Recorded(
        network(lambda: paddle.nn.Conv3D(2, 4, 2), paddle.nn.BatchNorm3D), f32(1, 2, 3, 3, 3)
    )
    outcome = recorded.through("is_test_pass", FOLD, frozen=True)
    same_values(recorded, outcome, exact=False)
    assert "batch_norm" not in types(outcome.program)


@pytest.mark.parametrize(
    ("make", "frozen", "reason"),
    [
        (network(CASES["without"][0], tests=False), True, "it is for training"),
        (network(CASES["without"][0]), False, "may change from run to run"),
        (network(lambda: paddle.nn.ReLU()), True, "comes from `relu`, not from a convolution"),
        (
            network(lambda: paddle.nn.Conv2DTranspose(4, 4, 2, groups=2)),
            True,
            "`conv2d_transpose` has groups",
        ),
    ],
)
def test_what_cannot_be_folded_says_why(make, frozen, reason):
    channels = 4 if "groups" in reason or "relu" in reason else 2
    recorded = Recorded(make, f32(2, channels, 5, 5))
    before = () if "training" in reason else ("is_test_pass",)
    outcome = recorded.through(*before, FOLD, frozen=frozen)
    same_values(recorded, outcome)
    assert reason in outcome.explain() and not outcome.fired(FOLD)


def test_a_convolution_that_others_read_stays():
    def make(x):
        after = statistics(paddle.nn.BatchNorm2D, 4)
        after.eval()
        y = paddle.nn.Conv2D(2, 4, 3, bias_attr=False)(x)
        return after(y), paddle.tanh(y)

    recorded = Recorded(make, f32(1, 2, 4, 4))
    outcome = recorded.through("is_test_pass", FOLD, frozen=True)
    same_values(recorded, outcome)
    assert "is read by `tanh`" in outcome.explain() and not outcome.fired()
