"""Primitives of dataflow on several threads: what runs beside what, order, errors."""

import threading

import numpy as np
import pytest

import scull as paddle
from scull.errors import RunError
from scull.executor.flow import Run
from scull.flags import flags
from scull.passes.dataflow import lowered
from scull.runtime import blas

SIZE = 256  # of matrices that are worth another thread
FEED = {"x": np.random.default_rng(0).random((SIZE, SIZE), np.float32) / SIZE}


@pytest.fixture(autouse=True)
def main():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        yield main
    paddle.disable_static()


def counted(most, body, y):
    i, limit = paddle.full([1], 0, "int64"), paddle.full([1], most, "int64")
    return paddle.static.nn.while_loop(
        lambda i, y: i < limit, lambda i, y: [i + 1, body(y)], [i, y]
    )[1]


def nested(x, start):
    """A loop in a loop, of products."""
    return counted(2, lambda y: counted(3, lambda z: paddle.matmul(z, x) + start, y), x * start)


def two_loops():
    x = paddle.static.data("x", [SIZE, SIZE])
    return [nested(x, 1.0), nested(x, 2.0)]


def run(program, results, threads):
    # on some CPUs what a library adds up depends on how many threads it has itself
    with flags(HOST_THREADS=threads), blas.one_thread():
        return paddle.static.Executor().run(
            program, feed=FEED, fetch_list=[v.name for v in results]
        )


def test_threads_give_the_same_bits(main):
    results = two_loops()
    flat = lowered(main)
    expected = [v.tobytes() for v in run(main, results, 1)]
    for threads in (1, 2, 3, 2):
        assert [v.tobytes() for v in run(flat, results, threads)] == expected


def test_independent_loops_run_side_by_side(main, monkeypatch):
    results, meeting, met = two_loops(), threading.Barrier(2), []

    def meet(run, here, region):
        thread = threading.get_ident()
        if thread not in met and any(o.type == "matmul_v2" for o in region.operators):
            met.append(thread)
            meeting.wait(30)  # until another thread computes a product, too
        compute(run, here, region)

    compute = Run.compute
    monkeypatch.setattr(Run, "compute", meet)
    run(lowered(main), results, 2)
    assert len(met) == 2


def test_functions_of_python_are_called_by_the_thread_that_asked(main):
    x, callers = paddle.static.data("x", [SIZE, SIZE]), []

    def noted(value):
        callers.append(threading.get_ident())
        return np.asarray(value)

    def body(y):
        out = main.current_block().create_var(name=f"{y.name}.out", shape=y.shape, dtype="float32")
        paddle.static.py_func(noted, paddle.matmul(y, x), out)
        return out

    results = [counted(3, body, x * 1.0), counted(3, body, x * 2.0)]
    run(lowered(main), results, 3)
    assert callers == [threading.get_ident()] * 6


def test_the_first_error_ends_the_run_and_the_next_begins_anew(main):
    results, flat = two_loops(), lowered(main)
    for _ in range(2):
        with flags(MAX_ROUNDS=1), pytest.raises(RunError, match="MAX_ROUNDS=1"):
            run(flat, results, 2)
        assert run(flat, results, 2)[0].tobytes() == run(main, results, 1)[0].tobytes()
