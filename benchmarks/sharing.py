"""Kernels whose chunks threads share, beside one thread: wall time, which CPU time does not tell.

On a machine that does other work at the same time the fastest calls tell what sharing gains, and
the 90th percentile what it costs there.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Row, rounds, short
from scull import lang
from scull.compiler.native import compile
from scull.core.cpus import usable_cpus
from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.flags import flags

SIZES = (1 << 14, 1 << 16, 1 << 18, 1 << 20)  # numbers of which tanh is taken three times
REPEATED = 8  # runs in a row: threads that wait for the next are awake


def three_times(index: Any, x: Any) -> Any:
    """The kernel."""
    return lang.tanh(lang.tanh(lang.tanh(x[index])))


def walled(run: Callable[[], None], threads: int) -> Callable[[], float]:
    """The time of one of several runs in a row, on so many threads."""

    def measured() -> float:
        with flags(NUM_THREADS=threads):
            run()
            start = time.perf_counter()
            for _ in range(REPEATED):
                run()
            return (time.perf_counter() - start) / REPEATED

    return measured


def rows(count: int) -> Iterator[Row]:
    """Kernels of several sizes, on one thread and on all CPUs."""
    many = usable_cpus()
    for size in SIZES:
        meta = Meta((size,), float32)
        x = np.random.default_rng(0).standard_normal(size, np.float32)
        kernel = lang.trace(three_times, [meta], [meta], {}, name="three_times")
        run = compile(kernel).bind([x], [np.empty_like(x)])
        found = rounds({"1": walled(run, 1), "all": walled(run, many)}, count)
        least, late = ([np.quantile(v, q) * 1e6 for v in found.values()] for q in (0, 0.9))
        yield Row(
            f"threads: tanh, three times, of {size:,} numbers, {many} threads beside 1",
            "",
            f"{short(least[0] / least[1])}x at best, {short(late[0] / late[1])}x at p90",
            f"1: {short(least[0])} us (p90 {short(late[0])}), "
            f"{many}: {short(least[1])} us (p90 {short(late[1])})",
        )
