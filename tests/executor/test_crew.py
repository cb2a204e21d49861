"""Runs on several threads: the same bits, freed values, errors, and plans shared by runs."""

import signal
import threading
import weakref
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
from scull.errors import ArgumentError, ShapeError
from scull.executor import executor
from scull.executor.binding import Bound, filled
from scull.executor.crew import BLOCKS, Crew, run_crew, stays
from scull.executor.plan import make_plan
from scull.executor.schedule import Schedule, host_schedule
from scull.executor.stream import DIRECT, EVENT, SYNCHRONIZE
from scull.executor.transfer import HOST
from scull.executor.work import HostWork
from scull.flags import flags
from tests.executor.random_program import FED, START, actions, build

ASIDE = 3  # threads


def run_on(plan, frame, threads):
    """Run `plan` once on several threads."""
    schedule = host_schedule(plan)
    run_crew(schedule, HostWork(plan, schedule, frame), threads)


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
    run_on(plan, frame, ASIDE)
    found = [frame[slot] for slot, _ in plan.fetches]
    for a, b in zip(found, expected, strict=False):
        assert np.array_equal(a, b)
    assert np.array_equal(example.calls, expected[-2])
    assert np.array_equal(scope.var("w").value, expected[-1])
    ended = {life.slot for life in plan.lifetimes if life.last} - plan.kept
    assert not any(isinstance(frame[slot], np.ndarray) for slot in ended)


def replaced(step, call, monkeypatch):
    """Run `call` in place of a step's kernel."""
    monkeypatch.setitem(vars(step), "call", call)


def test_large_independent_instructions_run_side_by_side(main, monkeypatch):
    ends, feed = chains(2)
    exe = paddle.static.Executor()
    exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan, both = bound.plan, threading.Barrier(2, timeout=60)
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
    run_on(plan, filled(bound, feed), 2)
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
    monkeypatch.setattr(executor, "run_crew", None)
    x = paddle.static.data("x", [512, 512])
    chain = paddle.matmul(x, x)
    small = [paddle.exp(chain[0, 0]), paddle.tanh(chain[0, 1])]
    exe, feed = paddle.static.Executor(), {"x": np.zeros((512, 512), "float32")}
    with flags(HOST_THREADS=2):
        for _ in range(3):
            exe.run(main, feed=feed, fetch_list=small)
    (bound,) = main.plans.values()
    assert bound.large is False
    assert bound.schedule is None


def test_what_is_large_and_in_one_chain_stays_on_one_thread(main):
    x = paddle.static.data("x", [512, 512])
    chain = paddle.matmul(paddle.matmul(paddle.matmul(x, x), x), x)
    exe, feed = paddle.static.Executor(), {"x": np.zeros((512, 512), "float32")}
    with flags(HOST_THREADS=2):
        for _ in range(2):
            exe.run(main, feed=feed, fetch_list=[chain])
        (bound,) = main.plans.values()
    assert bound.large
    assert bound.parallel() is None


def test_the_first_run_of_a_program_asks_for_no_graph(main):
    ends, feed = chains(2)
    exe = paddle.static.Executor()
    with flags(HOST_THREADS=2):
        exe.run(main, feed=feed, fetch_list=ends)
        (bound,) = main.plans.values()
        assert bound.schedule is None
        assert "graph" not in vars(bound.plan)
        exe.run(main, feed=feed, fetch_list=ends)
        assert bound.schedule.pays


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
            assert "test_crew.py:" in str(caught.value)
            found = exe.run(main, feed=good, fetch_list=out)
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_an_error_at_any_instruction_leaves_the_next_run_correct(main, monkeypatch):
    ends, feed = chains(3, 32)
    exe = paddle.static.Executor()
    expected = exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan = bound.plan

    def failing(*operands):
        raise ZeroDivisionError("on purpose")

    for step in plan.instructions:
        with monkeypatch.context() as broken, pytest.raises(Exception, match="on purpose"):
            replaced(step, failing, broken)
            run_on(plan, filled(bound, feed), ASIDE)
        frame = filled(bound, feed)
        run_on(plan, frame, ASIDE)
        found = [frame[slot] for slot, _ in plan.fetches]
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_one_plan_runs_in_several_threads_at_once(main):
    ends, feed = chains(3, 64)
    exe = paddle.static.Executor()
    (expected, *_) = exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()
    plan, wrong = bound.plan, []

    def runs():
        for _ in range(20):
            frame = filled(bound, feed)
            run_on(plan, frame, 2)
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
    run_on(bound.plan, frame, ASIDE)
    for (slot, _), value in zip(bound.plan.fetches, expected, strict=True):
        assert np.array_equal(frame[slot], value)
    assert set(seen) == {threading.main_thread()}


def test_who_goes_on_with_a_task_after_a_launch_and_after_work_of_the_host():
    launched = {kind: stays(True, kind, [0, 1]) for kind in (DIRECT, EVENT, SYNCHRONIZE)}
    assert launched == {DIRECT: True, EVENT: True, SYNCHRONIZE: False}
    first = {kind: stays(False, kind, []) for kind in (DIRECT, EVENT, SYNCHRONIZE)}
    assert first == {DIRECT: True, EVENT: False, SYNCHRONIZE: True}
    assert not any(stays(False, kind, [0]) for kind in (DIRECT, EVENT, SYNCHRONIZE))


def waiting_program(main, monkeypatch, effect):
    """Two operators that wait with `effect`, the first for what only the second lets happen."""
    x = paddle.static.data("x", [4])
    first, second = paddle.tanh(x), paddle.exp(x)
    out = first + second
    let = threading.Event()

    def awaiting(v):
        assert let.wait(60)
        return np.tanh(v)

    def letting(v):
        let.set()
        return np.exp(v)

    for made in (first, second):
        monkeypatch.setattr(made.op.op, "effects", frozenset({effect}))
    feed = {"x": np.ones(4, "float32")}
    bound = Bound(make_plan(main.global_block(), ("x",), (out.name,)), paddle.static.Scope())
    calls = {"tanh": awaiting, "exp": letting}
    for step in bound.plan.instructions:
        if step.operator.type in calls:
            replaced(step, calls[step.operator.type], monkeypatch)
    return bound, feed


def test_what_waits_keeps_nobody_from_working(main, monkeypatch):
    bound, feed = waiting_program(main, monkeypatch, "blocks")
    assert bound.parallel()  # in the first run, and on one thread
    frame = filled(bound, feed)
    run_on(bound.plan, frame, 1)
    expected = np.tanh(feed["x"]) + np.exp(feed["x"])
    assert np.array_equal(frame[bound.plan.fetches[0][0]], expected)


def test_what_a_run_holds_goes_with_it_whatever_its_threads_still_do(main, monkeypatch):
    bound, feed = waiting_program(main, monkeypatch, "blocks")
    serve, let = Crew.serve, threading.Event()

    def lingering(self, queues):
        serve(self, queues)
        assert queues is not BLOCKS or let.wait(60)

    monkeypatch.setattr(Crew, "serve", lingering)
    schedule = host_schedule(bound.plan)
    work = HostWork(bound.plan, schedule, filled(bound, feed))
    held = weakref.ref(work)
    run_crew(schedule, work, 1)
    del work
    try:
        assert held() is None
    finally:
        let.set()


def stuck_program(main, monkeypatch, ending):
    """An operator that waits for `let`, beside one that ends the run once that has begun."""
    ended = []
    x = paddle.static.data("x", [4])
    first, second = paddle.tanh(x), paddle.exp(x)
    out, begun, let = first + second, threading.Event(), threading.Event()

    def awaiting(v):
        begun.set()
        assert let.wait(60)
        ended.append(True)
        return np.tanh(v)

    monkeypatch.setattr(first.op.op, "effects", frozenset({"blocks"}))
    bound = Bound(make_plan(main.global_block(), ("x",), (out.name,)), paddle.static.Scope())
    feed, calls = {"x": np.ones(4, "float32")}, {"tanh": awaiting, "exp": partial(ending, begun)}
    for step in bound.plan.instructions:
        if step.operator.type in calls:
            replaced(step, calls[step.operator.type], monkeypatch)
    return bound, feed, let, ended


def failing(begun, v):
    assert begun.wait(60)
    raise ZeroDivisionError("on purpose")


def failing_then_interrupted(begun, v):
    interrupting(begun, v)
    failing(begun, v)


def interrupting(begun, v):
    """Interrupt the run while its thread waits for what is under way."""
    main = threading.main_thread().ident

    def interrupt():
        assert begun.wait(60)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    return np.exp(v)


@pytest.mark.parametrize("threads", [1, ASIDE])
def test_an_error_waits_for_what_is_under_way_outside(main, monkeypatch, threads):
    bound, feed, let, ended = stuck_program(main, monkeypatch, failing)
    threading.Timer(0.1, let.set).start()
    with pytest.raises(ArgumentError):
        run_on(bound.plan, filled(bound, feed), threads)
    assert ended


@pytest.fixture
def interruptible():
    """SIGINT interrupts, also in a process that a shell started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("ending", [interrupting, failing_then_interrupted])
@pytest.mark.parametrize("threads", [1, ASIDE])
def test_an_interrupt_does_not_wait_for_what_may_never_come(main, monkeypatch, ending, threads):
    bound, feed, let, ended = stuck_program(main, monkeypatch, ending)
    frame = filled(bound, feed)
    with pytest.raises(KeyboardInterrupt):
        run_on(bound.plan, frame, threads)
    assert not let.is_set() and not ended
    let.set()
    monkeypatch.undo()
    frame = filled(bound, feed)
    run_on(bound.plan, frame, threads)
    expected = np.tanh(feed["x"]) + np.exp(feed["x"])
    assert np.array_equal(frame[bound.plan.fetches[0][0]], expected)


def test_who_waits_and_writes_over_a_parameter_is_waited_for(main, monkeypatch):
    x, block = paddle.static.data("x", [4]), main.global_block()
    made = [paddle.tanh(x)]
    for persistable in (False, True):
        v = block.create_var(f"v{persistable}", shape=[4], dtype="float32", persistable=persistable)
        if not persistable:
            paddle.assign(x, v)
        inputs = {"Param": [v], "Grad": [x], "LearningRate": [paddle.full([1], 1.0)]}
        made.append(block.append_op("sgd", inputs, {"ParamOut": [v]}, {}))
    for op in (made[0].op.op, made[1].op):
        monkeypatch.setattr(op, "effects", frozenset({"blocks"}))
    plan = make_plan(block, ("x",), (made[0].name, "vFalse", "vTrue"))
    found = host_schedule(plan).leavable
    steps = zip(plan.instructions, found, strict=True)
    left = {s.operator.results()[0].name for s, may in steps if may}
    assert left == {made[0].name, "vFalse"}


def test_what_communicates_keeps_its_order(main, monkeypatch):
    bound, _ = waiting_program(main, monkeypatch, "communicates")
    steps = [step.operator.type for step in bound.plan.instructions]
    assert bound.plan.graph.precedes(steps.index("tanh"), steps.index("exp"))


@pytest.mark.parametrize("threads", [1, ASIDE])
def test_an_error_while_a_value_goes_ends_the_run_and_names_the_task(threads):
    class Broken:
        def perform(self, i):
            """Nothing."""

        def release(self, n):
            raise ShapeError("nobody knows its shape")

        def explained(self, error, i):
            error.add_note(f"in task {i}")
            return error

    apart = ((),) * 4
    ends = (*apart[:2], (0,), ())
    lives = ((0, True, 1),)
    rest = (apart, lives, ends, True, False, (False,) * 4)
    schedule = Schedule((HOST,) * 4, (True,) * 4, (0,) * 4, *rest)
    with pytest.raises(ShapeError) as caught:
        run_crew(schedule, Broken(), threads)
    assert caught.value.__notes__ == ["in task 2"]


def test_an_interrupt_ends_a_run_once_nobody_is_at_work(main, monkeypatch):
    ends, feed = chains(2, 64)
    exe = paddle.static.Executor()
    expected = exe.run(main, feed=feed, fetch_list=ends)
    (bound,) = main.plans.values()

    def interrupted(*operands):
        raise KeyboardInterrupt

    for step in bound.plan.instructions:
        with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
            replaced(step, interrupted, broken)
            run_on(bound.plan, filled(bound, feed), ASIDE)
    frame = filled(bound, feed)
    run_on(bound.plan, frame, ASIDE)
    found = [frame[slot] for slot, _ in bound.plan.fetches]
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
