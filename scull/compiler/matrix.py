"""Sums of products of pairs by a matrix unit, sixteen rows by sixteen lanes at an instruction.

AMX has eight registers of up to 16 rows of 64 bytes, whose sizes are set before they are used. One
instruction adds to each row of sums the products of its sixteen pairs with the pairs of as many
rows of the other operand: Intel, "Architecture Instruction Set Extensions", TDPBF16PS.
"""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.address import pointer
from scull.compiler.affine import Affine, Positions
from scull.compiler.assembly import Function
from scull.compiler.tile import Column, Place, Point
from scull.lang.dtype import element
from scull.lang.expression import Apply, Array, Axis, Expression, Guard, Load, Reduce
from scull.lang.walk import ordered

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

INTRINSICS = "llvm.x86."
ROWS, TERMS, REGISTERS = 16, 16, 8  # rows and lanes of sums, pairs of a row of the others
WIDE = 64  # bytes of a row of a register
PAIR = 4  # bytes of a pair, or of a sum
FULL = (ROWS,) * REGISTERS, (WIDE,) * REGISTERS  # the sizes that registers usually have


class Operand(NamedTuple):
    """Where pairs lie, and how many bytes apart those of two rows of a register are."""

    array: Array
    where: Affine
    apart: int


def operands_of(
    node: Reduce, vector: Axis, row: Axis, positions: Positions
) -> tuple[Operand, Operand] | None:
    """What a sum multiplies, if the unit can read both: what the rows have, what the lanes have.

    Rows have their pairs side by side along the last axis of the sum; pairs of the lanes lie side
    by side for each place along it.
    """
    term, last = node.operands[0], node.axes[-1]
    if node.operation != "sum" or not isinstance(term, Apply) or term.operation != "pair_dot":
        return None
    found: dict[Axis, Operand] = {}
    for each in term.operands:
        load = _pairs_at(each, positions)
        if load is None:
            return None
        array, where = load
        size = element(array.dtype).itemsize
        beside = {x: (where.step(x) or 0) * size for x in (vector, row, last)}
        if vector not in where.axes and beside[last] == PAIR and beside[row]:
            found[row] = Operand(array, where, beside[row])
        elif row not in where.axes and beside[vector] == PAIR and beside[last]:
            found[vector] = Operand(array, where, beside[last])
    return (found[row], found[vector]) if len(found) == 2 else None


def _pairs_at(node: Expression, positions: Positions) -> tuple[Array, Affine] | None:
    """The array that pairs are read from and where; neighbours are a pair in its bits."""
    match node:
        case Load(array=array, operands=(place,)) if array.dtype == "uint32":
            return array, positions.of(place)
        case Apply(operation="pair", operands=(Load(operands=(x,)) as low, Load() as high)):
            first, second = positions.of(x), positions.of(high.operands[0])
            same = low.array.name == high.array.name and second.terms == first.terms
            return (low.array, first) if same and second.constant == first.constant + 1 else None
    return None


def sums_by_unit(
    roots: Sequence[Expression], vector: Axis, rows: Sequence[Axis], positions: Positions
) -> tuple[Axis, frozenset[Reduce]] | None:
    """The axis that rows are of, and the sums that the unit makes; None where vectors do better.

    It makes the one with the most terms, and others that it can. What is computed in some places
    alone is left to vectors.
    """
    everywhere = ordered(roots, lambda x: () if isinstance(x, Guard) else x.operands)
    sums = [x for x in everywhere if isinstance(x, Reduce)]
    most = max(sums, key=lambda x: prod(k.size for k in x.axes), default=None)
    fit = [x for x in rows if most is not None and operands_of(most, vector, x, positions)]
    if not fit:
        return None
    row = max(fit, key=lambda x: x.size)
    return row, frozenset(x for x in sums if operands_of(x, vector, row, positions))


def summed(w: "Writer", node: Reduce, points: Sequence[Point]) -> list[str]:
    """A sum that is made by the unit, at all points of a tile."""
    tile = w.tile
    assert w.mask is None and tile.axis is not None and tile.row is not None
    assert len(points) == tile.rows * len(tile.columns)
    found = operands_of(node, tile.axis, tile.row, w.positions)
    assert found is not None
    _ready(w.function)
    heights = [min(ROWS, tile.rows - n) for n in range(0, tile.rows, ROWS)]
    unit = Unit(w, heights, [_lanes(x) for x in tile.columns])
    size = node.axes[-1].size
    whole = size // TERMS * TERMS
    for start, end in ((0, whole), (whole, size)):
        if start < end:
            unit.begin(min(TERMS, end - start), again=start > 0)
            unit.add(node, found, start, end)
            unit.keep()
    unit.end()
    return [unit.row_of_sums(point) for point in points]


def _lanes(column: Column) -> int:
    """How many lanes of a column count."""
    return column.mask.count("true") if column.mask else column.lanes


def _ready(f: Function) -> None:
    """Registers have their usual sizes from the entry of a function on, none after it."""
    if not f.entering:
        f.entering += configured(f.room("<64 x i8>"), *FULL)
        f.leaving.append(f"call void @{INTRINSICS}tilerelease()")


def configured(at: str, heights: Sequence[int], widths: Sequence[int]) -> list[str]:
    """What gives registers so many rows of so many bytes, by way of memory."""
    sizes = bytearray(64)
    sizes[0] = 1  # the only palette
    for register, (rows, wide) in enumerate(zip(heights, widths, strict=True)):
        sizes[16 + 2 * register], sizes[48 + register] = wide, rows
    text = ", ".join(f"i8 {x}" for x in sizes)
    store = f"store <64 x i8> <{text}>, ptr {at}, align 64"
    return [store, f"call void @{INTRINSICS}ldtilecfg(ptr {at})"]


class Unit:
    """The registers of a tile: sums first, then the rows' pairs, then those of the lanes."""

    def __init__(self, w: "Writer", heights: Sequence[int], widths: Sequence[int]) -> None:
        self.w, self.heights, self.widths = w, heights, widths
        self.sums = len(heights) * len(widths)
        self.turned = False  # whether registers have other sizes than usual
        assert self.sums + len(heights) + len(widths) <= REGISTERS

    def begin(self, terms: int, *, again: bool) -> None:
        """Set the sizes of the registers for so many pairs a row; sums are 0, or what was kept."""
        f, places = self.w.function, list(product(self.heights, self.widths))
        heights = [*(h for h, _ in places), *self.heights, *[terms] * len(self.widths)]
        lanes = [*(n for _, n in places), *[terms] * len(self.heights), *self.widths]
        if {*heights, *lanes} != {ROWS}:
            self.turned = True
            for line in configured(f.room("[64 x i8]"), heights, [n * PAIR for n in lanes]):
                f.act(line)
        for register in range(self.sums):
            if again:
                self.load(register, self.place(register), WIDE)
            else:
                f.act(f"call void @{INTRINSICS}tilezero(i8 {register})")

    def load(self, register: int, at: str, apart: int) -> None:
        """Read a register from rows that lie so many bytes apart."""
        self.w.function.act(
            f"call void @{INTRINSICS}tileloadd64(i8 {register}, ptr {at}, i64 {apart})"
        )

    def add(self, node: Reduce, operands: tuple[Operand, Operand], start: int, end: int) -> None:
        """The products of pairs `start` to `end` along the last axis, along all of the others."""
        w, last = self.w, node.axes[-1]
        rows, lanes = operands
        first = self.sums + len(self.heights)

        def step(base: str, offset: int) -> None:
            with w.scope([last]):
                w.bind(last, Place(base, offset))
                for n in range(len(self.heights)):
                    at = pointer(w, rows.array, rows.where, Point(n * ROWS, 0))
                    self.load(self.sums + n, at, rows.apart)
                for n in range(len(self.widths)):
                    at = pointer(w, lanes.array, lanes.where, Point(0, n))
                    self.load(first + n, at, lanes.apart)
                for register in range(self.sums):
                    row, column = divmod(register, len(self.widths))
                    x, y = self.sums + row, first + column
                    w.function.act(
                        f"call void @{INTRINSICS}tdpbf16ps(i8 {register}, i8 {x}, i8 {y})"
                    )

        def turn(base: str, _: list[str]) -> list[str]:
            step(base, 0)
            return []

        def body(_: list[str]) -> list[str]:
            w.hoist(node.operands)
            if end - start > TERMS:
                w.function.loop(end, (), turn, step=TERMS, start=str(start))
            else:
                step("0", start)
            return []

        w.nest(node.axes[:-1], node.operands, (), body)

    def keep(self) -> None:
        """Write the sums to memory, from where vectors are read."""
        for register in range(self.sums):
            at = self.place(register)
            self.w.function.act(
                f"call void @{INTRINSICS}tilestored64(i8 {register}, ptr {at}, i64 {WIDE})"
            )

    def end(self) -> None:
        """Registers have their usual sizes again."""
        if self.turned:
            f = self.w.function
            f.act(f"call void @{INTRINSICS}ldtilecfg(ptr {f.room('<64 x i8>')})")

    def place(self, register: int) -> str:
        """Where a register of sums is kept."""
        f = self.w.function
        at = f.room(f"[{self.sums} x <256 x float>]")
        return f.value(f"getelementptr i8, ptr {at}, i64 {register * ROWS * WIDE}")

    def row_of_sums(self, point: Point) -> str:
        """The sums at a point."""
        w, f = self.w, self.w.function
        w.stand(point)
        height, row = divmod(point.row, ROWS)
        at = self.place(height * len(self.widths) + point.column)
        there = f.value(f"getelementptr i8, ptr {at}, i64 {row * WIDE}")
        return f.value(f"load {w.wide.type('float')}, ptr {there}, align {WIDE}")
