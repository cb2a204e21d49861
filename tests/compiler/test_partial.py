"""Large reductions to few elements: parts of fixed size, for any number of threads."""

import importlib.util

import numpy as np
import pytest

from scull import lang
from scull.compiler.native import compile, region_of_kernel
from scull.compiler.partial import parted
from scull.compiler.trace import Statement
from scull.flags import flags
from tests.lang.samples import meta

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def over_all(fold):
    def lowering(index, x):
        axes = [lang.axis(n) for n in x.shape]
        return fold(x[tuple(axes)] * 0.5, over=axes) + 1.0

    return lowering


def over_first(fold):
    def lowering(index, x):
        k = lang.axis(x.shape[0])
        return fold(x[(k, *index)], over=k)

    return lowering


CASES = {  # what is reduced over, its size, that of the result, what it should be, its kernels
    "all": (over_all(lang.sum), (1 << 20,), (), lambda x: (x * 0.5).sum() + 1, 2),
    "all of three axes": (over_all(lang.sum), (7, 3, 49999), (), lambda x: (x * 0.5).sum() + 1, 2),
    "a prime number": (over_all(lang.sum), (1048583,), (), lambda x: (x * 0.5).sum() + 1, 2),
    "the greatest": (over_all(lang.max), (1048583,), (), lambda x: (x * 0.5).max() + 1, 2),
    "rows": (over_first(lang.sum), (5003, 200), (200,), lambda x: x.sum(0), 2),
    "rows of one": (over_first(lang.min), (700001, 1), (1,), lambda x: x.min(0), 2),
    "many columns": (over_first(lang.sum), (300, 4096), (4096,), lambda x: x.sum(0), 1),
    "little": (over_all(lang.sum), (1000,), (), lambda x: (x * 0.5).sum() + 1, 1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_parts_add_up(name, dtype):
    lowering, shape, result, exact, kernels = CASES[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    metas = [meta(*shape, dtype=dtype)], [meta(*result, dtype=dtype)]
    kernel = lang.trace(lowering, *metas, {}, name="k")
    assert len(region_of_kernel(kernel).groups) == kernels
    found = []
    for threads in (1, 2, 8):
        out = np.full(result, np.nan, dtype)
        with flags(NUM_THREADS=threads):
            compile(kernel)([x], [out])
        found.append(out)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    reach = np.abs(x).sum(dtype="float64") * np.finfo(dtype).eps * 2
    np.testing.assert_allclose(found[0], exact(x.astype("float64")), rtol=0, atol=reach)


def test_whole_numbers_add_up_exactly():
    def total(index, x):
        k = lang.axis(x.shape[0])
        return lang.sum(x[k], over=k)

    x = np.random.default_rng(0).integers(-(2**40), 2**40, 1048583)
    kernel = lang.trace(total, [meta(*x.shape, dtype="int64")], [meta(dtype="int64")], {}, name="k")
    out = np.zeros((), "int64")
    compile(kernel)([x], [out])
    assert out == x.sum()


def test_parts_that_several_ask_for_are_computed_once():
    def lower(index, x):
        (i,), (j,), (m,) = index
        k, p, n = (lang.axis(x.shape[0]) for _ in range(3))
        last = lang.sum(x[n, m] * 0.25, over=n)
        return lang.sum(x[k, i], over=k), lang.sum(x[p, j], over=p) + 1.0, last

    x = np.random.default_rng(0).standard_normal((5003, 200)).astype("float32")
    kernel = lang.trace(lower, [meta(*x.shape)], [meta(200)] * 3, {}, name="k")
    given = zip(kernel.outputs, kernel.bodies, strict=True)
    statements = parted([Statement(out, body, "") for out, body in given])
    assert len(statements) == len(kernel.outputs) + 2  # the first two have the same parts
    found = [np.full(200, np.nan, "float32") for _ in kernel.outputs]
    compile(kernel)([x], found)
    np.testing.assert_array_equal(found[0] + np.float32(1), found[1])
    np.testing.assert_allclose(found[2], x.sum(0) * 0.25, rtol=1e-4, atol=1e-3)
