"""How deep blocks lie in one another, and room for Python's calls that go into all of them."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, TypeVar, cast

from scull.errors import ProgramError

FLAT = 16  # blocks in one another for which there is room anyway
DEEPEST = 1_000  # what the stack of a thread has memory for
CALLS = 24  # that are open for each block, at most
F = TypeVar("F", bound=Callable[..., Any])


def refuse_deeper(block: Any) -> None:
    """Raise ProgramError where calls cannot go on within a block that lies in many others."""
    depth = sum(1 for _ in around(block)) - 1
    if depth > FLAT:
        raise ProgramError(
            f"functions that record blocks call one another {depth} deep, and the limit of "
            f"Python's calls is {sys.getrecursionlimit()}: raise it by sys.setrecursionlimit"
        ) from None


def around(block: Any) -> Iterator[Any]:
    """A block and those it lies in."""
    while block is not None:
        yield block
        block = block.parent


class Room:
    """The limit of Python's calls, raised while somebody needs more of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before = self.given = 0

    def enter(self, calls: int) -> None:
        """Let so many calls go on from here."""
        frame, needed = sys._getframe(), calls
        while frame.f_back is not None:
            frame, needed = frame.f_back, needed + 1
        with self.lock:
            now = sys.getrecursionlimit()
            self.before = self.before if self.users else now
            self.users += 1
            self.given = max(now, needed)
            sys.setrecursionlimit(self.given)

    def leave(self) -> None:
        """The last one who leaves puts the limit back, unless others set it meanwhile."""
        with self.lock, suppress(RecursionError):  # who leaves stands deeper than the limit was
            self.users -= 1
            if not self.users and sys.getrecursionlimit() == self.given:
                sys.setrecursionlimit(self.before)


ROOM = Room()


def depth_of(program: Any) -> int:
    """How many blocks lie in one another within block 0, at most."""
    found = [0]
    for i, block in enumerate(program.blocks[1:], 1):
        parent = block.parent_idx
        found.append(1 + (found[parent] if 0 <= parent < i else 0))
    return max(found)


def program_of(found: Any) -> Any:
    """The Program of a block, a variable or several, or the one it is."""
    first: Any = found[0] if isinstance(found, list | tuple) else found
    if hasattr(first, "blocks"):
        return first
    return first.block.program if hasattr(first, "block") else first.program


@contextmanager
def room_for(depth: int) -> Iterator[None]:
    """Room for calls into so many blocks; ProgramError where there is none."""
    if depth <= FLAT:
        yield
        return
    if depth > DEEPEST:
        raise ProgramError(f"{depth} blocks lie in one another; {DEEPEST} may")
    ROOM.enter(depth * CALLS)
    try:
        yield
    finally:
        ROOM.leave()


def with_room(call: Callable[..., Any], depth: int) -> Callable[..., Any]:
    """`call`, which goes into so many blocks, with room for that."""

    def calling(*operands: Any) -> Any:
        with room_for(depth):
            return call(*operands)

    return call if depth <= FLAT else calling


def deep(function: F) -> F:
    """`function` of something in a Program, with room for calls into all blocks of that."""

    @wraps(function)
    def calling(of: Any, *rest: Any, **options: Any) -> Any:
        with room_for(depth_of(program_of(of))):
            return function(of, *rest, **options)

    return cast(F, calling)
