"""Plain values: numbers, strings, arrays, and containers of them, as saved files hold them."""

from collections import OrderedDict
from typing import Any

import numpy as np

SINGLE = (type(None), bool, int, float, complex, str, bytes, bytearray)
SEQUENCES = (list, tuple, set, frozenset)
MAPPINGS = (dict, OrderedDict)

KEYS = (type(None), bool, float, complex, str, bytes)
KEY_BITS = 64  # of an integer; longer ones can be made to have the same hash
KEY_PARTS = 64  # of a tuple or set as a key


def is_single(value: Any) -> bool:
    """Whether a value holds no others."""
    return type(value) in SINGLE or isinstance(value, np.ndarray | np.generic | np.dtype)


def children(value: Any) -> list[Any] | None:
    """What a container holds, keys included; None for what is no container."""
    if type(value) in SEQUENCES:
        return list(value)
    if type(value) in MAPPINGS:
        return [*value.keys(), *value.values()]
    return None


def check_key(value: Any, depth: int = 0) -> str:
    """Why a value may not be a key: hashing and comparing it must take bounded time."""
    if type(value) in KEYS or isinstance(value, np.number | np.bool_ | np.character):
        return ""
    if type(value) is int:
        return (
            "" if value.bit_length() < KEY_BITS else f"a key is an integer of over {KEY_BITS} bits"
        )
    if type(value) not in (tuple, frozenset) or depth == 4:
        return f"a key is a {type(value).__name__}"
    if len(value) > KEY_PARTS:
        return f"a key has {len(value)} parts, {KEY_PARTS} are allowed"
    return next(filter(None, (check_key(part, depth + 1) for part in value)), "")


def check_plain(value: Any, depth: int, values: int) -> str:
    """Why a value is not plain: of another type, within itself, too deep or too large.

    Its size counts a shared container as often as it is reached, as a reader will meet it.
    """
    reached: dict[int, tuple[int, int]] = {}  # containers by identity: their depth and size
    open_containers: set[int] = set()
    pending: list[tuple[Any, bool]] = [(value, False)]
    while pending:
        current, done = pending.pop()
        inner = children(current)
        if inner is None:
            if not is_single(current):
                return f"a {type(current).__name__} is no plain value"
            continue
        identity = id(current)
        if done:
            open_containers.discard(identity)
            reached[identity] = measure(inner, reached)
            if reached[identity][0] > depth:
                return f"containers nest deeper than {depth}"
            if reached[identity][1] > values:
                return f"there are more than {values} values"
        elif identity in open_containers:
            return f"a {type(current).__name__} is within itself"
        elif identity not in reached:
            open_containers.add(identity)
            pending.append((current, True))
            pending.extend((item, False) for item in inner if not is_single(item))
    return ""


def measure(inner: list[Any], reached: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """The depth and size of a container of these values."""
    below = [reached[id(item)] for item in inner if children_known(item, reached)]
    depth = 1 + max((depth for depth, _ in below), default=0)
    return depth, 1 + len(inner) - len(below) + sum(size for _, size in below)


def children_known(item: Any, reached: dict[int, tuple[int, int]]) -> bool:
    return type(item) in SEQUENCES + MAPPINGS and id(item) in reached
