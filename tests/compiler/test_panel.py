"""Operands whose terms crowd in a few sets of a cache lie in panels, or with terms side by side."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scull import lang
from scull.compiler import panel
from scull.compiler.native import modules_of, region_of, region_of_kernel
from scull.compiler.target import target
from scull.compiler.trace import Statement
from scull.flags import flags
from scull.lang.body import Map
from scull.lang.expression import Array
from scull.runtime import llvm
from tests.compiler.test_levels import LEVELS, traced
from tests.compiler.test_native import check
from tests.compiler.test_split import outcome

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def copies_of(rows, terms, columns, *, turned="", fixed=False):
    """The shapes of the copies made for a product; `turned` names operands that lie transposed."""
    x = Array("x", (terms, rows) if "x" in turned else (rows, terms), "float32")
    w = Array("w", (columns, terms) if "w" in turned else (terms, columns), "float32")
    out = Array("out", (rows, columns), "float32")
    i, j, k = lang.axis(rows), lang.axis(columns), lang.axis(terms)
    left = x[k, i] if "x" in turned else x[i, k]
    right = w[j, k] if "w" in turned else w[k, j]
    product = Statement(out, Map((i, j), lang.sum(left * right, over=k)), "matmul")
    region = region_of([product], [x, w], [out], fixed=[w] if fixed else [])
    groups = (*region.once, *region.groups)
    made = {array.name: array.shape for g in groups for array in g.written}
    return [shape for name, shape in made.items() if name.startswith("p")]


@pytest.mark.parametrize(
    ("terms", "columns", "panels"),
    [(512, 1024, [(16, 512, 64)]), (512, 1000, []), (64, 1024, []), (4096, 64, [])],
    ids=["terms lie far apart", "no whole panels", "small", "one panel"],
)
def test_large_weights_that_never_change_lie_in_panels_of_wide_columns(
    terms, columns, panels, machine
):
    machine("avx512")
    assert copies_of(8, terms, columns, fixed=True) == panels
    assert copies_of(8, terms, columns) == []


@pytest.mark.parametrize(
    ("sizes", "panels"),
    [
        ((64, 1024, 1024), [(16, 1024, 64)]),
        ((64, 1024, 256), [(4, 1024, 64)]),
        ((64, 256, 1024), [(16, 256, 64)]),
        ((64, 512, 256), []),
        ((64, 128, 1024), []),
        ((64, 1024, 1088), []),
        ((64, 1024, 1000), []),
        ((16, 1024, 1024), []),
    ],
    ids=[
        "pages apart",
        "parts of a page apart",
        "few pages apart",
        "half a cache",
        "few terms",
        "odd lines apart",
        "no whole panels",
        "few rows",
    ],
)
def test_what_several_lines_a_term_are_read_of_lies_in_panels_where_a_core_s_own_cache_crowds(
    sizes, panels, machine
):
    machine("avx512")
    assert copies_of(*sizes) == panels


@pytest.mark.parametrize("level", ["avx2", "generic"])
@pytest.mark.parametrize(
    ("sizes", "panels"),
    [
        ((64, 256, 1024), [(64, 256, 16)]),
        ((64, 128, 128), [(8, 128, 16)]),
        ((64, 64, 64), []),
        ((64, 256, 208), []),
        ((64, 256, 1000), []),
        ((8, 256, 1024), []),
    ],
    ids=["pages apart", "lines apart", "all fit", "odd lines apart", "no whole panels", "few rows"],
)
def test_what_one_line_a_term_is_read_of_lies_in_panels_where_terms_crowd(
    level, sizes, panels, machine
):
    machine(level)
    assert copies_of(*sizes) == panels


@pytest.mark.parametrize("level", ["avx2", "generic"])
def test_a_copy_that_is_made_anyway_is_one_of_panels(level, machine):
    machine(level)
    assert copies_of(64, 256, 1024, turned="w") == [(64, 256, 16)]
    assert copies_of(64, 64, 64, turned="w") == [(64, 64)]


@pytest.mark.parametrize("level", ["avx2", "generic"])
def test_rows_that_lie_side_by_side_are_turned_where_their_terms_crowd(level, machine):
    machine(level)
    assert copies_of(256, 1024, 64, turned="x") == [(256, 1024), (4, 1024, 16)]
    assert copies_of(64, 64, 64, turned="x") == []


def product(index, x, w):
    """Rows of `x`, which lies transposed, by the columns of `w`, one product a batch."""
    b, i, j = index
    k = lang.axis(x.shape[1])
    return lang.sum(x[b, k, i] * w[b, k, j], over=k) + 1.0


@given(
    st.tuples(st.integers(1, 3), st.integers(1, 40)),
    st.sampled_from([64, 128, 256]),
    st.sampled_from([32, 48, 64, 128, 256]),
    st.sampled_from(["float32", "float64", "float16"]),
    st.sampled_from(LEVELS),
)
@settings(max_examples=40)
def test_products_of_crowded_terms_are_what_the_emulator_computes(
    sizes, terms, columns, dtype, level
):
    batch, rows = sizes
    rng = np.random.default_rng(terms + columns)
    shapes = ((batch, terms, rows), (batch, terms, columns))
    arrays = [rng.integers(-3, 4, shape).astype(dtype) for shape in shapes]
    check(traced(product, arrays, ((batch, rows, columns), dtype)), arrays, level)


@pytest.mark.parametrize("columns", [256, 1024])
@pytest.mark.parametrize("level", LEVELS)
def test_products_of_panels_have_the_same_bits_on_any_number_of_threads(level, columns):
    """Terms of 256 columns crowd where vectors are narrow, of 1024 everywhere."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s, np.float32) for s in ((2, 256, 128), (2, 256, columns))]
    kernel = traced(product, arrays, ((2, 128, columns), "float32"))
    with flags(VECTORS=level):
        stages = [stage for g in region_of_kernel(kernel).groups for stage in g.stages]
        ends = {array.shape[-2:] for stage in stages for array in stage.arrays}
        crowded = columns == 1024 or target().registers == 16
        assert ((256, panel.width()) in ends) is crowded
        found = [outcome(kernel, arrays, threads)[0] for threads in (1, 2, 8)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    want = np.einsum("bki,bkj->bij", *arrays, dtype=np.float64) + 1.0
    np.testing.assert_allclose(found[0], want, rtol=1e-4, atol=1e-4)


def test_code_of_limited_vectors_is_the_same_on_a_wider_machine(monkeypatch):
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s, np.float32) for s in ((2, 256, 40), (2, 256, 128))]
    kernel, found = traced(product, arrays, ((2, 40, 128), "float32")), []
    for level in ("avx2", "avx512"):
        needs = [x for name in ("avx2", level) for x in llvm.LEVELS[name][1]]
        features = ",".join(f"+{x}" for x in needs)
        machine = llvm.Target("x86_64-unknown-linux-gnu", level, features, "0")
        monkeypatch.setattr(llvm, "host", lambda machine=machine: machine)
        assert llvm.levels()[0] == level
        with flags(VECTORS="avx2"):
            modules = modules_of(region_of_kernel(kernel), target())
        found.append([module.text for module in modules])
    assert found[0] == found[1]


@pytest.mark.parametrize("level", LEVELS)
def test_the_widest_vectors_may_be_limited(level):
    with flags(VECTORS=level):
        assert llvm.levels()[0] == level
    with flags(VECTORS="avx3"), pytest.raises(ValueError, match="VECTORS is 'avx3'"):
        llvm.levels()
