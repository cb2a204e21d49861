"""What a contraction reads of large arrays is asked for ahead."""

from importlib.util import find_spec

import numpy as np
import pytest

import scull as paddle
from scull.compiler.group import Group
from scull.compiler.kernel import function_of
from scull.compiler.stage import Stage
from scull.compiler.target import TARGETS, target
from scull.lang import axis, sum
from scull.lang.body import Map
from scull.lang.expression import Array
from scull.profiler.explain.record import recorded


def product(m, k, n, machine=None):
    """The text of the kernel of a product."""
    x, y, out = (
        Array(name, shape, "float32")
        for name, shape in [("x", (m, k)), ("y", (k, n)), ("out", (m, n))]
    )
    row, column, term = axis(m), axis(n), axis(k)
    body = Map((row, column), sum(x[row, term] * y[term, column], term))
    stage = Stage((row, column), [out], [body], ["matmul_v2"])
    return function_of(Group((), [stage]), "kernel", machine or target()).text


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [((64, 512, 512), True), ((64, 64, 64), False), ((64, 16, 16384), False)],
    ids=["large", "in a near cache", "few terms"],
)
def test_a_large_operand_is_asked_for_some_terms_ahead(sizes, asked):
    assert ("@llvm.prefetch" in product(*sizes)) == asked


@pytest.mark.parametrize(("columns", "asked"), [(16, False), (64, True)], ids=["adjoin", "apart"])
def test_terms_that_adjoin_are_left_to_hardware_where_a_line_has_several_vectors(columns, asked):
    sizes = (64, 1 << 14, columns)
    assert ("@llvm.prefetch" in product(*sizes, TARGETS["avx2"])) == asked
    assert "@llvm.prefetch" in product(*sizes, TARGETS["avx512"])


@pytest.mark.parametrize(("columns", "each"), [(512, 1), (500, 2)], ids=["on lines", "across"])
def test_a_line_is_asked_for_once_by_the_vectors_of_a_term(columns, each):
    """Two vectors are a line; where rows do not begin on one they may end in another."""
    text = product(6, 1 << 10, columns, TARGETS["avx2"])
    loop = text[text.index("@llvm.prefetch") :]
    terms = loop[: loop.index("br i1")].count("@llvm.prefetch")
    assert terms == 4 * each  # four terms a round


def product_and_more(m, n, machine=None):
    """The text of the kernel of a product of 64 terms, to which an array of its size is added."""
    x, y, more, out = (
        Array(name, shape, "float32")
        for name, shape in [("x", (m, 64)), ("y", (64, n)), ("more", (m, n)), ("out", (m, n))]
    )
    row, column, term = axis(m), axis(n), axis(64)
    body = Map((row, column), sum(x[row, term] * y[term, column], term) + more[row, column])
    stage = Stage((row, column), [out], [body], ["fc"])
    return function_of(Group((), [stage]), "kernel", machine or target()).text


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [((512, 512), True), ((64, 64), False)],
    ids=["large", "in a near cache"],
)
def test_what_a_product_is_added_to_is_asked_for_before_the_product_is_made(sizes, asked):
    text = product_and_more(*sizes)
    assert ("@llvm.prefetch" in text) == asked
    if asked:
        assert text.index("@llvm.prefetch") < text.index("@llvm.fma")


def test_wide_tiles_ask_for_what_the_next_needs_term_by_term():
    """All at once would keep the terms waiting; each of 64 asks for one of 24 + 24 lines.

    What the terms themselves read is asked for beside, and not to be written.
    """
    text = product_and_more(512, 512, TARGETS["avx512"])
    loop = text[text.rindex("\nloop", 0, text.index("@llvm.fma")) :]
    loop = loop[: loop.index("br i1")]
    asked = [line for line in loop.splitlines() if "@llvm.prefetch" in line]
    assert ["i32 1, i32 3, i32 1" in line for line in asked] == [True, False, False, False, False]
    assert "@llvm.umin.i64" in loop and "load ptr" in loop


@pytest.mark.parametrize(
    ("machine", "terms"), [("avx2", 32), ("avx512", 8)], ids=["parts of lines", "whole lines"]
)
def test_rows_that_lie_apart_are_asked_for_some_terms_ahead(machine, terms):
    """Where vectors are whole lines, 192 additions ahead: as many terms as that are of 24 sums."""
    x, y, out = (
        Array(name, shape, "float32")
        for name, shape in [("x", (256, 1024)), ("y", (256, 64)), ("out", (1024, 64))]
    )
    row, column, term = axis(1024), axis(64), axis(256)
    body = Map((row, column), sum(x[term, row] * y[term, column], term))
    stage = Stage((row, column), [out], [body], ["matmul_v2"])
    text = function_of(Group((), [stage]), "kernel", TARGETS[machine]).text
    ahead = f"i64 {terms * 1024 * 4}\n"
    assert 0 < text.count(ahead) < text.count("load float,")


def loop_of_rows(index, x, rows, machine):
    """The innermost loop of a product whose rows lie as an index into `x` says."""
    y, out = Array("y", (1024, 64), "float32"), Array("out", (rows, 64), "float32")
    row, column = axis(rows), axis(64)
    terms, left = index(x, row)
    place = terms[0] * 64 + terms[1] if len(terms) == 2 else terms[0]
    body = Map((row, column), sum(left * y[place, column], terms))
    stage = Stage((row, column), [out], [body], ["matmul_v2"])
    text = function_of(Group((), [stage]), "kernel", TARGETS[machine]).text
    loop = text[text.rindex("\nloop", 0, text.index("@llvm.fma")) :]
    return loop[: loop.index("br i1")].splitlines()


def in_rows(x, row):
    term = axis(1024)
    return (term,), x[row, term]


def in_panels(x, row):
    panel, lane = axis(16), axis(64)
    return (panel, lane), x[panel, row, lane]


@pytest.mark.parametrize(
    ("index", "shape", "apart", "near"),
    [(in_rows, (258, 1024), 6 * 1024, 2), (in_panels, (16, 258, 64), 258 * 64, 3)],
    ids=["the next tile", "the next panel"],
)
def test_what_a_tile_s_rows_read_next_is_asked_for_a_bit_a_term(index, shape, apart, near):
    """Six rows, one behind the other: 24 bytes a term, so that all is asked for at the end."""
    loop = loop_of_rows(index, Array("x", shape, "float32"), 258, "avx512")
    asked = [x for x in loop if "@llvm.prefetch" in x]
    assert len(asked) == 5  # four lines of what lanes read
    place = next(
        x.split("ptr ")[1].split(",")[0] for x in asked if f"i32 0, i32 {near}, i32 1" in x
    )
    (where,) = [x for x in loop if x.strip().startswith(f"{place} =")]
    assert where.endswith(f"i64 {apart}")
    assert any(" = mul i64 %i" in x and x.endswith(", 6") for x in loop)


@pytest.mark.parametrize(
    ("machine", "rows", "lines"),
    [("avx2", 258, 0), ("avx512", 60, 4)],
    ids=["narrow", "in a near cache"],
)
def test_rows_are_not_asked_for_where_that_takes_more_than_it_gives(machine, rows, lines):
    loop = loop_of_rows(in_rows, Array("x", (rows, 1024), "float32"), rows, machine)
    assert "".join(loop).count("@llvm.prefetch") == lines


@pytest.mark.parametrize(
    ("machine", "sizes", "asked"),
    [
        ("avx512", (24, 96, 64), False),
        ("avx512", (24, 128, 80), True),
        ("avx2", (24, 128, 80), False),
        ("avx512", (24, 512, 320), True),
        ("avx2", (24, 512, 320), True),
    ],
    ids=["nearest", "next", "next, parts of lines", "far", "far, parts of lines"],
)
def test_vectors_of_whole_lines_are_asked_for_into_the_nearest_cache(machine, sizes, asked):
    """What comes from the next cache is, too; parts of lines only where they come from afar."""
    text = product(*sizes, TARGETS[machine])
    assert ("@llvm.prefetch" in text) == asked
    kind = "i32 0, i32 3, i32 1" if machine == "avx512" else "i32 0, i32 2, i32 1"
    assert text.count(kind) == text.count("call void @llvm.prefetch")


def scanned(length):
    """The kernels of a layer whose rounds add a row of what was computed for all of them."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [16, length, 8])
        out, _ = paddle.nn.SimpleRNN(8, 64)(x)
    paddle.disable_static()
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(startup, scope=scope)
    feed = {"x": np.ones([16, length, 8], "float32")}
    found = recorded(exe, main, feed, [out], scope, True)
    return [k for region in found.code.regions for k in region.kernels]


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite has no wheel here")
@pytest.mark.parametrize(("length", "asked"), [(200, True), (20, False)], ids=["long", "short"])
def test_a_round_asks_for_its_row_of_what_fills_no_near_cache(length, asked):
    far = [k for k in scanned(length) if k.group.far]
    assert bool(far) == asked
    assert all("@llvm.prefetch" in k.text for k in far)
