"""Trees of statements, loops and branches: what is left, what leaves loops, who lies where."""

import importlib.util

import numpy as np
import pytest

from scull import lang
from scull.compiler.act import Clear, Demand, Read, Write
from scull.compiler.divide import divided
from scull.compiler.flow import (
    Branch,
    Carry,
    Choice,
    Loop,
    controls,
    hoisted,
    leaves,
    pruned,
    simplified,
)
from scull.compiler.home import homes_of
from scull.compiler.native import compile_region, region_of
from scull.compiler.trace import Statement
from scull.lang.body import Map
from scull.lang.expression import Array

needs_llvm = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def array(name, *shape, dtype="float32"):
    return Array(name, shape, dtype)


def statement(out, value):
    """A statement that says every element of `out`, as a function of its index."""
    axes = tuple(map(lang.axis, out.shape))
    return Statement(out, Map(axes, value(axes)), "test")


def counted(count=3):
    """A loop of rounds in which `h` doubles, `unused` grows, and `fixed` is the same in all."""
    h, first, new = array("h", 4), array("first", 4), array("new", 4)
    unused, zero, more = array("unused", 4), array("zero", 4), array("more", 4)
    fixed, x = array("fixed", 4), array("x", 4)
    body = (
        statement(fixed, lambda i: lang.exp(x[i])),
        statement(new, lambda i: h[i] * 2.0 + fixed[i]),
        statement(more, lambda i: unused[i] + 1.0),
    )
    carries = (Carry(h, first, new), Carry(unused, zero, more))
    return Loop("test", carries, body, count=count), x, first, zero, h


def names(nodes):
    return [s.out.name for s in leaves(nodes)]


def test_lists_are_written_only_where_a_later_round_or_somebody_after_it_reads():
    loop, *_, h = counted()
    place, other = (array(n, 1, dtype="int64") for n in ("place", "other"))
    at, there, kept = (
        array("at", 1, dtype="int64"),
        array("there", 1, dtype="bool"),
        array("kept", 4),
    )
    total, before, after = (array(n, 4) for n in ("total", "before", "after"))
    inner = [
        Read("test", place, at, kept, there),
        statement(after, lambda i: total[i] + kept[i]),
        Write("test", place, at, h),
        Write("test", other, at, h),
    ]
    carries = (*loop.carries, Carry(total, before, after))
    nodes = [Clear("test", place), Clear("test", other)]
    nodes.append(Loop("test", carries, (*loop.body, *inner), count=3))

    def kinds(wanted):
        return [type(x) for x in controls(pruned(nodes, {wanted}))]

    assert kinds(total) == [Clear, Loop, Read, Write]
    assert kinds(other) == [Clear, Loop, Write]
    assert kinds(h) == [Loop]


def test_what_is_carried_for_nobody_is_left_out():
    loop, _, _, _, h = counted()
    (kept,) = pruned([loop], {h})
    assert [c.now.name for c in kept.carries] == ["h"] and names([kept]) == ["fixed", "new"]
    assert pruned([loop], set()) == []


def test_what_is_equal_in_all_rounds_is_computed_before_the_loop():
    first, loop = hoisted([counted()[0]])
    assert first.out.name == "fixed" and names([loop]) == ["new", "more"]


def test_what_a_round_leaves_is_not_computed_elsewhere_though_it_were_equal():
    h, x, new = array("h", 4), array("x", 4), array("new", 4)
    body = (statement(new, lambda i: x[i] + 1.0),)
    (loop,) = hoisted([Loop("test", (Carry(h, x, new),), body, count=2)])
    assert names([loop]) == ["new"]


@needs_llvm
@pytest.mark.parametrize("count", [1, 2, 5])
def test_rounds_compute_what_they_say(count):
    loop, x, first, zero, h = counted(count)
    out = array("out", 4)
    nodes = simplified([loop, statement(out, lambda i: h[i])], [out])
    region = region_of(nodes, [x, first], [out])
    values = [np.array(v, np.float32) for v in ([0, 1, 2, -1], [1, 2, 3, 4])]
    found = np.empty(4, np.float32)
    compile_region(region)(values, [found])
    want = values[1]
    for _ in range(count):
        want = want * 2 + np.exp(values[0])
    np.testing.assert_allclose(found, want, rtol=1e-6)
    assert zero not in region.arena.blocks


def test_a_value_lies_over_itself_unless_others_read_it_still():
    places = []
    for where in (lambda i: i, lambda i: (i[0] + 1) % 4):
        h, x, new, out = (array(n, 4) for n in ("h", "x", "new", "out"))
        body = (statement(new, lambda i, h=h, where=where: h[where(i)] * 2.0),)
        loop = Loop("test", (Carry(h, x, new),), body, count=2)
        region = region_of([loop, statement(out, lambda i, h=h: h[i])], [x], [out])
        places.append(len(homes_of(region.nodes).places[h]))
    assert places == [1, 2]


@needs_llvm
@pytest.mark.parametrize("holds", [True, False])
def test_a_branch_computes_one_side_and_a_demand_ends_the_run(holds):
    x, test = array("x", 3), array("test", 1, dtype="bool")
    left, right, chosen, out = (array(n, 3) for n in ("left", "right", "chosen", "out"))
    then = (statement(left, lambda i: x[i] + 1.0),)
    otherwise = (Demand("test", test), statement(right, lambda i: x[i] - 1.0))
    branch = Branch("test", test, (Choice(chosen, left, right),), then, otherwise)
    nodes = simplified([branch, statement(out, lambda i: chosen[i])], [out])
    code = compile_region(region_of(nodes, [x, test], [out]))
    given, found = np.arange(3, dtype=np.float32), np.full(3, 7, np.float32)
    code([given, np.array([holds])], [found])
    assert found.tolist() == ([1, 2, 3] if holds else [7, 7, 7])


def test_axes_told_by_quotient_and_remainder_are_two():
    x, y, out = array("x", 3, 4), array("y", 4, 3), array("out")
    k = lang.axis(12)
    product = lang.sum(x[k // 4, k % 4] * y[k % 4, k // 4], over=k)
    (found,) = divided([Statement(out, Map((), product), "test")])
    assert [axis.size for axis in found.body.value.axes] == [3, 4]
    bare = lang.sum(x[k // 4, k % 4] * lang.cast(k, "float32"), over=k)
    (same,) = divided([Statement(out, Map((), bare), "test")])
    assert same.body.value is bare


def test_weights_that_never_change_are_laid_out_even_for_few_rows():
    x, w, out = array("x", 3, 40), array("w", 48, 40), array("out", 3, 48)
    i, j, k = lang.axis(3), lang.axis(48), lang.axis(40)
    product = Statement(out, Map((i, j), lang.sum(x[i, k] * w[j, k], over=k)), "matmul")
    assert len(region_of([product], [x, w], [out], fixed=[w]).once) == 1
    assert len(region_of([product], [x, w], [out]).groups) == 1
