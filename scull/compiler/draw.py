"""Random words of a tile: blocks of four are made whole where lanes side by side want them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.affine import Affine
from scull.compiler.lanes import Lanes
from scull.compiler.tile import Key, Point
from scull.lang.expression import Apply, Axis, Expression
from scull.lang.random import block_of, random_bits_of

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

WORDS = 4  # of a block
AT_ONCE = 2  # neighbouring vectors whose blocks are made together


class Run(NamedTuple):
    """Lanes that want every `step`th word from a place on, which is near the begin of a block."""

    place: Affine
    step: int
    begins: bool


class Blocks(NamedTuple):
    """The four words of `size` blocks side by side; the first holds word `first`."""

    words: tuple[str, str, str, str]
    size: int
    first: str


def draws(node: Expression) -> bool:
    """Whether a node is a random word."""
    return isinstance(node, Apply) and node.operation == "random_bits"


def words_at(w: "Writer", node: Apply, missing: dict[Key, Point]) -> None:
    """Random words at all points at once; those of a block are made together if lanes want them."""
    run, known = run_of(w, node), w.known[-1]
    if run is None:
        each = random_bits_of(*node.operands)
        for key, point in missing.items():
            w.compute([each], [point])
            known[key] = w.operand(each, point, w.lanes_of(node))
        return
    left = dict(missing)
    while left:
        _, point = next(iter(left.items()))
        near = {k: p for k, p in left.items() if run.begins and _follows(w, point, p)}
        if len(near) < AT_ONCE:
            near = dict([next(iter(left.items()))])
        made = blocks_of(w, node, run, list(near.values()))
        for number, key in enumerate(near):
            pick = picked if run.begins else moved
            known[key] = pick(w, run, made, number)
            del left[key]


def run_of(w: "Writer", node: Apply) -> Run | None:
    """What the lanes want of a draw, where that is words one after another, or almost."""
    axis = w.tile.axis
    if axis is None or w.wide.count < WORDS:
        return None
    place = w.positions.of(node.operands[2])
    step = place.step(axis)
    if step not in (1, 2, 4):
        return None
    even = not any(many % WORDS for n, many in place.terms.items() if n is not axis)
    return Run(place, step, even and place.constant % WORDS < step)


def _follows(w: "Writer", point: Point, other: Point) -> bool:
    """Whether a point is one or comes right behind it."""
    columns = w.tile.columns
    gap = columns[other.column].offset - columns[point.column].offset
    return other.row == point.row and gap in range(0, AT_ONCE * w.wide.count, w.wide.count)


def blocks_of(w: "Writer", node: Apply, run: Run, points: Sequence[Point]) -> Blocks:
    """The blocks that hold the words of some points side by side."""
    most = run.step * w.wide.count * len(points) + (0 if run.begins else WORDS - 1)
    count = max(2, 1 << (-(-most // WORDS) - 1).bit_length())
    point, terms = points[0], frozenset(run.place.terms.items())
    shift = 0 if run.begins else run.place.constant
    key: Key = ("blocks", *node.operands[:2], run.place.constant // WORDS, shift, terms, *point)
    parts = [(*key, count, number) for number in range(WORDS + 1)]
    if parts[0] not in w.known[-1]:
        w.known[-1].update(zip(parts, _written(w, node, run, point, count), strict=True))
    a, b, c, d, first = (w.known[-1][part] for part in parts)
    return Blocks((a, b, c, d), count, first)


def _written(w: "Writer", node: Apply, run: Run, point: Point, count: int) -> list[str]:
    """The words of blocks, and the place where they begin."""
    lanes, f = Lanes(w.function, count), w.function
    kind, first = lanes.type("i64"), _first_place(w, run, point)
    steps = ", ".join(f"i64 {number}" for number in range(1, count + 1))
    block = f.value(f"lshr i64 {first}, {WORDS.bit_length() - 1}")
    counter = f.value(f"add {kind} {lanes.spread(block, 'i64')}, <{steps}>")

    def spread(key: Expression) -> str:
        return lanes.spread(w.operand(key, point, w.one), "i64")

    def product(x: str, number: int) -> tuple[str, str]:
        return lanes.product(x, lanes.number("i64", number))

    def exclusive(x: str, y: str) -> str:
        return f.value(f"xor {kind} {x}, {y}")

    keys = [(spread(x), spread(y)) for x, y in w.round_keys(node)]
    return [*block_of(counter, lanes.number("i64", 0), keys, product, exclusive), first]


def _first_place(w: "Writer", run: Run, point: Point) -> str:
    """The place of the word that the first lane of a point wants."""
    f, constant, total = w.function, run.place.constant, "0"
    for node, many in run.place.terms.items():
        if isinstance(node, Axis):
            name, offset = w.place(node, point)
            constant += offset * many
        else:
            w.compute([node], [point])
            name = w.operand(node, point, w.one)
        total = f.value(f"add i64 {total}, {f.value(f'mul i64 {name}, {many}')}")
    return f.value(f"add i64 {total}, {constant}")


def picked(w: "Writer", run: Run, made: Blocks, number: int) -> str:
    """The words of the lanes of point `number` of those whose blocks were made."""
    start = number * run.step * w.wide.count + run.place.constant % WORDS
    return _in_line(w, made, range(start, start + run.step * w.wide.count, run.step))


def moved(w: "Writer", run: Run, made: Blocks, number: int) -> str:
    """The words of the lanes of a point that begins anywhere in the first block."""
    f, size = w.function, WORDS * made.size
    every = Lanes(f, size).type("i64")
    room = f.room(every)
    f.act(f"store {every} {_in_line(w, made, range(size))}, ptr {room}")
    within = f.value(f"and i64 {made.first}, {WORDS - 1}")
    at = f.value(f"getelementptr i64, ptr {room}, i64 {within}")
    wanted = run.step * w.wide.count
    found = f.value(f"load <{wanted} x i64>, ptr {at}, align 8")
    order = ", ".join(f"i32 {place}" for place in range(0, wanted, run.step))
    many, kind = w.wide.count, f"<{wanted} x i64>"
    return f.value(f"shufflevector {kind} {found}, {kind} poison, <{many} x i32> <{order}>")


def _in_line(w: "Writer", made: Blocks, places: Sequence[int]) -> str:
    """The words at some places, counted from the first of the first block."""
    f, (a, b, c, d), count = w.function, made.words, made.size
    kind, two = f"<{count} x i64>", f"<{2 * count} x i64>"
    order = ", ".join(f"i32 {n}" for n in range(2 * count))
    pairs = [
        f.value(f"shufflevector {kind} {x}, {kind} {y}, <{2 * count} x i32> <{order}>")
        for x, y in ((a, b), (c, d))
    ]
    order = ", ".join(f"i32 {place % WORDS * count + place // WORDS}" for place in places)
    return f.value(
        f"shufflevector {two} {pairs[0]}, {two} {pairs[1]}, <{len(places)} x i32> <{order}>"
    )
