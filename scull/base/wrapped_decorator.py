"""Decorators that keep what a function is called and takes."""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any


def wrap_decorator(decorator_func: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator whose result is called and takes what the function it decorates does.

    Args:
        decorator_func: the decorator.
    """

    def decorate(function: Any) -> Any:
        wrapped = decorator_func(function)

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            return wrapped(*arguments, **options)

        call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return call

    return decorate


signature_safe_contextmanager = contextlib.contextmanager
