"""Proof that a region computes every row of a batch by itself, and what it computes of a row.

A batch is the first axis of some inputs. Traced for two sizes of it, an array is `wide` if its
first axis grows with the batch: by so many positions a row. It lies in memory row after row. Every
element of a wide array is looked at: the place where it reads another wide array has to be in the
same row, and nothing else may tell which row it is. What is left is said as text in which no row
occurs. Where that text is the same for several sizes, code for one computes a slice of another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from scull.compiler.affine import Affine, Positions
from scull.compiler.trace import Statement
from scull.errors import UnsupportedError
from scull.lang.body import Map
from scull.lang.expression import (
    Apply,
    Array,
    Axis,
    Constant,
    Expression,
    Guard,
    Load,
    Reduce,
    axis,
    constant,
)
from scull.lang.walk import ordered, rewritten

ROW = ""  # the text of what tells which row of the batch it is
TRUE, FALSE = "true", "false"
TOLD, BYTES = "#", 16  # what is longer than so many bytes is told by a digest of so many
COMPARISONS = ("less", "less_equal", "equal", "not_equal")


@dataclass(frozen=True)
class Batch:
    """A region traced for a batch of `count` rows: what it is given, then what it does."""

    count: int
    given: Sequence[Array]
    nodes: Sequence[Any]

    @property
    def arrays(self) -> list[Array]:
        """All arrays, in order."""
        for node in self.nodes:
            if not isinstance(node, Statement):
                raise UnsupportedError(f"`{node.origin}` is more than elements of arrays")
        return [*self.given, *(node.out for node in self.nodes)]


def widths(one: Batch, other: Batch) -> list[int]:
    """For each array how many positions of its first axis are a row of the batch; 0: it has none.

    UnsupportedError where it is neither.
    """
    found = []
    if [s.origin for s in one.nodes] != [s.origin for s in other.nodes]:
        raise UnsupportedError("other batches are other statements")
    origins = [*[""] * len(one.given), *(s.origin for s in one.nodes)]
    for x, y, origin in zip(one.arrays, other.arrays, origins, strict=True):
        if x.shape == y.shape or x.size == y.size == 0:
            found.append(0)
            continue
        width = x.shape[0] // one.count if x.shape else 0
        if not fits(x, width, one.count, x.shape) or not fits(y, width, other.count, x.shape):
            raise UnsupportedError(f"`{origin}` has not so many positions of its first axis a row")
        found.append(width)
    return found


def fits(array: Array, width: int, count: int, like: tuple[int, ...]) -> bool:
    """Whether an array is as wide as it should be, and else as it was."""
    return width > 0 and array.shape == (width * count, *like[1:])


def said(batch: Batch, wide: Sequence[int], like: Batch) -> list[str]:
    """What every statement computes of one row; UnsupportedError where it is not of one.

    Arrays are as `wide` as they were found to be in a batch that it is `like`.
    """
    if len(batch.nodes) != len(like.nodes):
        raise UnsupportedError("other batches are other statements")
    for x, y, width in zip(batch.arrays, like.arrays, wide, strict=True):
        same = x.shape == y.shape or x.size == y.size == 0
        if not (fits(x, width, batch.count, y.shape) if width else same):
            raise UnsupportedError(f"a batch of {batch.count} has other sizes")
    saying = Saying(batch.count, dict(zip(batch.arrays, wide, strict=True)))
    return [saying.statement(node) for node in batch.nodes]


class Saying:
    """Writes what a row is as text, in which arrays and axes are numbers."""

    def __init__(self, count: int, wide: Mapping[Array, int]) -> None:
        self.wide, self.count = wide, count
        self.numbers = {array: n for n, array in enumerate(wide)}
        self.positions = Positions()
        self.row: Expression = axis(count) if count > 1 else constant(0, "int64")

    def statement(self, statement: Statement) -> str:
        """All that one statement computes of a row."""
        out, body = statement.out, statement.body
        self.origin, self.within = statement.origin, self.wide[out] > 0
        self.known: dict[Expression, str] = {}
        self.axes: dict[Expression, int] = {}
        self.entered: set[Expression] = set()  # positions whose sums are being written
        done: dict[Expression, Expression] = {}
        head = f"{self.numbers[out]} {out.dtype}"
        if not out.size:
            return head
        if isinstance(body, Map):
            axes: list[Expression] = list(body.axes)
            if self.within:
                width = self.wide[out]
                inner = axis(width) if width > 1 else constant(0, "int64")
                done[axes[0]] = self.row * width + inner
                axes[0] = inner
            head += f" for {[self.of(x) for x in axes]}"
        else:
            if self.within or any(self.wide.get(a) for r in body.roots for a in loaded(r)):
                raise UnsupportedError(f"`{self.origin}` writes where an index says")
            base = None if body.base is None else self.numbers[body.base]
            head += f" at {[self.of(x) for x in body.over]} {body.sets} {base}"
        roots = [self.clear(root) for root in rewritten(body.roots, lambda node: node, done)]
        return " ".join([head, *roots])

    def clear(self, node: Expression) -> str:
        """The text of a node that does not tell which row it is of."""
        found = self.of(node)
        if found == ROW:
            raise UnsupportedError(f"`{self.origin}` depends on the place in the batch")
        return found

    def of(self, root: Expression) -> str:
        """What a node is, in few letters; ROW where it tells which row it is of."""
        for node in ordered([root], known=self.known.__contains__):
            found = self.line(node)
            if len(found) > len(TOLD) + 2 * BYTES:
                found = TOLD + blake2b(found.encode(), digest_size=BYTES).hexdigest()
            self.known[node] = found
        return self.known[root]

    def line(self, node: Expression) -> str:
        """What a node is, of operands that were said."""
        operands = [self.known[x] for x in node.operands]
        match node:
            case Axis(size=size):
                if node is self.row:
                    return ROW
                return f"axis {self.axes.setdefault(node, len(self.axes))} {size}"
            case Constant(value=value) if node.dtype == "bool":
                return TRUE if value else FALSE
            case Constant(value=value):
                return f"{value!r} {node.dtype}"
            case Load(array=array):
                return self.load(array, node.operands)
            case Reduce(operation=name, axes=axes):
                over = [self.of(x) for x in axes]
                return self.plain(f"{name} over {over} {node.dtype}", operands)
            case Guard():
                return self.chosen(operands) or self.plain(f"guard {node.dtype}", operands)
            case Apply(operation=name):
                return self.applied(node, name, operands)
        return self.plain(f"{type(node).__name__} {node.dtype}", operands)

    def plain(self, what: str, operands: Sequence[str]) -> str:
        """The same of clear operands."""
        return ROW if ROW in operands else f"{what} {operands}"

    def chosen(self, operands: Sequence[str]) -> str:
        """The side that a condition known ahead chooses."""
        condition, value, otherwise = operands
        return {TRUE: value, FALSE: otherwise}.get(condition, "")

    def applied(self, node: Apply, name: str, operands: Sequence[str]) -> str:
        """An operation; what rows cancel in is worked out."""
        if name in ("and", "or") and node.dtype == "bool":
            ends, neutral = (FALSE, TRUE) if name == "and" else (TRUE, FALSE)
            rest = [x for x in operands if x != neutral]
            if ends in operands or len(rest) < 2:
                return ends if ends in operands else (rest or [neutral])[0]
        if name == "select" and (found := self.chosen(operands)):
            return found
        if name in COMPARISONS and node.operands[0].dtype == "int64":
            return self.compared(name, *map(self.positions.of, node.operands))
        if node.dtype == "int64" and node not in self.entered:
            self.entered.add(node)
            sum = self.positions.of(node)
            if sum != Positions.plain(node):
                return self.text(sum)
        return self.plain(f"{name} {node.dtype}", operands)

    def text(self, place: Affine) -> str:
        """A sum in which no row occurs, else ROW."""
        terms = [(self.of(node), many) for node, many in place.terms.items()]
        if not terms:
            return f"{place.constant} int64"
        if len(terms) == 1 and terms[0][1] == 1 and not place.constant:
            return terms[0][0]
        if any(said == ROW for said, _ in terms):
            return ROW
        return f"sum {place.constant} {sorted(terms)}"

    def compared(self, name: str, x: Affine, y: Affine) -> str:
        """A comparison of positions: by their ranges, or of what is left of them."""
        gap = x + y.times(-1)
        found = self.positions.range_of(gap)
        apart = found.low > 0 or found.high < 0
        known = {
            "less": (found.high < 0, found.low >= 0),
            "less_equal": (found.high <= 0, found.low > 0),
            "equal": (found.low == found.high == 0, apart),
            "not_equal": (apart, found.low == found.high == 0),
        }[name]
        if any(known):
            return TRUE if known[0] else FALSE
        return self.plain(f"{name} 0", [self.text(gap)])

    def load(self, array: Array, index: Sequence[Expression]) -> str:
        """An element of an array: one of the same row where it has rows."""
        width, said = self.wide.get(array), [self.known[x] for x in index]
        if width is None:
            raise UnsupportedError(f"`{self.origin}` reads `{array.name}`, which nobody made")
        if not width:
            return self.plain(f"load {self.numbers[array]}", said)
        if not self.within:
            raise UnsupportedError(f"`{self.origin}` reads the whole batch")
        place = self.inside(self.positions.of(index[0]), width)
        if place == ROW or ROW in said[1:]:
            offset = self.positions.offset(array, tuple(index))
            said, place = [], self.inside(offset, array.size // self.count)
        if place == ROW:
            raise UnsupportedError(f"`{self.origin}` reads other rows of the batch than its own")
        return f"load {self.numbers[array]} {[place, *said[1:]]}"

    def inside(self, place: Affine, size: int) -> str:
        """Where a place is in its own row of so many; ROW where it may be in another."""
        rest = place + self.positions.of(self.row).times(-size)
        found = self.positions.range_of(rest)
        return self.text(rest) if found.low >= 0 and found.high < size else ROW


def loaded(root: Expression) -> list[Array]:
    """The arrays that an expression reads."""
    return [node.array for node in ordered([root]) if isinstance(node, Load)]
