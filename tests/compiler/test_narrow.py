"""Tiles of contractions where there are few registers."""

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.kernel import prepared, schedules
from scull.compiler.native import region_of_kernel
from scull.compiler.schedule import scheduled
from scull.compiler.target import TARGETS
from scull.runtime import llvm
from tests.compiler.test_levels import normal, traced
from tests.compiler.test_split import product
from tests.compiler.test_tile import updated

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture
def machine(monkeypatch):
    """Code is made for a machine with 16 registers of 8 lanes; it is not run."""
    monkeypatch.setattr(llvm, "levels", lambda: ("avx2",))
    return TARGETS["avx2"]


def schedule_of(machine, lowering, shapes, shape):
    """How the contraction of a kernel is cut."""
    arrays = [normal(*x, dtype="float32") for x in shapes]
    region = region_of_kernel(traced(lowering, arrays, (shape, "float32")))
    (group,) = [g for g in region.groups if any(s.is_contraction for s in g.stages)]
    (chosen,) = schedules(group, machine)
    return chosen


def sizes_of(chosen):
    return chosen.columns, chosen.rows, chosen.inner


@pytest.mark.parametrize(
    ("vectors", "tile"),
    [(2, (2, 6)), (3, (3, 4)), (4, (4, 2)), (5, (2, 6)), (8, (2, 6))],
)
def test_a_tile_has_as_many_sums_as_registers_hold_and_few_columns_whole(vectors, tile, machine):
    columns = vectors * machine.bits // 32
    chosen = schedule_of(machine, product, [(420, 40), (40, columns)], (420, columns))
    assert sizes_of(chosen) == (*tile, False)


@given(st.integers(1, 70), st.integers(1, 90), st.sampled_from(["avx2", "generic"]))
def test_sums_and_what_they_are_made_of_fit_in_registers(rows, columns, level):
    machine, k = TARGETS[level], 40
    arrays = [normal(*x, dtype="float32") for x in ((rows, k), (k, columns))]
    region = region_of_kernel(traced(product, arrays, ((rows, columns), "float32")))
    for group in region.groups:
        for chosen in schedules(group, machine):
            if group.stages[0].is_contraction and chosen is not None and chosen.vector is not None:
                sums = chosen.rows * chosen.columns
                assert sums + chosen.columns + 1 <= machine.registers


def test_a_tile_is_smaller_where_short_sums_change_something(machine):
    def shapes(k):
        return [(k, 64), (k, 64), (64, 64), (64, 64)]

    assert sizes_of(schedule_of(machine, updated, shapes(32), (64, 64))) == (2, 4, True)
    assert sizes_of(schedule_of(machine, updated, shapes(512), (64, 64))) == (2, 6, False)


def test_filters_of_one_channel_read_long_stretches(machine):
    def depthwise(index, x, w):
        i, j, c = index
        a, b = lang.axis(3), lang.axis(3)
        return lang.sum(x[i + a, j + b, c] * w[a, b, c], over=(a, b))

    vectors = 12
    channels = vectors * machine.bits // 32
    shapes = [(30, 30, channels), (3, 3, channels)]
    chosen = schedule_of(machine, depthwise, shapes, (28, 28, channels))
    assert sizes_of(chosen) == (6, 1, True)


def test_rows_are_those_that_read_the_same_again(machine):
    """Of a gradient of filters: 20 channels, or 5 places of a window which share what they read."""

    def gradient(index, x, dout):
        c, a, b, o = index
        i, j, n = lang.axis(8), lang.axis(8), lang.axis(64)
        return lang.sum(x[i + a, j + b, c, n] * dout[i, j, n, o], over=(i, j, n))

    arrays = [normal(*s, dtype="float32") for s in ((12, 12, 20, 64), (8, 8, 64, 48))]
    region = region_of_kernel(traced(gradient, arrays, ((20, 5, 5, 48), "float32")))
    (stage,) = [s for g in region.groups for s in g.stages if s.is_contraction]
    positions = Positions()
    stage = prepared(stage, (), machine, positions)
    chosen = scheduled(stage, stage.axes, machine, positions)
    assert (chosen.row, chosen.rows) == (stage.axes[2], 5)
