"""Where all lanes agree on a condition, one branch decides for them."""

import importlib.util
import itertools

import numpy as np
import pytest

from scull import lang
from scull.compiler.affine import Positions
from scull.compiler.alike import is_alike
from scull.compiler.native import compile
from tests.compiler.test_levels import LEVELS, normal, traced

needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def test_lanes_are_alike_exactly_where_no_vector_is_parted():
    p, lanes, size = lang.axis(32), 4, 32
    places = np.arange(size)
    for step, start, edge in itertools.product((1, -1), range(-5, 6), range(-9, 40)):
        x, value = p * step + start, places * step + start
        for one, held in (
            (x < edge, value < edge),
            (x <= edge, value <= edge),
            (lang.constant(edge, "int64") < x, edge < value),
            ((x < edge) & (x < edge + 8), (value < edge) & (value < edge + 8)),
        ):
            parted = any(len(set(v)) > 1 for v in held.reshape(-1, lanes))
            if is_alike(one, p, lanes, Positions()):
                assert not parted
            else:  # where ranges decide nobody asks
                assert parted or held.all() or not held.any()


def test_what_is_no_comparison_of_sums_is_not_known_to_be_alike():
    p, q = lang.axis(32), lang.axis(8)
    assert is_alike(q < 3, p, 4, Positions())
    assert is_alike(p + q * 4 < 8, p, 4, Positions())
    assert not is_alike(p + q < 8, p, 4, Positions())
    assert not is_alike(p * 2 < 8, p, 4, Positions())
    assert not is_alike(lang.equal(p, 4), p, 4, Positions())


@needs_llvm
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("sizes", [(16, 32, 16), (4, 8, 12), (16, 7, 9), (64, 1, 31), (5, 16, 16)])
def test_pieces_along_lanes_are_computed_each_where_it_lies(sizes, level):
    pieces = [normal(3, n) for n in sizes]
    stops = list(itertools.accumulate(sizes))

    def lower(index, a, b, c):
        i, j = index
        first, second = lang.exp(a[i, j]), b[i, j - stops[0]] * 2.0
        rest = lang.guarded(j < stops[1], second, c[i, j - stops[1]] + 1.0)
        return lang.guarded(j < stops[0], first, rest)

    kernel = traced(lower, pieces, ((3, stops[-1]), "float32"))
    out = np.empty((3, stops[-1]), np.float32)
    compile(kernel, level)(pieces, [out])
    a, b, c = pieces
    want = np.concatenate([np.exp(a), b * 2, c + 1], axis=1)
    np.testing.assert_allclose(out, want, rtol=1e-6)
