"""Starting: import time and memory, and the first example from the start of a process."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Row, spread

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("llvmlite", "onnx", "PIL", "torch", "google.protobuf")  # loaded when needed, not before

IMPORT = f"""
import time
wall, cpu = time.perf_counter(), time.process_time()
import numpy
first = time.perf_counter() - wall
import scull
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
import json, resource, sys
try:
    pages = int(open("/proc/self/statm").read().split()[1])
    resident = pages * resource.getpagesize()
except FileNotFoundError:
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loaded = [name for name in {HEAVY!r} if name in sys.modules]
own = sum(name.partition(".")[0] == "scull" for name in sys.modules)
print(json.dumps([wall, cpu, first, resident, loaded, own, len(sys.modules)]))
"""


@dataclass(frozen=True)
class Imported:
    """What `import scull` took and left in a new process."""

    wall: float
    cpu: float
    numpy: float  # of the seconds, those of NumPy
    resident: int
    heavy: list[str]
    own: int  # modules of scull
    modules: int


def imported() -> Imported:
    """Import scull in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        return Imported(*json.loads(python(["-c", IMPORT], folder, ROOT).stdout))


def python(arguments: list[str], folder: str, root: Path) -> subprocess.CompletedProcess[str]:
    """A new Python in `folder` with scull from `root`."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    environment.pop("SCULL_COMPILE", None)  # as for whoever says nothing
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )


def first_example(root: Path) -> float:
    """The seconds of the first example in a new process and an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        python([str(ROOT / "examples" / "first.py")], folder, root)
        return time.perf_counter() - start


def first_time() -> float:
    """The same with a copy of scull nothing of which was compiled to bytecode before."""
    with tempfile.TemporaryDirectory() as folder:
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "scull", Path(folder) / "scull", ignore=skipped)
        return first_example(Path(folder))


def rows(count: int) -> Iterator[Row]:
    """The figures of starting, `count` processes each."""
    imported()
    found = [imported() for _ in range(count)]
    last = found[-1]
    wall, cpu, numpy = (
        spread([getattr(entry, name) for entry in found]).show(" s")
        for name in ("wall", "cpu", "numpy")
    )
    detail = f"NumPy alone {numpy}; CPU time {cpu}; {last.own} modules of {last.modules}"
    yield Row("start: import scull, NumPy included", "<= 0.25 s", wall, detail)
    memory = spread([entry.resident for entry in found]).times(2**-20).show(" MB")
    yield Row("start: resident memory after it", "<= 60 MB", memory)
    names = ", ".join(last.heavy) or "none"
    yield Row("start: heavy libraries imported", "none", names, f"of {', '.join(HEAVY)}")
    cold = [first_time() for _ in range(max(1, count // 3))]
    warm = spread([first_example(ROOT) for _ in range(count)]).show(" s")
    yield Row(
        "start: examples/first.py, a whole process, first time",
        "<= 1 s",
        spread(cold).show(" s"),
        f"with scull's bytecode there {warm}",
    )
