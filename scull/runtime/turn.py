"""Runs that must not overlap go by turns; one whose turn may never come is told so."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.errors import RunError
from scull.flags import flag

inside: dict[int, list[Any]] = {}  # by thread what calls a Python function, and its line


@contextmanager
def calling(what: str, where: Any) -> Iterator[None]:
    """This thread is within the block in a Python function, which an operator calls."""
    thread = threading.get_ident()
    before = inside.get(thread)
    inside[thread] = [what, where]  # of this call alone
    try:
        yield
    finally:
        if before is None:
            del inside[thread]
        else:
            inside[thread] = before


class Turn:
    """A lock that knows who has it; its owner may take it again.

    Who cannot afford `with` takes `lock` and says who is its `holder`, or waits.

    The owner may be in a Python function that waits for the very thread that waits here. Where it
    is in the same one all the time that TURN_SECONDS says, who waits gets a RunError.
    """

    __slots__ = ("holder", "lock")

    def __init__(self) -> None:
        self.lock, self.holder = threading.RLock(), 0

    def __enter__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.wait()
        self.holder = threading.get_ident()

    def __exit__(self, *error: object) -> None:
        self.lock.release()

    def wait(self) -> None:
        """Wait for the lock."""
        seen, seconds = None, flag("TURN_SECONDS")
        while not self.lock.acquire(timeout=seconds / 2 or -1):
            found = inside.get(self.holder)
            if found is not None and found is seen:
                what, where = found
                raise RunError(
                    f"this run waits for its turn, which another run has that is in the function "
                    f"of `{what}` at {where} since {seconds:g} s: if that waits for this one, "
                    "neither goes on. Run within the function itself, in its own thread, or in "
                    "another scope; SCULL_TURN_SECONDS=0 lets this one wait"
                )
            seen = found
