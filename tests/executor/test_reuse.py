"""The in-place pass: which results take the memory of operands, and that no value changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull.executor.binding import Bound, fetched, filled
from scull.executor.plan import make_plan
from scull.executor.run import Ledger, run_checked
from scull.flags import flags
from tests.executor.random_program import actions, build


def over(out, *fetches, reuses=True):
    """The types of the operators that write over an operand in a run for `out`."""
    feeds = tuple(v.name for v in out.block.program.list_vars() if v.is_data)
    names = tuple(v.name for v in (out, *fetches))
    plan = make_plan(out.block, feeds, names, reuses=reuses)
    return [s.operator.type for s in plan.instructions if s.operator.over is not None]


def inputs(*shapes):
    return [paddle.static.data(f"x{i}", list(shape)) for i, shape in enumerate(shapes)]


def test_a_bias_and_an_activation_take_the_memory_of_the_product():
    x, w, b = inputs([None, 8], [8, 4], [4])
    hidden = paddle.nn.functional.relu(paddle.matmul(x, w) + b)
    assert over(paddle.sum(hidden)) == ["elementwise_add", "relu"]


def test_an_activation_takes_the_memory_of_what_is_normalised_beside_statistics_in_place():
    (x,) = inputs([None, 8])
    normal = paddle.nn.BatchNorm1D(8)(paddle.matmul(x, x, transpose_y=True) @ x)
    hidden = paddle.nn.functional.relu(normal)
    assert over(paddle.sum(hidden)) == ["relu"]


def test_what_is_read_again_fetched_or_fed_keeps_its_memory():
    x, y = inputs([4, 4], [4, 4])
    assert over(paddle.tanh(x)) == []
    made = paddle.exp(x)
    first, second = paddle.tanh(made), paddle.tanh(made)
    assert over(paddle.matmul(first, second)) == ["tanh"]
    assert over(paddle.matmul(first, second), made) == []
    assert over(paddle.matmul(first, y), reuses=False) == []


def test_what_others_may_see_in_another_value_keeps_its_memory():
    (x,) = inputs([4, 4])
    made = paddle.exp(x)
    turned = paddle.transpose(made, [1, 0])
    assert over(paddle.matmul(paddle.tanh(made), turned)) == []


@pytest.mark.parametrize("other", [[4], [1, 4], [3, 4], [3, 1]])
def test_an_operand_that_stretches_to_the_other_lets_it_be_overwritten(other):
    x, y = inputs([3, 4], other)
    assert over(paddle.sum(paddle.exp(x) * y)) == ["elementwise_mul"]


@pytest.mark.parametrize("shapes", [([4], [3, 4]), ([None, 4], [None, 4]), ([1, 4], [3, 4])])
def test_an_operand_that_may_be_stretched_keeps_its_memory(shapes):
    x, y = inputs(*shapes)
    assert over(paddle.sum(paddle.exp(x) * y)) == []


def test_a_result_of_another_type_has_memory_of_its_own():
    (x,) = inputs([4])
    assert over(paddle.cast(paddle.tanh(paddle.exp(x)) > 0.5, "float32")) == ["tanh"]


def test_a_result_without_axes_has_memory_of_its_own():
    (x,) = inputs([4])
    assert over(paddle.cos(paddle.tanh(paddle.mean(x)))) == []


def test_gradients_add_up_in_the_memory_of_one_of_them(main):
    (x,) = inputs([4, 4])
    x.stop_gradient = False
    loss = paddle.mean(paddle.exp(x) * paddle.tanh(x) + paddle.sin(x))
    (slope,) = paddle.static.gradients([loss], [x])
    end = paddle.sum(slope)
    assert "sum" in over(end)
    feed = {"x0": np.random.default_rng(0).random((4, 4), "float32")}
    exe = paddle.static.Executor()
    results = []
    for reuses in (True, False):
        paddle.set_flags({"FLAGS_new_executor_use_inplace": reuses})
        results.append(exe.run(main, feed=feed, fetch_list=[loss, end]))
    paddle.set_flags({"FLAGS_new_executor_use_inplace": True})
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def test_a_dense_gradient_and_a_row_sparse_one_add_up_in_memory_of_their_own(main):
    ids = paddle.static.data("ids", [3], "int64")
    table = paddle.nn.Embedding(5, 2, sparse=True)
    loss = paddle.sum(table(ids)) + paddle.sum(paddle.exp(table.weight * 0.0)) * 2.0
    (slope,) = paddle.static.gradients([loss], [table.weight])
    total = slope + 1.0
    assert "sum" not in over(total)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    (found,) = exe.run(main, feed={"ids": np.array([1, 1, 4])}, fetch_list=[total])
    assert found[:, 0].tolist() == [1.0, 3.0, 1.0, 1.0, 2.0]


def test_with_it_a_run_takes_fewer_bytes():
    x, w, b = inputs([64, 256], [256, 256], [256])
    out = paddle.sum(paddle.nn.functional.relu(paddle.matmul(x, w) + b))
    names = (("x0", "x1", "x2"), (out.name,))
    assert make_plan(out.block, *names).peak_bytes == 64 * 256 * 4 + 4
    assert make_plan(out.block, *names, reuses=False).peak_bytes == 2 * 64 * 256 * 4


@given(choices=actions, seed=st.integers(-1, 2**31))
@settings(max_examples=80)
def test_in_any_legal_order_the_values_are_those_without_it(choices, seed):
    example = build(choices)
    last = example.leaves()[-1:]
    block, names = example.main.global_block(), tuple(v.name for v in last)
    expected = example.run(make_plan(block, ("x",), names, reuses=False))
    found = example.run(make_plan(block, ("x",), names, seed=seed))
    assert all(np.array_equal(a, b) for a, b in zip(found[:1], expected[:1], strict=True))
    assert np.array_equal(found[-1], expected[-1])


def test_the_check_for_nan_looks_at_every_result(main):
    (x,) = inputs([4])
    out = paddle.sum(paddle.tanh(paddle.exp(x)))
    exe = paddle.static.Executor()
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        exe.run(main, feed={"x0": np.zeros(4, "float32")}, fetch_list=[out])
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    (bound,) = main.plans.values()
    assert not any(step.operator.over for step in bound.plan.instructions)


def test_a_ledger_sees_the_memory_taken_once():
    x, w = inputs([16, 16], [16, 16])
    out = paddle.sum(paddle.tanh(paddle.exp(paddle.matmul(x, w))))
    plan = make_plan(out.block, ("x0", "x1"), (out.name,))
    bound = Bound(plan, paddle.static.Scope())
    feed = {name: np.ones((16, 16), "float32") for name in ("x0", "x1")}
    frame, ledger = filled(bound, feed), Ledger()
    with flags(LEDGER=True):
        run_checked(plan, frame, ledger)
    assert ledger.values == plan.peak_bytes == 16 * 16 * 4 + 4
    assert np.isfinite(fetched(bound, frame, True)[0])
