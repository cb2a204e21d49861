"""Tiles that a comparison of places leaves out as a whole: their numbers are written at once."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from scull.compiler.affine import Affine
from scull.compiler.edge import finds_faults
from scull.compiler.inside import Inside, choice_of
from scull.compiler.memory import store
from scull.compiler.tile import Point
from scull.lang.expression import Apply, Array, Axis, Expression, Reduce
from scull.lang.walk import ordered

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

LITTLE = 4  # operations that cost no more than asking whether they are wanted

Stores = Sequence[tuple[Array, Affine]]


def places_of(w: "Writer", values: Sequence[Expression], stores: Stores) -> Inside | None:
    """Where values are more than numbers, all in the same places, if asking for that pays."""
    if any(array.name not in w.buffers for array, _ in stores):
        return None
    if len({x.operands[:1] for x in values}) > 1 or not isinstance(values[0], Apply):
        return None
    if any(map(finds_faults, values)):
        return None
    nodes = ordered(values)
    many = sum(isinstance(x, Apply) for x in nodes) > LITTLE
    if not many and not any(isinstance(x, Reduce) for x in nodes):
        return None
    each = [choice_of(x, w.positions) for x in values]
    return None if None in each else each[0]


def either(
    w: "Writer",
    inside: Inside,
    whole: Callable[[], None],
    values: Sequence[Expression],
    stores: Stores,
) -> None:
    """The tile as it is, where any of its places is wanted, or the numbers that stand outside."""
    f, some = w.function, _is_any(w, inside)

    def outside() -> None:
        for point in w.active:
            w.stand(point)
            for value, (array, where) in zip(values, stores, strict=True):
                varies = w.tile.axis is not None and where.step(w.tile.axis) != 0
                name = w.operand(value.operands[2], point, w.wide if varies else w.one)
                store(w, array, where, name, point)

    for condition, part in ((some, whole), (f.value(f"xor i1 {some}, true"), outside)):
        with w.scope():
            f.when(condition, part)


def _is_any(w: "Writer", inside: Inside) -> str:
    """Whether a place of the tile may be wanted: of each gap the corner where it is largest."""
    f, found = w.function, "true"
    for gap in inside.gaps:
        total = str(gap.constant)
        for node, many in gap.terms.items():
            assert isinstance(node, Axis)
            last = many > 0
            point = Point((w.tile.rows - 1) * last, (len(w.tile.columns) - 1) * last)
            base, offset = w.place(node, point)
            if node is w.tile.axis and last:
                offset += w.tile.columns[-1].lanes - 1
            place = f.value(f"add i64 {base}, {offset}")
            total = f.value(f"add i64 {total}, {f.value(f'mul i64 {place}, {many}')}")
        met = f.value(f"icmp sge i64 {total}, 0")
        found = f.value(f"and i1 {found}, {met}")
    return found
