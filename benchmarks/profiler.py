"""What recording costs: nothing while nothing is recorded, and a little an operator while it is."""

from collections.abc import Callable, Iterator

import scull as paddle
from benchmarks.harness import Row, cpu_time, rounds, spread
from benchmarks.tiny import LENGTH, OPERANDS, program
from scull.core.timeline import filling

OPERATORS = 200


def eager() -> float:
    """The seconds of small additions in eager mode, which ran before so that nothing is cold."""
    x = paddle.ones([4, 4])
    for _ in range(2):
        start = cpu_time()
        for _ in range(OPERATORS):
            x + x
    return cpu_time() - start


def seen(contender: Callable[[], float], **options: bool) -> Callable[[], float]:
    """The same while it is recorded."""

    def measured() -> float:
        with filling(**options):
            return contender()

    return measured


def static() -> Callable[[], float]:
    """The seconds of the second run of a Program of tiny operators."""
    main, out = program(paddle)
    executor, scope = paddle.static.Executor(), paddle.static.Scope()

    def measured() -> float:
        executor.run(main, feed=OPERANDS, fetch_list=[out], scope=scope)
        start = cpu_time()
        executor.run(main, feed=OPERANDS, fetch_list=[out], scope=scope)
        return cpu_time() - start

    return measured


def rows(count: int) -> Iterator[Row]:
    """The figures of recording, `count` rounds."""
    run = static()
    found = rounds(
        {
            "before": eager,
            "recording": seen(eager),
            "after": eager,
            "details": seen(eager, details=True),
            "memory": seen(eager, memory=True),
        },
        count,
    )
    found |= rounds({"run": run, "recorded run": seen(run)}, count)

    def over(name: str, plain: str, operators: int) -> str:
        pairs = zip(found[name], found[plain], strict=True)
        return spread([a - b for a, b in pairs]).times(1e6 / operators).show(" us")

    ratio = spread([a / b for a, b in zip(found["after"], found["before"], strict=True)])
    each = spread(found["before"]).times(1e6 / OPERATORS).show(" us")
    yield Row("profiler: eager adds after recording", "1x those before", ratio.show("x"), each)
    for name in ("recording", "details", "memory"):
        title = f"profiler: {name}, over an eager add"
        yield Row(title, "<= 5 us" * (name == "recording"), over(name, "before", OPERATORS))
    each = spread(found["run"]).times(1e6 / LENGTH).show(" us")
    title = "profiler: recording, over an instruction"
    yield Row(title, "<= 5 us", over("recorded run", "run", LENGTH), f"each takes {each}")
