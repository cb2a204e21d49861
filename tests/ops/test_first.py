"""The first elements in order are found without sorting all: the same places as by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scull.ops.sort import FEW, first_in_order, order_of

KINDS = ("float32", "float64", "float16", "int64", "int32", "uint8", "bool")


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.integers(1, 20), st.booleans())
def test_places_are_those_of_a_stable_sort(seed, kind, k, descending):
    rng = np.random.default_rng(seed)
    shape, axis = [int(n) for n in rng.integers(0, 4, 3)], int(rng.integers(3))
    shape[axis] = k * FEW + int(rng.integers(200))
    x = rng.integers(0, rng.integers(1, 60), shape).astype(kind)
    if kind.startswith("float") and rng.random() < 0.3:
        x[rng.random(shape) < 0.2] = rng.choice([np.inf, -np.inf, -0.0, np.nan])
    want = order_of(x, axis, descending)[(*(slice(None),) * axis, slice(k))]
    np.testing.assert_array_equal(first_in_order(x, k, axis, descending), want)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", ["float32", "int64"])
def test_numbers_that_stand_for_those_found_are_found_too(kind, descending):
    limits = (-np.inf, np.inf) if kind == "float32" else (-(2**63), 2**63 - 1)
    x = np.full((3, 100), limits[0] if descending else limits[1], kind)
    x[1, 7], x[2, 3:90] = 1, 2
    want = order_of(x, 1, descending)[:, :4]
    np.testing.assert_array_equal(first_in_order(x, 4, 1, descending), want)


@pytest.mark.parametrize("descending", [False, True])
def test_of_lines_with_gaps(descending):
    x = np.random.default_rng(0).integers(0, 9, (40, 6)).T[::2].astype("float32")
    want = order_of(x, 1, descending)[:, :3]
    np.testing.assert_array_equal(first_in_order(x, 3, 1, descending), want)
