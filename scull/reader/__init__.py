"""Readers: functions that return iterables of samples, and functions that make readers of them."""

from scull.reader import decorator
from scull.reader.decorator import (
    ComposeNotAligned,
    buffered,
    cache,
    chain,
    compose,
    firstn,
    map_readers,
    multiprocess_reader,
    shuffle,
    xmap_readers,
)

__all__ = [
    "ComposeNotAligned",
    "buffered",
    "cache",
    "chain",
    "compose",
    "decorator",
    "firstn",
    "map_readers",
    "multiprocess_reader",
    "shuffle",
    "xmap_readers",
]
