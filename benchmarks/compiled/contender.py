"""One contender of one workload, told what to measure by whoever started it.

`python -m benchmarks.compiled.contender WORKLOAD CONTENDER THREADS FILE` writes what is compared to
the file and prints the seconds of the first step and the most bytes of memory it had. For each
number that it reads it then prints the seconds of so many steps, by the clock and of the CPU, and
the most bytes of memory it had.
"""

import json
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compiled.catalog import workloads

REST = 0.02  # seconds before a turn of several threads


def memory(field: str) -> int:
    """The bytes of memory of this process: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def main(workload: str, contender: str, threads: int, file: str) -> None:
    """Answer until nothing more is asked."""
    told, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    import_module(contender.partition("/")[0])
    before = memory("VmRSS")
    work = workloads()[workload]
    step = work.step(contender, threads)
    first: list[float] = []

    def noted() -> Any:
        start = time.perf_counter()
        out = step()
        first.append(time.perf_counter() - start)
        return out

    np.save(file, work.result(noted))
    print(json.dumps([first[0], memory("VmHWM") - before]), file=told, flush=True)
    for line in sys.stdin:
        if int(threads) > 1:  # those of the others still look for work, and ours are asleep
            time.sleep(REST)
            step()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(int(line)):
            step()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(json.dumps([wall, cpu, memory("VmHWM") - before]), file=told, flush=True)


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
