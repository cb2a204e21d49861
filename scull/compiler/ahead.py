"""What the rows of a kernel will need is asked for while the first stage of a row is computed.

A row is read in one go, then nothing is while other stages compute; hardware that foresees streams
stops at the end of a page meanwhile, and a line that is only written waits for its old content.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.address import pointer
from scull.compiler.affine import Affine, Positions
from scull.compiler.flatten import flat
from scull.compiler.memory import LARGE
from scull.compiler.schedule import offset_of
from scull.compiler.stage import Stage, nbytes
from scull.compiler.tile import Point
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Array, Axis, Load
from scull.lang.walk import ordered

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

ROW = range(256, (1 << 14) + 1)  # bytes of a row that is asked for


class Line(NamedTuple):
    """A row of an array that is needed soon: where it begins, of how many elements it is."""

    array: Array
    where: Affine
    size: int
    written: bool


def lines_of(
    stages: Sequence[Stage], shared: Sequence[Axis], own: frozenset[str], positions: Positions
) -> list[Line]:
    """What is asked for in the first stage of each row; arrays that are its `own` stay near.

    What that stage reads itself is asked for a row ahead.
    """
    if not shared or len(stages) < 2 or stages[0].is_contraction:
        return []
    if not all(isinstance(body, Map) for stage in stages for body in stage.bodies):
        return []
    found: dict[str, Line] = {}
    for number, stage in enumerate(stages):
        for array, where, written in _accesses(stage, positions):
            rest = {n: k for n, k in where.terms.items() if n not in shared}
            plain = all(isinstance(n, Axis) for n in where.terms) and list(rest.values()) == [1]
            if array.name in own or array.name in found or not plain or nbytes(array) < LARGE:
                continue
            ((along, _),) = rest.items()
            assert isinstance(along, Axis)
            step = where.terms.get(shared[-1], 0)
            if step < along.size or along.size * element(array.dtype).itemsize not in ROW:
                continue
            terms = {n: k for n, k in where.terms.items() if n is not along}
            ahead = step if number == 0 else 0
            line = Line(array, Affine(where.constant + ahead, terms), along.size, written)
            if number or not written:
                found[array.name] = line
    return list(found.values())


def _accesses(stage: Stage, positions: Positions) -> Iterator[tuple[Array, Affine, bool]]:
    """What a stage reads and writes, and where, in elements."""
    for node in ordered([body.roots[-1] for body in stage.bodies]):
        if isinstance(node, Load) and node.operands:
            yield node.array, positions.of(node.operands[0]), False
    for array in stage.arrays:
        if array.size == prod(x.size for x in stage.axes):
            yield flat(array), offset_of(array, stage.axes), True


def ask(w: "Writer", points: Sequence[Point]) -> None:
    """Ask for the lines of rows beside which a vector of the first stage lies."""
    axis = w.tile.axis
    for line in w.ahead:
        if axis is None or axis.size != line.size:
            continue
        where = Affine(line.where.constant, {**line.where.terms, axis: 1})
        for point in points:
            at = pointer(w, line.array, where, point)
            write = int(line.written)
            w.function.act(f"call void @llvm.prefetch.p0(ptr {at}, i32 {write}, i32 3, i32 1)")
