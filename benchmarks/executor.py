"""The Executor beside bare NumPy and beside PaddlePaddle's: its loop, and what a run costs."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.harness import Row, beside, cpu_time, rounds, seconds_of, spread
from benchmarks.reference import paddlepaddle
from benchmarks.tiny import LENGTH, OPERANDS, calls, chain, program, whole_run
from scull.executor.binding import bind, filled
from scull.executor.run import run

SHORT = 10  # operators of the Program of which what a run costs beside them is seen
REPEATED = 10  # runs a round


def repeated(call: Callable[[], Any]) -> Callable[[], float]:
    """A contender that calls several times a round."""
    return seconds_of(lambda: [call() for _ in range(REPEATED)])


def contenders(length: int) -> dict[str, Callable[[], float]]:
    """The loop of a run alone, the same calls of NumPy, and the whole run."""
    main, out = program(paddle, length)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()

    def whole() -> None:
        executor.run(main, feed=OPERANDS, fetch_list=[out], scope=scope)

    whole()
    bound = bind(main, scope, tuple(OPERANDS), (out.name,))

    def loop() -> float:
        frames = [filled(bound, OPERANDS) for _ in range(REPEATED)]
        start = cpu_time()
        for frame in frames:
            run(bound.plan, bound.steps, frame)
        return cpu_time() - start

    bare = calls(np, length)
    return {
        "loop": loop,
        "numpy": repeated(lambda: chain(bare, OPERANDS)),
        "run": repeated(whole),
    }


def beside_paddlepaddle(count: int) -> Row:
    """A whole run of both Executors, by the clock: PaddlePaddle's has threads of its own."""
    title = f"executor: exe.run of {LENGTH} tiny operators, each"
    with paddlepaddle("benchmarks.tiny") as theirs:
        if theirs is None:
            ours = spread(rounds({"run": whole_run(paddle)}, count)["run"]).times(1e6 / LENGTH)
            absent = "SCULL_PADDLE_PYTHON names no Python"
            return Row(title, "< 1x PaddlePaddle", absent, f"scull {ours.show(' us')}")
        pair = {"scull": whole_run(paddle), "PaddlePaddle": theirs}
        return beside(title, "< 1x PaddlePaddle", rounds(pair, count), LENGTH)


def rows(count: int) -> Iterator[Row]:
    """The figures of the Executor, `count` rounds."""
    measured = rounds(contenders(LENGTH), count)
    pair = {name: measured[name] for name in ("loop", "numpy")}
    title = f"executor: loop over {LENGTH} tiny operators, each"
    yield beside(title, "<= 1.5x NumPy", pair, LENGTH * REPEATED)
    yield beside_paddlepaddle(count)
    measured = rounds(contenders(SHORT), count)
    over = [a - b for a, b in zip(measured["run"], measured["loop"], strict=True)]
    whole = spread(measured["run"]).times(1e6 / REPEATED).show(" us")
    as_calls = [SHORT * a / b for a, b in zip(over, measured["numpy"], strict=True)]
    yield Row(
        "executor: exe.run, 3 feeds, 1 fetch, over its loop",
        "<= 5 us",
        spread(over).times(1e6 / REPEATED).show(" us"),
        f"as long as {spread(as_calls).show('')} such calls of NumPy; "
        f"a whole run of {SHORT} operators {whole}",
    )
