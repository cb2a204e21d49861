"""Attributes, lists and dictionaries that are changed while a branch or a round is recorded.

What calls change is not in the text of a branch; it is found out here, and becomes its state too.
"""

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.run.place import Owner, place_of
from scull.jit.convert.run.state import UNDEFINED, Attribute, State
from scull.jit.convert.run.tree import CONTAINERS
from scull.nn.layer.layers import Layer

Key = tuple[int, str | None]


class Written(NamedTuple):
    """An attribute that was written, or a container that was changed; and how it was before."""

    owner: Any
    name: str | None  # none of a container
    before: Any


class Journal(threading.local):
    """What was written in the constructs that are being recorded, the innermost last."""

    def __init__(self) -> None:
        self.open: list[dict[Key, Written]] = []


journal = Journal()


def writing(owner: Any, name: str) -> None:
    """Note that an attribute is about to be written."""
    if journal.open and has_state(owner, name):
        before = getattr(owner, name, UNDEFINED)
        journal.open[-1].setdefault((id(owner), name), Written(owner, name, before))


def has_state(owner: Any, name: str) -> bool:
    """Whether an attribute holds what was written, and nothing else happens."""
    if isinstance(owner, Layer):
        return True
    if isinstance(owner, Tensor | Variable) or not hasattr(owner, "__dict__"):
        return False
    return not hasattr(getattr(type(owner), name, None), "__set__")


def changing(values: Any) -> None:
    """Note that a list or a dictionary is about to be changed."""
    if journal.open and type(values) in CONTAINERS and (id(values), None) not in journal.open[-1]:
        journal.open[-1][id(values), None] = Written(values, None, copy.copy(values))


@contextmanager
def watched() -> Iterator[dict[Key, Written]]:
    """What is written within."""
    found: dict[Key, Written] = {}
    journal.open.append(found)
    try:
        yield found
    finally:
        journal.open.pop()
        if journal.open:
            for key, entry in found.items():
                journal.open[-1].setdefault(key, entry)


def unknown(state: State, found: dict[Key, Written], passing: Iterable[Any] = ()) -> list[Written]:
    """Those of `found` that are not in the state, nor `passing`, and can be in it."""
    if not found:
        return []
    known: set[Key] = {(id(v), None) for v in containers([*state.read(), *passing])}
    known |= {(id(p.owner.read()), p.name) for p in state.places if isinstance(p, Attribute)}
    new = [entry for key, entry in found.items() if key not in known]
    written = known | {(id(e.owner), e.name) for e in new if e.name is not None}
    return [e for e in new if e.name is not None or is_held(state, e.owner, written)]


def is_held(state: State, container: Any, written: set[Key]) -> bool:
    """Whether a container is found, elsewhere than in what is state, or becomes it."""
    found = place_of(state, container)
    if found is None:
        return False
    place = found[0]
    return not isinstance(place, Attribute) or (id(place.owner.read()), place.name) not in written


def containers(values: Iterable[Any]) -> Iterator[Any]:
    """The containers among `values`, and those within."""
    for value in values:
        if type(value) in CONTAINERS:
            yield value
            yield from containers(value.values() if isinstance(value, dict) else value)


def added(state: State, found: list[Written]) -> None:
    """Let attributes and containers be as they were, and count them to the state."""
    for owner, name, before in found:
        if name is None:
            restore(owner, before)
            place, label = place_of(state, owner)  # type: ignore[misc]
        else:
            place, label = Attribute(Owner(owner), name), f"{type(owner).__name__}.{name}"
            place.write(before)
        state.names.append(label)
        state.places.append(place)


def restore(owner: Any, before: Any) -> None:
    """Let a container hold what it held before."""
    owner.clear()
    (owner.extend if hasattr(owner, "extend") else owner.update)(before)
