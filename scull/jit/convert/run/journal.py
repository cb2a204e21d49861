"""Attributes, names, lists and dictionaries that are changed while a branch or a round is recorded.

What calls change is not in the text of a branch; it is found out here, and becomes its state too.
"""

import copy
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any, NamedTuple

from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.jit.convert.run.place import Owner, place_of
from scull.jit.convert.run.reads import Key, reads, wrote
from scull.jit.convert.run.state import UNDEFINED, Attribute, Global, Local, State
from scull.jit.convert.run.tree import CONTAINERS
from scull.nn.layer.layers import Layer


class Written(NamedTuple):
    """An attribute or a name that was written, or a container that was changed; and its past."""

    owner: Any  # of a name the cell that holds it, or its module
    name: str | None  # none of a container
    before: Any

    @property
    def place(self) -> Any:
        """Where what was written stands."""
        if isinstance(self.owner, CellType):
            return Local(self.owner)
        if isinstance(self.owner, dict):
            return Global(self.owner, self.name or "")
        return Attribute(Owner(self.owner), self.name or "")

    @property
    def label(self) -> str:
        """What errors call it."""
        of_object = not isinstance(self.owner, CellType | dict)
        return f"{type(self.owner).__name__}.{self.name}" if of_object else str(self.name)


class Journal(threading.local):
    """What was written in the constructs that are being recorded, the innermost last."""

    def __init__(self) -> None:
        self.open: list[dict[Key, Written]] = []


journal = Journal()


def writing(owner: Any, name: str) -> None:
    """Note that an attribute is about to be written."""
    wrote((id(owner), name))
    if journal.open and has_state(owner, name):
        before = getattr(owner, name, UNDEFINED)
        journal.open[-1].setdefault((id(owner), name), Written(owner, name, before))


def rebinding(reader: Callable[[], Any], name: str) -> None:
    """Note that a name around the function that `reader` is of is about to be bound."""
    if not journal.open:
        return
    cells = dict(zip(reader.__code__.co_freevars, reader.__closure__ or (), strict=True))  # type: ignore[attr-defined]
    owner: Any = cells.get(name, reader.__globals__)  # type: ignore[attr-defined]
    entry = Written(owner, name, None)
    before = entry.place.read()
    journal.open[-1].setdefault(key_of(entry.place), entry._replace(before=before))


def has_state(owner: Any, name: str) -> bool:
    """Whether an attribute holds what was written, and nothing else happens."""
    if hasattr(getattr(type(owner), name, None), "__set__"):
        return False
    if isinstance(owner, Layer):
        return True
    return not isinstance(owner, Tensor | Variable) and hasattr(owner, "__dict__")


def changing(values: Any) -> None:
    """Note that a list or a dictionary is about to be changed."""
    if journal.open and type(values) in CONTAINERS and (id(values), None) not in journal.open[-1]:
        journal.open[-1][id(values), None] = Written(values, None, copy.copy(values))


@contextmanager
def watched() -> Iterator[dict[Key, Written]]:
    """What is written within."""
    found: dict[Key, Written] = {}
    journal.open.append(found)
    reads.written.append(set())
    try:
        yield found
    finally:
        journal.open.pop()
        reads.written.pop()
        if journal.open:
            for key, entry in found.items():
                journal.open[-1].setdefault(key, entry)


def unknown(state: State, found: dict[Key, Written], passing: Iterable[Any] = ()) -> list[Written]:
    """Those of `found` that are not in the state, nor `passing`, and can be in it."""
    if not found:
        return []
    known: set[Key] = {(id(v), None) for v in containers([*state.read(), *passing])}
    known |= {key_of(p) for p in state.places}
    new = [entry for key, entry in found.items() if key not in known]
    written = known | {key_of(e.place) for e in new if e.name is not None}
    return [e for e in new if e.name is not None or is_held(state, e.owner, written)]


def key_of(place: Any) -> Key:
    """A place as the journal knows it."""
    if isinstance(place, Attribute):
        return id(place.owner.read()), place.name
    if isinstance(place, Global):
        return id(place.module), place.name
    return (id(place.cell), "") if isinstance(place, Local) else (id(place), "")


def is_held(state: State, container: Any, written: set[Key]) -> bool:
    """Whether a container is found, elsewhere than in what is state, or becomes it."""
    found = place_of(state, container)
    return found is not None and key_of(found[0]) not in written


def containers(values: Iterable[Any]) -> Iterator[Any]:
    """The containers among `values`, and those within."""
    for value in values:
        if type(value) in CONTAINERS:
            yield value
            yield from containers(value.values() if isinstance(value, dict) else value)


def added(state: State, found: list[Written]) -> None:
    """Let attributes and containers be as they were, and count them to the state."""
    for entry in found:
        if entry.name is None:
            restore(entry.owner, entry.before)
            place, label = place_of(state, entry.owner)  # type: ignore[misc]
        else:
            place, label = entry.place, entry.label
            place.write(entry.before)
        state.names.append(label)
        state.places.append(place)


def restore(owner: Any, before: Any) -> None:
    """Let a container hold what it held before."""
    owner.clear()
    (owner.extend if hasattr(owner, "extend") else owner.update)(before)
