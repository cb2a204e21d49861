"""Which functions are converted: those of users, unless they say otherwise."""

import collections
import copy
import inspect
import logging
import os
import pdb
import re
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy

from scull.errors import ArgumentTypeError

LEFT = "__jst_not_to_static"
LIBRARIES = frozenset({"scull", "numpy", "paddle", "_pytest", "pytest"}) | sys.stdlib_module_names
LIBRARIES -= {"__main__", "test", "this"}
IGNORED: list[ModuleType] = [copy, collections, inspect, logging, numpy, os, pdb, re]
PLAIN = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class ConversionOptions:
    """What is said of the conversion of a function.

    Args:
        not_convert (bool): whether it is called as it is.
    """

    def __init__(self, not_convert: bool = False) -> None:
        self.not_convert = not_convert

    def attach(self, func: Any) -> None:
        """Say it of `func`.

        Args:
            func (callable): a function, a method or a Layer.
        """
        setattr(getattr(func, "__func__", func), LEFT, self)


def leave(function: Any) -> Any:
    """Mark `function`, or a Layer, as what is called as it is; builtins are so in any case."""
    if not isinstance(function, BuiltinFunctionType | type):
        ConversionOptions(not_convert=True).attach(function)
    return function


def is_left(function: Any) -> bool:
    """Whether a function, or an object, is called as it is."""
    said = getattr(function, LEFT, None)
    return said is not None and bool(said.not_convert)


def ignore_module(modules: list[ModuleType]) -> None:
    """Call the functions of `modules` as they are.

    Args:
        modules (list[module]): for example `[numpy]`.
    """
    if not isinstance(modules, list | tuple) or not all(isinstance(m, ModuleType) for m in modules):
        raise ArgumentTypeError(f"ignore_module takes a list of modules, not {modules!r}")
    IGNORED.extend(modules)


def is_library(module: str | None) -> bool:
    """Whether a module is part of a library that is never converted."""
    return (module or "").split(".")[0] in LIBRARIES


def is_convertible(function: FunctionType) -> bool:
    """Whether `function` may be converted."""
    if is_left(function) or function.__code__.co_flags & PLAIN:
        return False
    module = function.__globals__.get("__name__") or ""
    if is_library(module):
        return False
    return not any(f"{module}.".startswith(f"{m.__name__}.") for m in IGNORED)
