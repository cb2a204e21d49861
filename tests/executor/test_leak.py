"""After many steps of training nothing is left over: bytes, objects, threads, plans."""

import gc
import resource
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.flags import flags
from tests.executor.corpus.case import SEED

STEPS, STEPS_AT_NIGHT = 2_000, 100_000
SIZE = 300  # of what is worth another thread
SPARE = 16_384  # bytes that caches of Python and NumPy may take meanwhile
PAGES = 1 << 20  # bytes that the process may grow meanwhile: a number a step is 3.2 MB at night
MEMORY = Path("/proc/self/statm")


def training(size):
    """A small Program with a training step, the one that starts it, its feed and its loss."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, size])
        halves = [paddle.tanh(paddle.nn.Linear(size, size)(x)) for _ in range(2)]
        hidden = paddle.nn.functional.dropout(halves[0] * halves[1], 0.5)
        loss = paddle.mean(paddle.square(paddle.nn.Linear(size, 1)(hidden)))
        paddle.optimizer.Adam(1e-4).minimize(loss)
    feed = {"x": np.random.default_rng(SEED).random((size, size), "float32")}
    return main, startup, feed, loss


def counted():
    """Bytes, objects and threads there are now."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0], len(gc.get_objects()), threading.active_count()


def held():
    """The blocks of memory Python has handed out, and the bytes of the process."""
    gc.collect()
    pages = int(MEMORY.read_text(encoding="ascii").split()[1])
    return sys.getallocatedblocks(), pages * resource.getpagesize()


def steps_of(executor, size):
    """A function that does steps of training, its Program and its scope."""
    main, startup, feed, loss = training(size)
    scope = paddle.static.Scope()
    paddle.seed(SEED)
    executor.run(startup, scope=scope)

    def step(times):
        for _ in range(times):
            (found,) = executor.run(main, feed=feed, fetch_list=[loss], scope=scope)
        return float(found)

    return step, main, scope


def unchanged(step, main, scope, times):
    """Check that `times` steps leave nothing over."""
    step(20)  # caches fill, threads start
    names, plans = scope.local_var_names(), len(main.plans)
    tracemalloc.start()
    try:
        step(20)
        before = counted()
        assert np.isfinite(step(times))
        after = counted()
    finally:
        tracemalloc.stop()
    assert after[0] - before[0] < SPARE
    assert after[1] - before[1] < 50  # fewer where what earlier tests left went meanwhile
    assert after[2] == before[2]
    assert (scope.local_var_names(), len(main.plans)) == (names, plans)


def test_training_leaves_nothing_over():
    step, main, scope = steps_of(paddle.static.Executor(), 4)
    unchanged(step, main, scope, STEPS)


def test_at_night_a_hundred_thousand_steps_leave_nothing_over(nightly):
    """What every allocation is counted in takes four times as long: here the process is asked."""
    step, main, _ = steps_of(paddle.static.Executor(), 4)
    step(STEPS // 2)
    before, plans = (*held(), len(gc.get_objects()), threading.active_count()), dict(main.plans)
    assert np.isfinite(step(STEPS if nightly == 1 else STEPS_AT_NIGHT))
    after = (*held(), len(gc.get_objects()), threading.active_count())
    grown = [b - a for a, b in zip(before, after, strict=True)]
    assert abs(grown[0]) < 200
    assert grown[1] < PAGES
    assert abs(grown[2]) < 50
    assert grown[3] == 0
    assert main.plans == plans


def test_training_on_threads_leaves_nothing_over(nightly):
    with flags(HOST_THREADS=2):
        step, main, scope = steps_of(paddle.static.Executor(), SIZE)
        unchanged(step, main, scope, 20 * nightly)


def test_training_on_a_device_leaves_nothing_over(nightly):
    executor = paddle.static.Executor(paddle.CustomPlace("sim", 0))
    step, main, scope = steps_of(executor, 4)
    step(20)
    live = executor.device.allocator.statistics().live
    unchanged(step, main, scope, 50 * nightly)
    assert executor.device.allocator.statistics().live == live


def test_failed_runs_leave_nothing_over():
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, None])
        y = paddle.static.data("y", [None, None])
        out = paddle.matmul(paddle.exp(x), y)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    bad = {"x": np.ones((64, 3), "float32"), "y": np.ones((2, 64), "float32")}

    def step(times):
        for _ in range(times):
            with pytest.raises(ValueError, match="x has 3 columns and y has 2 rows"):
                executor.run(main, feed=bad, fetch_list=[out], scope=scope)
        return 0.0

    unchanged(step, main, scope, 200)
