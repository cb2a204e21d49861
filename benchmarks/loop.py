"""A loop with a counter and a layer of 64x64, for whichever framework has Paddle's API.

`python -m benchmarks.loop` builds it in PaddlePaddle and runs it once for every line it reads.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

TIMES, SIZE = 200, 64
FEED = {  # which does not become so small that processors take long over it
    name: np.random.default_rng(i).random((SIZE, SIZE), np.float32) - np.float32(0.5)
    for i, name in enumerate(("x", "w"))
}


def program(paddle: Any) -> tuple[Any, Any]:
    """The loop as a Program, and what comes out."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x, w = (paddle.static.data(name, [SIZE, SIZE], "float32") for name in FEED)
        i, most = (paddle.full([1], n, "int64") for n in (0, TIMES))
        found = paddle.static.nn.while_loop(
            lambda i, y: i < most, lambda i, y: [i + 1, paddle.tanh(paddle.matmul(y, w))], [i, x]
        )
    paddle.disable_static()
    return main, found[1]


def eager(paddle: Any) -> Callable[[], Any]:
    """The loop that Python drives."""
    x, w = (paddle.to_tensor(value) for value in FEED.values())

    def run() -> Any:
        i, most, y = paddle.full([1], 0, "int64"), paddle.full([1], TIMES, "int64"), x
        while i < most:
            i, y = i + 1, paddle.tanh(paddle.matmul(y, w))
        return y

    return run


def bare() -> Any:
    """The same calls of NumPy."""
    i, most, y = np.zeros(1, "int64"), np.full(1, TIMES, "int64"), FEED["x"]
    one, w = np.int64(1), FEED["w"]
    while np.less(i, most).item():
        i, y = np.add(i, one), np.tanh(np.matmul(y, w))
    return y


def elapsed(call: Callable[[], Any]) -> Callable[[], float]:
    """A contender that is measured by the clock, since PaddlePaddle may have threads of its own."""
    call()

    def measured() -> float:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return measured


def whole_run(paddle: Any, program: Any, name: str) -> Callable[[], float]:
    """A contender: one run of the Executor."""
    executor = paddle.static.Executor()

    def run() -> Any:
        paddle.enable_static()
        found = executor.run(program, feed=FEED, fetch_list=[name])
        paddle.disable_static()
        return found

    return elapsed(run)


if __name__ == "__main__":
    found = import_module("paddle")
    main, out = program(found)
    run = whole_run(found, main, out.name)
    for _ in sys.stdin:
        print(f"took {run()}", flush=True)
