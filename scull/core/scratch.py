"""Memory that kernels need only while they run: taken here, a run's ledger can count it."""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Watch(threading.local):
    """Who is told of the bytes taken and given back in a thread: nobody, or a ledger."""

    tell: Callable[[int], None] | None = None


_watch = Watch()


def scratch(xp: Any, shape: Any, dtype: Any) -> Any:
    """An array of any content, for a kernel that drops it before it returns."""
    found = xp.empty(shape, dtype)
    tell = _watch.tell
    if tell is not None:
        tell(found.nbytes)
        weakref.finalize(found, tell, -found.nbytes).atexit = False
    return found


def is_watched() -> bool:
    """Whether somebody is told of the bytes that kernels take in this thread."""
    return _watch.tell is not None


@contextmanager
def watching(tell: Callable[[int], None]) -> Iterator[None]:
    """Tell of the bytes that kernels take in this thread (positive) and give back (negative)."""
    before, _watch.tell = _watch.tell, tell
    try:
        yield
    finally:
        _watch.tell = before


@contextmanager
def repeated(times: int) -> Iterator[None]:
    """Tell of what is taken in the block as of what so many threads take at once."""
    tell, now, most = _watch.tell, 0, 0

    def note(size: int) -> None:
        nonlocal now, most
        now += size
        most = max(most, now)

    with watching(note):
        yield
    if tell is not None:
        tell(times * most)
        tell(-times * most)
