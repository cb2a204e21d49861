"""Print every figure beside what is asked of it. Nothing fails here, and nothing is adjusted.

PaddlePaddle is measured, too, where SCULL_PADDLE_PYTHON names a Python that has it.
"""

import argparse
import platform
from collections.abc import Iterator

import numpy as np

from benchmarks import (
    chains,
    control_flow,
    deepfm,
    eager,
    eager_networks,
    executor,
    memory,
    models,
    profiler,
    sharing,
    start,
    static_functions,
)
from benchmarks.compiled import row as compiled
from benchmarks.compiled.catalog import workloads
from benchmarks.harness import Row, rounds, seconds_of, spread, table, torch

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("--rounds", type=int, default=300, help="of each contender in a row (300)")
parser.add_argument("--processes", type=int, default=9, help="started for a row (9)")
ONE = ("gemm", "making", *workloads())
parser.add_argument("--only", choices=ONE, help="one figure of machine code")
options = parser.parse_args()

peer = f"torch {torch().__version__}" if torch() else "torch not installed"
x = np.ones((4, 4), np.float32)
adds = rounds({"add": seconds_of(lambda: [np.add(x, x) for _ in range(1000)])}, 50)["add"]
print(
    f"Python {platform.python_version()}, NumPy {np.__version__}, {peer}; one thread; "
    "CPU time; medians (p10..p90) of interleaved rounds\n"
    f"on this machine NumPy adds two 4x4 arrays in {spread(adds).times(1e3).show(' us')}"
)


def figures() -> Iterator[Row]:
    """Every figure in turn."""
    if options.only:
        yield from compiled.rows(options.rounds, options.only)
        return
    yield from eager.rows(options.rounds)
    yield from eager_networks.rows(max(3, options.rounds // 20))
    yield from executor.rows(options.rounds)
    yield from start.rows(options.processes)
    yield from memory.rows()
    yield from chains.rows(options.processes)
    yield from control_flow.rows(options.rounds, options.processes)
    yield from static_functions.rows(options.rounds)
    yield from models.rows(options.rounds, options.processes)
    yield from profiler.rows(options.rounds)
    yield from sharing.rows(options.rounds)
    yield from compiled.rows(options.rounds)
    yield from deepfm.rows(options.rounds)


print(table(figures()))
