"""Rows of two axes in one tile, where one axis alone has too few."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.kernel import prepared
from scull.compiler.native import region_of_kernel
from scull.compiler.schedule import scheduled
from scull.compiler.target import TARGETS
from scull.flags import flags
from tests.compiler.test_levels import LEVELS, traced
from tests.compiler.test_native import check
from tests.compiler.test_split import outcome

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def strided(index, x, w):
    """A convolution of stride 2, whose data has channels last."""
    y, z, o = index
    a, b, c = (lang.axis(s) for s in w.shape[:3])
    return lang.sum(x[2 * y + a, 2 * z + b, c] * w[a, b, c, o], over=(a, b, c))


def by_channels(index, x, w):
    """The same of each channel by itself."""
    y, z, o = index
    a, b = (lang.axis(s) for s in w.shape[:2])
    return lang.sum(x[2 * y + a, 2 * z + b, o] * w[a, b, o], over=(a, b))


def guarded(index, x, w):
    """A convolution of which only what lies within half of the rows counts."""
    y, z, o = index
    a, b, c = (lang.axis(s) for s in w.shape[:3])
    product = x[2 * y + a, 2 * z + b, c] * w[a, b, c, o]
    return lang.select(y <= z, lang.sum(product, over=(a, b, c)), 0.0)


def operands(size, taps, channels, columns):
    shapes = (2 * size + taps, 2 * size + taps, channels), (taps, taps, channels, columns)
    rng = np.random.default_rng(size)
    return [rng.standard_normal(s).astype("float32") for s in shapes]


def rows_of(lowering, arrays, shape, machine):
    """The sizes of the axes of a contraction's tiles, and the rows of one."""
    region = region_of_kernel(traced(lowering, arrays, (shape, "float32")))
    (stage,) = [s for g in region.groups for s in g.stages if s.is_contraction]
    positions = Positions()
    stage = prepared(stage, (), machine, positions)
    chosen = scheduled(stage, stage.axes, machine, positions)
    return chosen.row.size, chosen.rows


@pytest.mark.parametrize(
    ("size", "rows"),
    [(7, (49, 6)), (14, (196, 6)), (5, (5, 5)), (6, (6, 6)), (28, (28, 6))],
    ids=["seven", "fourteen", "one tile", "whole tiles", "many tiles"],
)
def test_rows_of_small_images_are_those_of_the_whole_image(size, rows, machine):
    machine("avx512")
    arrays = operands(size, 3, 64, 64)
    found = rows_of(strided, arrays, (size, size, 64), TARGETS["avx512"])
    assert found == rows


@pytest.mark.parametrize("lowering", [by_channels, guarded])
def test_rows_that_something_else_tells_apart_stay(lowering):
    arrays = operands(7, 7, 64, 64)
    if lowering is by_channels:
        arrays[1] = arrays[1][:, :, :, 0].copy()
    assert rows_of(lowering, arrays, (7, 7, 64), TARGETS["avx512"])[0] == 7


@given(
    st.sampled_from([7, 9, 11, 14]),
    st.integers(1, 3),
    st.sampled_from([3, 17, 64]),
    st.sampled_from([17, 32, 64, 80]),
    st.sampled_from([strided, guarded]),
    st.sampled_from(LEVELS),
)
@settings(max_examples=25, deadline=None)
def test_convolutions_of_small_images_are_what_the_emulator_computes(
    size, taps, channels, columns, lowering, level
):
    arrays = [np.round(4 * x) for x in operands(size, taps, channels, columns)]
    check(traced(lowering, arrays, ((size, size, columns), "float32")), arrays, level)


@pytest.mark.parametrize("level", LEVELS)
def test_tiles_across_rows_have_the_same_bits_on_any_number_of_threads(level):
    arrays = operands(7, 3, 64, 256)
    kernel = traced(strided, arrays, ((7, 7, 256), "float32"))
    with flags(VECTORS=level):
        found = [outcome(kernel, arrays, threads)[0] for threads in (1, 2, 8)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
