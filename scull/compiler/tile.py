"""Tiles: rows of one axis, columns of another.

A column is a vector: as many neighbouring positions of the axis as there are lanes.
"""

from math import ceil
from typing import Any, NamedTuple

from scull.lang.expression import Axis

Key = tuple[Any, ...]


class Place(NamedTuple):
    """Where an axis stands: the name of a value, and a number added to it."""

    base: str
    offset: int = 0


class Column(NamedTuple):
    """A vector of the tile: how far from its first, its lanes, and which count, if not all."""

    offset: int
    lanes: int
    mask: str | None


class Tile(NamedTuple):
    """What is computed at once: rows of one axis, columns of another."""

    row: Axis | None
    rows: int
    axis: Axis | None
    columns: tuple[Column, ...]


class Point(NamedTuple):
    """One vector of the tile."""

    row: int
    column: int


ALONE = Tile(None, 1, None, (Column(0, 1, None),))
STATUS = "status"  # the name of what a kernel notes an index out of range in
FOLDS = 4  # vectors that a fold into scalars keeps apart


def columns_of(size: int, lanes: int, least: int = 0) -> tuple[Column, ...]:
    """The columns of so many positions; the last may have lanes that do not count.

    It has half as many lanes as the others, or a quarter, where these do and are `least` or more.
    """
    columns = []
    for offset in range(0, size, lanes):
        left = size - offset
        while least and left <= lanes // 2 and lanes // 2 >= least:
            lanes //= 2
        text = ", ".join(f"i1 {'true' if lane < left else 'false'}" for lane in range(lanes))
        columns.append(Column(offset, lanes, None if left >= lanes else f"<{text}>"))
    return tuple(columns)


def vectors_of(size: int, lanes: int) -> float:
    """How many vectors' work so many positions are.

    A last one of half the lanes, beside others that share what it reads, is half of one.
    """
    whole, rest = divmod(size, lanes)
    return whole + (0.0 if not rest else 0.5 if whole and 2 * rest <= lanes else 1.0)


def most_rows(columns: int, registers: int) -> int:
    """As many as leave registers for one vector of each column, and one for a row."""
    return (registers - columns - 1) // columns


def even(size: int, most: int) -> int:
    """So many or a little fewer, that the last tile has about as many as the others."""
    return ceil(size / ceil(size / most))
