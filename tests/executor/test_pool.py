"""Runs on several threads: the same bits, freed values, errors, and plans shared by runs."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
from scull.errors import ShapeError
from scull.executor import executor
from scull.executor.binding import Bound, filled
from scull.executor.pool import Spread, run_spread
from scull.flags import flags
from tests.executor.random_program import FED, START, actions, build

ASIDE = 3  # threads


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def chains(count=4, size=300):
    """Independent chains of products, their means."""
    x = paddle.static.data("x", [size, size])
    ends = []
    for i in range(count):
        hidden = x * (1.0 / (i + 1))
        for _ in range(3):
            hidden = paddle.tanh(paddle.matmul(hidden, x))
        ends.append(paddle.mean(hidden))
    return ends, {"x": np.random.default_rng(0).random((size, size), dtype="float32") / size}


@given(choices=actions)
@settings(max_examples=60)
def test_on_several_threads_a_run_gives_the_same_bits(choices):
    example = build(choices)
    plan = example.plan()
    expected = example.run(plan, poison=False)
    paddle.seed(7)
    scope = paddle.static.Scope()
    scope.var("w").value = START.copy()
    bound = Bound(plan, scope)
    example.calls.clear()
    frame = filled(bound, {"x": FED.copy()})
    run_spread(plan, Spread(plan), frame, ASIDE)
    found = [frame[slot] for slot, _ in plan.fetches]
    for a, b in zip(found, expected, strict=False):
        assert np.array_equal(a, b)
    assert np.array_equal(example.calls, expected[-2])
    assert np.array_equal(scope.var("w").value, expected[-1])
    kept = plan.kept | {0, 1} | {life.slot for life in plan.lifetimes if not life.last}
    assert not any(isinstance(v, np.ndarray) for i, v in enumerate(frame) if i not in kept)


def replaced(step, call, monkeypatch):
    """Run `call` in place of a step's kernel."""
    monkeypatch.setitem(vars(step), "call", call)


def test_large_independent_instructions_run_side_by_side(main, monkeypatch):
    ends, feed = chains(2)
    exe = paddle.static.Executor()
    exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan, spread, both = bound.plan, Spread(bound.plan), threading.Barrier(2, timeout=60)
    names = set()

    def meeting(call):
        def met(*operands):
            both.wait()
            names.add(threading.current_thread().name.split("_")[0])
            return call(*operands)

        return met

    for step in plan.instructions:
        if step.operator.type == "matmul_v2":
            replaced(step, meeting(step.call), monkeypatch)
    run_spread(plan, spread, filled(bound, feed), 2)
    assert names == {"MainThread", "scull"}


def test_on_threads_the_executor_gives_what_it_gives_on_one(main):
    ends, feed = chains()
    exe = paddle.static.Executor()
    alone = exe.run(main, feed=feed, fetch_list=ends)
    with flags(HOST_THREADS=2):
        for _ in range(4):
            found = exe.run(main, feed=feed, fetch_list=ends)
            assert all(np.array_equal(a, b) for a, b in zip(found, alone, strict=True))


def test_what_is_small_stays_on_one_thread(main, monkeypatch):
    monkeypatch.setattr(executor, "run_spread", None)
    x = paddle.static.data("x", [512, 512])
    chain = paddle.matmul(x, x)
    small = [paddle.exp(chain[0, 0]), paddle.tanh(chain[0, 1])]
    exe, feed = paddle.static.Executor(), {"x": np.zeros((512, 512), "float32")}
    with flags(HOST_THREADS=2):
        for _ in range(3):
            exe.run(main, feed=feed, fetch_list=small)
    (bound,) = main.plans.values()
    assert bound.large is False
    assert bound.spread is None


def test_what_is_large_and_in_one_chain_stays_on_one_thread(main):
    x = paddle.static.data("x", [512, 512])
    chain = paddle.matmul(paddle.matmul(paddle.matmul(x, x), x), x)
    exe, feed = paddle.static.Executor(), {"x": np.zeros((512, 512), "float32")}
    with flags(HOST_THREADS=2):
        for _ in range(2):
            exe.run(main, feed=feed, fetch_list=[chain])
        (bound,) = main.plans.values()
    assert bound.large
    assert not bound.spreads()


def test_the_first_run_of_a_program_asks_for_no_graph(main):
    ends, feed = chains(2)
    exe = paddle.static.Executor()
    with flags(HOST_THREADS=2):
        exe.run(main, feed=feed, fetch_list=ends)
        (bound,) = main.plans.values()
        assert bound.spread is None
        assert "graph" not in vars(bound.plan)
        exe.run(main, feed=feed, fetch_list=ends)
        assert bound.spread.pays


def test_the_first_error_ends_a_run_and_the_next_is_as_if_it_had_not_been(main):
    ends, feed = chains()
    n = paddle.static.data("n", [None])
    out = [*ends, paddle.mean(paddle.matmul(n, paddle.static.data("m", [None])))]
    good = feed | {"n": np.ones(2, "float32"), "m": np.ones(2, "float32")}
    exe = paddle.static.Executor()
    expected = exe.run(main, feed=good, fetch_list=out)
    with flags(HOST_THREADS=ASIDE):
        exe.run(main, feed=good, fetch_list=out)
        for _ in range(3):
            with pytest.raises(ShapeError) as caught:
                exe.run(main, feed=good | {"m": np.ones(3, "float32")}, fetch_list=out)
            assert "test_pool.py:" in caught.value.__notes__[0]
            found = exe.run(main, feed=good, fetch_list=out)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_an_error_at_any_instruction_leaves_the_next_run_correct(main, monkeypatch):
    ends, feed = chains(3, 32)
    exe = paddle.static.Executor()
    expected = exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan, spread = bound.plan, Spread(bound.plan)

    def failing(*operands):
        raise ZeroDivisionError("on purpose")

    for step in plan.instructions:
        with monkeypatch.context() as broken, pytest.raises(Exception, match="on purpose"):
            replaced(step, failing, broken)
            run_spread(plan, spread, filled(bound, feed), ASIDE)
        frame = filled(bound, feed)
        run_spread(plan, spread, frame, ASIDE)
        found = [frame[slot] for slot, _ in plan.fetches]
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_one_plan_runs_in_several_threads_at_once(main):
    ends, feed = chains(3, 64)
    exe = paddle.static.Executor()
    (expected, *_) = exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan, spread, wrong = bound.plan, Spread(bound.plan), []

    def runs():
        for _ in range(20):
            frame = filled(bound, feed)
            run_spread(plan, spread, frame, 2)
            if not np.array_equal(frame[plan.fetches[0][0]], expected):
                wrong.append(frame)

    threads = [threading.Thread(target=runs) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_python_functions_run_on_the_thread_that_asked_and_may_run_programs(main):
    x = paddle.static.data("x", [8, 8])
    inner, seen = paddle.static.Program(), []
    with paddle.static.program_guard(inner):
        doubled = paddle.static.data("v", [8, 8]) * 2.0

    def call(value):
        seen.append(threading.current_thread())
        exe = paddle.static.Executor()
        return exe.run(inner, feed={"v": np.asarray(value)}, fetch_list=[doubled])[0]

    outs = []
    for i in range(3):
        made = main.global_block().create_var(f"made{i}", shape=[8, 8], dtype="float32")
        paddle.static.py_func(call, x + float(i), made)
        outs.append(paddle.exp(made))
    exe, feed = paddle.static.Executor(), {"x": np.ones((8, 8), "float32")}
    expected = exe.run(main, feed=feed, fetch_list=outs)
    (bound,) = main.plans.values()
    frame = filled(bound, feed)
    run_spread(bound.plan, Spread(bound.plan), frame, ASIDE)
    for (slot, _), value in zip(bound.plan.fetches, expected, strict=True):
        assert np.array_equal(frame[slot], value)
    assert set(seen) == {threading.main_thread()}
