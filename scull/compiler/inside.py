"""Places at which something is wanted, told by comparisons of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from scull import lang
from scull.compiler.affine import Affine, Positions
from scull.compiler.edge import gaps_of, is_select
from scull.lang.expression import Axis, Constant, Expression, Guard, constant

PLACES = 1 << 22  # that are counted

Key = tuple[int, frozenset[tuple[Expression, int]]]


@dataclass(frozen=True)
class Inside:
    """Where something is wanted: at places of which no gap is negative."""

    gaps: tuple[Affine, ...]

    @property
    def keys(self) -> list[Key]:
        """The gaps as what can be compared."""
        return [(x.constant, frozenset(x.terms.items())) for x in self.gaps]

    def condition(self, positions: Positions) -> Expression:
        """It as an expression, written the one way."""
        found = constant(True, "bool")
        for gap in self.gaps:
            least = constant(-gap.constant, "int64")
            found = lang.both(found, least <= positions.expression(Affine(0, gap.terms)))
        return found

    def share(self) -> float:
        """How many of all places it is; all of them where they are too many to count."""
        axes = list(dict.fromkeys(node for gap in self.gaps for node in gap.terms))
        sizes = [axis.size for axis in axes if isinstance(axis, Axis)]
        if not 0 < prod(sizes) <= PLACES:
            return 1.0
        spots = dict(zip(axes, np.ix_(*map(np.arange, sizes)), strict=True))
        kept = np.ones(sizes, bool)
        for gap in self.gaps:
            kept &= sum((many * spots[n] for n, many in gap.terms.items()), gap.constant) >= 0
        return float(kept.mean())

    def at(self, places: Mapping[Expression, Affine]) -> "Inside":
        """The same where axes stand at other places; gaps of axes without one are left out."""
        found = []
        for gap in self.gaps:
            if all(node in places for node in gap.terms):
                total = Affine(gap.constant, {})
                for node, many in gap.terms.items():
                    total += places[node].times(many)
                found.append(total)
        return Inside(tuple(found))


def inside_of(condition: Expression, positions: Positions) -> Inside | None:
    """What a condition says of places along two axes or more, if that is all it says."""
    gaps = gaps_of(condition, positions)
    found = [x for x in gaps if x is not None and all(isinstance(n, Axis) for n in x.terms)]
    if len(found) < len(gaps) or any(len(x.terms) < 2 for x in found):
        return None
    return Inside(tuple(found))


def choice_of(node: Expression, positions: Positions) -> Inside | None:
    """Where a node is its first choice; elsewhere it is a number."""
    chooses = isinstance(node, Guard) or is_select(node)
    if not chooses or not isinstance(node.operands[2], Constant):
        return None
    return inside_of(node.operands[0], positions)
