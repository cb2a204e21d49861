"""The threads of the library that multiplies matrices for NumPy, while threads of ours share work.

OpenBLAS, which NumPy's wheels bring, is found by the names it gives; other libraries keep their
own settings.
"""

import ctypes
import math
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple
from weakref import ref

NAMES = [
    (f"{before}openblas_get_num_threads{after}", f"{before}openblas_set_num_threads{after}")
    for before in ("scipy_", "")
    for after in ("64_", "")
]


class Threads(NamedTuple):
    """How many threads a product of matrices takes: asked and set for the whole process."""

    get: Callable[[], int]
    set: Callable[[int], None]


@cache
def threads() -> Threads | None:
    """Those of the library that NumPy was linked with; None when it is not OpenBLAS."""
    linked = ctypes.CDLL(import_module("numpy.linalg._umath_linalg").__file__)
    for get, set in NAMES:
        if hasattr(linked, get) and hasattr(linked, set):  # in what it depends on, too
            return Threads(getattr(linked, get), getattr(linked, set))
    return None


class Limit:
    """A block in which products take so many threads at most.

    What it holds ends with it at the latest: an interrupt may keep the block from ending itself.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.mark: ref[Limit] | None = None

    def __enter__(self) -> None:
        _shared.hold(self)

    def __exit__(self, *_: object) -> None:
        if self.mark is not None:
            _shared.end(self.mark)


class Shared:
    """The limits that runs hold now, and how many threads there were before the first."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # garbage may be collected, and a limit end, within
        self.limits: dict[ref[Limit], int] = {}
        self.before = 0

    def hold(self, limit: Limit) -> None:
        """Let a limit hold until it ends, or is gone."""
        found = threads()
        if found is None:
            return
        with self.lock:
            if not self.limits:
                self.before = found.get()
            limit.mark = ref(limit, self.end)
            self.limits[limit.mark] = limit.count
            self.set(self.before)

    def end(self, mark: "ref[Limit]") -> None:
        """Let a limit hold no more."""
        with self.lock:
            if self.limits.pop(mark, None) is not None:
                self.set(self.before)

    def set(self, count: int) -> None:
        """Set so many threads, or fewer where a limit says so."""
        found = threads()
        if found is not None:
            found.set(min([count, *self.limits.values()]))


_shared = Shared()


def at_most(count: int) -> Limit:
    """Let every product of matrices run on `count` threads at most, until the block ends.

    The setting is the process's: the lowest of several such blocks holds, until the last has ended.
    """
    return Limit(count)


def one_thread() -> Limit:
    """Let every product of matrices run on the thread that asks for it, until the block ends."""
    return at_most(1)


def limit() -> float:
    """How many threads a product may take at most by such blocks; there may be none."""
    return min(list(_shared.limits.values()), default=math.inf)


def set_threads(count: int) -> None:
    """Let every product of matrices run on so many threads from now on, in the whole process."""
    with _shared.lock:
        _shared.before = count
        _shared.set(count)
