"""Why statements became the kernels they are: noted while somebody observes this thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

Kind = Literal[
    "phase",
    "inlined",
    "read",
    "stored",
    "turned",
    "together",
    "separate",
    "joined",
    "apart",
    "copied",
    "merged",
    "cut",
    "trimmed",
    "over",
]


class Decision(NamedTuple):
    """What was decided of one array, beside another, and why; both are names in their region.

    `phase`: every second or third place of the other; `inlined`: computed where the other is;
    `read`: the other takes it from memory; `stored`: written to memory, wherever it is inlined;
    `turned`: its axes lie in another order; `together` and `separate`: at once with the other, or
    not; `joined` and `apart`: in the loop over rows of the other's kernel, or not; `copied`: laid
    out anew for the other; `merged`: kept as the few rows that are not 0; `cut`: the other, a few
    rows at a time; `trimmed`: not computed where a comparison of places leaves it out; `over`: in
    the memory of the other, which nothing reads any more.
    """

    kind: Kind
    array: str
    other: str
    why: str

    def __str__(self) -> str:
        return f"{self.array} {self.kind} {self.other}".rstrip() + f": {self.why}"


Seen = dict[tuple[str, ...], Decision]


class Observer(threading.local):
    """Where the decisions of this thread are noted, if anywhere."""

    seen: Seen | None = None


_observer = Observer()


@contextmanager
def observed() -> Iterator[Callable[[], tuple[Decision, ...]]]:
    """Decisions of this thread are noted within the block; the result gives those so far.

    What is decided again of the same pair replaces what was decided before.
    """
    before, seen = _observer.seen, Seen()
    _observer.seen = seen
    try:
        yield lambda: tuple(seen.values())
    finally:
        _observer.seen = before


def noted() -> tuple[Decision, ...]:
    """The decisions so far of whoever observes this thread."""
    return tuple((_observer.seen or {}).values())


def decided(kind: Kind, array: str, other: str, why: str) -> None:
    """Note a decision, if somebody observes."""
    if _observer.seen is not None:
        _observer.seen[kind, array, other] = Decision(kind, array, other, why)
