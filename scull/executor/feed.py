"""What users feed: numbers, lists, arrays and tensors made into the arrays a run begins with."""

import warnings
from typing import Any

import numpy as np

from scull.core.dtype import BITS, bfloat16
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, FeedError
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.runtime.scope import Cell, Scope, ScopeTensor

ABSENT = "The variable {} is not found in program. It is not declared or is pruned."


class Feed:
    """One input of a bound plan, and the shape it had last."""

    __slots__ = ("cell", "copies", "dtype", "name", "shape", "slot", "variable")

    def __init__(self, variable: Variable, slot: int, copies: bool, scope: Scope) -> None:
        self.variable, self.name, self.slot, self.copies = variable, variable.name, slot, copies
        self.dtype = variable.meta.dtype.array
        self.cell = cell_of(scope, variable.name) if variable.persistable else None
        self.shape: tuple[int, ...] | None = None  # what was accepted last


def cell_of(scope: Scope, name: str) -> Cell:
    """The cell `name`; made empty when the scope has none, so that a later value is seen."""
    return scope.find_var(name) or scope.var(name)


def as_dictionary(feed: Any) -> dict[str, Any]:
    """What is fed, as a dictionary."""
    if feed is None:
        return {}
    if isinstance(feed, list | tuple):
        if any(not isinstance(entry, dict) for entry in feed):
            raise ArgumentTypeError(
                f"feed is a {type(feed).__name__} of {len(feed)} values without names; it takes a "
                "dictionary, as in feed={'x': value}"
            )
        if len(feed) != 1:
            raise ArgumentTypeError(
                f"feed is a list of {len(feed)} dictionaries; a Program runs on one place and "
                "takes one"
            )
        feed = feed[0]
    if not isinstance(feed, dict):
        raise ArgumentTypeError(
            f"feed requires dict as its Parameter. But you passed in {type(feed)}"
        )
    return feed


def warn_of_absent(program: Program, names: tuple[str, ...]) -> None:
    """Warn of what is fed and is no variable of `program`."""
    block = program.global_block()
    for name in names:
        if block.find(name) is None:
            warnings.warn(ABSENT.format(name), stacklevel=6)


def as_array(value: Any, entry: Feed) -> Any:
    """A fed value as an array; numbers and lists take the declared element type."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, ScopeTensor):
        if value.cell.value is None:
            raise FeedError(f"the tensor fed for the input `{entry.name}` holds no value")
        return np.asarray(value)
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if not isinstance(value, list | tuple) and not np.isscalar(value):
        raise ArgumentTypeError(
            f"Convert data of type {type(value)} to Tensor is not supported; the input "
            f"`{entry.name}` takes an array, a tensor, a list or a number"
        )
    try:
        found = np.array(value)
        if found.dtype != object:
            return found.astype(entry.dtype)
    except ValueError as error:
        raise ArgumentTypeError(f"the value fed for the input `{entry.name}`: {error}") from None
    raise ArgumentTypeError(
        f"the list fed for the input `{entry.name}` holds what is no number of {entry.dtype}"
    )


def fit(array: Any, entry: Feed) -> Any:
    """`array`, whose shape is accepted from now on; FeedError when it is not what was declared."""
    v = entry.variable
    if array.dtype == BITS and entry.dtype == bfloat16.array:
        array = array.view(bfloat16.array)
    if not v.need_check_feed:
        return array
    if array.dtype != entry.dtype:
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value is {array.dtype}; "
            f"feed value.astype('{v.meta.dtype.name}')"
        )
    if not agrees(array.shape, v.shape):
        given = list(array.shape)
        raise FeedError(
            f"the input `{v.name}` is declared {v.meta}, the fed value has shape {given}"
        )
    entry.shape = array.shape
    return array


def agrees(given: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    """Whether an array may be fed: sizes are as declared, where trailing ones may be left out."""
    if len(given) > len(declared) or bool(given) != bool(declared):
        return False
    return all(n in (-1, m) for n, m in zip(declared, given, strict=False))
