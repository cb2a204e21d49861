"""Operands of contractions in panels: what a column of tiles reads lies side by side, term by term.

Terms that lie at multiples of a power of 2 share few sets of a cache: each soon throws another out,
and a tile finds nothing of what the tile before it read. Which cache that is depends on how wide a
term of a column of tiles is: one line stays in the nearest, several in the next, a core's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import gcd, prod

from scull import lang
from scull.compiler.affine import Affine
from scull.compiler.memory import LARGE, NEAREST
from scull.compiler.target import target
from scull.lang.dtype import element
from scull.lang.expression import Axis, Expression, Load, Reduce
from scull.runtime.line import LINE

WAY, WIDE_WAY = 1 << 12, 1 << 17  # bytes of the nearest cache, and of the next, that share no set
ROWS, WIDE_ROWS = 16, 32  # that read an operand, at least, for a copy to be worth it


class Order(Enum):
    """How an operand lies: as it was, or copied with the axis of the lanes last, or in panels."""

    KEPT = "kept"
    ROWS = "rows"
    PANELS = "panels"


def width() -> int:
    """The lanes of the widest columns of a tile, those of a line of float32 at least."""
    machine = target()
    return max((4 if machine.registers > 16 else 2) * machine.lanes, LINE // 4)


@dataclass(frozen=True)
class Reading:
    """A load in a sum that runs so many times; the operand is copied once if it is `fixed`."""

    node: Load
    where: Affine
    last: Axis
    reduce: Reduce
    times: int
    fixed: bool

    @property
    def terms(self) -> list[Axis]:
        """The axes of the sum along which it reads something else."""
        return [x for x in self.reduce.axes if x in self.node.free and x.size > 1]

    @property
    def places(self) -> int:
        """How many places it reads."""
        return prod(x.size for x in self.node.free)

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return element(self.node.dtype).itemsize

    @property
    def is_narrow(self) -> bool:
        """Whether a term of a column of tiles is one line of float32."""
        return width() * 4 <= LINE

    def crowded(self, order: Order) -> Order:
        """How the operand had better lie than in an order, where terms crowd in sets of a cache."""
        lanes = self.last in self.node.free
        if order is Order.ROWS:
            cut = lanes and self.is_cut and self._crowd(self.last.size * self.size)
            return Order.PANELS if cut else order
        if not self.terms or self.places > self.node.array.size:
            return order
        steps = [abs(self.where.step(x) or 0) for x in self.terms]
        apart = gcd(*steps) * self.size
        if lanes:
            near = min(steps) <= width() or self.where.step(self.last) != 1
            return Order.PANELS if not near and self._pays(apart) else order
        near = min(steps) * self.size <= LINE
        return order if near or not self._is_worth_it(apart) else Order.ROWS

    def _pays(self, apart: int) -> bool:
        if not self.is_cut:
            return False
        turned = target().has_matrix and self.node.dtype == "uint32"
        large = not self.is_narrow and self.places * self.size >= LARGE
        return (large and (self.fixed or turned)) or self._is_worth_it(apart)

    def _is_worth_it(self, apart: int) -> bool:
        """Whether a copy is whose terms lie side by side, instead of so many bytes apart."""
        rows = ROWS if self.is_narrow else WIDE_ROWS
        return (self.fixed or self.times >= rows * self.places) and self._crowd(apart)

    @property
    def is_cut(self) -> bool:
        """Whether the axis of the lanes is some panels, and nothing else."""
        return self.last.size > width() and self.last.size % width() == 0

    def _crowd(self, apart: int) -> bool:
        """Whether there are more terms than their cache has places for, so many bytes apart."""
        size, way = (NEAREST, WAY) if self.is_narrow else (LARGE, WIDE_WAY)
        return prod(x.size for x in self.terms) > size // max(gcd(way, apart), LINE)


@dataclass(frozen=True)
class Copy:
    """The axes of a copy, where an operand's axes stand by these, and where it has what is read."""

    axes: tuple[Axis, ...]
    places: dict[Axis, Expression]
    index: tuple[Expression, ...]


def copy_of(axes: Sequence[Axis], terms: Sequence[Axis], order: Order) -> Copy:
    """A copy in the order of the axes of a load, of which the last is that of the lanes.

    Panels are outside the axes of the terms, and inside all others.
    """
    own = {x: lang.axis(x.size) for x in axes}
    if order is not Order.PANELS:
        return Copy(tuple(own.values()), dict(own), tuple(axes))
    *others, last = axes
    panel, lane = lang.axis(last.size // width()), lang.axis(width())
    outer = [x for x in others if x not in terms]
    inner = [x for x in others if x in terms]
    return Copy(
        (*(own[x] for x in outer), panel, *(own[x] for x in inner), lane),
        {**own, last: panel * width() + lane},
        (*outer, last // width(), *inner, last % width()),
    )
