"""The interpreter stack: what a call of an operator means right now, in this thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.core.op import Op


class Interpreter:
    """What a call of an operator means: an `eager` one computes at once.

    The short way may bypass a `plain` one.
    """

    plain = eager = False
    record = True
    captures = False  # whether it records, and Tensors of eager mode may stand among operands
    setting: Any = None  # how operands are cast before a call, as `amp.auto_cast` has it
    results: Any = None  # what the next operator writes into, instead of new results

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def scan(self, step: Any, first: Any, rows: Any, count: int, backwards: bool) -> Any:
        """A computation repeated along an axis, as `scull.core.scan` has it."""
        raise NotImplementedError

    @property
    def below(self) -> "Interpreter":
        """The same without casts of operands."""
        return self

    def over(self, other: "Interpreter") -> "Interpreter":
        """`other` with the casts of operands that this one does."""
        return other

    def recording(self, record: bool) -> "Interpreter | None":
        """The same whose results may have gradients, or may not; None where that has no meaning."""
        return None

    def settle(self) -> None:
        """Compute what was put off."""


class Stack(threading.local):
    """The interpreters of one thread, the current one last."""

    def __init__(self) -> None:
        self.interpreters: list[Interpreter] = []


modes: list[
    Interpreter
] = []  # all interpreters besides plain eager, of any thread; empty: the short way
base: list[Interpreter] = []  # what a thread with an empty stack uses; replaced by enable_static
_stack = Stack()


def current() -> Interpreter:
    """The interpreter that gives a call its meaning."""
    stack = _stack.interpreters
    return stack[-1] if stack else base[-1]


def is_recording() -> bool:
    """Whether operators compute at once and are written on the tape."""
    mode = current()
    return mode.eager and mode.record


def set_base(interpreter: Interpreter) -> None:
    """Make `interpreter` the one of every thread whose stack is empty."""
    for old in base[1:]:
        modes.remove(old)
    del base[1:]
    if not base:
        base.append(interpreter)
    elif interpreter is not base[0]:
        base.append(interpreter)
        modes.append(interpreter)


@contextmanager
def interpreting(interpreter: Any) -> Iterator[Any]:
    """`interpreter` is the current one within the block, in this thread."""
    stack = _stack.interpreters
    stack.append(interpreter)
    modes.append(interpreter)
    try:
        yield interpreter
    finally:
        stack.pop()
        modes.remove(interpreter)


def push(interpreter: Any) -> None:
    """Make `interpreter` the current one of this thread until `pop`."""
    _stack.interpreters.append(interpreter)
    modes.append(interpreter)


def pop(interpreter: Any) -> None:
    """Undo the last `push` of `interpreter`."""
    stack = _stack.interpreters
    del stack[len(stack) - 1 - stack[::-1].index(interpreter)]
    modes.remove(interpreter)
