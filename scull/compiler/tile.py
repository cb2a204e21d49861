"""Tiles: rows of one axis, columns of another.

A column is a vector: as many neighbouring positions of the axis as there are lanes.
"""

from typing import Any, NamedTuple

from scull.lang.expression import Axis

Key = tuple[Any, ...]


class Place(NamedTuple):
    """Where an axis stands: the name of a value, and a number added to it."""

    base: str
    offset: int = 0


class Column(NamedTuple):
    """A vector of the tile: how far from its first, and which lanes count, if not all."""

    offset: int
    mask: str | None


class Tile(NamedTuple):
    """What is computed at once: rows of one axis, columns of another, each of so many lanes."""

    row: Axis | None
    rows: int
    axis: Axis | None
    columns: tuple[Column, ...]
    lanes: int


class Point(NamedTuple):
    """One vector of the tile."""

    row: int
    column: int


ALONE = Tile(None, 1, None, (Column(0, None),), 1)
STATUS = "status"  # the name of what a kernel notes an index out of range in
FOLDS = 4  # vectors that a fold into scalars keeps apart


def columns_of(size: int, lanes: int) -> tuple[Column, ...]:
    """The columns of so many positions; the last may have lanes that do not count."""
    columns = []
    for offset in range(0, size, lanes):
        left = size - offset
        text = ", ".join(f"i1 {'true' if lane < left else 'false'}" for lane in range(lanes))
        columns.append(Column(offset, None if left >= lanes else f"<{text}>"))
    return tuple(columns)
