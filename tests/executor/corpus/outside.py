"""Features of the world outside: draws, Python, other threads, other processes, the host."""

from typing import Any

import numpy as np

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case
from tests.executor.corpus.world import WORLD, in_turn, raise_level, read_level, served


def drawn(case: Case) -> None:
    """Numbers drawn anew in every run, and some dropped by chance."""
    case.keep(case.pick() + paddle.uniform(SHAPE))
    hidden = paddle.matmul(case.pick(), case.parameter(*SHAPE))
    out = paddle.nn.functional.dropout(hidden, 0.5)
    case.trained.append(out)
    case.keep(out + paddle.randn(SHAPE))


def seeded(case: Case) -> None:
    """Numbers that are the same in every run."""
    case.keep(case.pick() * paddle.uniform(SHAPE, seed=5))


def python(case: Case) -> None:
    """Two calls of Python functions, which keep their order."""
    for _ in range(2):
        number, made = case.number(), case.variable()

        def call(x: Any, number: int = number) -> Any:
            WORLD.noted("python", number, float(np.sum(x)))
            return np.asarray(x) + np.float32(number)

        paddle.static.py_func(call, case.pick(), made)
        case.keep(made)


def another_program() -> Any:
    """A function that runs a Program of its own: it doubles and adds 1."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main), paddle.utils.unique_name.guard():
        given = paddle.static.data("given", SHAPE)
        found = given * 2.0 + paddle.ones([1])
    executor, scope = paddle.static.Executor(), paddle.static.Scope()

    def run(x: Any) -> Any:
        feed = {"given": np.array(x)}
        return executor.run(main, feed=feed, fetch_list=[found], scope=scope)[0]

    return run


def python_runs(case: Case) -> None:
    """A Python function that runs another Program."""
    number, made, run = case.number(), case.variable(), another_program()

    def call(x: Any) -> Any:
        WORLD.noted("python", number)
        return run(x)

    paddle.static.py_func(call, case.pick(), made)
    case.keep(made)


def outside(case: Case) -> None:
    """What is read outside after it was written, and before."""
    case.keep(read_level(case.pick()))
    case.keep(raise_level(case.pick()))
    case.keep(read_level(case.pick()))


def collective(case: Case) -> None:
    """Three rounds in which all who take part meet, in their order."""
    for _ in range(3):
        case.keep(in_turn(case.pick()))


def blocking(case: Case) -> None:
    """An operator that waits for another thread."""
    case.keep(served(case.pick()))
    case.keep(paddle.tanh(case.pick()))


def blocking_runs(case: Case) -> None:
    """An operator that waits for another thread, which runs a Program."""
    name = f"{case.name} {case.number()}"
    WORLD.services[name] = another_program()
    case.keep(served(case.pick(), service=name))


def on_host(case: Case) -> None:
    """Operators that are kept on the host, between others."""
    with paddle.static.device_guard("cpu"):
        found = paddle.tanh(case.pick()) * 2.0
        case.update(found, case.pick())
    case.keep(found, found + 1.0)


FEATURES = {
    "random": drawn,
    "seeded random": seeded,
    "python": python,
    "python runs a Program": python_runs,
    "outside": outside,
    "collective": collective,
    "blocking": blocking,
    "blocking runs a Program": blocking_runs,
    "on the host": on_host,
}
