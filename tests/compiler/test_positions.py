"""Positions as sums: the same number wherever they are read, and axes that are taken apart."""

from itertools import product

import hypothesis.strategies as st
from hypothesis import given

from scull.compiler.affine import Affine, Positions
from scull.compiler.group import Group
from scull.compiler.kernel import schedules
from scull.compiler.stage import Stage
from scull.compiler.target import target
from scull.lang.body import Map
from scull.lang.expression import Apply, Array, Axis, Constant, Expression, axis

SIZES = st.sampled_from([2, 3, 4, 6, 8, 12])


@st.composite
def places(draw):
    """A position of up to three axes, divided and multiplied at random."""
    axes = [axis(draw(SIZES)) for _ in range(draw(st.integers(1, 3)))]
    found = axes[0] * draw(st.integers(1, 8))
    for one in axes[1:]:
        found = found + one * draw(st.integers(1, 8))
    for _ in range(draw(st.integers(1, 3))):
        by, kind = draw(st.integers(1, 24)), draw(st.integers(0, 3))
        found = [found // by, found % by, found + by, found * by][kind]
    return axes, found


def value(node: Expression, at: dict[Axis, int]) -> int:
    """What an expression is where its axes are `at`."""
    if isinstance(node, Axis):
        return at[node]
    if isinstance(node, Constant):
        return int(node.value)
    assert isinstance(node, Apply)
    x, y = (value(each, at) for each in node.operands)
    if node.operation in ("add", "multiply"):
        return x + y if node.operation == "add" else x * y
    return x // y if node.operation == "floor_divide" else x % y


def total(found: Affine, at: dict[Axis, int]) -> int:
    return found.constant + sum(many * value(node, at) for node, many in found.terms.items())


@given(places())
def test_a_position_as_a_sum_is_that_position_everywhere(drawn):
    axes, node = drawn
    found = Positions().of(node)
    for where in product(*(range(each.size) for each in axes)):
        at = dict(zip(axes, where, strict=True))
        assert total(found, at) == value(node, at)


def test_rows_of_a_size_that_divides_another_leave_the_brackets():
    row, place = axis(24), axis(32)
    x = row * 32 + place
    found = Positions()
    assert found.of(x // 256) == found.of(row // 8)
    assert found.of(x % 256) == found.of(row % 8 * 32 + place)


def test_lanes_lie_along_a_part_of_what_a_reshape_merged():
    heads, joined = Array("x", (8, 5, 32), "float32"), Array("y", (5, 256), "float32")
    row, place = axis(5), axis(256)
    body = Map((row, place), heads[place // 32, row, place % 32])
    (found,) = schedules(Group((), [Stage((row, place), [joined], [body], [])]), target())
    assert found.vector.size == 32
