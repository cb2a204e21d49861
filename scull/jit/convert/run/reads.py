"""Which attributes of layers a recording reads before it has written them in any case."""

import threading
from typing import Any

Key = tuple[int, str | None]


class Reads(threading.local):
    """What was read first, and what the constructs that are open have written, each by itself."""

    def __init__(self) -> None:
        self.first: set[Key] = set()
        self.written: list[set[Key]] = []


reads = Reads()


def reading(owner: Any, name: str) -> None:
    """Note that an attribute is read."""
    key = id(owner), name
    if reads.written and not any(key in known for known in reads.written):
        reads.first.add(key)


def wrote(key: Key) -> None:
    """Note that an attribute is written where the innermost construct is."""
    if reads.written:
        reads.written[-1].add(key)
