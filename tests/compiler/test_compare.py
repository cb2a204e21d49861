"""Comparisons of places along the lanes: in 32 bits where these hold them, equal in any case."""

import importlib.util
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.lang.expression import apply, constant
from tests.compiler.test_native import assembly, check
from tests.lang.samples import meta

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
TESTS = ("less", "less_equal", "equal", "not_equal")


def masked(test, rows, columns, many, number, turned=False):
    """A matrix where a comparison of its places holds, and -1 elsewhere."""

    def lower(index, x):
        i, j = index
        sides = (i * many[0] + j * many[1], number)
        return lang.select(apply(test, *operands(sides[::-1] if turned else sides)), x[i, j], -1.0)

    return lang.trace(lower, [meta(rows, columns)], [meta(rows, columns)], name="masked")


def operands(sides):
    """Places and numbers as expressions."""
    return [constant(x, "int64") if isinstance(x, int) else x for x in sides]


@given(
    st.sampled_from(TESTS),
    st.integers(1, 9),
    st.integers(1, 70),
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    st.integers(-80, 80),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_comparison_of_places_is_what_the_emulator_computes(
    test, rows, columns, many, number, turned
):
    kernel = masked(test, rows, columns, many, number, turned)
    check(kernel, [np.arange(rows * columns, dtype="float32").reshape(rows, columns)])


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("number", [2**30 - 60, 2**30, 2**31 + 20, -(2**31) - 20, 2**40])
@pytest.mark.parametrize("far", [0, 2**29 - 40, 2**31, 2**40])
@pytest.mark.parametrize("columns", [40, 43])
def test_places_that_need_more_bits_have_them(test, number, far, columns):
    x = np.arange(3 * columns, dtype="float32").reshape(3, columns)
    for step in (1, -(2**24) + 1, 2**24, 2**26):
        check(masked(test, 3, columns, (far, step), number), [x])


@pytest.mark.parametrize("test", TESTS)
def test_sums_that_64_bits_do_not_hold_are_what_is_left_of_them(test):
    def lower(index, x):
        i, j = index
        sides = (j + (2**63 - 5), constant(2**63 - 3, "int64"))
        return lang.select(apply(test, *sides), x[i, j], -1.0)

    x = np.arange(3 * 40, dtype="float32").reshape(3, 40)
    check(lang.trace(lower, [meta(3, 40)], [meta(3, 40)], name="around"), [x])


@pytest.mark.parametrize("columns", [16, 20, 50, 67])
def test_comparisons_within_sums_hold_for_columns_of_all_widths(columns):
    def lower(index, x, y):
        i, j = index
        k = lang.axis(24)
        kept = lang.select(k <= j - i, x[i, k] * y[k, j], 0.0)
        return lang.sum(kept, over=k)

    draw = np.random.default_rng(2)
    arrays = [draw.integers(-9, 9, s).astype("float32") for s in ((13, 24), (24, columns))]
    out = meta(13, columns)
    kernel = lang.trace(lower, [meta(*x.shape) for x in arrays], [out], name="sums")
    (got,) = check(kernel, arrays)
    i, j, k = np.ogrid[:13, :columns, :24]
    terms = arrays[0][:, None, :] * arrays[1].T[None]
    assert np.array_equal(got, np.where(k <= j - i, terms, 0).sum(2))


def test_lanes_of_places_have_32_bits_where_these_hold_them():
    short, long = (
        re.findall(r"icmp s?l[te] <\d+ x i(\d+)>", assembly(masked("less", 8, 64, (1, many), 9)))
        for many in (-1, 2**40)
    )
    assert set(short) == {"32"} and set(long) == {"64"}
