"""Comparisons of places along the lanes, in 32 bits where these hold all of them.

Places have 64 bits: as lanes they are as many registers again as the numbers chosen between, and
what the comparison says has to be packed.
"""

from typing import TYPE_CHECKING

from scull.compiler.affine import Affine
from scull.compiler.tile import Point
from scull.lang.expression import Apply, Axis, Expression

if TYPE_CHECKING:
    from scull.compiler.writer import Writer

TESTS = {"less": "slt", "less_equal": "sle", "equal": "eq", "not_equal": "ne"}
WHOLE = 1 << 62  # beyond which a side may be what 64 bits leave of it
MOST, STEP = 1 << 30, 1 << 24  # of the sum, and of a lane: so a tile may end beyond an axis


def difference(w: "Writer", node: Expression) -> Affine | None:
    """What a comparison compares with 0, if it is a sum of places that differs by the lane."""
    if not isinstance(node, Apply) or node.operation not in TESTS or w.tile.axis is None:
        return None
    x, y = node.operands
    if x.dtype != "int64" or w.tile.axis not in node.free:
        return None
    sides = w.positions.of(x), w.positions.of(y)
    found = sides[0] + sides[1].times(-1)
    if not all(isinstance(x, Axis) for x in found.terms):
        return None
    if not 0 < abs(found.terms.get(w.tile.axis, 0)) < STEP:
        return None
    limits = ((sides[0], WHOLE), (sides[1], WHOLE), (found, MOST))
    ranges = ((w.positions.range_of(sum), most) for sum, most in limits)
    return found if all(-most < x.low and x.high < most for x, most in ranges) else None


def compared(w: "Writer", node: Apply, sum: Affine, point: Point) -> str:
    """In which lanes a comparison holds: their steps are compared with what is left of the sum."""
    f, wide, axis = w.function, w.wide, w.tile.axis
    constant, rest = sum.constant, "0"
    for term, many in sum.terms.items():
        assert isinstance(term, Axis)
        place = w.place(term, point)
        constant += place.offset * many
        if place.base != "0":
            far = f.value(f"mul i64 {place.base}, {-many}")
            rest = f.value(f"add i64 {rest}, {far}")
    short = f.value(f"trunc i64 {f.value(f'sub i64 {rest}, {constant}')} to i32")
    assert axis is not None
    steps = ", ".join(f"i32 {lane * sum.terms[axis]}" for lane in range(wide.count))
    lanes = f"<{steps}>" if wide.count > 1 else "0"
    test, kind = TESTS[node.operation], wide.type("i32")
    return f.value(f"icmp {test} {kind} {lanes}, {wide.spread(short, 'i32')}")
