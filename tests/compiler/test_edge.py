"""Sums that have fewer terms near edges: loops skip what lies outside, and read nothing there."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.cost import operations_of
from scull.compiler.edge import edges_of
from scull.compiler.native import region_of_kernel
from scull.lang.expression import Reduce
from scull.lang.walk import ordered
from tests.compiler import test_guards
from tests.compiler.test_levels import LEVELS, normal, traced
from tests.compiler.test_native import check
from tests.compiler.test_tile import whole
from tests.runtime.guard import needs_guards

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def convolved(first):
    """The sum over taps that begin `first` before a position, lanes along the last axis."""

    def lower(index, x, w):
        o, i, j, n = index
        c, a, b = (lang.axis(size) for size in w.shape[1:])
        inside = lang.padded(x, (c, i + a - first, j + b - first, n), 0.0)
        return lang.sum(inside * w[o, c, a, b], over=(c, a, b))

    return lower


def convolution(channels, outs, size, taps, first, images, dtype="float32"):
    x = normal(channels, size, size, images, dtype=dtype)
    w = normal(outs, channels, taps, taps, dtype=dtype)
    wide = size + 2 * first - taps + 1
    return traced(convolved(first), [x, w], ((outs, wide, wide, images), dtype)), [x, w]


def arrays_between(kernel):
    return {x for group in region_of_kernel(kernel).groups for x in group.written} - set(
        kernel.outputs
    )


@st.composite
def convolutions(draw):
    taps = draw(st.integers(1, 5))
    first = draw(st.integers(0, taps - 1))
    size = draw(st.integers(max(1, taps - 2 * first), 7))
    channels, outs = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    images = draw(st.integers(1, 70))
    return channels, outs, size, taps, first, images, draw(st.sampled_from(["float32", "float64"]))


@given(convolutions(), st.sampled_from(LEVELS))
@settings(max_examples=40)
def test_what_lies_outside_adds_nothing(sizes, level):
    check(*convolution(*sizes), level)


@needs_guards
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_outside_is_read(level, monkeypatch):
    kernel, arrays = convolution(6, 8, 3, 3, 2, 64)
    test_guards.check(kernel, arrays, level, monkeypatch)


def test_small_images_have_no_border_and_large_ones_have():
    small, large = convolution(6, 8, 4, 3, 2, 64)[0], convolution(6, 8, 70, 3, 2, 64)[0]
    assert not arrays_between(small)
    assert len(arrays_between(large)) == 1


def test_terms_that_are_skipped_are_not_counted():
    kernel, _ = convolution(6, 8, 4, 5, 4, 64)
    (group,) = region_of_kernel(kernel).groups
    pairs = 4 * 4 * 5 * 5  # each element meets each tap once
    assert operations_of([group.stages[0].bodies[0].roots[-1]], group) == 2 * 6 * 8 * 64 * pairs


def edges(condition, size=5, otherwise=0.0):
    x, w = (lang.Array(name, (64,), "float32") for name in "xw")
    k = lang.axis(size)
    node = lang.sum(lang.guarded(condition(k), x[k], otherwise) * w[k], over=k)
    (sum,) = (n for n in ordered([node]) if isinstance(n, Reduce))
    return edges_of(sum, Positions())


def test_the_places_of_terms_follow_from_conditions():
    i = lang.axis(8)
    found = edges(lambda k: (k <= i) & (i - k < 4))
    assert found is not None
    assert found.axes == {i}
    assert found.share() == pytest.approx(np.mean([1, 2, 3, 4, 4, 3, 2, 1]) / 5)


@pytest.mark.parametrize(
    "condition",
    {
        "there may be no term": lambda i, j: lambda k: (k < i) & (i - k < 4),
        "every second": lambda i, j: lambda k: k * 2 <= i,
        "the sum's axis is not asked about": lambda i, j: lambda k: i < j,
        "any other question": lambda i, j: lambda k: (k <= i) | (k <= j),
    }.items(),
    ids=lambda case: case[0],
)
def test_conditions_that_loops_cannot_say_stay(condition):
    i, j = lang.axis(8), lang.axis(8)
    assert edges(condition[1](i, j)) is None


def test_what_stands_outside_is_read_unless_it_is_nought():
    i = lang.axis(8)
    assert edges(lambda k: k <= i, otherwise=1.0) is None
    assert edges(lambda k: k <= i) is not None


def to_filter(index, x, dout):
    """The gradient of filters, images last in what is read through windows."""
    c, i, j, o = index
    n, a, b = (lang.axis(dout.shape[axis]) for axis in (3, 1, 2))
    return lang.sum(x[c, i + a, j + b, n] * dout[o, a, b, n], over=(n, a, b))


@pytest.mark.parametrize("level", LEVELS)
def test_terms_that_lie_side_by_side_follow_each_other(level):
    x, dout = (whole(*s, dtype="float32") for s in ((6, 12, 12, 32), (33, 8, 8, 32)))
    kernel = traced(to_filter, [x, dout], ((6, 5, 5, 33), "float32"))
    groups = region_of_kernel(kernel).groups
    (sum,) = (
        node
        for group in groups
        for stage in group.stages
        for node in ordered([body.roots[-1] for body in stage.bodies])
        if isinstance(node, Reduce)
    )
    assert [axis.size for axis in sum.axes] == [8, 8, 32]
    check(kernel, [x, dout], level)
