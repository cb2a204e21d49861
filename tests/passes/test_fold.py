"""Constants are computed once: where they may be, and where not and why."""

import numpy as np

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

FOLD = "constant_folding_pass"
X = f32(3)


def folded(make, *arrays, **options):
    """What is left of a Program after folding, and what was said."""
    frozen = options.pop("frozen", False)
    recorded = Recorded(make, *arrays, **options)
    outcome = recorded.through(FOLD, frozen=frozen)
    same_values(recorded, outcome)
    return types(outcome.program), outcome


def test_what_depends_on_constants_alone_is_a_list_of_numbers():
    def make(x):
        steps = paddle.concat([paddle.full([1], 2.0), paddle.full([2], 3.0)])
        return x * paddle.exp(steps * 2.0 + 1.0)

    found, outcome = folded(make, X)
    assert found == ["assign_value", "elementwise_mul"]
    assert outcome.fired(FOLD)[0].what == "a constant, float32[3]"


def test_every_element_type_keeps_its_bits():
    def make(x):
        values = [
            paddle.cast(paddle.full([2], 7.3), dtype)
            for dtype in ("bool", "int32", "int64", "float64", "float16", "int8")
        ]
        return [x, *(paddle.concat([v, v]) for v in values)]

    found, outcome = folded(make, X)
    assert found.count("assign_value") == 4 and found.count("concat") == 2
    assert "too long for a list of numbers" in outcome.explain()


def test_a_constant_stays_where_it_stands_already():
    found, outcome = folded(lambda x: x + paddle.full([3], 2.0), X)
    assert found == ["fill_constant", "elementwise_add"] and not outcome.fired()


def test_parameters_are_constants_where_nothing_writes_them():
    def make(x, w):
        return x @ paddle.transpose(paddle.tanh(w), [1, 0])

    arrays = f32(2, 3), f32(4, 3)
    assert folded(make, *arrays, weights=(1,))[0] == ["tanh", "transpose2", "matmul_v2"]
    found, outcome = folded(make, *arrays, weights=(1,), frozen=True)
    assert found == ["matmul_v2"]
    assert outcome.scope.parent is not None and len(outcome.scope.cells) == 1

    def written(x, w):
        y = x @ paddle.transpose(w, [1, 0])
        paddle.assign(w * 2.0, w)
        return y

    assert "transpose2" in folded(written, *arrays, weights=(1,), frozen=True)[0]


def test_a_constant_larger_than_what_makes_it_stays():
    found, outcome = folded(lambda x: paddle.ones([1000, 1000]).sum() + x, X, frozen=True)
    assert "reduce_sum" in found and not outcome.fired()


def test_what_draws_or_is_written_twice_stays():
    def make(x):
        counter = paddle.zeros([1])
        paddle.increment(counter)
        return x + counter, paddle.uniform([3]) + x

    found, _ = folded(make, X)
    assert "increment" in found and "uniform_random" in found


def test_a_result_that_is_fetched_is_folded_too():
    found, _ = folded(lambda x: (x, paddle.ones([2]) * 3.0 + 1.0), X)
    assert found == ["assign_value"]


def test_what_fails_fails_when_it_runs():
    def make(x):
        return x + paddle.gather(paddle.ones([2]), paddle.full([1], 5, "int64"))

    recorded = Recorded(make, X)
    assert "gather" in types(recorded.through(FOLD).program)


def test_a_loop_is_folded_within_but_for_what_it_hands_on():
    def make(x):
        return paddle.static.nn.while_loop(
            lambda i, y: i < 3,
            lambda i, y: [i + 1, y * paddle.exp(paddle.full([1], 0.5) + 1.0)],
            [paddle.zeros([], "int64"), x],
        )[1]

    recorded = Recorded(make, X)
    outcome = recorded.through(FOLD)
    same_values(recorded, outcome)
    assert "exp" not in types(outcome.program, 1) and "assign_value" in types(outcome.program, 1)


def test_numbers_that_are_no_numbers_are_kept():
    def make(x):
        infinite = paddle.full([2], np.inf) * 2.0
        return x, infinite, infinite - infinite, paddle.full([1], -0.0) * 1.5

    assert "elementwise_sub" not in folded(make, X)[0]
