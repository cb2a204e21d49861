"""Attributes of Layers that are written while a branch or a round is recorded.

What calls write is not in the text of a branch; it is found out here, and becomes its state too.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from scull.jit.convert.run.state import UNDEFINED, Attribute, State
from scull.nn.layer.layers import Layer


class Written(NamedTuple):
    """An attribute that was written, and its value before."""

    owner: Any
    name: str
    before: Any


class Journal(threading.local):
    """What was written in the constructs that are being recorded, the innermost last."""

    def __init__(self) -> None:
        self.open: list[list[Written]] = []


journal = Journal()


class Owner:
    """A place that always holds one object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def read(self) -> Any:
        return self.value


def writing(owner: Any, name: str) -> None:
    """Note that an attribute is about to be written."""
    if journal.open and isinstance(owner, Layer):
        journal.open[-1].append(Written(owner, name, getattr(owner, name, UNDEFINED)))


@contextmanager
def watched() -> Iterator[list[Written]]:
    """What is written within."""
    found: list[Written] = []
    journal.open.append(found)
    try:
        yield found
    finally:
        journal.open.pop()
        if journal.open:
            journal.open[-1].extend(found)


def unknown(state: State, found: list[Written]) -> list[Written]:
    """Those of `found` that are not in the state, each once."""
    known = {(id(p.owner.read()), p.name) for p in state.places if isinstance(p, Attribute)}
    first: dict[tuple[int, str], Written] = {}
    for entry in found:
        first.setdefault((id(entry.owner), entry.name), entry)
    return [entry for key, entry in first.items() if key not in known]


def added(state: State, found: list[Written]) -> None:
    """Give attributes the values they had, and count them to the state."""
    for owner, name, before in found:
        place = Attribute(Owner(owner), name)
        place.write(before)
        state.names.append(f"{type(owner).__name__}.{name}")
        state.places.append(place)
