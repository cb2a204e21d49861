"""Updates of one kind are one operator, which does what they did."""

import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types

GROUP = "fuse_all_optimizer_ops_pass"


def training(optimizer):
    """A step of training of three layers."""

    def make(x):
        hidden = paddle.static.nn.fc(paddle.static.nn.fc(x, 5, activation="tanh"), 4)
        loss = paddle.static.nn.fc(hidden, 1).mean()
        optimizer().minimize(loss)
        return loss

    return make


def grouped(optimizer):
    """The updates behind the pass, and what was said."""
    recorded = Recorded(training(optimizer), f32(3, 4))
    outcome = recorded.through(GROUP)
    same_values(recorded, outcome)
    return [t for t in types(outcome.program) if t.startswith("merged")], outcome


@pytest.mark.parametrize(
    ("optimizer", "type"),
    [
        (lambda: paddle.optimizer.Adam(0.1), "merged_adam"),
        (lambda: paddle.optimizer.Adam(0.1, beta1=0.5, epsilon=1e-3), "merged_adam"),
        (lambda: paddle.optimizer.Momentum(0.1), "merged_momentum"),
        (
            lambda: paddle.optimizer.Momentum(0.1, use_nesterov=True, weight_decay=0.01),
            "merged_momentum",
        ),
    ],
)
def test_updates_of_one_kind_become_one(optimizer, type):
    found, outcome = grouped(optimizer)
    assert found == [type] and len(outcome.fired()) == 6
    (update,) = (o for o in outcome.program.global_block().ops if o.type == type)
    assert len(update.input("Param")) == 6 and update.output("ParamOut") == update.input("Param")
    assert len(update.role_var) == 12


@pytest.mark.parametrize(
    ("optimizer", "reason"),
    [
        (lambda: paddle.optimizer.SGD(0.1), "there is no `merged_sgd`"),
        (lambda: paddle.optimizer.AdamW(0.1), "there is no `merged_adamw`"),
    ],
)
def test_updates_without_an_operator_for_many_say_so(optimizer, reason):
    found, outcome = grouped(optimizer)
    assert found == [] and reason in outcome.explain()


def test_row_sparse_gradients_and_lone_updates_stay():
    def make(x):
        ids = paddle.cast(x, "int64")
        embedded = paddle.static.nn.embedding(ids, [4, 3], is_sparse=True)
        loss = paddle.static.nn.fc(embedded, 1, bias_attr=False).mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
        return loss

    recorded = Recorded(make, f32(3) * 0)
    outcome = recorded.through(GROUP)
    same_values(recorded, outcome)
    assert "the gradient is row-sparse" in outcome.explain()
    assert "it is the only one of its kind" in outcome.explain()


def test_a_parameter_that_is_read_between_updates_is_updated_alone():
    def make(x):
        loss = paddle.static.nn.fc(x, 4, bias_attr=False).mean()
        other = paddle.static.nn.fc(x, 4, bias_attr=False).mean()
        first, second = paddle.optimizer.Adam(0.1), paddle.optimizer.Adam(0.1)
        first.minimize(loss)
        weight = paddle.static.default_main_program().all_parameters()[0]
        second.minimize(other + weight.sum())
        return loss, other

    recorded = Recorded(make, f32(3, 4))
    outcome = recorded.through(GROUP)
    same_values(recorded, outcome)
    assert "before the last update" in outcome.explain()
