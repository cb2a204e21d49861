"""The memory of a loop of ten thousand rounds."""

import re
import tracemalloc

import numpy as np
import pytest

import scull as paddle
from tests.static.test_control_flow_gradient import W, X, bytes_taken, carried, program


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def traced_peak(main, names, rounds):
    """The most bytes that Python and NumPy hold at once in a run of so many rounds."""
    exe, feed = paddle.static.Executor(), {"x": X, "w": W, "rounds": np.array([rounds])}
    exe.run(main, feed=feed, fetch_list=names)
    tracemalloc.start()
    exe.run(main, feed=feed, fetch_list=names)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_ten_thousand_rounds_take_what_the_plan_states_and_forward_nothing():
    main, names = program(carried(lambda: paddle.static.data("rounds", [1], "int64")))
    plan = paddle.static.Executor().plan(main, ["x", "w", "rounds"], names)
    (stated,) = re.findall(r"which keeps (\d+) bytes a round for its gradient", str(plan.peak))
    few, many = (bytes_taken(main, names, n) for n in (10, 110))
    assert many - few == 100 * int(stated)
    few, many = (traced_peak(main, names, n) for n in (1000, 10_000))
    assert int(stated) <= (many - few) / 9000 < int(stated) + 600  # and objects of Python
    forward = main._prune(names[:1])
    few, many = (traced_peak(forward, names[:1], n) for n in (100, 10_000))
    assert many - few < 4096
