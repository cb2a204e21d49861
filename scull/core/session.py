"""What a process has one of: default Programs, global scope, generators, names, dtype.

Everything is behind functions; nothing else in scull assigns a global.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core.dtype import DType, float32
from scull.core.place import CPU, Place
from scull.core.random import Generator


class Names:
    """Numbers for names: `linear_0`, `linear_1`, ..."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix, self.numbers = prefix, dict[str, int]()
        self.taken: set[str] = set()  # the names of parameters of eager mode

    def __call__(self, key: str) -> str:
        number = self.numbers.get(key, 0)
        self.numbers[key] = number + 1
        return f"{self.prefix}{key}_{number}"


class Session(threading.local):
    """The values that guards change, one set a thread; a new thread starts from the process's."""

    shared: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.own: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.own[key] if key in self.own else self.shared[key]

    def set(self, key: str, value: Any) -> None:
        if key in self.own:
            self.own[key] = value
        else:
            self.shared[key] = value


_session = Session()
_session.shared.update(
    names=Names(),
    static_names=Names(),  # those of static mode, while eager mode has others
    dtype=float32,
    place=CPU,
    pure_half=False,  # whether the norm of float16 gradients is computed in float16
    generator=Generator(),
    program_seed=0,  # the `random_seed` of Programs made from now on
    pir=False,  # whether code is told that Programs are of Paddle's other IR
    main=None,
    startup=None,
    scope=None,
    lazy=False,  # whether parameters wait for their first values
    checked=None,  # which operators are checked for NaN and infinity
    calls=None,  # how often operators were called, while somebody counts
)


@contextmanager
def guarded(**values: Any) -> Iterator[None]:
    """`values` replace those of this thread within the block."""
    before = dict(_session.own)
    _session.own.update(values)
    try:
        yield
    finally:
        _session.own.clear()
        _session.own.update(before)


def get(key: str) -> Any:
    """One of the session's values: names, dtype, place, generator, main, startup, scope."""
    return _session.get(key)


def put(key: str, value: Any) -> None:
    """Replace one of the session's values."""
    _session.set(key, value)


def unique_name(key: str) -> str:
    """`key` and a number nobody else got: `linear_0`."""
    name: str = _session.get("names")(key)
    return name


def default_dtype() -> DType:
    """The element type of new floating-point tensors."""
    dtype: DType = _session.get("dtype")
    return dtype


def place() -> Place:
    """Where new tensors live."""
    found: Place = _session.get("place")
    return found


def generator() -> Generator:
    """The generator that operators draw from."""
    found: Generator = _session.get("generator")
    return found


def _renew_turn() -> None:
    """In a forked child nobody draws: the thread that did is in the parent alone."""
    generator().turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_turn)
