"""Random words of a tile: blocks of four are made whole where lanes side by side want them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scull.compiler.affine import Affine
from scull.compiler.lanes import Lanes
from scull.compiler.tile import Key, Point
from scull.lang.expression import Apply, Axis, Expression
from scull.lang.operation import RANDOM
from scull.lang.random import block_of, random_bits_of, random_half_of

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

WORDS = 4  # of a block
LEAST = 4  # lanes for which blocks are made together


class Run(NamedTuple):
    """Lanes that want every `step`th word from a place on, which is near the begin of a block.

    The words are the `many` of a block, or so many halves.
    """

    place: Affine
    step: int
    begins: bool
    many: int


class Blocks(NamedTuple):
    """The four words of `size` blocks side by side; the first holds what is at place `first`."""

    words: tuple[str, str, str, str]
    size: int
    first: str


def draws(node: Expression) -> bool:
    """Whether a node is a random word, or half one."""
    return isinstance(node, Apply) and node.operation in RANDOM


def words_at(w: "Writer", node: Apply, missing: dict[Key, Point]) -> None:
    """Random words at all points at once; those of a block are made together if lanes want them."""
    run, known = run_of(w, node), w.known[-1]
    if run is None:
        each = (random_half_of if _is_half(node) else random_bits_of)(*node.operands)
        for key, point in missing.items():
            w.compute([each], [point])
            known[key] = w.operand(each, point, w.lanes_of(node))
        return
    left = dict(missing)
    while left:
        _, point = next(iter(left.items()))
        most = vectors_at_once(node) if run.begins else 1
        near = {k: p for k, p in left.items() if _follows(w, point, p, most)}
        made = blocks_of(w, node, run, list(near.values()))
        for number, key in enumerate(near):
            pick = picked if run.begins else moved
            known[key] = pick(w, run, made, number)
            del left[key]


def run_of(w: "Writer", node: Apply) -> Run | None:
    """What the lanes want of a draw, where that is words one after another, or almost."""
    axis = w.tile.axis
    if axis is None or w.wide.count < LEAST:
        return None
    place = w.positions.of(node.operands[2])
    step = place.step(axis)
    if step not in (1, 2, 4):
        return None
    many = 2 * WORDS if _is_half(node) else WORDS
    whole = step * w.wide.count % many == 0  # wherever lanes begin along their axis
    even = not any(each % many for n, each in place.terms.items() if n is not axis)
    return Run(place, step, whole and even and place.constant % many < step, many)


def _is_half(node: Expression) -> bool:
    return node.dtype == "uint32"


def vectors_at_once(node: Expression) -> int:
    """Of how many neighbouring vectors the blocks are made together."""
    return 4 if _is_half(node) else 2


def _follows(w: "Writer", point: Point, other: Point, most: int) -> bool:
    """Whether a point is one or comes right behind it, as one of `most`."""
    columns = w.tile.columns
    gap = columns[other.column].offset - columns[point.column].offset
    return other.row == point.row and gap in range(0, most * w.wide.count, w.wide.count)


def blocks_of(w: "Writer", node: Apply, run: Run, points: Sequence[Point]) -> Blocks:
    """The blocks that hold the words of some points side by side."""
    most = run.step * w.wide.count * len(points) + (0 if run.begins else run.many - 1)
    count = max(2, 1 << (-(-most // run.many) - 1).bit_length())
    point, terms = points[0], frozenset(run.place.terms.items())
    shift = 0 if run.begins else run.place.constant
    begin = run.many, run.place.constant // run.many
    key: Key = ("blocks", *node.operands[:2], *begin, shift, terms, *point)
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
    block = f.value(f"lshr i64 {first}, {run.many.bit_length() - 1}")
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
    start = number * run.step * w.wide.count + run.place.constant % run.many
    places = range(start, start + run.step * w.wide.count, run.step)
    if run.many == WORDS:
        return _in_line(w, made, places)
    first, last = places[0] // 2, places[-1] // 2
    halves, count = _in_line(w, made, range(first, last + 1)), last + 1 - first
    kind = f"<{2 * count} x i32>"
    found = w.function.value(f"bitcast <{count} x i64> {halves} to {kind}")
    return _every(w, kind, found, [place - 2 * first for place in places])


def moved(w: "Writer", run: Run, made: Blocks, number: int) -> str:
    """The words of the lanes of a point that begins anywhere in the first block."""
    f, size, part = w.function, WORDS * made.size, "i64" if run.many == WORDS else "i32"
    every = Lanes(f, size).type("i64")
    room = f.room(every)
    f.act(f"store {every} {_in_line(w, made, range(size))}, ptr {room}")
    within = f.value(f"and i64 {made.first}, {run.many - 1}")
    at = f.value(f"getelementptr {part}, ptr {room}, i64 {within}")
    wanted = run.step * w.wide.count
    kind = f"<{wanted} x {part}>"
    found = f.value(f"load {kind}, ptr {at}, align {int(part[1:]) // 8}")
    return _every(w, kind, found, range(0, wanted, run.step))


def _every(w: "Writer", kind: str, vector: str, places: Sequence[int]) -> str:
    """The elements of a vector at some places."""
    order = ", ".join(f"i32 {place}" for place in places)
    return w.function.value(
        f"shufflevector {kind} {vector}, {kind} poison, <{len(places)} x i32> <{order}>"
    )


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
