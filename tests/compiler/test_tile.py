"""Tiles whose last column is narrower: every position is computed once, by as few lanes as do."""

import importlib.util
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.compiler.kernel import schedules
from scull.compiler.native import modules_of, region_of_kernel
from scull.compiler.target import TARGETS
from scull.compiler.tile import columns_of
from scull.runtime import llvm
from tests.compiler import test_guards
from tests.compiler.test_levels import LEVELS, normal, product, traced
from tests.compiler.test_native import check
from tests.runtime.guard import needs_guards

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def whole(*shape, dtype):
    """Numbers whose sums and products are exact."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(dtype)


def layer(index, x, w, b, m):
    """A product with what often follows it: a row, a choice, places that are guarded."""
    i, j = index
    k = lang.axis(x.shape[1])
    total = lang.sum(x[i, k] * w[k, j], over=k) + b[j]
    return lang.select(total > 0.0, total, 0.0) + lang.padded(m, (i, j + 1), 0.0)


@given(
    st.tuples(*[st.integers(1, 70)] * 3),
    st.sampled_from(["float32", "float64", "float16"]),
    st.sampled_from(LEVELS),
)
@settings(max_examples=60)
def test_products_of_any_size_are_what_the_emulator_computes(sizes, dtype, level):
    m, n, k = sizes
    arrays = [whole(*shape, dtype=dtype) for shape in ((m, k), (k, n), (n,), (m, n))]
    check(traced(layer, arrays, ((m, n), dtype)), arrays, level)


@needs_guards
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("dtype", "n"), [("float32", 18), ("float32", 23), ("float64", 9)])
def test_narrow_columns_stay_within_their_buffers(dtype, n, level, monkeypatch):
    arrays = [normal(*shape, dtype=dtype) for shape in ((7, 6), (6, n), (n,), (7, n))]
    kernel = traced(layer, arrays, ((7, n), dtype))
    test_guards.check(kernel, arrays, level, monkeypatch)


@given(st.integers(1, 300), st.sampled_from([1, 2, 4, 8, 16, 32]), st.sampled_from([0, 1, 2, 4, 8]))
def test_columns_have_every_position_once(size, lanes, least):
    found = list[int]()
    for column in columns_of(size, lanes, least):
        counted = column.lanes if column.mask is None else column.mask.count("true")
        assert column.lanes in (lanes, least) or column.lanes < 2 * counted
        found += range(column.offset, column.offset + counted)
    assert found == list(range(size))


def multiplied(n, level, dtype="float32"):
    """The lanes of the multiplications and additions of a product with n columns."""
    arrays = [normal(9, 30, dtype=dtype), normal(30, n, dtype=dtype)]
    region = region_of_kernel(traced(product, arrays, ((9, n), dtype)))
    texts = [module.text for module in modules_of(region, TARGETS[level])]
    return {int(n) for text in texts for n in re.findall(r"@llvm\.fma\.v(\d+)f", text)}


@pytest.mark.parametrize(
    ("n", "level", "dtype", "lanes"),
    [
        (20, "avx512", "float32", {16, 4}),
        (50, "avx512", "float32", {16, 4}),
        (23, "avx512", "float32", {16, 8}),
        (25, "avx512", "float32", {16}),
        (32, "avx512", "float32", {16}),
        (3, "avx512", "float32", {4}),
        (10, "avx512", "float64", {8, 2}),
        (20, "avx2", "float32", {8, 4}),
        (21, "avx2", "float32", {8}),
        (18, "generic", "float32", {4}),
    ],
)
def test_what_is_left_has_no_more_lanes_than_it_needs(n, level, dtype, lanes):
    assert multiplied(n, level, dtype) == lanes


def updated(index, x, y, p, v):
    """A product by which a parameter is changed as Adam does: a root, a quotient."""
    i, j = index
    k = lang.axis(x.shape[0])
    gradient = lang.sum(x[k, i] * y[k, j], over=k)
    return p[i, j] - gradient / (lang.sqrt(v[i, j] + gradient * gradient) + 1e-3)


@pytest.fixture
def wide(monkeypatch):
    """Code is made for a machine with wide vectors; it is not run."""
    monkeypatch.setattr(llvm, "levels", lambda: ("avx512",))


def tiles_of_update(k, m=64, n=64, level="avx512"):
    """How the kernel of an update after a product of so many terms is cut."""
    arrays = [normal(*shape, dtype="float32") for shape in ((k, m), (k, n), (m, n), (m, n))]
    region = region_of_kernel(traced(updated, arrays, ((m, n), "float32")))
    found = [(g, s) for g in region.groups for s in schedules(g, TARGETS[level])]
    (chosen,) = [s for g, s in found if any(stage.is_contraction for stage in g.stages)]
    return chosen


def test_tiles_are_small_where_an_update_takes_as_long_as_the_sum_before_it(wide):
    short, long = tiles_of_update(32), tiles_of_update(512)
    assert (short.columns, short.rows, short.inner) == (1, 8, True)
    farther = tiles_of_update(32, 64, 96, level="amx")  # CPUs with a matrix unit look farther ahead
    assert (farther.columns, farther.rows, farther.inner) == (3, 5, True)
    four = tiles_of_update(32, level="amx")  # no column is left alone
    assert (four.columns, four.rows, four.inner) == (4, 4, True)
    assert long.columns * long.rows > 16 and not long.inner


@pytest.mark.parametrize(("many", "rows"), [(300, 4), (7, 1)], ids=["far", "near"])
def test_a_few_rows_read_a_large_matrix_once(many, rows, wide):
    """Each element is a sum along the matrix's rows, of which one serves all of these."""

    def turned(index, x, w):
        i, j = index
        k = lang.axis(4096)
        return lang.sum(x[i, k] * w[j, k], over=k)

    arrays = [normal(4, 4096, dtype="float32"), normal(many, 4096, dtype="float32")]
    region = region_of_kernel(traced(turned, arrays, ((4, many), "float32")))
    (chosen,) = [s for g in region.groups for s in schedules(g, TARGETS["avx512"]) if s]
    assert (chosen.vector, chosen.folds, chosen.rows) == (None, 16, rows)


def test_what_a_large_update_changes_comes_in_few_rows(wide):
    large, longer = tiles_of_update(32, 1024, 1024), tiles_of_update(64, 1024, 1024)
    assert (large.columns, large.rows, large.inner) == (8, 2, True)
    assert (longer.columns, longer.rows, longer.inner) == (1, 8, True)


@given(
    st.tuples(st.integers(1, 40), st.integers(1, 70), st.integers(1, 40)), st.sampled_from(LEVELS)
)
@settings(max_examples=40)
def test_updates_of_any_size_are_what_the_emulator_computes(sizes, level):
    k, m, n = sizes
    arrays = [normal(*shape, dtype="float32") for shape in ((k, m), (k, n), (m, n), (m, n))]
    arrays[3] = abs(arrays[3])
    check(traced(updated, arrays, ((m, n), "float32")), arrays, level)


@pytest.mark.parametrize(
    ("sizes", "columns"),
    [((49, 960, 160), 1), ((49, 960, 640), 4), ((512, 960, 160), 2), ((49, 96, 160), 2)],
    ids=["few chunks", "many columns", "many rows", "little work"],
)
def test_a_product_of_few_chunks_has_columns_of_one_vector(sizes, columns, wide):
    m, k, n = sizes
    arrays = [normal(*shape, dtype="float32") for shape in ((m, k), (k, n))]
    region = region_of_kernel(traced(product, arrays, ((m, n), "float32")))
    ((group,),) = [[g for g in region.groups if any(s.is_contraction for s in g.stages)]]
    (chosen,) = schedules(group, TARGETS["avx512"])
    assert chosen.columns == columns


def halves(index, x, y, z):
    """Rows by turns from two arrays, whose rows are half as many, and one more of each."""
    i, j, k = index
    other = lang.guarded(lang.equal(i % 2, 0), x[i // 2, j, k], y[i // 2, j, k])
    return other + z[i, j, k]


def test_where_rows_begin_is_found_outside_the_innermost_loop():
    arrays = [normal(n, 64, 256) for n in (32, 32, 64)]
    region = region_of_kernel(traced(halves, arrays, ((64, 64, 256), "float32")))
    text = "\n".join(module.text for module in modules_of(region, TARGETS["avx2"]))
    inner = re.findall(r"^(loop\d+):((?:\n(?!loop).*)*?)label %\1,", text, re.MULTILINE)
    assert inner and all(" load <8 x float>" in body for _, body in inner)
    assert not any(" mul i64 " in body for _, body in inner)


def test_llvm_sees_positions_count_where_something_is_summed():
    arrays = [normal(40, 300), normal(300, 64)]
    region = region_of_kernel(traced(product, arrays, ((40, 64), "float32")))
    text = "\n".join(module.text for module in modules_of(region, TARGETS["avx2"]))
    heads = re.findall(r"^loop\d+:\n((?:  %\w+ = phi .*\n)+)(.*)", text, re.MULTILINE)
    carry = [" phi <" in phis for phis, _ in heads]
    assert carry == ["asm" not in first for _, first in heads] and {*carry} == {True, False}
