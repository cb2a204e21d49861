"""What is computed twice of the same values is computed once."""

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

SHARE = "common_subexpression_elimination_pass"
X = f32(2, 2)


def shared(make, *arrays):
    """What is left of a Program, and what was said."""
    recorded = Recorded(make, *arrays)
    outcome = recorded.through(SHARE)
    same_values(recorded, outcome)
    return types(outcome.program), outcome


def test_two_alike_become_one_and_what_follows_from_them_too():
    found, _ = shared(lambda x: paddle.tanh(paddle.exp(x)) + paddle.tanh(paddle.exp(x)), X)
    assert found == ["exp", "tanh", "elementwise_add"]


def test_attributes_and_operands_tell_them_apart():
    found, _ = shared(lambda x: paddle.sum(x, axis=0) + paddle.sum(x, axis=1), X)
    assert found.count("reduce_sum") == 2
    found, _ = shared(lambda x: paddle.matmul(x, x.T) @ paddle.matmul(x.T, x), X)
    assert found.count("matmul_v2") == 3 and found.count("transpose2") == 1


def test_constants_are_compared_by_what_they_fill_in():
    found, _ = shared(lambda x: x + paddle.full([1], 2.0) + paddle.full([1], 2.0), X)
    assert found.count("fill_constant") == 1
    found, _ = shared(lambda x: x + paddle.full([1], 0.0) * paddle.full([1], -0.0), X)
    assert found.count("fill_constant") == 2


def test_what_draws_is_never_the_same():
    found, _ = shared(lambda x: x + paddle.uniform([2, 2]) + paddle.uniform([2, 2]), X)
    assert found.count("uniform_random") == 2


def test_what_is_fetched_twice_stays_two_and_says_so():
    found, outcome = shared(lambda x: (paddle.exp(x), paddle.exp(x)), X)
    assert found == ["exp", "exp"]
    assert outcome.explain().endswith("`exp` (exp_1.tmp_0) stays: `exp_1.tmp_0` is fetched")


def test_a_value_that_is_written_over_is_not_shared():
    def make(x):
        y, z = x.sum(), x.sum()
        paddle.increment(y)
        return y * z

    found, outcome = shared(make, X)
    assert found.count("reduce_sum") == 2
    assert "is written over by `increment`" in outcome.explain()


def test_versions_of_one_variable_are_different_values():
    def make(x):
        total = x.sum() * 1.0
        first = paddle.exp(total)
        paddle.increment(total)
        return first + paddle.exp(total)

    assert shared(make, X)[0].count("exp") == 2


def test_a_gradient_reads_what_was_computed_before():
    def make(x):
        w = paddle.create_parameter([2, 2], "float32")
        loss = (paddle.tanh(x @ w) * paddle.tanh(x @ w)).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    found, _ = shared(make, X)
    assert found.count("tanh") == found.count("matmul_v2") == 1
