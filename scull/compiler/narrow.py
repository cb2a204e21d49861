"""Tiles of contractions where there are few registers: 12 sums are all that fit beside operands.

A tile is narrow then, and so there are many: what they read in which order tells how fast they are.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from scull.compiler.affine import Positions
from scull.compiler.tile import even, most_rows
from scull.lang.expression import Axis, Load

FEW = 16  # registers
LATE = 4  # rows of a tile of two vectors whose sums are just as many as units need
ALL = 4  # vectors along an axis that are one tile, so that rows are read once
MOST = 6  # vectors of a tile whose lanes share nothing: it reads long stretches of memory


class Cut(NamedTuple):
    """The axis of a tile's rows, how many vectors and rows, whether columns come first."""

    row: Axis | None
    columns: int
    rows: int
    inner: bool


def cut(
    vector: Axis,
    lanes: int,
    rows: Sequence[Axis],
    loads: Sequence[Load],
    positions: Positions,
    *,
    late: bool,
) -> Cut:
    """How a contraction is cut whose terms are `loads`, with lanes along `vector`.

    `late` says that each sum changes something that is read after it.
    """
    vectors = ceil(vector.size / lanes)
    wide = [x for x in loads if vector in x.free]
    if not rows:
        return Cut(None, min(vectors, 2), 1, False)
    if len(wide) == len([x for x in loads if x.free]):  # each lane has its own filter
        row = min(rows, key=lambda x: _step(x, wide, positions))
        return Cut(row, min(vectors, MOST), 1, True)
    shared = [x for x in loads if vector not in x.free]

    def worth(axis: Axis) -> tuple[bool, float, bool, int, int]:
        apart = any(axis not in load.free for load in wide)
        filled = round(2 * axis.size / ceil(axis.size / most_rows(2, FEW))) / 2
        again = any(_windows(axis, load, positions) for load in shared)
        return apart, filled, again, axis.size, -_step(axis, shared, positions)

    row = max(rows, key=worth)
    if late:
        return Cut(row, min(vectors, 2), min(LATE, row.size), True)
    columns = vectors if vectors <= ALL else 2
    return Cut(row, columns, even(row.size, most_rows(columns, FEW)), False)


def _step(axis: Axis, loads: Sequence[Load], positions: Positions) -> int:
    """How far apart in memory neighbours along an axis are, at least."""
    steps = [positions.of(x.operands[0]).step(axis) for x in loads if axis in x.free]
    return min((abs(x) for x in steps if x), default=0)


def _windows(axis: Axis, load: Load, positions: Positions) -> bool:
    """Whether another axis moves a load as far, so that neighbours read the same again."""
    terms = positions.of(load.operands[0]).terms
    return axis in terms and sum(step == terms[axis] for step in terms.values()) > 1
