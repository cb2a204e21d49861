"""What scull finds on this machine: cores, vectors, memory, NumPy, LLVM."""

import importlib
import importlib.util
import math
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scull.cli.cache import cache_text
from scull.core.cpus import affinity, cpu_quota, usable
from scull.core.memory import memory_limit
from scull.flags import DEFAULTS, flag
from scull.runtime.object_cache import object_cache

THREAD_VARIABLES = {  # the first that is set counts; which BLAS reads it
    "OPENBLAS_NUM_THREADS": "openblas",
    "MKL_NUM_THREADS": "mkl",
    "OMP_NUM_THREADS": "",
}
VECTORS = (  # as Linux calls them
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw"),
    *("avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile"),
    *("asimd", "asimdhp", "asimddp", "bf16", "sve", "sve2"),
)


@dataclass(frozen=True)
class Machine:
    """Facts about a machine and the Python on it; None is what could not be found out."""

    system: str
    architecture: str
    cpu: str
    present: int
    affinity: int
    quota: float | None
    vectors: tuple[str, ...] | None
    load: float | None
    memory: int | None
    available: int | None
    memory_limit: int | None
    python: str
    debug_build: bool
    development_mode: bool
    numpy: str
    blas: str | None
    gigaflops: float
    denormals: bool
    llvm: str | None
    llvm_error: str | None
    cache: str
    threads: Mapping[str, str]
    settings: Mapping[str, object]

    @property
    def cores(self) -> int:
        """The cores this process may keep busy."""
        return usable(self.affinity, self.quota)


def survey(root: Path = Path("/")) -> Machine:
    """Look at this machine; `root` is where its `proc` and `sys` are."""
    cpu = fields(root / "proc/cpuinfo")
    memory = fields(root / "proc/meminfo")
    llvm, llvm_error = find_llvm()
    return Machine(
        system=platform.system(),
        architecture=platform.machine(),
        cpu=cpu.get("model name") or platform.processor() or platform.machine(),
        present=os.cpu_count() or 1,
        affinity=affinity(),
        quota=cpu_quota(root),
        vectors=vectors(cpu),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        memory=kibibytes(memory.get("MemTotal")),
        available=kibibytes(memory.get("MemAvailable")),
        memory_limit=memory_limit(root),
        python=f"{platform.python_version()} ({platform.python_implementation()})",
        debug_build=bool(sysconfig.get_config_var("Py_DEBUG")),
        development_mode=sys.flags.dev_mode,
        numpy=np.__version__,
        blas=find_blas(),
        gigaflops=matmul_speed(),
        denormals=keeps_denormals(),
        llvm=llvm,
        llvm_error=llvm_error,
        cache=cache_text(object_cache()),
        threads={name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        settings={name: flag(name) for name in DEFAULTS if flag(name) != DEFAULTS[name]},
    )


def fields(path: Path) -> dict[str, str]:
    """The first value of each `name: value` line of a file; nothing where there is no file."""
    found: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, colon, value = line.partition(":")
            if colon:
                found.setdefault(name.strip(), value.strip())
    return found


def vectors(cpu: Mapping[str, str]) -> tuple[str, ...] | None:
    """The vector extensions among the features Linux lists."""
    features = cpu.get("flags") or cpu.get("Features")
    return None if features is None else tuple(x for x in VECTORS if x in features.split())


def kibibytes(text: str | None) -> int | None:
    """The bytes in `16384 kB`."""
    return None if text is None else int(text.split()[0]) * 1024


def find_blas() -> str | None:
    """The name and version of the BLAS NumPy was built with."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas.get('version', '')}".strip() if blas.get("found") else None


def matmul_speed(size: int = 384, rounds: int = 5) -> float:
    """The best speed of a few float32 matrix products of NumPy, in GFLOP/s."""
    x = np.ones((size, size), np.float32)
    out = np.empty_like(x)
    best = math.inf
    for _ in range(rounds):
        start = time.perf_counter()
        np.matmul(x, x, out=out)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best / 1e9


def keeps_denormals() -> bool:
    """Whether numbers too small for a full mantissa survive arithmetic in this process."""
    return bool(np.full(16, 2.0**-140, np.float32).sum() > 0)


def find_llvm() -> tuple[str | None, str | None]:
    """What llvmlite offers, or why it does not load; neither where it is not installed."""
    if importlib.util.find_spec("llvmlite") is None:
        return None, None
    try:
        binding = importlib.import_module("llvmlite.binding")
        release = importlib.import_module("llvmlite").__version__
    except (ImportError, OSError) as error:
        return None, str(error)
    numbers = ".".join(map(str, binding.llvm_version_info))
    return f"llvmlite {release}, LLVM {numbers}, host {binding.get_host_cpu_name()}", None
