"""Runs of one plan at the same time, runs within runs, and an executor that closes meanwhile."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest

import scull as paddle
from scull.errors import RunError
from scull.executor import executor as module
from scull.flags import flags
from scull.runtime.turn import Turn, calling
from tests.executor.corpus.case import SHAPE
from tests.executor.corpus.outside import another_program
from tests.executor.corpus.world import WORLD, in_turn, served

RUNNERS = 4
ROUNDS = 40
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield main
    paddle.disable_static()


def at_once(work):
    """What `work` gives for each of several threads that start together."""
    start = threading.Barrier(RUNNERS, timeout=PATIENCE)

    def begun(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(RUNNERS) as threads:
        return list(threads.map(begun, range(RUNNERS)))


def mixed():
    """Values that are views, written over, and parts of one buffer; what is fed is written, too."""
    block = paddle.static.default_main_program().global_block()
    x = paddle.static.data("x", [None, *SHAPE[1:]])
    seen = paddle.transpose(x, [1, 0])
    rate = paddle.full([1], 0.5)
    inputs = {"Param": [x], "Grad": [paddle.ones_like(x)], "LearningRate": [rate]}
    block.append_op("sgd", inputs, {"ParamOut": [x]}, {})
    hidden = paddle.matmul(seen, x)
    parts = [block.create_var(f"part{i}", shape=SHAPE, dtype="float32") for i in range(2)]
    whole = block.create_var("whole", shape=[18], dtype="float32")
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    outputs = {"Output": parts, "FusedOutput": whole}
    block.append_op("coalesce_tensor", {"Input": [hidden, seen @ x]}, outputs, attrs)
    return [x, seen, parts[0] - parts[1], paddle.sum(whole), served(hidden)]


def same(found, expected):
    """Whether two runs fetched the same."""
    return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def fed(number):
    return {"x": np.random.default_rng(number).random((3, 3), "float32")}


@pytest.mark.parametrize("threads", [1, 3])
def test_one_plan_runs_several_times_at_once_with_feeds_of_their_own(main, threads):
    outs, executor, scope = mixed(), paddle.static.Executor(), paddle.static.Scope()

    def run(number):
        return executor.run(main, feed=fed(number), fetch_list=outs, scope=scope)

    with flags(HOST_THREADS=threads):
        expected = [run(number) for number in range(RUNNERS)]

        def work(number):
            for _ in range(ROUNDS):
                found = run(number)
                if not same(found, expected[number]):
                    return found
            return None

        assert at_once(work) == [None] * RUNNERS
    assert len(main.plans) == 1


def test_threads_that_begin_together_have_one_plan_and_so_one_turn(main, monkeypatch):
    counter = main.global_block().create_var("counter", shape=[1], dtype="int64", persistable=True)
    paddle.increment(counter, 1)
    executor, scope, made = paddle.static.Executor(), paddle.static.Scope(), []
    scope.var("counter").value = np.array([0])

    def bind(*args):
        time.sleep(0.05)  # so that all of them ask before the first is done
        made.append(args)
        return bound(*args)

    bound = module.bind
    monkeypatch.setattr(module, "bind", bind)
    at_once(lambda _: executor.run(main, fetch_list=[counter], scope=scope))
    assert len(made) == 1
    assert scope.find_var("counter").value.tolist() == [RUNNERS]


def test_feeds_of_other_shapes_meanwhile_change_nothing(main):
    x = paddle.static.data("x", [None, 3])
    outs, executor = [paddle.matmul(x, x, transpose_y=True), x * 2.0], paddle.static.Executor()
    executor.run(main, feed=fed(0), fetch_list=outs)

    def work(number):
        value = np.full((number + 1, 3), number, "float32")
        for _ in range(ROUNDS):
            product, double = executor.run(main, feed={"x": value}, fetch_list=outs)
            assert np.array_equal(product, value @ value.T)
            assert np.array_equal(double, value + value)
        return number

    assert at_once(work) == list(range(RUNNERS))


def test_each_scope_keeps_what_its_runs_wrote(main):
    counter = main.global_block().create_var("counter", shape=[1], dtype="int64", persistable=True)
    paddle.increment(counter, 1)
    executor = paddle.static.Executor()

    def work(number):
        scope = paddle.static.Scope()
        scope.var("counter").value = np.array([100 * number])
        for _ in range(ROUNDS):
            (found,) = executor.run(main, fetch_list=[counter], scope=scope)
        return int(found[0]) - 100 * number

    assert at_once(work) == [ROUNDS] * RUNNERS


def test_draws_of_runs_at_once_are_those_of_runs_one_after_the_other(main):
    drawn, executor = paddle.uniform([4]), paddle.static.Executor()

    def draws():
        return executor.run(main, fetch_list=[drawn])[0].tobytes()

    paddle.seed(3)
    expected = sorted(draws() for _ in range(RUNNERS * 10))
    paddle.seed(3)
    found = at_once(lambda _: [draws() for _ in range(10)])
    assert sorted(drawn for each in found for drawn in each) == expected


def test_draws_of_a_loop_are_those_of_runs_one_after_the_other(main):
    start = [paddle.full([1], 0, "int64"), paddle.zeros([3])]
    _, drawn = paddle.static.nn.while_loop(
        lambda i, x: i < 4, lambda i, x: [i + 1, x + paddle.rand([3])], start
    )
    executor = paddle.static.Executor()

    def draws():
        return executor.run(main, fetch_list=[drawn])[0].tobytes()

    paddle.seed(3)
    expected = sorted(draws() for _ in range(RUNNERS * 10))
    paddle.seed(3)
    found = at_once(lambda _: [draws() for _ in range(10)])
    assert sorted(drawn for each in found for drawn in each) == expected


def test_a_python_function_runs_the_program_it_stands_in_with_less(main):
    x = paddle.static.data("x", [1])
    made = main.global_block().create_var("made", shape=[1], dtype="float32")
    executor = paddle.static.Executor()

    def call(value):
        value = np.asarray(value)
        if value[0] <= 0:
            return value
        return value + executor.run(main, feed={"x": value - 1}, fetch_list=[made])[0]

    paddle.static.py_func(call, x, made)
    (found,) = executor.run(main, feed={"x": np.array([5], "float32")}, fetch_list=[made])
    assert found.tolist() == [15.0]


@pytest.mark.parametrize("place", [paddle.CPUPlace(), paddle.CustomPlace("sim", 0)], ids=str)
def test_a_python_function_that_waits_for_another_run_of_its_program_is_told(main, place):
    x, block = paddle.static.data("x", [1]), main.global_block()
    counter = block.create_var("counter", shape=[1], dtype="int64", persistable=True)
    made = block.create_var("made", shape=[1], dtype="float32")
    executor, scope, inner = paddle.static.Executor(place), paddle.static.Scope(), []
    scope.var("counter").value = np.array([0])

    def run(value):
        feed = {"x": np.array([value], "float32")}
        return executor.run(main, feed=feed, fetch_list=[counter, made], scope=scope)

    def call(value):
        if np.asarray(value)[0] > 0:
            with ThreadPoolExecutor(1) as threads:
                inner.append(threads.submit(run, 0).exception())
        return value

    paddle.increment(counter, 1)
    paddle.static.py_func(call, x, made)
    with flags(TURN_SECONDS=0.2):
        run(1)
        (error,) = inner
        assert isinstance(error, RunError)
        law = r"in the function of `py_func` at \S*test_concurrency.py:\d+ since 0.2 s"
        assert re.search(law, str(error))
        assert [int(found[0]) for found in run(0)] == [2, 0]


class Held:
    """A lock that somebody has, who meanwhile does what a list says."""

    def __init__(self, doing):
        self.doing = list(doing)

    def acquire(self, blocking=True, timeout=-1):
        if blocking and self.doing:
            self.doing.pop(0)()
        return not self.doing


def test_a_run_that_is_long_for_another_reason_is_waited_for():
    turn, within = Turn(), ExitStack()

    def call():
        within.close()
        within.enter_context(calling("py_func", "train.py:3"))

    turn.holder = threading.get_ident()
    turn.lock = Held([call, call, within.close, within.close, call, within.close])
    turn.wait()  # functions that end in time, and work of its own
    turn.lock = Held([call, list, within.close])
    with within, pytest.raises(RunError, match=r"train\.py:3"):
        turn.wait()


def test_what_blocks_is_served_by_a_thread_that_runs_programs_on_the_same_executor(main):
    x, executor = paddle.static.data("x", SHAPE), paddle.static.Executor()
    WORLD.services["another"] = another_program()
    found = served(x, service="another")
    for _ in range(2):
        found = served(paddle.tanh(found), service="another")
    expected = executor.run(main, feed=fed(1), fetch_list=[found])

    def work(number):
        return [executor.run(main, feed=fed(1), fetch_list=[found])[0] for _ in range(5)]

    for values in at_once(work):
        assert same(values, expected * 5)


class Ring:
    """Several who give a number each and get the sum, round by round."""

    def __init__(self, count):
        self.count, self.change = count, threading.Condition()
        self.rounds = {}

    def reduced(self, round_number, x):
        """The sum of what all gave in this round."""
        with self.change:
            self.rounds.setdefault(round_number, []).append(np.array(x))
            self.change.notify_all()
            full = self.change.wait_for(
                lambda: len(self.rounds[round_number]) == self.count, PATIENCE
            )
            assert full, "somebody is in another round"
            return sum(self.rounds[round_number])


@pytest.mark.parametrize("threads", [1, 3])
def test_runs_that_communicate_meet_in_the_order_of_the_program(main, monkeypatch, threads):
    ring, turns, lock = Ring(2), {}, threading.Lock()

    def reduced(x, out=None):
        rank = int(x[0]) % 2
        with lock:
            turns[rank] = number = turns.get(rank, 0) + 1
        return ring.reduced(number, x)

    monkeypatch.setattr(in_turn.op, "cpu", reduced)
    x = paddle.static.data("x", [2])
    outs = [in_turn(x + float(2 * i)) for i in range(4)]
    executor = paddle.static.Executor()

    def work(rank):
        feed = {"x": np.array([rank, 8], "float32")}
        return executor.run(main, feed=feed, fetch_list=outs)

    with flags(HOST_THREADS=threads), ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, range(2))
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        assert np.array_equal(a, b)
        assert a.tolist() == [4.0 * i + 1.0, 16.0 + 4.0 * i]


def test_an_executor_that_closes_during_a_run_ends_it_first(main):
    x = paddle.static.data("x", SHAPE)
    entered, go_on = threading.Event(), threading.Event()

    def service(value):
        entered.set()
        assert go_on.wait(PATIENCE)
        return value + 1

    WORLD.services["slow"] = service
    found = paddle.exp(served(x, service="slow"))
    executor, feed = paddle.static.Executor(), {"x": np.zeros(SHAPE, "float32")}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(executor.run, main, feed=feed, fetch_list=[found])
        assert entered.wait(PATIENCE)
        executor.close()
        go_on.set()
        (value,) = running.result(PATIENCE)
    np.testing.assert_allclose(value, np.full(SHAPE, np.e), rtol=1e-6)
    with pytest.raises(RuntimeError, match="closed"):
        executor.run(main, feed=feed, fetch_list=[found])


def test_runs_that_change_the_scope_are_as_if_one_came_after_the_other(main):
    w = main.global_block().create_var("w", shape=[300, 300], dtype="float32", persistable=True)
    paddle.assign(paddle.transpose(w, [1, 0]) + paddle.static.data("x", [1]), w)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    scope.var("w").value = np.zeros((300, 300), "float32")

    def work(number):
        for _ in range(ROUNDS):
            executor.run(main, feed={"x": np.full(1, number, "float32")}, scope=scope)

    at_once(work)
    assert np.all(scope.var("w").value == ROUNDS * sum(range(RUNNERS)))


@pytest.mark.parametrize("mode", ["off", "eager"])
def test_runs_that_test_a_batch_norm_need_no_turn(main, mode):
    x = paddle.static.data("x", [4, 3, 6, 6])
    y = paddle.nn.BatchNorm2D(3)(paddle.nn.Conv2D(3, 3, 3, padding=1)(x)) + x
    test, exe = main.clone(for_test=True), paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    scope = paddle.static.global_scope()  # other threads have another one
    feeds = [np.random.default_rng(n).random((4, 3, 6, 6), "float32") for n in range(RUNNERS)]
    with flags(COMPILE=mode):

        def run(feed):
            return exe.run(test, feed={"x": feed}, fetch_list=[y], scope=scope)[0]

        alone = [run(feed) for feed in feeds]

        def rounds(number):
            return all(np.array_equal(run(feeds[number]), alone[number]) for _ in range(ROUNDS))

        assert at_once(rounds) == [True] * RUNNERS
    assert [bound.turn for bound in test.plans.values()] == [None]
