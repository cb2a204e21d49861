"""Print every figure beside what is asked of it. Nothing fails here, and nothing is adjusted.

PaddlePaddle is measured, too, where SCULL_PADDLE_PYTHON names a Python that has it.
"""

import argparse
import platform

import numpy as np

from benchmarks import (
    chains,
    compiled,
    control_flow,
    deepfm,
    eager,
    executor,
    memory,
    models,
    profiler,
    repeated,
    start,
    static_functions,
)
from benchmarks.harness import rounds, seconds_of, spread, table, torch

parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
parser.add_argument("--rounds", type=int, default=300, help="of each contender in a row (300)")
parser.add_argument("--processes", type=int, default=9, help="started for a row (9)")
options = parser.parse_args()

peer = f"torch {torch().__version__}" if torch() else "torch not installed"
x = np.ones((4, 4), np.float32)
adds = rounds({"add": seconds_of(lambda: [np.add(x, x) for _ in range(1000)])}, 50)["add"]
print(
    f"Python {platform.python_version()}, NumPy {np.__version__}, {peer}; one thread; "
    "CPU time; medians (p10..p90) of interleaved rounds\n"
    f"on this machine NumPy adds two 4x4 arrays in {spread(adds).times(1e3).show(' us')}"
)
found = [
    *eager.rows(options.rounds),
    *executor.rows(options.rounds),
    *start.rows(options.processes),
    *memory.rows(),
    *chains.rows(options.processes),
    *control_flow.rows(options.rounds, options.processes),
    *static_functions.rows(options.rounds),
    *models.rows(options.rounds, options.processes),
    *compiled.rows(options.rounds),
    *repeated.rows(options.rounds),
    *deepfm.rows(options.rounds),
    *profiler.rows(options.rounds),
]
print(table(found))
