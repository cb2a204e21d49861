"""Hooks of a layer and the handles that remove them."""

import itertools
from collections.abc import Callable
from typing import Any

numbers = itertools.count()


class HookRemoveHelper:
    """A registered hook; `remove()` takes it out."""

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> None:
        self._hooks, self._number = hooks, next(numbers)
        hooks[self._number] = hook

    def remove(self) -> None:
        """Call the hook no more."""
        self._hooks.pop(self._number, None)
