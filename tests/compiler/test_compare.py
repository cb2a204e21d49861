"""Comparisons of places along the lanes: in 32 bits where these hold them, equal in any case."""

import importlib.util
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.lang.expression import apply
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
    return [lang.constant(x, "int64") if isinstance(x, int) else x for x in sides]


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
@pytest.mark.parametrize("number", [2**30, 2**31 + 20, -(2**31) - 20, 2**40])
@pytest.mark.parametrize("far", [0, 2**31, 2**40])
def test_places_that_need_more_bits_have_them(test, number, far):
    x = np.arange(3 * 40, dtype="float32").reshape(3, 40)
    check(masked(test, 3, 40, (far, 1), number), [x])
    check(masked(test, 3, 40, (far, 2**26), number), [x])


def test_lanes_of_places_have_32_bits_where_these_hold_them():
    short, long = (
        re.findall(r"icmp s?l[te] <\d+ x i(\d+)>", assembly(masked("less", 8, 64, (1, many), 9)))
        for many in (-1, 2**40)
    )
    assert set(short) == {"32"} and set(long) == {"64"}
