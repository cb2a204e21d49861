"""Places in order: words of numbers and places give what a stable sort of the numbers gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scull.ops.search import accumulate
from scull.ops.sort import LEAST, by_places, keys_of, order_of

KINDS = ("float16", "float32", "float64", "bool", "uint8", "int16", "int32", "uint32", "int64")


def extremes(dtype):
    if dtype == "bool":
        return [False, True]
    if "float" in dtype:
        info = np.finfo(dtype)
        return [info.min, info.max, info.tiny, -0.0, 0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    info = np.iinfo(dtype)
    return [info.min, info.max, 0, 1, 2, 3]


def given_array(dtype, shape, seed):
    """Few different numbers, so that many are equal."""
    rng = np.random.default_rng(seed)
    return rng.choice(np.array(extremes(dtype), dtype), shape)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", KINDS)
def test_the_order_is_that_of_a_stable_sort(dtype, axis, descending):
    x = given_array(dtype, (7, 40, 9), 0)
    x.reshape(-1)[::7] = np.roll(x.reshape(-1), 3)[::7]
    assert (order_of(x, axis, descending) == by_places(x, axis, descending)).all()


def test_nan_of_either_sign_is_behind_and_zeros_are_equal():
    x = np.array([np.nan, 1.0, -0.0, 0.0, -np.inf, np.inf, -1.0] * LEAST, "float32")
    x[::14] = np.copysign(x[::14], -1.0)
    found = x[order_of(x, 0)]
    assert np.isnan(found[-LEAST:]).all() and not np.isnan(found[:-LEAST]).any()
    zeros = order_of(x, 0)[np.flatnonzero(found == 0)]
    assert (np.diff(zeros) > 0).all()


@given(arrays(np.int64, LEAST, elements=st.integers(-(2**63), 2**63 - 1)))
def test_integers_far_apart_are_in_order(x):
    assert (order_of(x, 0) == x.argsort(kind="stable")).all()


def test_integers_have_keys_where_they_differ_by_fewer_than_half_of_32_bits():
    x = np.array([2**62, 2**62 + 2**31 - 1])
    assert keys_of(x).tolist() == [0, 2**31 - 1]
    assert keys_of(x + [0, 1]) is None
    assert keys_of(np.array([-(2**63), 2**63 - 1])) is None


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum])
def test_wide_lines_accumulate_to_the_bits_of_numpy(ufunc, axis):
    x = np.random.default_rng(0).standard_normal((5, 6, 300)).astype("float32")
    found = accumulate(ufunc, x, axis, np.empty_like(x))
    assert (found == ufunc.accumulate(x, axis)).all()
    assert (accumulate(ufunc, x, axis, x) == found).all()  # over itself
