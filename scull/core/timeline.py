"""What the framework does and when: timelines, filled while somebody wants one.

Nothing is asked of an operator or an instruction while `active` is empty: beginning a timeline
exchanges what eager mode calls, and a run of a Program looks here once.
"""

import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from scull.core.around import Surrounding, release, surround
from scull.core.memory import owner
from scull.core.op import Op
from scull.core.refusal import user_line
from scull.core.tensor import Rows, Tensor

P = ParamSpec("P")
R = TypeVar("R")
now = time.perf_counter_ns

# The kinds of spans, by the names of Paddle's TracerEventType.
OPERATOR, INNER, OWN = "Operator", "OperatorInner", "UserDefined"  # OWN: planning, compiling
LOADING, FORWARD, BACKWARD, UPDATE = "Dataloader", "Forward", "Backward", "Optimization"


class Span(NamedTuple):
    """Something that took a while: its times are nanoseconds of one clock."""

    name: str
    category: str
    start: int
    end: int
    arguments: dict[str, Any] | None = None


class Change(NamedTuple):
    """Memory that was taken (`size` > 0) or given back at a moment, and what is live then."""

    moment: int
    thread: int
    address: int
    size: int
    live: int
    peak: int


class Track:
    """What one thread did; only this thread writes it."""

    def __init__(self) -> None:
        self.thread, self.name = threading.get_native_id(), threading.current_thread().name
        self.rows: list[tuple[Any, ...]] = []  # spans as they end: an inner one before its outer

    @property
    def spans(self) -> list[Span]:
        """What it did, an outer span before those within."""
        rows = (Span(*row) for row in list(self.rows))
        return sorted(rows, key=lambda s: (s.start, -s.end))


class Own(threading.local):
    """The track of this thread, made when it is first asked for."""

    def __init__(self, tracks: list[Track]) -> None:
        self.track = Track()
        tracks.append(self.track)


class Timeline:
    """Spans of every thread, and with `memory` the bytes they take.

    With `details` operators tell their operands' shapes and the user's line.
    """

    def __init__(self, *, details: bool = False, memory: bool = False) -> None:
        self.details, self.memory = details, Memory() if memory else None
        self.tracks: list[Track] = []
        self.own = Own(self.tracks)
        self.kept: dict[Any, Any] = {}  # what others keep as long as this timeline
        self.start = self.end = 0
        self.offset = 0  # what to add to a time to get nanoseconds since 1970

    def add(self, *row: Any) -> None:
        """Note a span of this thread, given as the fields of `Span`."""
        self.own.track.rows.append(row)

    @property
    def changes(self) -> list[Change]:
        """The changes of memory, as they came."""
        return list(self.memory.changes) if self.memory else []


class Memory:
    """The memory of results: noted when it is first seen and when it goes."""

    def __init__(self) -> None:
        self.live = self.peak = 0
        self.changes: list[Change] = []
        self.held: dict[int, tuple[weakref.ref[Any], int]] = {}
        self.lock = threading.RLock()  # what collects garbage may come within

    def hold(self, results: Any, operands: Any, moment: int) -> None:
        """Note what `results` lie in, unless an operand does, as taken at `moment`."""
        known = {id(owner(x)) for x in arrays(operands)}
        for memory in map(owner, arrays(results)):
            key = id(memory)
            if key not in known and key not in self.held and memory.nbytes:
                self.held[key] = (weakref.ref(memory, partial(self.drop, key)), memory.nbytes)
                self.count(key, memory.nbytes, moment)

    def drop(self, key: int, _: Any) -> None:
        """Note that what was held is gone."""
        found = self.held.pop(key, None)
        if found:
            self.count(key, -found[1], now())

    def count(self, address: int, size: int, moment: int) -> None:
        """Note a change of so many bytes."""
        with self.lock:
            self.live += size
            self.peak = max(self.peak, self.live)
            row = Change(moment, threading.get_native_id(), address, size, self.live, self.peak)
            self.changes.append(row)


active: list[Timeline] = []  # those being filled
_lock = threading.Lock()


def begin(timeline: Timeline) -> None:
    """Fill `timeline` from now on, with what all threads do."""
    with _lock:
        if not active:
            surround(TIMED)
        timeline.offset = time.time_ns() - now()
        timeline.start = now()
        active.append(timeline)


def end(timeline: Timeline) -> None:
    """Fill `timeline` no more."""
    with _lock:
        if timeline in active:
            timeline.end = now()
            active.remove(timeline)
            if not active:
                release(TIMED)


def forsake() -> None:
    """In a process that was forked: the timelines belong to its parent."""
    if active:
        active.clear()
        release(TIMED)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forsake)


@contextmanager
def filling(**options: Any) -> Iterator[Timeline]:
    """A new timeline of what happens within the block."""
    timeline = Timeline(**options)
    begin(timeline)
    try:
        yield timeline
    finally:
        end(timeline)


def note(name: str, category: str, start: int, arguments: dict[str, Any] | None = None) -> None:
    """Add a span that ends now to each timeline that had begun when it started."""
    moment = now()
    for timeline in active:
        if start >= timeline.start:
            timeline.add(name, category, start, moment, arguments)


@contextmanager
def span(name: str, category: str = OWN) -> Iterator[None]:
    """The block as a span, if anything is recorded."""
    start = now()
    try:
        yield
    finally:
        note(name, category, start)


def spanned(name: str, category: str = OWN) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Every call of a function as a span, if anything is recorded."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not active:
                return function(*args, **kwargs)
            with span(name, category):
                return function(*args, **kwargs)

        return call

    return decorate


def timed(apply: Any, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Apply an operator in eager mode, as a span."""
    found = None
    start = now()
    try:
        found = apply(op, inputs, attrs)
        return found
    finally:
        applied(op.name, op.inputs, inputs, attrs, found, start)


TIMED = Surrounding(timed)


def applied(
    name: str,
    names: tuple[str, ...],
    operands: Any,
    attrs: dict[str, Any],
    results: Any,
    start: int,
    known: dict[str, Any] | None = None,
) -> None:
    """Add an operator that is done now; `known` is what its span tells besides."""
    moment = now()
    for timeline in active:
        if start >= timeline.start:
            told = known
            if timeline.details:
                told = {"line": user_line(), **(known or {}), **described(names, operands, attrs)}
            timeline.add(name, OPERATOR, start, moment, told)
        if timeline.memory:
            timeline.memory.hold(results, operands, moment)


def described(names: tuple[str, ...], operands: Any, attrs: dict[str, Any]) -> dict[str, Any]:
    """The shapes and element types of operands by name, and the attributes."""
    each = {n: list(arrays(x)) for n, x in zip(names, operands, strict=False)}
    return {
        "shapes": {n: [list(a.shape) for a in found] for n, found in each.items() if found},
        "dtypes": {n: [word(a.dtype) for a in found] for n, found in each.items() if found},
        "attributes": {n: plain(v) for n, v in attrs.items()},
    }


@cache
def word(dtype: Any) -> str:
    """The name of an element type, which NumPy spells anew whenever it is asked."""
    return str(dtype.name)


def plain(value: Any) -> Any:
    """An attribute as every file can hold it: whole and finite numbers, truths, texts, lists."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    kept = isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value))
    return value if kept else str(value)


def arrays(values: Any) -> Iterator[np.ndarray]:
    """The arrays in a value, those of Tensors, lists and sparse rows too."""
    for v in values if isinstance(values, list | tuple) else (values,):
        if isinstance(v, list | tuple):
            yield from arrays(v)
            continue
        array = v.array if isinstance(v, Tensor) else v
        array = array.values if isinstance(array, Rows) else array
        if isinstance(array, np.ndarray):
            yield array
