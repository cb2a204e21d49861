"""The threads that share the chunks of large kernels: one pool for the process.

They are threads of the system that run nothing but machine code, and start when first needed. How
many there may be is the flag NUM_THREADS; results do not depend on it. A thread that runs a kernel
while another uses the pool runs it alone. A forked child starts its own.
"""

import atexit
import ctypes
import os
import sys
import time
import warnings

import numpy as np

from scull.core.cpus import usable_cpus
from scull.errors import ArgumentError, ArgumentTypeError
from scull.flags import flag, put, told
from scull.runtime import blas, llvm
from scull.runtime.entry_body import processor
from scull.runtime.pool_body import ALONE, pool_body
from scull.runtime.pool_memory import MOST, POOL, SIZE

SPIN = 60e-6  # seconds that who waits for workers keeps a core busy, before it sleeps
PATIENCE = 200e-6  # those of a worker that waits for a job, where nobody else wants the core
PROBE = 2000  # pauses whose time is taken


class Pool:
    """The pool's code and memory. `count` is how many threads may share a kernel."""

    def __init__(self, count: int) -> None:
        self.works = sys.platform == "linux"
        if not self.works:
            self.library = llvm.build([llvm.Module(ALONE, ("share",))])
            return
        text = pool_body(processor(llvm.host().triple))
        self.library = llvm.build([llvm.Module(text, ("share", "resize", "pauses", "pool"))])
        address = self.library.addresses["pool"]
        memory = (ctypes.c_int64 * (SIZE // 8)).from_address(address)
        self.words = np.ctypeslib.as_array(memory)
        pause = self.pause()
        self.set("spin", int(SPIN / pause) + 1)
        self.set("patience", int(PATIENCE / pause) + 1)
        self.set("threads", count)

    @property
    def share(self) -> int:
        """The address of the function that runs the chunks of a kernel."""
        return self.library.addresses["share"]

    @property
    def count(self) -> int:
        """How many threads may share a kernel."""
        return self.get("threads") if self.works else 1

    @property
    def started(self) -> int:
        """How many threads there are besides those of Python."""
        return self.get("started") if self.works else 0

    def resize(self, count: int) -> None:
        """Let so many threads share kernels from now on; those there are end first."""
        if self.works:
            ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.library.addresses["resize"])(count)

    def renew(self) -> None:
        """In a child that was forked: the threads are not here."""
        if self.works:
            kept = {name: self.get(name) for name in ("threads", "spin", "patience")}
            self.words[:] = 0
            for name, value in kept.items():
                self.set(name, value)

    def get(self, name: str) -> int:
        """A field of the pool."""
        return int(self.words[POOL[name][0] // 8])

    def set(self, name: str, value: int) -> None:
        """Change a field of the pool."""
        self.words[POOL[name][0] // 8] = value

    def pause(self) -> float:
        """The seconds one pause takes, which differ widely between processors."""
        pauses = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.library.addresses["pauses"])
        found = []
        for _ in range(5):
            start = time.perf_counter()
            pauses(PROBE)
            found.append(time.perf_counter() - start)
        return max(min(found) / PROBE, 1e-9)


def pool() -> Pool:
    """That of this process."""
    with llvm.working:  # one thread makes it
        if not _made:
            _made.append(Pool(get_num_threads()))
            atexit.register(_made[0].resize, 1)  # no thread runs code that is about to go
        return _made[0]


_made: list[Pool] = []  # the one there is, if it was asked for


def _renew() -> None:
    for each in _made:
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def get_num_threads() -> int:
    """How many threads may share the work of one kernel or one product of matrices.

    Examples:
        >>> get_num_threads() >= 1
        True
    """
    return int(flag("NUM_THREADS")) or usable_cpus()


def set_num_threads(num: int) -> None:
    """Say how many threads may share the work of one kernel, or of one product by NumPy.

    Until it is called that is as many as there are CPUs which this process may use, by affinity and
    by the quota of its control group, or what SCULL_NUM_THREADS says. Results do not depend on it.
    More than there are CPUs is slower, and a notice says so.

    Args:
        num (int): 1 or more, at most 256; an ArgumentError else.

    Examples:
        >>> before = get_num_threads()
        >>> set_num_threads(1)
        >>> get_num_threads()
        1
        >>> set_num_threads(before)
    """
    if isinstance(num, bool) or not isinstance(num, int | np.integer):
        raise ArgumentTypeError(f"`num` is a number of threads, not a {type(num).__name__}")
    if not 1 <= num <= MOST:
        raise ArgumentError(f"`num` is {num}: a kernel runs on 1 .. {MOST} threads")
    if num > usable_cpus():
        warnings.warn(f"{num} threads on {usable_cpus()} CPUs: each waits for others", stacklevel=2)
    put(NUM_THREADS=int(num))
    blas.set_threads(int(num))


def _resize(_: object) -> None:
    for each in _made:
        each.resize(get_num_threads())


told["NUM_THREADS"] = _resize
