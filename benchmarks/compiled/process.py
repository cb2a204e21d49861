"""Contenders as processes that take turns."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
LEAST = 0.02  # seconds of one turn


def python_of(contender: str) -> str | None:
    """The Python that has a contender's framework."""
    name = contender.partition("/")[0]
    if name == "paddle":
        return os.environ.get("SCULL_PADDLE_PYTHON") or None
    return sys.executable if util.find_spec(name) else None


def environment(threads: int) -> dict[str, str]:
    """Every framework has so many threads, and its bytecode on disk, as an installed one has."""
    counts = ("OMP", "MKL", "OPENBLAS", "SCULL")
    eigen = f"--xla_cpu_multi_thread_eigen={'false' if threads == 1 else 'true'}"
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {
        **given,
        **{f"{name}_NUM_THREADS": str(threads) for name in counts},
        "XLA_FLAGS": f"{eigen} intra_op_parallelism_threads={threads}",
        "JAX_PLATFORMS": "cpu",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # more only wait for each other
        "SCULL_COMPILE": "eager",
        "GLOG_minloglevel": "3",
    }


class Contender:
    """A process that does steps of a workload when told so."""

    def __init__(self, process: subprocess.Popen[str], threads: int, file: Path) -> None:
        self.process, self.threads = process, threads
        self.first, self.peak = self.answer()
        self.result = np.load(file)
        self.count = 0  # steps of a turn, as soon as there was one

    def answer(self) -> list[Any]:
        """What it says next."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended")
        return json.loads(line)  # type: ignore[no-any-return]

    def turn(self) -> float:
        """The seconds of one step, in the mean of a turn.

        Of one thread those of the CPU, which other processes do not lengthen; threads of a library
        that only wait for work are not counted, so never more than by the clock.
        """
        if not self.count:
            self.count = 1
            self.turn()
            self.count = max(1, int(LEAST / max(self.turn(), 1e-9)))
        assert self.process.stdin is not None
        print(self.count, file=self.process.stdin, flush=True)
        wall, cpu, self.peak = self.answer()
        return (min(wall, cpu) if self.threads == 1 else wall) / self.count


def pin(process: int) -> None:
    """A process keeps to one CPU: of some libraries one thread is more than one."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process, {max(os.sched_getaffinity(0))})


@contextmanager
def started(
    workload: str,
    contender: str,
    threads: int,
    folder: str,
    *,
    pinned: bool = False,
    **settings: str,
) -> Iterator[Contender]:
    """A contender, which has done its first step; `settings` are of its environment."""
    file = Path(folder) / f"{contender.replace('/', '-')}-{threads}.npy"
    python = python_of(contender)
    assert python is not None
    arguments = [workload, contender, str(threads), str(file)]
    with subprocess.Popen(
        [python, "-m", "benchmarks.compiled.contender", *arguments],
        cwd=ROOT,
        env=environment(threads) | settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        if pinned:
            pin(process.pid)
        yield Contender(process, threads, file)
        assert process.stdin is not None
        process.stdin.close()
