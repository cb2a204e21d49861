"""PaddlePaddle as a contender: a process of the Python that SCULL_PADDLE_PYTHON names."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def paddlepaddle(module: str) -> Iterator[Callable[[], float] | None]:
    """A contender that has `module` measure once a round; None where no Python is named."""
    python = os.environ.get("SCULL_PADDLE_PYTHON")
    if not python:
        yield None
        return
    with subprocess.Popen(
        [python, "-m", module],
        cwd=ROOT,
        env={**os.environ, "GLOG_minloglevel": "2"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asked, told = process.stdin, process.stdout
        assert asked is not None and told is not None

        def measured() -> float:
            with suppress(BrokenPipeError):
                print(file=asked, flush=True)
            for line in told:
                if line.startswith("took "):
                    return float(line.removeprefix("took "))
            raise RuntimeError(f"{python} -m {module} ended")

        yield measured
        with suppress(BrokenPipeError):
            asked.close()
