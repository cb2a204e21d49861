"""Every size around the edges of vectors and tiles, at every level of vectors this machine has."""

import importlib.util
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from scull import lang
from scull.compiler.native import compile
from scull.lang.arithmetic import numpy_dtype
from scull.runtime import llvm
from tests.compiler.test_native import check
from tests.ops.closeness import check_close

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
LEVELS = llvm.levels() if llvm.available() else ("generic",)
EDGES = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 70)


def pytest_generate_tests(metafunc):
    """Sizes around the edges of vectors and tiles; with `--sweep` all up to the last of them."""
    if "size" in metafunc.fixturenames:
        sweep = metafunc.config.getoption("sweep")
        metafunc.parametrize("size", range(1, EDGES[-1] + 1) if sweep else EDGES)


def normal(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def traced(lowering, arrays, *outputs):
    metas = [SimpleNamespace(shape=x.shape, dtype=x.dtype.name) for x in arrays]
    outs = [SimpleNamespace(shape=s, dtype=d) for s, d in outputs]
    return lang.trace(lowering, metas, outs, {}, "kernel")


def product(index, x, y):
    k = lang.axis(x.shape[1])
    return lang.sum(x[index[0], k] * y[k, index[1]], over=k)


def product_of_rows(index, x, y):
    k = lang.axis(x.shape[1])
    return lang.sum(x[index[0], k] * y[index[1], k], over=k)


def softmax(index, x):
    i, (k, m) = index[0], (lang.axis(x.shape[1]) for _ in range(2))
    most = lang.max(x[i, k], over=k)
    return lang.exp(x[index] - most) / lang.sum(lang.exp(x[i, m] - most), over=m)


def columns(index, x):
    k = lang.axis(x.shape[0])
    return lang.sum(x[k, index[0]], over=k)


@pytest.mark.parametrize("level", LEVELS)
def test_products_of_every_size(size, level):
    for m, n, k in ((size, 17, 5), (5, size, 17), (17, 5, size)):
        x, y = normal(m, k), normal(k, n)
        check(traced(product, [x, y], ((m, n), "float32")), [x, y], level)
        y = normal(n, k)
        check(traced(product_of_rows, [x, y], ((m, n), "float32")), [x, y], level)


@pytest.mark.parametrize("level", LEVELS)
def test_rows_and_columns_of_every_size(size, level):
    for shape in ((size, 9), (9, size)):
        x = normal(*shape)
        check(traced(softmax, [x], (shape, "float32")), [x], level)
        check(traced(columns, [x], (shape[1:], "float32")), [x], level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int64"])
def test_elements_of_every_type_wherever_they_lie(dtype, level):
    x = (normal(7, 37) * 9).astype(numpy_dtype(dtype))

    def lower(index, x):
        (i, j), (a, b), (c,) = index
        return x[i, j] * 2 - x[i, 36 - j], x[b, a], x[c // 3 % 7, c % 37]

    outs = (((7, 37), dtype), ((37, 7), dtype), ((100,), dtype))
    check(traced(lower, [x], *outs), [x], level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("offset", [1, 3, 8])
def test_arrays_may_begin_at_any_element(offset, level):
    def placed(x):
        room = np.full(x.size + 64, 7, x.dtype)
        start = -room.ctypes.data % 64 // x.itemsize + offset
        inside = room[start : start + x.size].reshape(x.shape)
        inside[...] = x
        return inside

    x, y = normal(17, 33), normal(33, 34)
    for kernel, arrays in (
        (traced(product, [x, y], ((17, 34), "float32")), [x, y]),
        (traced(softmax, [x], ((17, 33), "float32")), [x]),
        (traced(columns, [x], ((33,), "float32")), [x]),
    ):
        (want,) = lang.run(kernel, arrays)
        got = placed(np.zeros_like(want))
        compile(kernel, level)(list(map(placed, arrays)), [got])
        check_close([got], [want], str(kernel))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("dtype", "most"), [("float32", 250), ("float64", 2000)])
def test_numbers_are_scaled_by_powers_of_2_into_denormals_and_infinity(dtype, most, level):
    exponents = np.arange(-most, most).astype(dtype)
    numbers = np.array([1.0, -1.9999999, 1.0000001, 0.0, -0.0, np.inf, np.nan], dtype)
    x, n = (np.ascontiguousarray(v) for v in np.broadcast_arrays(numbers[:, None], exponents))
    n[-1, :9] = np.nan

    def lower(index, x, n):
        return lang.scale(x[index], n[index])

    with np.errstate(all="ignore"):
        (found,) = check(traced(lower, [x, n], (x.shape, dtype)), [x, n], level)
        np.testing.assert_array_equal(found[:-1], np.ldexp(x[:-1], n[:-1].astype(int)))


@pytest.mark.parametrize("level", LEVELS)
def test_what_lies_outside_is_not_read_by_any_lane(level):
    x = normal(9, 20)

    def lower(index, x):
        i, j = index
        return lang.padded(x, (i - 2, j - 3), 7.0)

    check(traced(lower, [x], ((13, 26), "float32")), [x], level)


@pytest.mark.parametrize("level", LEVELS)
def test_float16_is_rounded_once_from_and_to_every_float32(level):
    bits = np.arange(0, 2**32, 65521, dtype=np.uint64).astype(np.uint32)
    edges = np.array([65519.9, 65520, 2**-24, 2**-25, 3 * 2**-26, np.inf, -0.0], "float32")
    x = np.concatenate([bits.view(np.float32), edges, -edges])
    x = x[: len(x) // 7 * 7].reshape(-1, 7)

    def lower(index, x):
        (i, j), (a, b) = index
        half = lang.cast(x[i, j], "float16")
        return half, lang.cast(lang.cast(x[a, b], "float16"), "float32")

    with np.errstate(all="ignore"):
        check(traced(lower, [x], (x.shape, "float16"), (x.shape, "float32")), [x], level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("draw", "rest"), [(lang.random_bits, 40), (lang.random_half, 8)])
def test_random_words_are_those_of_their_places_in_guards_too(draw, rest, dtype, level):
    key = np.array([123, 456], np.uint64)

    def drawn(index, key, size, guards):
        row, column = index
        word = draw((key[0], key[1]), row * size + column)
        found = lang.cast(lang.cast(word >> rest, "int32"), dtype)
        inside = (column >= 3) & (column < size - 2)
        return lang.guarded(inside, found, -1.0) if guards else found

    for size in (3, 20, 33, 70):
        for guards in (False, True):
            lower = partial(drawn, size=size, guards=guards)
            check(traced(lower, [key], ((4, size), dtype)), [key], level)
