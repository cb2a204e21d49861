"""A stack of scopes, one a thread: functions that make their variables in the innermost."""

import threading
from typing import Any

from scull.runtime.scope import Cell, Scope


class Scopes(threading.local):
    """The scopes of one thread, the innermost last."""

    def __init__(self) -> None:
        self.stack = [Scope()]


_scopes = Scopes()


def get_cur_scope() -> Scope:
    """The innermost scope."""
    return _scopes.stack[-1]


def enter_local_scope() -> None:
    """Open a scope within the innermost."""
    _scopes.stack.append(get_cur_scope().new_scope())


def leave_local_scope() -> None:
    """Close the innermost scope and forget its values."""
    _scopes.stack.pop()
    get_cur_scope().drop_kids()


def var(name: str) -> Cell:
    """The variable `name` of the innermost scope, made when it is not there."""
    return get_cur_scope().var(name)


def find_var(name: str) -> Cell | None:
    """The variable `name` of the innermost scope that has it."""
    return get_cur_scope().find_var(name)


def scoped_function(func: Any) -> None:
    """Call `func` within a scope of its own."""
    enter_local_scope()
    try:
        func()
    finally:
        leave_local_scope()
