"""The threads of the library that multiplies matrices for NumPy, while threads of ours share work.

OpenBLAS, which NumPy's wheels bring, is found by the names it gives; other libraries keep their
own settings.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from typing import NamedTuple

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


class Shared:
    """The limits that runs hold now, and how many threads there were before the first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.limits: list[int] = []
        self.before = 0


_shared = Shared()


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Let every product of matrices run on `count` threads at most, until the block ends.

    The setting is the process's: the lowest of several such blocks holds, until the last has ended.
    """
    found = threads()
    if found is None:
        yield
        return
    with _shared.lock:
        if not _shared.limits:
            _shared.before = found.get()
        _shared.limits.append(count)
        found.set(min(_shared.before, *_shared.limits))
    try:
        yield
    finally:
        with _shared.lock:
            _shared.limits.remove(count)
            found.set(min([_shared.before, *_shared.limits]))


def one_thread() -> AbstractContextManager[None]:
    """Let every product of matrices run on the thread that asks for it, until the block ends."""
    return at_most(1)


def set_threads(count: int) -> None:
    """Let every product of matrices run on so many threads from now on, in the whole process."""
    found = threads()
    if found is None:
        return
    with _shared.lock:
        _shared.before = count
        found.set(min([count, *_shared.limits]))
