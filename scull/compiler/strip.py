"""Sheets in strips: a few rows of them at a time, computed again where they are read again.

A sheet is what a product of matrices with few terms makes of much smaller operands, or what is made
of as little without sums, and what is computed of these element by element: the scores of
attention, all that follows from them, and their gradients. Whoever reads it sums along one of its
two axes. Statements that sum along the same one go together, strip by strip along the other, and
have the sheet's rows for themselves: nobody else sees them, so no sheet is in memory.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil, inf, prod

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.decision import decided
from scull.compiler.draw import draws
from scull.compiler.fuse import loads_of, needed
from scull.compiler.group import ROWS, long_places, with_long_axes
from scull.compiler.simplify import simplified
from scull.compiler.stage import contracts, inner_loads, nbytes
from scull.compiler.trace import Statement, Strip
from scull.lang.body import Map
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, Load, Reduce
from scull.lang.walk import ordered, rewritten

TERMS = 256  # of a sum that is few enough to be computed again
TIMES = 2  # a sheet is larger than what it is the product of
AGAIN = 4  # the same where it is computed again, rather than kept
LEAST = 128  # rows and columns of a sheet
MOST = 64  # rows of a strip
ROOM = 1 << 20  # bytes of a strip: fewer than a thread has room for, as there is more than sheets
KEPT = 1 << 19  # bytes of a sheet that had better be kept than computed again


@dataclass(eq=False)
class Sheet:
    """Arrays of the same sizes; along all but the last two axes what they are made of varies, too.

    Along those they are `apart`.
    """

    sizes: tuple[int, ...]
    times: float  # how many times it is larger than what it is the product of
    is_product: bool
    parts: list["Part"] = field(default_factory=list)
    whole: bool = False  # somebody wants it as it is

    @property
    def depth(self) -> int:
        """How many axes are apart."""
        return len(self.sizes) - 2

    def bytes_of(self, arrays: Iterable[Array]) -> int:
        """How many bytes arrays have at one position of the axes that are apart."""
        return sum(map(nbytes, arrays)) // prod(self.sizes[: self.depth])


@dataclass(eq=False)
class Part:
    """Sums along one axis of a sheet: `along` says which axis the strips are cut of, 0 or 1.

    Before it runs the parts in `after`.
    """

    sheet: Sheet
    along: int
    after: set["Part"] = field(default_factory=set)
    arrays: dict[Array, None] = field(default_factory=dict)  # of the sheet
    sums: set[Array] = field(default_factory=set)

    def waits_for(self, other: "Part") -> bool:
        """Whether it cannot run before another."""
        seen, pending = set[Part](), [self]
        while pending:
            part = pending.pop()
            if part is other:
                return True
            if part not in seen:
                seen.add(part)
                pending.extend(part.after)
        return False


@dataclass(frozen=True)
class Sum:
    """How a statement reads a sheet: the axes by which it says where it is along those that are
    apart, each with how many of its positions say the same; its axis of rows, and which that is.
    """

    body: Map
    apart: tuple[tuple[Axis, int], ...]
    row: Axis
    along: int

    @property
    def place(self) -> tuple[Expression, ...]:
        """Where the row is that it sums."""
        return (*(x if each == 1 else x // each for x, each in self.apart), self.row)


def stripped(statements: Sequence[Statement], outputs: Collection[Array]) -> list[Statement]:
    """The statements, with sheets that are too large for a thread in strips."""
    kept = set(outputs)
    plan = Plan(kept)
    for statement in statements:
        plan.read(statement)
    sheets = [sheet for sheet in dict.fromkeys(plan.of.values()) if plan.is_large(sheet)]
    if not sheets:
        return list(statements)
    cuts = {part: Cut(part, plan) for sheet in sheets for part in sheet.parts}
    found: list[Statement] = []
    for statement in statements:
        part, sheet = plan.part.get(statement.out), plan.of.get(statement.out)
        if part in cuts:
            found += cuts[part].statements(statement)
        elif sheet not in sheets:
            found.append(statement)
    return needed(found, kept)


class Plan:
    """The sheets of statements, which are read in order, and the parts that read them."""

    def __init__(self, kept: Collection[Array]) -> None:
        self.kept = kept
        self.of: dict[Array, Sheet] = {}
        self.made: dict[Array, tuple[Statement, Map]] = {}  # of sheets
        self.sums: dict[Array, Sum] = {}
        self.part: dict[Array, Part] = {}
        self.after: dict[Array, set[Part]] = {}  # what has to run before an array is there

    def read(self, statement: Statement) -> None:
        """Tell what a statement is: of a sheet, a sum of one, or neither."""
        body, loads = statement.body, loads_of(statement.body)
        self.after[statement.out] = set().union(*(self.after.get(x.array, ()) for x in loads))
        if isinstance(body, Map):
            body = with_long_axes(body, Positions())
            assert isinstance(body, Map)
            loads = loads_of(body)
        for load in loads:
            sheet = self.of.get(load.array)
            if sheet is not None and not sheet.is_product:
                sheet.whole |= not isinstance(body, Map) or long_places(load) != body.axes
        read = [x for x in loads if self.is_of_sheet(x.array)]
        sheets = dict.fromkeys(self.of[x.array] for x in read)
        if isinstance(body, Map):
            sheet = None if statement.out in self.kept else self._sheet(body, read)
            if sheet is not None:
                self.of[statement.out], self.made[statement.out] = sheet, (statement, body)
                return
            found = self._sum(body, read) if read else None
            if found is not None:
                part = self._part(self._united(sheets), body, found)
                part.sums.add(statement.out)
                self.sums[statement.out], self.part[statement.out] = found, part
                self.after[statement.out] = {part}
                return
        for sheet in sheets:
            sheet.whole = True

    def _sheet(self, body: Map, read: Sequence[Load]) -> Sheet | None:
        """The sheet that an array with such a body is of."""
        within = set(inner_loads(body))
        if any(x in within or long_places(x) != body.axes for x in read):
            return None
        sheets, is_product = [self.of[x.array] for x in read], contracts(body)
        times = _times(body) if is_product or not read else 0
        if times >= TIMES:
            sizes = tuple(axis.size for axis in body.axes)
            sheets.append(Sheet(sizes, times if is_product else inf, is_product))
        elif not read or is_product or any(isinstance(n, Reduce) for n in _nodes(body)):
            return None
        return self._united(sheets)

    def _united(self, sheets: Iterable[Sheet]) -> Sheet:
        """Sheets as one."""
        one, *others = dict.fromkeys(sheets)
        for other in others:
            one.whole = one.whole or other.whole or one.sizes != other.sizes
            one.times = min(one.times, other.times)
            one.is_product = one.is_product or other.is_product
            self.of = {x: one if sheet is other else sheet for x, sheet in self.of.items()}
            for part in other.parts:
                part.sheet = one
            one.parts += other.parts
        return one

    def _sum(self, body: Map, read: Sequence[Load]) -> Sum | None:
        """How a statement sums along an axis of a sheet, if that is all that it wants of it."""
        places, sheet = {long_places(x) for x in read}, self.of[read[0].array]
        inner = {x for n in _nodes(body) if isinstance(n, Reduce) for x in n.axes}
        found = set()
        for *apart, first, second in places:
            along = int(first not in body.axes)
            row, other = (second, first) if along else (first, second)
            named = [x for place in (*apart, row) if (x := _named(place)) is not None]
            own = {x for x, _ in named if x in body.axes}
            sizes = [x.size // each for x, each in named]
            whole = [*sheet.sizes[:-2], sheet.sizes[along - 2]]
            if other not in inner or not isinstance(row, Axis):
                return None
            if len(own) != len(whole) or sizes != whole:
                return None
            found.add((tuple(named[:-1]), row, along))
        return Sum(body, *found.pop()) if len(found) == 1 else None

    def _part(self, sheet: Sheet, body: Map, found: Sum) -> Part:
        """The part that a sum belongs to: the last along its axis, if that need not run before."""
        parts = [part for part in sheet.parts if part.along == found.along]
        if parts:
            arrays, after = self._needs(body, parts[-1], found)
            if not any(other.waits_for(parts[-1]) for other in after):
                parts[-1].arrays.update(arrays)
                parts[-1].after |= after
                return parts[-1]
        part = Part(sheet, found.along)
        part.arrays, part.after = self._needs(body, part, found)
        sheet.parts.append(part)
        return part

    def _needs(self, body: Map, part: Part, found: Sum) -> tuple[dict[Array, None], set[Part]]:
        """The arrays of its sheet that a sum in a part reads, and the parts it has to wait for."""
        arrays, after = dict[Array, None](), set[Part]()
        pending: list[tuple[Map, tuple[Expression, ...]]] = [(body, found.place)]
        while pending:
            each, row = pending.pop()
            for load in loads_of(each):
                if self.is_of_sheet(load.array):
                    if load.array not in arrays:
                        arrays[load.array] = None
                        _, other = self.made[load.array]
                        pending.append((other, _row(other.axes, part)))
                elif load.array not in part.sums or not self.is_row(load, row):
                    after |= self.after.get(load.array, set())
        return arrays, after

    def is_of_sheet(self, array: Array) -> bool:
        """Whether an array is of a sheet that nobody wants as it is."""
        return array in self.of and not self.of[array].whole

    def is_large(self, sheet: Sheet) -> bool:
        """Whether a sheet is too large for a thread of its own, and for being kept if need be."""
        one = [x for part in sheet.parts[:1] for x in part.arrays][:1]
        again = sheet.times >= AGAIN and sheet.bytes_of(one) > KEPT
        if sheet.whole or not sheet.is_product or (len(sheet.parts) > 1 and not again):
            return False
        return any(self.bytes_of(part) > ROWS for part in sheet.parts)

    def bytes_of(self, part: Part) -> int:
        """The bytes that arrays of a sheet take in a part, apart from those in registers.

        That is what is read once, by another array.
        """
        readers = Counter[Array]()
        for array in part.arrays:
            readers.update({x.array for x in loads_of(self.made[array][1])})
        for array in part.sums:
            readers.update({x.array: 2 for x in loads_of(self.sums[array].body)})
        return part.sheet.bytes_of([x for x in part.arrays if readers[x] > 1])

    def is_row(self, load: Load, row: tuple[Expression, ...]) -> bool:
        """Whether a sum that has one number for each row of a sheet is read at that of `row`."""
        made = self.sums[load.array]
        return made.body.axes == made.place and long_places(load) == row


def _nodes(body: Map) -> list[Expression]:
    return ordered([body.value])


def _row(axes: tuple[Axis, ...], part: Part) -> tuple[Axis, ...]:
    """The axes of a sheet's array that say in which row an element is."""
    depth = part.sheet.depth
    return (*axes[:depth], axes[depth + part.along])


def _times(body: Map) -> float:
    """How many times larger than what it reads a sheet is that begins with a body; 0: none does."""
    sums = [x for x in _nodes(body) if isinstance(x, Reduce)]
    loads = [x for x in (inner_loads(body) if sums else loads_of(body)) if x.free]
    *apart, first, second = body.axes if len(body.axes) > 1 else (None, None)
    if first is None or second is None or min(first.size, second.size) < LEAST:
        return 0
    sides = {(first in x.free, second in x.free) for x in loads}
    if sums and sides != {(True, False), (False, True)}:
        return 0
    if sums and any(not x.free.issuperset(apart) for x in loads):
        return 0
    if prod(x.size for r in sums for x in r.axes) > TERMS:
        return 0
    size = prod(axis.size for axis in body.axes) * element(body.value.dtype).itemsize
    return size / max(1, sum(map(nbytes, {x.array for x in loads})))


def _named(place: Expression) -> tuple[Axis, int] | None:
    """The axis that says a place, and how many of its positions say the same."""
    if isinstance(place, Axis):
        return place, 1
    if isinstance(place, Apply) and place.operation == "floor_divide":
        x, each = place.operands
        if isinstance(x, Axis) and isinstance(each, Constant) and x.size % int(each.value) == 0:
            return x, int(each.value)
    return None


def _chances(value: Expression) -> list[Expression]:
    """The innermost truths that random words decide."""
    words, found = set[Expression](), list[Expression]()
    for node in ordered([value]):
        if draws(node) or not words.isdisjoint(node.operands):
            if node.dtype == "bool":
                found.append(node)
            else:
                words.add(node)
    return found


_numbers = count()


class Cut:
    """A part of a sheet in strips."""

    def __init__(self, part: Part, plan: Plan) -> None:
        self.part, self.plan = part, plan
        sheet, self.positions = part.sheet, Positions()
        depth, along = sheet.depth, part.along
        self.size, other = sheet.sizes[depth + along], sheet.sizes[depth + 1 - along]
        row = max(1, plan.bytes_of(part) // self.size)
        self.rows = _rows(self.size, ROOM // row)
        self.number = next(_numbers)
        self.apart = tuple(lang.axis(size) for size in sheet.sizes[:depth])
        self.strip, self.row = lang.axis(ceil(self.size / self.rows)), lang.axis(self.rows)
        self.other = lang.axis(other)
        self.together = Strip(depth + 1)
        self.arrays: dict[Array, Array] = {}
        self.drawn: dict[Expression, Expression] = {}

    @property
    def place(self) -> tuple[Axis, ...]:
        """Where a row of a strip is."""
        return (*self.apart, self.strip, self.row)

    def first(self, strip: Expression) -> Expression:
        """The first row of a strip: the last one begins early if it is not full."""
        even = self.size % self.rows == 0
        return strip * self.rows if even else lang.minimum(strip * self.rows, self.size - self.rows)

    def statements(self, statement: Statement) -> Iterator[Statement]:
        """A sum in strips, after what it needs of the sheet, and its result in one piece."""
        found, body = self.plan.sums[statement.out], statement.body
        assert isinstance(body, Map)
        yield from self._needed(found.body)
        pairs: dict[Expression, Expression] = {found.row: self.first(self.strip) + self.row}
        rest: list[tuple[Expression, Axis]] = []
        taken = {found.row}
        for (x, each), own in zip(found.apart, self.apart, strict=True):
            pairs[x] = own
            taken.add(x)
            if each > 1:
                inner = lang.axis(each)
                pairs[x] = own * each + inner
                rest.append((x % each, inner))
        for x in found.body.axes:
            if x not in taken:
                rest.append((x, inner := lang.axis(x.size)))
                pairs[x] = inner
        value = self._in_strips(found.body, found.place, pairs)
        yield self._made(statement, (*self.place, *(x for _, x in rest)), value)
        *apart, row = found.place
        strip = row // self.rows
        places = (*apart, strip, row - self.first(strip), *(x for x, _ in rest))
        value = self.arrays[statement.out][places]
        whole = rewritten([value], lambda x: simplified(x, self.positions), {})[0]
        yield replace(statement, body=Map(body.axes, whole))

    def _needed(self, body: Map) -> Iterator[Statement]:
        """What a body reads of the sheet, as far as it is not there."""
        for load in loads_of(body):
            if self.plan.is_of_sheet(load.array) and load.array not in self.arrays:
                statement, other = self.plan.made[load.array]
                yield from self._needed(other)
                row, depth = _row(other.axes, self.part), len(self.apart)
                pairs: dict[Expression, Expression] = {
                    **dict(zip(row, self.apart, strict=False)),
                    row[-1]: self.first(self.strip) + self.row,
                    other.axes[depth + 1 - self.part.along]: self.other,
                }
                value = self._in_strips(other, row, pairs)
                drawn = _chances(value) if self.part.along or contracts(other) else []
                yield from self._drawn(drawn, statement)
                value = rewritten([value], lambda x: x, dict(self.drawn))[0]
                yield self._made(statement, (*self.place, self.other), value)

    def _drawn(self, nodes: Sequence[Expression], statement: Statement) -> Iterator[Statement]:
        """What random words decide, once, and where they lie side by side."""
        order = [*self.apart, self.strip, self.row, self.other]
        if self.part.along:
            order[-2:] = self.other, self.row
        for node in nodes:
            if node not in self.drawn:
                name = f"{statement.out.name}_w{next(_numbers)}"
                out = Array(name, tuple(axis.size for axis in order), node.dtype)
                self.drawn[node] = out[tuple(order)]
                yield Statement(out, Map(tuple(order), node), statement.origin, self.together)

    def _made(self, statement: Statement, axes: tuple[Axis, ...], value: Expression) -> Statement:
        """A statement of the strips."""
        name = f"{statement.out.name}_s{self.number}"
        out = Array(name, tuple(axis.size for axis in axes), statement.out.dtype)
        self.arrays[statement.out] = out
        decided("cut", name, statement.out.name, f"{self.rows} rows of {self.size} at a time")
        return Statement(out, Map(axes, value), statement.origin, self.together)

    def _in_strips(
        self, body: Map, row: tuple[Expression, ...], pairs: Mapping[Expression, Expression]
    ) -> Expression:
        """A value at other places, which reads the strips."""
        plan, done = self.plan, dict(pairs)
        for load in loads_of(body):
            if plan.is_of_sheet(load.array):
                other = long_places(load)[len(self.apart) + 1 - self.part.along]
                done[load] = self.arrays[load.array][(*self.place, pairs.get(other, other))]
            elif load.array in self.part.sums and plan.is_row(load, row):
                done[load] = self.arrays[load.array][self.place]
        return rewritten([body.value], lambda x: simplified(x, self.positions), done)[0]


def _rows(size: int, most: int) -> int:
    """The rows of a strip: as many as divide them all, if there are such near to what is wanted."""
    most = max(1, min(MOST, most))
    even = next((n for n in range(most, most // 2, -1) if size % n == 0), 0)
    return even or ceil(size / ceil(size / most))
