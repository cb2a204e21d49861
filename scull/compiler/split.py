"""How the work of a kernel is cut into chunks, which threads may share.

Chunks are of a size that depends on the kernel alone, never on how many threads there are: each
element is computed by the same instructions wherever and whenever its chunk runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from scull.compiler.cost import moved, operations_of
from scull.compiler.group import ROWS, Group
from scull.compiler.schedule import Schedule
from scull.compiler.stage import Stage, nbytes
from scull.compiler.target import Target
from scull.lang.body import Scatter
from scull.lang.expression import Array, Axis

SHARED = 20e3  # nanoseconds of work that are worth waking another thread for
CHUNK = 4e3  # nanoseconds a chunk takes at least
CHUNKS = 256  # that a kernel has at most
ENOUGH = 32  # chunks that are shared well by any number of threads
VECTORS = 2.0  # operations on vectors in a nanosecond
DENSE = 6.0  # the same in contractions, where a multiplication and its addition are one
BYTES = 64.0  # that one thread moves in a nanosecond, where they are in a cache


@dataclass(frozen=True)
class Code:
    """A group as the text of a function of its arrays' addresses and of chunks.

    The function is `void(ptr ..., i64 first, i64 last)`: it computes the chunks from `first` up to
    `last`, of 0 .. `chunks`, in any order and at the same time as others. With one chunk it is not
    looked at; with more, the kernel is worth being shared: it takes one thread about `work`
    nanoseconds, SHARED or more. What lies before a kernel is complete when it starts. `rows` are
    arrays whose content nobody sees but the chunk that writes it.
    """

    name: str
    text: str
    chunks: int = 1
    work: float = 0.0
    rows: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Span:
    """Positions of some axes, counted as if they were one: `step` of them are a chunk."""

    axes: tuple[Axis, ...]
    step: int
    work: float  # nanoseconds of all of them

    @property
    def positions(self) -> int:
        """How many there are."""
        return prod(axis.size for axis in self.axes)

    @property
    def chunks(self) -> int:
        """How many chunks they are cut into."""
        return ceil(self.positions / self.step)


def span_of(
    group: Group, stages: Sequence[Stage], found: Sequence[Schedule | None], target: Target
) -> Span | None:
    """What the chunks of a group are positions of; None where it is too little, or one by one.

    The stages are as they are written.
    """
    if any(isinstance(body, Scatter) for stage in stages for body in stage.bodies):
        return None
    if any(axis.size == 0 for stage in stages for axis in stage.axes):
        return None
    work = work_of(group, stages, found, target)
    if work < SHARED or sum(map(nbytes, rows_of(group))) > ROWS:
        return None
    most = min(CHUNKS, int(work / CHUNK))
    shared = tuple(axis for axis in group.shared if axis.size != 1)
    if shared:
        return _cut(_outermost(shared, most), 1, most, work)
    (stage,), (chosen,) = stages, found
    assert chosen is not None
    outer = tuple(x for x in stage.axes if x not in (chosen.vector, chosen.row))
    pieces = [(_outermost(outer, most), 1)] if outer else []
    if chosen.vector is not None:
        pieces.append(((chosen.vector,), chosen.lanes * chosen.columns))
    if chosen.row is not None:
        pieces.append(((chosen.row,), chosen.rows))
    spans = [span for axes, tile in pieces if (span := _cut(axes, tile, most, work))]
    return max(spans, key=lambda span: min(span.chunks, ENOUGH), default=None)


def _outermost(axes: tuple[Axis, ...], most: int) -> tuple[Axis, ...]:
    """As many of the first axes as have positions for so many chunks."""
    count = 1
    while count < len(axes) and prod(axis.size for axis in axes[:count]) < min(most, ENOUGH):
        count += 1
    return axes[:count]


def _cut(axes: tuple[Axis, ...], tile: int, most: int, work: float) -> Span | None:
    """Positions in chunks of whole tiles; None if there is but one."""
    tiles = ceil(prod(axis.size for axis in axes) / tile)
    span = Span(axes, tile * ceil(tiles / most), work)
    return span if span.chunks > 1 else None


def work_of(
    group: Group, stages: Sequence[Stage], found: Sequence[Schedule | None], target: Target
) -> float:
    """The nanoseconds a group takes one thread, roughly: on any machine the same number."""
    total = 0.0
    for stage, chosen in zip(stages, found, strict=True):
        lanes = target.lanes
        if chosen is None or (chosen.vector is None and chosen.folds == 1):
            lanes = 1
        roots = [root for body in stage.bodies for root in body.roots]
        dense = stage.is_contraction and lanes > 1 and _shares(stage, chosen)
        total += operations_of(roots, group) / (lanes * (DENSE if dense else VECTORS))
    return max(total, sum(moved(group)) / BYTES)


def _shares(stage: Stage, chosen: Schedule | None) -> bool:
    """Whether lanes share an operand, which is not so where each channel has its own filter."""
    vector = chosen.vector if chosen is not None else None
    return any(vector not in load.free for load in stage.loads if load.free)


def rows_of(group: Group) -> tuple[Array, ...]:
    """The arrays of a row that are kept in memory while the row is computed."""
    return tuple(x for x in group.local if x.size > 1 and x not in group.over)
