"""Sums of which one term at most counts: no loop asks for the others."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.compiler.lone import alone
from scull.compiler.native import compile
from scull.compiler.trace import Statement
from scull.lang.arithmetic import numpy_dtype
from scull.lang.expression import Reduce
from scull.lang.walk import ordered
from tests.compiler import test_native
from tests.compiler.test_levels import LEVELS, normal, traced
from tests.compiler.test_tile import whole

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def given_back(stride, kernel, first, turn=1):
    """What windows that begin `first` before a place give back to it, places in the last axis."""

    def lower(index, x):
        i, j = index
        k = lang.axis(kernel)
        place = i + first - k if turn == 1 else i + first + k
        fits = lang.equal(place % stride, 0) & (place // stride >= 0)
        fits = fits & (place // stride < x.shape[0])
        value = x[place // stride, j] * (lang.cast(k, "float32") + 1.0)
        return lang.sum(lang.guarded(fits, value, 0.0), over=k)

    return lower


def told(kernel):
    """The kernel with such sums as their terms."""
    pairs = zip(kernel.outputs, kernel.bodies, strict=True)
    found = alone([Statement(out, body, "") for out, body in pairs])
    return replace(kernel, bodies=tuple(s.body for s in found))


def has_sums(kernel):
    roots = [root for body in kernel.bodies for root in body.roots]
    return any(isinstance(x, Reduce) for x in ordered(roots))


def check(kernel, arrays, level):
    found = [np.full(x.shape, np.nan, x.dtype) for x in kernel.outputs]
    compile(told(kernel), level)(arrays, found)
    for x, y in zip(found, lang.run(kernel, arrays), strict=True):
        np.testing.assert_array_equal(x, y)


@given(
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(-2, 3),
    st.sampled_from([1, -1]),
    st.integers(1, 9),
    st.integers(1, 20),
    st.sampled_from(LEVELS),
)
@settings(max_examples=60)
def test_places_get_what_windows_give_back(stride, kernel, first, turn, windows, size, level):
    x = whole(windows, 5, dtype="float32")
    made = traced(given_back(stride, kernel, first, turn), [x], ((size, 5), "float32"))
    check(made, [x], level)
    assert has_sums(told(made)) == (kernel > stride)


def test_windows_that_overlap_are_added():
    kernel = traced(given_back(2, 3, 0), [normal(4, 5)], ((9, 5), "float32"))
    assert told(kernel) == kernel


def test_terms_that_are_not_nought_elsewhere_are_added():
    def lower(index, x):
        (i,), k = index, lang.axis(2)
        fits = lang.equal((i - k) % 2, 0) & (i - k >= 0)
        return lang.sum(lang.guarded(fits, x[(i - k) // 2], 1.0), over=k)

    x = normal(4)
    kernel = traced(lower, [x], ((8,), "float32"))
    assert told(kernel) == kernel


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint8"])
@pytest.mark.parametrize("which", [lang.argmax, lang.argmin])
def test_the_first_of_equals_and_the_first_nan_are_found(which, dtype, level):
    chance = np.random.default_rng(3)
    choices = [-np.inf, -1.0, 0.0, np.inf, np.nan] if dtype.startswith("float") else [0, 1]
    x = chance.choice(np.array(choices, dtype), [4, 5, 37])
    x[:, :, :3] = x[0, 0, :3]

    def lower(index, x):
        (i,), (a, b) = index, (lang.axis(size) for size in x.shape[:2])
        return which(x[a, b, i], over=(a, b))

    test_native.check(traced(lower, [x], ((37,), "int64")), [x], level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("which", [lang.max, lang.min])
def test_extremes_keep_a_nan_wherever_it_stands_and_of_zeros_give_the_positive(which, dtype, level):
    chance = np.random.default_rng(4)
    choices = np.array([-0.0, 0.0, -np.inf, np.inf, -1.0, 1.0, np.nan], numpy_dtype(dtype))
    x = np.stack([chance.choice(choices[: 2 + n % 6], 150) for n in range(60)])
    x[1::2, :140] = -0.0
    for by_lanes in (False, True):  # a row's extreme in one lane of many, or across the lanes

        def lower(index, x, by_lanes=by_lanes):
            (i,), k = index, lang.axis(x.shape[0 if by_lanes else 1])
            return which(x[k, i] if by_lanes else x[i, k], over=k)

        made = traced(lower, [x], ((x.shape[by_lanes],), dtype))
        (out,) = test_native.check(made, [x], level)
        assert not np.signbit(out[out == 0]).any()
