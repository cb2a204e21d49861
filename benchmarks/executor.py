"""The Executor beside bare NumPy: its loop, and what a run costs over its operators."""

from collections.abc import Callable, Iterator

import numpy as np

import scull as paddle
from benchmarks.eager import SMALL, by_operators
from benchmarks.harness import Row, beside, cpu_time, rounds, seconds_of, spread
from scull.executor.binding import bind, filled
from scull.executor.run import run

LENGTH = 100
REPEATED = 10  # runs a round


def chain() -> tuple[paddle.static.Program, paddle.static.Variable]:
    """The chain of small adds and multiplies as a Program."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x, y = (paddle.static.data(name, [4, 4], "float32") for name in "xy")
        out = by_operators(x, y)
    paddle.disable_static()
    return main, out


def contenders(main: paddle.static.Program, out: paddle.static.Variable) -> dict[str, Callable]:
    """A whole run, the loop within it, and the same calls of NumPy."""
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    feed = dict(zip("xy", SMALL, strict=True))

    def whole() -> None:
        executor.run(main, feed=feed, fetch_list=[out], scope=scope)

    whole()
    bound = bind(main, scope, tuple(feed), (out.name,))

    def loop() -> float:
        frames = [filled(bound, feed) for _ in range(REPEATED)]
        start = cpu_time()
        for frame in frames:
            run(bound.plan, bound.steps, frame)
        return cpu_time() - start

    def bare() -> None:
        for _ in range(REPEATED):
            x, y = SMALL
            for _ in range(LENGTH // 2):
                x = np.multiply(np.add(x, y), y)

    def wholes() -> None:
        for _ in range(REPEATED):
            whole()

    return {"loop": loop, "numpy": seconds_of(bare), "run": seconds_of(wholes)}


def rows(count: int) -> Iterator[Row]:
    """The figures of the Executor, `count` rounds."""
    measured = rounds(contenders(*chain()), count)
    pair = {name: measured[name] for name in ("loop", "numpy")}
    title = f"executor: loop over {LENGTH} adds and multiplies, 4x4, each"
    yield beside(title, "<= 1.5x NumPy", pair, LENGTH * REPEATED)
    over = [a - b for a, b in zip(measured["run"], measured["loop"], strict=True)]
    whole = spread(measured["run"]).times(1e6 / REPEATED).show(" us")
    as_adds = [LENGTH * a / b for a, b in zip(over, measured["numpy"], strict=True)]
    yield Row(
        "executor: exe.run, 2 feeds, 1 fetch, over its loop",
        "<= 5 us",
        spread(over).times(1e6 / REPEATED).show(" us"),
        f"as long as {spread(as_adds).show('')} such calls of NumPy; a whole run {whole}",
    )
