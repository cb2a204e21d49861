"""Two hundred tiny operators as a Program, for whichever framework has Paddle's API.

`python -m benchmarks.tiny` builds them in PaddlePaddle and runs them once for every line it reads.
"""

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

LENGTH = 200
NAMES = (  # as Paddle and NumPy both call them, and what the second operand is
    ("add", "y"),
    ("tanh", ""),
    ("multiply", "row"),
    ("exp", ""),
    ("subtract", "y"),
    ("abs", ""),
    ("maximum", "y"),
    ("sqrt", ""),
    ("divide", "y"),
    ("minimum", "row"),
)
SHAPES = {"x": (4, 4), "y": (4, 4), "row": (4,)}
OPERANDS = {
    name: np.random.default_rng(0).random(shape, np.float32) + np.float32(0.5)
    for name, shape in SHAPES.items()
}


def calls(functions: Any, length: int = LENGTH) -> list[tuple[Callable[..., Any], str]]:
    """The operators as functions of a module, each with its second operand."""
    looked_up = [(getattr(functions, name), other) for name, other in NAMES]
    return [looked_up[i % len(NAMES)] for i in range(length)]


def chain(calls: list[tuple[Callable[..., Any], str]], operands: dict[str, Any]) -> Any:
    """The operators one after the other."""
    x = operands["x"]
    for call, other in calls:
        x = call(x, operands[other]) if other else call(x)
    return x


def program(paddle: Any, length: int = LENGTH) -> tuple[Any, Any]:
    """The operators as a Program, and what comes out."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        operands = {n: paddle.static.data(n, shape, "float32") for n, shape in SHAPES.items()}
        out = chain(calls(paddle, length), operands)
    paddle.disable_static()
    return main, out


def whole_run(paddle: Any) -> Callable[[], float]:
    """A contender: one run of the Executor, by the clock, since it may have threads of its own."""
    (main, out), executor = program(paddle), paddle.static.Executor()
    paddle.enable_static()
    executor.run(main, feed=OPERANDS, fetch_list=[out])
    paddle.disable_static()

    def measured() -> float:
        start = time.perf_counter()
        executor.run(main, feed=OPERANDS, fetch_list=[out])
        return time.perf_counter() - start

    return measured


if __name__ == "__main__":
    run = whole_run(import_module("paddle"))
    for _ in sys.stdin:
        print(f"took {run()}", flush=True)
