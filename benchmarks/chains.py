"""Independent chains of products on one thread and on two, beside two processes of NumPy."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.harness import Row, rounds, spread
from scull.flags import flags

CHAINS, LENGTH, SIZE = 8, 4, 512
REPEATED = 3  # runs of a contender in a round


def program() -> tuple[paddle.static.Program, list[paddle.static.Variable]]:
    """The chains as one Program."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [SIZE, SIZE])
        ends = []
        for i in range(CHAINS):
            hidden = x * (1.0 + i)
            for _ in range(LENGTH):
                hidden = paddle.matmul(hidden, x)
            ends.append(paddle.mean(hidden))
    paddle.disable_static()
    return main, ends


def operand() -> np.ndarray:
    """What is multiplied."""
    return np.random.default_rng(0).random((SIZE, SIZE), dtype="float32") / SIZE


def products(count: int) -> None:
    """`count` of the chains in NumPy."""
    x = operand()
    for i in range(count):
        hidden = x * np.float32(1.0 + i)
        for _ in range(LENGTH):
            hidden = np.matmul(hidden, x)
        np.mean(hidden)


def elapsed(call: Callable[[], Any]) -> Callable[[], float]:
    """A contender that is measured by the clock: threads and processes share the work.

    Of a few runs the shortest counts: what else the machine does only adds to them.
    """

    def measured() -> float:
        found = []
        for _ in range(REPEATED):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
        return min(found)

    return measured


def rows(count: int) -> Iterator[Row]:
    """How much faster two threads are than one, beside two processes and one."""
    main, ends = program()
    executor, scope, feed = paddle.static.Executor(), paddle.static.Scope(), {"x": operand()}

    def on(threads: int) -> Callable[[], float]:
        run = elapsed(lambda: executor.run(main, feed=feed, fetch_list=ends, scope=scope))

        def measured() -> float:
            with flags(HOST_THREADS=threads):
                for _ in range(2):  # settings are new: the plan is made, and asked whether it pays
                    executor.run(main, feed=feed, fetch_list=ends, scope=scope)
                return run()

        return measured

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        measured = rounds(
            {
                "one thread": on(1),
                "two threads": on(2),
                "one process": elapsed(lambda: pool.map(products, [CHAINS])),
                "two processes": elapsed(lambda: pool.map(products, [CHAINS // 2] * 2, 1)),
            },
            count,
        )
    ours = ratios(measured["one thread"], measured["two threads"])
    peer = ratios(measured["one process"], measured["two processes"])
    share = spread([a / b for a, b in zip(ours, peer, strict=True)])
    detail = f"threads {spread(ours).show('x')}, processes {spread(peer).show('x')}"
    title = f"executor: {CHAINS} chains of {SIZE}x{SIZE} products, 1 to 2 threads"
    yield Row(title, ">= 0.9 of processes", share.show(""), detail)


def ratios(first: list[float], second: list[float]) -> list[float]:
    """How many times as long the first took, round by round."""
    return [a / b for a, b in zip(first, second, strict=True)]
