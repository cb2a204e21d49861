"""Starting: import time and memory, and the first example from the start of a process."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, spread

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("llvmlite", "onnx", "PIL", "torch", "google.protobuf")  # loaded when needed, not before

IMPORT = f"""
import time
wall, cpu = time.perf_counter(), time.process_time()
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
print(json.dumps([wall, cpu, resident, loaded, own, len(sys.modules)]))
"""


def imported(root: Path = ROOT) -> tuple[float, float, int, list[str], int, int]:
    """`import scull` in a new process: seconds, CPU seconds, bytes, heavy libraries, modules."""
    with tempfile.TemporaryDirectory() as folder:
        done = python(["-c", IMPORT], folder, root)
    wall, cpu, resident, loaded, own, modules = json.loads(done.stdout)
    return wall, cpu, resident, loaded, own, modules


def python(arguments: list[str], folder: str, root: Path) -> subprocess.CompletedProcess[str]:
    """A new Python in `folder` with scull from `root`."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
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
    wall, cpu, resident = (spread([entry[i] for entry in found]) for i in range(3))
    *_, loaded, own, modules = found[-1]
    text = f"CPU time {cpu.show(' s')}; {own} modules of scull, {modules} in all"
    yield Row("import scull, NumPy included", "<= 0.25 s", wall.show(" s"), text)
    memory = resident.times(2**-20).show(" MB")
    yield Row("resident after import scull", "<= 60 MB", memory)
    names = ", ".join(loaded) or "none"
    yield Row(f"of {', '.join(HEAVY)}, imported", "none", names)
    cold = [first_time() for _ in range(max(1, count // 3))]
    warm = spread([first_example(ROOT) for _ in range(count)]).show(" s")
    yield Row(
        "examples/first.py from process start to end, scull never run before",
        "<= 1 s",
        spread(cold).show(" s"),
        f"with scull's bytecode there {warm}",
    )
