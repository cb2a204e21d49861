"""What does nothing goes; what only seems to do nothing stays."""

import numpy as np
import pytest

import scull as paddle
from scull.ops.create import add_n, scale
from scull.ops.join import concat
from scull.passes.identity import COPIES, IDENTITIES, Identity
from scull.passes.rewrite import apply
from tests.passes.check import Recorded, f32, same_values, types

X = f32(2, 3)
GOES = {
    "a copy": (lambda x: paddle.assign(x), []),
    "a scale by one": (lambda x: scale(x), []),
    "a product with one": (lambda x: x * paddle.ones([1]), []),
    "one times it": (lambda x: paddle.ones([1]) * x, []),
    "divided by one": (lambda x: x / paddle.ones([1]), []),
    "less zero": (lambda x: x - paddle.zeros([1]), []),
    "a cast to its own type": (lambda x: paddle.cast(x, "float32"), []),
    "one alone, joined": (lambda x: concat([x], axis=1), []),
    "one alone, summed": (lambda x: add_n([x]), []),
    "relu twice": (lambda x: paddle.nn.functional.relu(paddle.nn.functional.relu(x)), ["relu"]),
    "abs twice": (lambda x: paddle.abs(paddle.abs(x)), ["abs"]),
    "floor twice": (lambda x: paddle.floor(paddle.floor(x)), ["floor"]),
    "ceil twice": (lambda x: paddle.ceil(paddle.ceil(x)), ["ceil"]),
    "negated twice": (lambda x: scale(scale(x, scale=-1.0), scale=-1.0), []),
    "axes left where they are": (lambda x: paddle.transpose(x, [0, 1]), []),
    "axes swapped twice": (lambda x: paddle.transpose(paddle.transpose(x, [1, 0]), [1, 0]), []),
    "its own shape": (lambda x: paddle.reshape(x, [2, -1]), []),
    "two shapes": (lambda x: paddle.reshape(paddle.reshape(x, [6]), [3, 2]), ["reshape2"]),
    "expanded to itself": (lambda x: paddle.expand(x, [2, 3]), []),
    "an axis put in and out": (lambda x: paddle.squeeze(paddle.unsqueeze(x, 0), 0), []),
}
STAYS = {
    "a product with one of a larger shape": lambda x: x * paddle.ones([4, 2, 3]),
    "a sum with zero": lambda x: x + paddle.zeros([1]),
    "a product with two": lambda x: x * paddle.full([1], 2.0),
    "zero less it": lambda x: paddle.zeros([1]) - x,
    "a scale with an offset": lambda x: scale(x, bias=1.0),
    "another order of axes": lambda x: paddle.transpose(x, [1, 0]),
    "a shape that keeps sizes": lambda x: paddle.reshape(paddle.reshape(x, [3, 2]), [0, 2]),
}


def simplified(make, *arrays, **options):
    """The operators without constants that are left of a Program, and what was said."""
    recorded = Recorded(make, *arrays, **options)
    names = "identity_scale_op_clean_pass", "identity_op_clean_pass", "dead_code_elimination_pass"
    outcome = recorded.through(*names)
    same_values(recorded, outcome)
    return [t for t in types(outcome.program) if t != "fill_constant"], outcome


@pytest.mark.parametrize("case", GOES)
def test_what_gives_what_it_is_given_goes(case):
    make, left = GOES[case]
    found, outcome = simplified(lambda x: paddle.tanh(make(paddle.exp(x))), X)
    assert found == ["exp", *left, "tanh"] and outcome.fired()
    again = Recorded(lambda x: paddle.tanh(make(paddle.exp(x))), X, unknown=True)
    same_values(again, again.through("identity_scale_op_clean_pass", "identity_op_clean_pass"))


@pytest.mark.parametrize("case", STAYS)
def test_what_only_seems_to_do_nothing_stays(case):
    found, _ = simplified(lambda x: paddle.tanh(STAYS[case](paddle.exp(x))), X)
    assert len(found) > 2


def test_the_sign_of_zero_is_kept():
    zeros = np.array([0.0, -0.0], "float32")
    recorded = Recorded(lambda x: paddle.exp(x + paddle.zeros([1])), zeros)
    outcome = recorded.through("identity_op_clean_pass")
    (event,) = outcome.events["identity_op_clean_pass"]
    assert str(event).endswith("stays: `x0` is float32[2], and -0.0 + 0.0 is 0.0")
    whole, _ = simplified(lambda x: (x + paddle.zeros([1], "int64")) * x, np.array([1, 2]))
    assert whole == ["elementwise_mul"]


def test_truth_denied_twice_is_itself_and_other_values_become_truth():
    def denied(x):
        return paddle.logical_not(paddle.logical_not(x))

    truth, _ = simplified(lambda x: paddle.cast(denied(x), "int32"), np.array([True, False]))
    assert truth == ["cast"]
    number, _ = simplified(lambda x: paddle.cast(denied(x), "int32"), np.array([2, 0]))
    assert number == ["logical_not", "logical_not", "cast"]


def test_sizes_that_are_unknown_are_not_taken_for_equal():
    def flat(x):
        return paddle.tanh(paddle.reshape(paddle.exp(x), [-1, 3]))

    assert simplified(flat, X, unknown=True)[0] == ["exp", "tanh"]

    def swapped(x):
        return paddle.tanh(paddle.expand(paddle.exp(x), [-1, 3]))

    found, outcome = simplified(swapped, X, unknown=True)
    assert found == ["exp", "expand_v2", "tanh"]
    assert "of unknown size" in outcome.explain()


def test_every_row_of_the_tables_is_found_once_and_no_more():
    made = 0
    for make, _ in GOES.values():
        graph = Recorded(lambda x, make=make: paddle.tanh(make(paddle.exp(x))), X).graph()
        rewrites = [Identity(*row) for row in (*COPIES, *IDENTITIES)]
        made += sum(event.fired for event in apply(rewrites, graph))
        assert not any(event.fired for event in apply(rewrites, graph))
    assert made >= len(GOES)
