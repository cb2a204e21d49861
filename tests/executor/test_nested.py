"""Operators with blocks in a plan: what they touch, when their values go, how they run."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ProgramError, RunError, ShapeError, UninitializedError
from scull.executor.binding import Bound, fetched, filled
from scull.executor.plan import IN_ORDER, make_plan
from scull.executor.run import Ledger, run, run_checked
from scull.flags import flags
from scull.ir.verify import verify
from scull.static.nn.control_flow import ConditionalBlock, While
from tests.control.corpus import smooth
from tests.control.trial import Trial


def number(value):
    return paddle.full([1], value, "int64")


def cond(*arguments):
    return paddle.static.nn.cond(*arguments)


def counted(limit, body, *values):
    """The values after `limit` rounds of `body`."""
    most = number(limit)
    start = [number(0), *values]
    found = paddle.static.nn.while_loop(
        lambda i, *_: i < most, lambda i, *rest: [i + 1, *body(*rest)], start
    )
    return found[1:]


def run_plan(plan, feed, *, seed=7, poison=True):
    """What a run fetches, freed memory poisoned."""
    paddle.seed(seed)
    bound = Bound(plan, paddle.static.Scope())
    frame = filled(bound, feed)
    ledger = Ledger()
    with flags(POISON=poison):
        if poison:
            run_checked(plan, frame, ledger)
        else:
            run(plan, bound.steps, frame)
    return fetched(bound, frame, True), ledger


def names(variables):
    return [v.name for v in variables]


def test_a_branch_reads_what_it_perhaps_leaves_as_it_was(main):
    x, y = paddle.static.data("x", [1]), paddle.zeros([1])
    with ConditionalBlock([x < 1.0], is_scalar_condition=True).block():
        paddle.assign(x * 2.0, y)
    plan = make_plan(main.global_block(), ("x",), (y.name,))
    branch = plan.instructions[-1].operator
    assert branch.type == "conditional_block"
    assert {"x", y.name} <= set(names(branch.operands()))
    assert names(branch.results()) == [y.name]


def test_a_counter_in_a_loop_is_overwritten_where_it_lies(main):
    i, n = number(0), number(5)
    before = paddle.reshape(i, [1, 1])
    holds = paddle.less_than(i, n)
    with While(holds).block():
        paddle.increment(i)
        paddle.assign(paddle.less_than(i, n), holds)
    plan = make_plan(main.global_block(), (), (before.name, i.name))
    loop = plan.instructions[-1].operator
    assert names(loop.op.body.over) == [i.name]
    assert [v.tolist() for v in run_plan(plan, {})[0]] == [[[0]], [5]]  # the view is a copy


def test_a_view_of_a_round_is_safe_from_the_next(main):
    x, n, last = number(3), number(6), number(0)
    seen = paddle.zeros([1, 1], "int64")
    holds = paddle.less_than(x, n)
    with While(holds).block():
        paddle.assign(paddle.reshape(seen, [1]), last)
        view = main.current_block().create_var("view", shape=[1, 1], dtype="int64")
        main.current_block().append_op(
            "reshape2", {"X": x}, {"Out": seen, "XShape": view}, {"shape": [1, 1]}
        )
        paddle.increment(x)
        paddle.assign(paddle.less_than(x, n), holds)
    plan = make_plan(main.global_block(), (), (last.name, seen.name, x.name))
    assert [v.tolist() for v in run_plan(plan, {})[0]] == [[4], [[5]], [6]]


def test_values_of_a_block_go_with_their_last_use(main):
    x = paddle.static.data("x", [4])
    (y,) = counted(3, lambda y: [paddle.exp(paddle.tanh(y)) * x], x * 1.0)
    plan = make_plan(main.global_block(), ("x",), (y.name,), reuses=False)
    nested = plan.instructions[-1].nested
    dropped = {nested.names[slot] for step in nested.steps for slot in step.frees}
    assert any(name.startswith("tanh") for name in dropped)
    assert not dropped & {"x", y.name}


def test_the_plan_of_a_branch_in_a_loop(main, golden):
    x = paddle.static.data("x", [2, 3])
    (y,) = counted(
        3, lambda y: [cond(paddle.sum(y) > 1.0, lambda: paddle.tanh(y), lambda: y + x)], x * 1.0
    )
    assert str(make_plan(main.global_block(), ("x",), (y.name,), reuses=False)) == golden


def random_program(number):
    """A Program of that number with its gradients, what it takes, and what it gives."""
    trial = Trial(smooth(number), number)
    form = trial.program().with_gradients()
    values = zip(form.operands, trial.values.values(), strict=True)
    wanted = (*form.results, *(n for n in form.gradients if n is not None))
    return form.program, {**dict(values), "n": trial.n}, wanted


@pytest.mark.parametrize("number", range(8))
def test_every_legal_order_gives_the_same_bits_with_freed_memory_poisoned(number):
    program, feed, wanted = random_program(number)
    expected = None
    for order in range(-1, 5):
        plan = make_plan(program.global_block(), tuple(feed), wanted, seed=order)
        for poison in (False, True):
            found, _ = run_plan(plan, feed, poison=poison)
            expected = expected or found
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def draws(x):
    """Draws before, within and behind a loop and a branch."""
    first = paddle.uniform([2])
    y = x + first
    for _ in range(3):
        y = y * paddle.uniform([2])
    y = y + paddle.standard_normal([2])
    return y * paddle.uniform([2])


def test_draws_of_a_program_with_blocks_come_in_its_order(main):
    x = paddle.static.data("x", [2])
    y = x + paddle.uniform([2])
    (y,) = counted(3, lambda y: [y * paddle.uniform([2])], y)
    y = cond(x[0] < 5.0, lambda: y + paddle.standard_normal([2]), lambda: y * paddle.uniform([2]))
    y = y * paddle.uniform([2])
    found = []
    for order in range(-1, 6):
        plan = make_plan(main.global_block(), ("x",), (y.name,), seed=order)
        assert plan.draws == IN_ORDER
        assert "draws in order" in str(plan)
        found.append(run_plan(plan, {"x": np.ones(2, "float32")})[0][0])
    paddle.disable_static()
    paddle.seed(7)
    expected = draws(paddle.ones([2])).numpy()
    assert all(np.array_equal(value, expected) for value in found)


def test_an_error_in_a_block_names_the_operator_within_and_its_line(main):
    x, w = paddle.static.data("x", [-1, 3]), paddle.static.data("w", [-1, 2])
    y = cond(x[0, 0] < 1.0, lambda: paddle.matmul(x, w), lambda: paddle.matmul(x, w) * 2.0)
    exe = paddle.static.Executor()
    feed = {"x": np.zeros((2, 3), "float32"), "w": np.zeros((4, 2), "float32")}
    with pytest.raises(ShapeError) as caught:
        exe.run(main, feed=feed, fetch_list=[y])
    assert "in matmul" in str(caught.value)
    assert "test_nested.py:" in str(caught.value)
    feed["w"] = np.ones((3, 2), "float32")
    assert exe.run(main, feed=feed, fetch_list=[y])[0].tolist() == [[0, 0], [0, 0]]


def test_a_condition_of_several_elements_is_refused_when_it_runs(main):
    x = paddle.static.data("x", [-1])
    y = cond(x < 1.0, lambda: x, lambda: x * 2.0)
    with pytest.raises(ArgumentError, match=r"is bool\[2\], not one truth value"):
        paddle.static.Executor().run(main, feed={"x": np.ones(2, "float32")}, fetch_list=[y])


def test_a_block_that_lies_elsewhere_is_refused(main):
    x = paddle.static.data("x", [1])
    y = cond(x < 1.0, lambda: cond(x < 0.5, lambda: x, lambda: x * 2.0), lambda: x + 2.0)
    inner = next(o for o in main.block(1).ops if o.type == "conditional_block")
    inner.attrs["sub_block"] = main.block(0)
    law = "`conditional_block` .*block 1.* owns block 0, which lies in block -1"
    with pytest.raises(ProgramError, match=law):
        verify(main)
    with pytest.raises(ProgramError, match=law):
        paddle.static.Executor().run(main, feed={"x": np.ones(1, "float32")}, fetch_list=[y])


def test_a_condition_without_a_value_is_named(main):
    block = main.global_block()
    held = block.create_var("held", shape=[1], dtype="bool")
    with While(held).block():
        paddle.assign(paddle.full([1], False, "bool"), held)
    with pytest.raises(UninitializedError, match="held"):
        paddle.static.Executor().run(main, fetch_list=[held])


def test_a_loop_that_does_not_end_is_stopped(main):
    x = paddle.static.data("x", [1])
    (y,) = counted(5, lambda y: [y + 1.0], x * 1.0)
    exe, feed = paddle.static.Executor(), {"x": np.zeros(1, "float32")}
    with flags(MAX_ROUNDS=4), pytest.raises(RunError, match="more than MAX_ROUNDS=4") as caught:
        exe.run(main, feed=feed, fetch_list=[y])
    assert "in while" in str(caught.value)
    with flags(MAX_ROUNDS=5):
        assert exe.run(main, feed=feed, fetch_list=[y])[0].tolist() == [5.0]


def test_the_bytes_of_blocks_stay_below_the_bound_of_the_plan(main):
    x = paddle.static.data("x", [8, 8])
    y = cond(paddle.sum(x) > 0.0, lambda: paddle.exp(x) + paddle.tanh(x), lambda: x * 2.0)
    (z,) = counted(3, lambda z: [paddle.exp(z) * y], y * 1.0)
    plan = make_plan(main.global_block(), ("x",), (z.name,))
    assert "whose block may not run" in plan.peak.because
    for value in (1.0, -1.0):
        _, ledger = run_plan(plan, {"x": np.full((8, 8), value, "float32")})
        assert 0 < ledger.values <= plan.peak_bytes


def test_a_loop_whose_values_grow_has_no_bound(main):
    x = paddle.static.data("x", [-1, 2])
    (y,) = counted(3, lambda y: [paddle.concat([y, y])], x * 1.0)
    plan = make_plan(main.global_block(), ("x",), (y.name,))
    assert plan.peak_bytes is None
    found, _ = run_plan(plan, {"x": np.ones((1, 2), "float32")})
    assert found[0].shape == (8, 2)


def test_what_outlives_a_run_is_written_in_a_block(main):
    total = paddle.static.create_global_var([1], 1.0, "float32", persistable=True, name="total")
    x = paddle.static.data("x", [1])
    cond(x > 0.0, lambda: paddle.assign(total + x, total) and None, None)
    cond(x > 1.0, lambda: paddle.increment(total) and None, None)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    values = [
        exe.run(main, feed={"x": np.full(1, v, "float32")}, fetch_list=[total])
        for v in (-1.0, 1.0, 2.0)
    ]
    assert [v[0].tolist() for v in values] == [[1.0], [2.0], [5.0]]


def test_blocks_run_on_several_threads(main):
    program, feed, wanted = random_program(3)
    expected = paddle.static.Executor().run(program, feed=feed, fetch_list=wanted)
    with flags(HOST_THREADS=2):
        exe = paddle.static.Executor()
        for _ in range(5):
            found = exe.run(program, feed=feed, fetch_list=wanted)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
