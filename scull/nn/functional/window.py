"""Sizes, strides and paddings of windows, as users spell them."""

from numbers import Integral
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError
from scull.tensor.size import is_one_of

ALGORITHMS = ("SAME", "VALID")
# Channels first, and last, by the number of inner axes.
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def pair(value: Any, name: str, count: int = 2) -> tuple[int, ...]:
    """`value` for each of `count` axes: one integer for all, or a list of as many."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, Integral):
        return (int(value),) * count
    if isinstance(value, list | tuple) and all(isinstance(n, Integral) for n in value):
        if len(value) != count:
            raise ArgumentError(
                f"The {name}'s length should be {count}, but got {len(value)}: {value}"
            )
        return tuple(map(int, value))
    raise ArgumentTypeError(f"The {name}'s type must be list or tuple or int. Received: {value!r}")


def paddings(value: Any, channel_last: bool, count: int = 2) -> tuple[tuple[int, ...], str]:
    """The paddings, one an axis or two, and how they are chosen: EXPLICIT, SAME or VALID."""
    found, algorithm = spelt(value, channel_last, count)
    if min(found) < 0:
        raise ArgumentError(
            "Invalid padding, all value should be larger than or equal to 0, "
            f"but received: {list(found)}"
        )
    return found, algorithm


def spelt(value: Any, channel_last: bool, count: int) -> tuple[tuple[int, ...], str]:
    """The same, whatever the numbers are."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, str):
        if value.upper() not in ALGORITHMS:
            raise ArgumentError(f"Unknown padding: '{value}'. It can only be 'SAME' or 'VALID'.")
        return (0,) * count, value.upper()
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        value = flat_pairs(value, channel_last, count)
    if isinstance(value, list | tuple) and len(value) == 2 * count:
        sides = pair(value, "padding", 2 * count)
        even = sides[::2] == sides[1::2]
        return sides[::2] if even else sides, "EXPLICIT"
    return pair(value, "padding", count), "EXPLICIT"


def flat_pairs(value: Any, channel_last: bool, count: int) -> list[int]:
    """The paddings of the axes of an image, from those of all axes."""
    if len(value) == count + 2:
        first, rest = (1, count + 1) if channel_last else (2, count + 2)
        others = [*value[:first], *value[rest:]]
        if any(list(p) != [0, 0] for p in others):
            raise ArgumentError(
                f"Non-zero padding({value}) in the batch or channel dimensions is not supported."
            )
        value = value[first:rest]
    return [n for sides in value for n in sides]


def is_last(data_format: str, axes: int) -> bool:
    """Whether the channels are the last axis."""
    first, last = FORMATS[axes]
    if not is_one_of(data_format, (first, last)):
        raise ArgumentError(
            f"Attr(data_format) should be '{first}' or '{last}'. "
            f"Received Attr(data_format): {data_format}."
        )
    return data_format == last
