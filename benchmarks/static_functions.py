"""Functions made static: what a call costs beside the plan and beside eager mode, and the first.

`python -m benchmarks.static_functions` measures ten tiny operators in PaddlePaddle, once for every
line it reads: eager, then static.
"""

import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.harness import Row, beside, rounds, seconds_of, spread
from benchmarks.reference import paddlepaddle

CALLS = 200  # in a row, for one measurement
MODULE = "benchmarks.static_functions"


def ten_operators(x: Any) -> Any:
    """Ten tiny operators."""
    y = x
    for _ in range(5):
        y = (y + x) * x
    return y


def repeated(call: Callable[[], Any]) -> Callable[[], None]:
    """`call`, often enough to be measured."""

    def calls() -> None:
        for _ in range(CALLS):
            call()

    return calls


def contenders(paddle: Any) -> tuple[Callable[[], float], Callable[[], float]]:
    """The ten operators static and eager, for whichever framework has Paddle's API."""
    x = paddle.full([4, 4], 0.5)
    static = paddle.jit.to_static(ten_operators, full_graph=True)
    with paddle.no_grad():
        static(x)
    return seconds_of(repeated(lambda: static(x))), seconds_of(repeated(lambda: ten_operators(x)))


def plan_alone(paddle: Any) -> tuple[Callable[[], float], Callable[[], float]]:
    """A call of the static function, and the loop over its plan without anything else."""
    run_plan = import_module("scull.executor.run").run
    x = paddle.full([4, 4], 0.5)
    static = paddle.jit.to_static(ten_operators, full_graph=True)
    static(x)
    _, (_, piece) = static.program_cache.last()
    bound, fills = piece.alone.bound, piece.alone.fills

    def plan() -> None:
        frame = bound.blank.copy()
        for _, slot in fills:
            frame[slot] = x.array
        run_plan(bound.plan, bound.steps, frame)

    return seconds_of(repeated(lambda: static(x))), seconds_of(repeated(plan))


def first_resnet(paddle: Any) -> float:
    """The seconds of converting ResNet-18 and of its first run, forward and backward."""
    net = paddle.vision.models.resnet18()
    x = paddle.rand([1, 3, 64, 64])
    start = time.perf_counter()
    paddle.jit.to_static(net, full_graph=True)(x).mean().backward()
    return time.perf_counter() - start


def first_inference(paddle: Any) -> float:
    """The same, forward alone."""
    net = paddle.vision.models.resnet18()
    net.eval()
    x = paddle.rand([1, 3, 64, 64])
    start = time.perf_counter()
    with paddle.no_grad():
        paddle.jit.to_static(net, full_graph=True)(x)
    return time.perf_counter() - start


def call_row(paddle: Any, count: int) -> Row:
    """What a cached call costs besides the plan."""
    static, plan = plan_alone(paddle)
    found = rounds({"call": static, "plan": plan}, count)
    factor = 1e6 / CALLS
    besides = [(a - b) * factor for a, b in zip(found["call"], found["plan"], strict=True)]
    times = {n: spread(v).times(factor).show(" us") for n, v in found.items()}
    detail = f"call {times['call']}, plan {times['plan']}"
    return Row(
        "static function: a call besides its plan", "<= 2 us", spread(besides).show(" us"), detail
    )


def rows(count: int) -> Iterator[Row]:
    """The figures of functions made static."""
    paddle = import_module("scull")
    yield call_row(paddle, count)
    static, eager = contenders(paddle)
    yield beside(
        "ten tiny operators, static : eager",
        "< 1x",
        rounds({"static": static, "eager": eager}, count),
        CALLS,
    )
    with paddlepaddle(MODULE) as peer:
        if peer is not None:
            found = rounds({"scull": static, "paddle": peer}, max(count // 10, 5))
            yield beside("ten tiny operators static, against Paddle", "", found, CALLS)
    for name, first in (("forward", first_inference), ("and backward", first_resnet)):
        seconds = [first(paddle) for _ in range(3)]
        yield Row(
            f"ResNet-18: conversion and first run, {name}", "<= 2 s", spread(seconds).show(" s")
        )


if __name__ == "__main__":
    reference = import_module("paddle")
    static_calls, eager_calls = contenders(reference)
    for _ in sys.stdin:
        eager_took, static_took = eager_calls(), static_calls()
        print(f"eager {eager_took}")
        print(f"took {static_took}", flush=True)
