"""Print every figure beside what is asked of it. Nothing fails here, and nothing is adjusted.

PaddlePaddle is measured, too, where SCULL_PADDLE_PYTHON names a Python that has it.
"""

import argparse
import platform
from collections.abc import Callable, Iterator

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
GROUPS: dict[str, Callable[[int, int], Iterator[Row]]] = {  # by rounds and processes
    "eager": lambda rounds, _: eager.rows(rounds),
    "eager-networks": lambda rounds, _: eager_networks.rows(max(3, rounds // 20)),
    "executor": lambda rounds, _: executor.rows(rounds),
    "start": lambda _, processes: start.rows(processes),
    "memory": lambda *_: memory.rows(),
    "chains": lambda _, processes: chains.rows(processes),
    "control-flow": control_flow.rows,
    "static-functions": lambda rounds, _: static_functions.rows(rounds),
    "models": models.rows,
    "profiler": lambda rounds, _: profiler.rows(rounds),
    "sharing": lambda rounds, _: sharing.rows(rounds),
    "compiled": lambda rounds, _: compiled.rows(rounds),
    "deepfm": lambda rounds, _: deepfm.rows(rounds),
}
NAMES = (*GROUPS, "gemm", "making", *workloads())
parser.add_argument("--only", choices=NAMES, nargs="+", help="groups of figures, or a row's")
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
    """Every figure in turn, or those asked for."""
    for name in options.only or GROUPS:
        if name in GROUPS:
            yield from GROUPS[name](options.rounds, options.processes)
        else:
            yield from compiled.rows(options.rounds, name)


for line in table(figures()):
    print(line, flush=True)
