"""Lines of text as samples, and batches of them as what a Program is fed.

A line holds for each slot how many values it has, and these: `2 17 4 1 0.5` are two words and a
number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError, FileError
from scull.runtime.scope import ScopeTensor

Sample = list[list[Any]]  # the values of each slot
HALF_WORD = 1 << 63


def wrapped(word: str) -> int:
    """An integer of 64 bits, of which text tells no sign."""
    number = int(word)
    return number - 2 * HALF_WORD if HALF_WORD <= number < 2 * HALF_WORD else number


KINDS: dict[str, Callable[[str], Any]] = {
    "int32": int,
    "int64": wrapped,
    "float32": float,
    "float64": float,
}


@dataclass(frozen=True)
class Slot:
    """What a variable is fed with: a sequence of values, or as many as its `shape` says."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    sequence: bool

    @property
    def read(self) -> Callable[[str], Any]:
        return KINDS[self.dtype]


def slot_of(variable: Any) -> Slot:
    """The slot of a variable that a Program is fed."""
    if not hasattr(variable, "lod_level"):
        raise ArgumentTypeError(f"use_var takes variables, not {type(variable).__name__}")
    name, dtype, shape = variable.name, variable.dtype.name, tuple(variable.shape)[1:]
    if dtype not in KINDS:
        raise ArgumentTypeError(f"variable {name} is {dtype}: text is of {', '.join(KINDS)}")
    if -1 in shape:
        raise ArgumentError(f"variable {name} has rows of {list(shape)}, whose size is not known")
    return Slot(name, dtype, shape, variable.lod_level > 0)


def sample_of(line: str, slots: Sequence[Slot], where: str) -> Sample:
    """The values of a line, which is `where` errors say."""
    words, at, found = line.split(), 0, []
    for slot in slots:
        if at == len(words):
            raise FileError(f"{where}: the line ends before slot {slot.name}")
        count = count_of(words[at], slot, where)
        values = words[at + 1 : at + 1 + count]
        if len(values) < count:
            left = len(values)
            raise FileError(f"{where}: slot {slot.name} has {count} values, and {left} are left")
        try:
            found.append([slot.read(word) for word in values])
        except ValueError as error:
            raise FileError(f"{where}: slot {slot.name} is {slot.dtype}, {error}") from None
        at += 1 + count
    if at < len(words):
        raise FileError(f"{where}: {len(words) - at} words are left behind slot {slots[-1].name}")
    return found


def count_of(word: str, slot: Slot, where: str) -> int:
    """How many values a slot has, as many as its variable takes."""
    if not word.isdecimal():
        raise FileError(f"{where}: slot {slot.name} begins with {word!r}, not a number of values")
    count, needed = int(word), math.prod(slot.shape)
    if count == 0:
        raise FileError(f"{where}: slot {slot.name} has no value; let the data have one to fill it")
    if count % needed if slot.sequence else count != needed:
        raise FileError(f"{where}: slot {slot.name} has {count} values, not {needed} a row")
    return count


def feed_of(samples: Sequence[Sample], slots: Sequence[Slot]) -> dict[str, Any]:
    """A batch by the names of variables; sequences with their lengths."""
    return {slot.name: column([s[k] for s in samples], slot) for k, slot in enumerate(slots)}


def column(values: list[list[Any]], slot: Slot) -> Any:
    """One slot of a batch."""
    if not slot.sequence:
        return np.array(values, slot.dtype).reshape(len(values), *slot.shape)
    fed, width = ScopeTensor(), math.prod(slot.shape)
    fed.set(np.array([v for row in values for v in row], slot.dtype).reshape(-1, *slot.shape))
    fed.set_recursive_sequence_lengths([[len(row) // width for row in values]])
    return fed
