"""One loop in every form there is, beside bare NumPy and PaddlePaddle; loops on two threads."""

import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import scull as paddle
from benchmarks.chains import elapsed, operand, ratios
from benchmarks.harness import Row, beside, rounds, spread
from benchmarks.loop import TIMES, bare, eager, program, whole_run
from benchmarks.loop import elapsed as timed
from benchmarks.reference import paddlepaddle
from scull.flags import flags
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled

LOOPS, OUTER, INNER, SIZE = 2, 4, 4, 512
LIMIT = 100_000  # operators that the loop may become


def forms() -> dict[str, Callable[[], float]]:
    """The loop in every form."""
    main, out = program(paddle)
    programs = {
        "in-graph": main,
        "primitives": lowered(main),
        "unrolled": unrolled(main, LIMIT).program,
    }
    found = {form: whole_run(paddle, p, out.name) for form, p in programs.items()}
    return found | {"eager Python": timed(eager(paddle))}


def side_by_side(count: int) -> Iterator[Row]:
    """The loop in every form beside the same calls of NumPy, and beside PaddlePaddle's."""
    with paddlepaddle("benchmarks.loop") as theirs:
        contenders = forms() | {"NumPy": timed(bare)}
        ours = list(contenders)[:-1]
        if theirs is not None:
            contenders["PaddlePaddle's while"] = theirs
        measured = rounds(contenders, count)
    for form in ours:
        title = f"control flow: loop of a 64x64 layer, {form}, a round"
        pair = {name: measured[name] for name in (form, "NumPy")}
        yield beside(title, "<= 3x NumPy", pair, TIMES)
    for form in ours:
        title = f"control flow: the same, {form}, beside the static while"
        if theirs is None:
            yield Row(title, "< 1x PaddlePaddle", "SCULL_PADDLE_PYTHON names no Python")
        else:
            pair = {name: measured[name] for name in (form, "PaddlePaddle's while")}
            yield beside(title, "< 1x PaddlePaddle", pair, TIMES)


def counted(paddle: Any, times: int, body: Callable[[Any], Any], y: Any) -> Any:
    """What `y` becomes in so many rounds of `body`."""
    i, most = (paddle.full([1], n, "int64") for n in (0, times))
    found = paddle.static.nn.while_loop(
        lambda i, y: i < most, lambda i, y: [i + 1, body(y)], [i, y]
    )
    return found[1]


def nested_loops() -> tuple[paddle.static.Program, list[str]]:
    """Independent loops in loops, as primitives."""
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [SIZE, SIZE])

        def inner(y: Any) -> Any:
            return counted(paddle, INNER, lambda z: paddle.tanh(paddle.matmul(z, x)), y)

        ends = [counted(paddle, OUTER, inner, x * (1.0 + i)) for i in range(LOOPS)]
    paddle.disable_static()
    return lowered(main), [end.name for end in ends]


def layers(count: int) -> None:
    """`count` of these loops in NumPy."""
    x = operand()
    for i in range(count):
        y = x * np.float32(1.0 + i)
        for _ in range(OUTER * INNER):
            y = np.tanh(np.matmul(y, x))


def on_threads(count: int) -> Row:
    """How much faster two threads are than one, beside two processes and one."""
    main, ends = nested_loops()
    executor, scope, feed = paddle.static.Executor(), paddle.static.Scope(), {"x": operand()}

    def on(threads: int) -> Callable[[], float]:
        run = elapsed(lambda: executor.run(main, feed=feed, fetch_list=ends, scope=scope))

        def measured() -> float:
            with flags(HOST_THREADS=threads):
                executor.run(main, feed=feed, fetch_list=ends, scope=scope)
                return run()

        return measured

    with multiprocessing.get_context("spawn").Pool(LOOPS) as pool:
        measured = rounds(
            {
                "one thread": on(1),
                "two threads": on(2),
                "one process": elapsed(lambda: pool.map(layers, [LOOPS])),
                "two processes": elapsed(lambda: pool.map(layers, [1] * LOOPS, 1)),
            },
            count,
        )
    ours = ratios(measured["one thread"], measured["two threads"])
    peer = ratios(measured["one process"], measured["two processes"])
    share = spread([a / b for a, b in zip(ours, peer, strict=True)])
    detail = f"threads {spread(ours).show('x')}, processes {spread(peer).show('x')}"
    title = f"control flow: {LOOPS} nested loops of {SIZE}x{SIZE} layers, 1 to 2 threads"
    return Row(title, ">= 0.85 of processes", share.show(""), detail)


def rows(count: int, few: int) -> Iterator[Row]:
    """The figures of control flow, `count` rounds; of threads and processes a `few`."""
    yield from side_by_side(count)
    yield on_threads(few)
