"""Kernels of every size on arrays between guarded pages: nothing beside a buffer is touched."""

import importlib.util

import numpy as np
import pytest

from scull import lang
from scull.compiler import native
from scull.compiler.native import compile
from scull.lang.arithmetic import numpy_dtype
from tests.compiler.test_levels import (
    LEVELS,
    columns,
    normal,
    product,
    product_of_rows,
    softmax,
    traced,
)
from tests.lang.test_kernel import embedding_grad_at
from tests.ops.closeness import check_close
from tests.runtime.guard import guarded_array, needs_guards, run_guarded

pytestmark = [
    needs_guards,
    pytest.mark.skipif(
        importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
    ),
]
SIZES = (1, 15, 17, 70)


def pytest_generate_tests(metafunc):
    """A few sizes; with `--sweep` all up to the last of them."""
    if "size" in metafunc.fixturenames:
        sweep = metafunc.config.getoption("sweep")
        metafunc.parametrize("size", range(1, SIZES[-1] + 1) if sweep else SIZES)


def check(kernel, arrays, level, monkeypatch):
    """Run a kernel between guards, what lies between its loops too; it is what is meant."""
    code = compile(kernel, level)

    def run(inputs, outputs):
        monkeypatch.setattr(native, "aligned", lambda size: guarded_array(size, np.uint8))
        code(inputs, outputs)

    outs = [(x.shape, numpy_dtype(x.dtype)) for x in kernel.outputs]
    check_close(run_guarded(run, arrays, outs), lang.run(kernel, arrays), str(kernel))


@pytest.mark.parametrize("level", LEVELS)
def test_products_stay_within_their_buffers(size, level, monkeypatch):
    for m, n, k in ((size, 17, 5), (5, size, 17), (17, 5, size)):
        x, y = normal(m, k), normal(k, n)
        check(traced(product, [x, y], ((m, n), "float32")), [x, y], level, monkeypatch)
    y = normal(n, k)
    kernel = traced(product_of_rows, [x, y], ((m, n), "float32"))
    check(kernel, [x, y], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
def test_rows_and_columns_stay_within_their_buffers(size, level, monkeypatch):
    for shape in ((size, 9), (9, size)):
        x = normal(*shape)
        check(traced(softmax, [x], (shape, "float32")), [x], level, monkeypatch)
        check(traced(columns, [x], (shape[1:], "float32")), [x], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16", "float32", "float64", "int8"])
def test_elements_of_every_type_stay_within_their_buffers(dtype, level, monkeypatch):
    x = (normal(7, 37) * 9).astype(numpy_dtype(dtype))

    def lower(index, x):
        (i, j), (a, b), (c,) = index
        return x[i, 36 - j], x[b, a], x[c // 3 % 7, c % 37]

    outs = (((7, 37), dtype), ((37, 7), dtype), ((100,), dtype))
    check(traced(lower, [x], *outs), [x], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "dtype", ["bool", "float16", "bfloat16", "float32", "float64", "int8", "int16"]
)
def test_one_element_behind_whole_vectors_is_all_that_is_written(dtype, level, monkeypatch):
    for count in (9, 17, 33, 65):
        x = (normal(count, 16) * 9).astype(numpy_dtype(dtype))

        def lower(index, x):
            i, j = index
            return x[j, i]

        kernel = traced(lower, [x], ((16, count), dtype))
        check(kernel, [x], level, monkeypatch)
        check(traced(lambda index, x: x[index], [x], (x.shape, dtype)), [x], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
def test_borders_and_places_out_of_range_are_not_read(level, monkeypatch):
    x, places = normal(9, 20), np.array([2**60, -(2**60), 3, 8, -1, 9])

    def padded(index, x):
        i, j = index
        return lang.padded(x, (i - 2, j - 3), 7.0)

    def chosen(index, x, places):
        i, j = index
        place = places[i]
        return lang.guarded((place >= 0) & (place < 9), x[place, j], -1.0)

    check(traced(padded, [x], ((13, 26), "float32")), [x], level, monkeypatch)
    kernel = traced(chosen, [x, places], ((6, 20), "float32"))
    check(kernel, [x, places], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_added_to_places_out_of_range_is_left_out(level, monkeypatch):
    places = np.random.default_rng(8).integers(-2, 12, 30)

    def scattered(index, ids, dout):
        return embedding_grad_at(index, ids, dout, rows=10)

    for width in (1, 3, 16, 37):
        dout = normal(30, width)
        kernel = traced(scattered, [places, dout], ((10, width), "float32"))
        check(kernel, [places, dout], level, monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("width", SIZES)
def test_what_is_set_at_places_out_of_range_is_left_out(width, level, monkeypatch):
    rows = np.array([3, -1, 9, 7, 10, -(2**60), 0])
    x, y, new = normal(10, width), normal(10, width), normal(7, width)

    def lower(index, rows, x, y, new):
        i, j = over = lang.axis(7), lang.axis(width)
        spot, value = (rows[i], j), new[i, j]
        first = lang.scatter_set(x, spot, x[spot] * 0.5 + value, over)
        return first, lang.scatter_set(y, spot, x[spot] - y[spot] * value, over)

    outs = [((10, width), "float32")] * 2
    arrays = [rows, x, y, new]
    check(traced(lower, arrays, *outs), arrays, level, monkeypatch)


def windows(index, x):
    """Sums of nine neighbours, of which those outside are 0."""
    k = lang.axis(9)
    return lang.sum(lang.padded(x, (index[0] + k - 4,), 0.0), over=k)


def windows_of_squares(index, x):
    """The same in float64, of squares."""
    k = lang.axis(9)
    value = lang.cast(lang.padded(x, (index[0] + k - 4,), 0.0), "float64")
    return lang.sum(value * value, over=k)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("lowering", [windows, windows_of_squares])
def test_sums_with_fewer_terms_at_borders_stay_within_their_buffers(
    size, lowering, level, monkeypatch
):
    x, dtype = normal(size + 8), "float64" if lowering is windows_of_squares else "float32"
    check(traced(lowering, [x], ((size + 8,), dtype)), [x], level, monkeypatch)
