"""What products read in panels is made in panels: no copy is left, and results are the same."""

import importlib.util
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull import lang
from scull.compiler import flow, panel, settle
from scull.compiler.decision import observed
from scull.compiler.native import region_of
from scull.compiler.trace import Statement
from scull.flags import flags
from scull.lang.body import Map, Scatter
from scull.lang.expression import Array
from scull.nn import functional as F
from tests.ops.closeness import check_close

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
ROWS, TERMS, MIDDLE = 512, 256, 1024


def product(name, x, y, turned=""):
    """A product of matrices; the first may lie transposed."""
    terms, rows = x.shape if turned else x.shape[::-1]
    i, j, k = lang.axis(rows), lang.axis(y.shape[1]), lang.axis(terms)
    left = x[k, i] if turned else x[i, k]
    out = Array(name, (rows, y.shape[1]), "float32")
    return Statement(out, Map((i, j), lang.sum(left * y[k, j], over=k)), "matmul")


def layers(rows=ROWS, middle=MIDDLE, columns=64):
    """A product, its relu, a product of that, and the gradient of the second weight."""
    x, v, w, dout = (
        Array(name, shape, "float32")
        for name, shape in [
            ("x", (rows, TERMS)),
            ("v", (TERMS, middle)),
            ("w", (middle, columns)),
            ("dout", (rows, columns)),
        ]
    )
    h = product("h", x, v)
    a, i, j = Array("a", h.out.shape, "float32"), lang.axis(rows), lang.axis(middle)
    relu = Statement(a, Map((i, j), lang.maximum(h.out[i, j], 0.0)), "relu")
    found = [h, relu, product("out", a, w), product("dw", a, dout, "turned")]
    return found, [x, v, w, dout]


def shapes_of(statements, inputs, outputs):
    """The shapes of what the kernels of statements write, by name."""
    region = region_of(statements, inputs, outputs)
    return {array.name: array.shape for group in region.groups for array in group.written}


def copies_in(shapes, rows=ROWS, middle=MIDDLE):
    """The copies of what lies between the layers."""
    return [x for name, x in shapes.items() if name.startswith("p") and prod(x) == rows * middle]


@pytest.mark.parametrize("columns", [64, 256], ids=["of lanes", "of rows"])
def test_what_two_products_read_is_made_in_panels(columns, machine):
    machine("avx512")
    statements, inputs = layers(columns=columns)
    with observed() as decisions:
        shapes = shapes_of(statements, inputs, [s.out for s in statements[2:]])
    assert shapes["a"] == (MIDDLE // 64, ROWS, 64)
    assert not copies_in(shapes)
    (made,) = [d for d in decisions() if d.why == "made so where it comes about"]
    assert made.other == ("dw_turned" if columns == 64 else "dw")


@pytest.mark.parametrize("level", ["avx2", "generic"])
def test_narrow_panels_are_too_few_terms_for_a_loop(level, machine):
    machine(level)
    statements, inputs = layers()
    shapes = shapes_of(statements, inputs, [s.out for s in statements[2:]])
    assert shapes["a"] == (ROWS, MIDDLE)


def turned(array):
    i, j = map(lang.axis, array.shape)
    return Statement(
        Array("more", (array.shape[1], array.shape[0]), "float32"),
        Map((j, i), array[i, j] + 1.0),
        "add",
    )


def shifted(array):
    i, j = lang.axis(array.shape[0]), lang.axis(array.shape[1] - 1)
    out = Array("more", (array.shape[0], array.shape[1] - 1), "float32")
    return Statement(out, Map((i, j), lang.sum(array[i, j + 1], over=i)), "slice")


def summed(array):
    i, j = map(lang.axis, array.shape)
    out = Array("more", (array.shape[0],), "float32")
    return Statement(out, Map((i,), lang.sum(array[i, j], over=j)), "sum")


@pytest.mark.parametrize("reader", [turned, shifted, summed])
def test_what_is_read_otherwise_is_copied(reader, machine):
    machine("avx512")
    statements, inputs = layers()
    more = reader(statements[1].out)
    outputs = [more.out, *(s.out for s in statements[2:])]
    shapes = shapes_of([*statements, more], inputs, outputs)
    assert shapes["a"] == (ROWS, MIDDLE)
    assert len(copies_in(shapes)) == 1


@pytest.mark.parametrize("sizes", [(ROWS, 960), (256, MIDDLE)], ids=["columns", "rows"])
def test_what_a_part_is_taken_of_is_copied(sizes, machine):
    machine("avx512")
    statements, inputs = layers()
    a = statements[1].out
    (i, j), (k, n) = map(lang.axis, sizes), map(lang.axis, sizes)
    part, more = Array("part", sizes, "float32"), Array("more", sizes[1:], "float32")
    parts = [
        Statement(part, Map((i, j), a[i, j] * 2.0), "slice"),
        Statement(more, Map((n,), lang.sum(part[k, n], over=k)), "sum"),
    ]
    outputs = [more, *(s.out for s in statements[2:])]
    shapes = shapes_of([*statements, *parts], inputs, outputs)
    assert shapes["a"] == (ROWS, MIDDLE)


def turned_and_cut(reader):
    """A product, a copy of it turned, what reads that, and panels of the product."""
    x, v = Array("x", (ROWS, TERMS), "float32"), Array("v", (TERMS, MIDDLE), "float32")
    h, (i, j) = product("h", x, v), (lang.axis(ROWS), lang.axis(MIDDLE))
    t = Statement(Array("t", (MIDDLE, ROWS), "float32"), Map((j, i), h.out[i, j]), "transpose")
    (panels, i, lane), size = map(lang.axis, (MIDDLE // 64, ROWS, 64)), (MIDDLE // 64, ROWS, 64)
    cut = Map((panels, i, lane), h.out[i, panels * 64 + lane])
    more = reader(t.out)
    found = [h, t, more, Statement(Array("p", size, "float32"), cut, "copy")]
    return {s.out.name: s for s in settle.settled(found, {more.out})}


def test_a_copy_may_be_read_in_part(machine):
    def some(t):
        k, i = lang.axis(1000), lang.axis(ROWS)
        out = Array("more", (ROWS,), "float32")
        return Statement(out, Map((i,), lang.sum(t[k, i] * 2.0, over=k)), "sum")

    machine("avx512")
    made = turned_and_cut(some)
    assert made["h"].out.shape == (MIDDLE // 64, ROWS, 64)
    assert prod(x.size for x in made["more"].body.value.axes) == 1000


def test_a_copy_that_is_added_to_places_stays(machine):
    def added(t):
        j, i, out = lang.axis(MIDDLE), lang.axis(ROWS), Array("more", (10, ROWS), "float32")
        return Statement(out, Scatter((10, ROWS), (j % 10, i), t[j, i], (j, i)), "scatter")

    machine("avx512")
    assert "t" in turned_and_cut(added)


def test_what_others_see_is_copied(machine):
    machine("avx512")
    statements, inputs = layers()
    shapes = shapes_of(statements, inputs, [s.out for s in statements[1:]])
    assert shapes["a"] == (ROWS, MIDDLE)
    assert len(copies_in(shapes)) == 1


def test_what_is_small_is_copied(machine):
    machine("avx512")
    statements, inputs = layers(rows=64)
    shapes = shapes_of(statements, inputs, [s.out for s in statements[2:]])
    assert shapes["a"] == (64, MIDDLE)


ACTS = {"relu": F.relu, "gelu": F.gelu, "tanh": paddle.tanh, "none": lambda x: x}
BETWEEN = {
    "nothing": lambda x: x,
    "columns": lambda x: x[..., :16],
    "rows": lambda x: x[..., 1:, :],
    "norm": lambda x: F.layer_norm(x, x.shape[-1]),
    "softmax": F.softmax,
    "twice": lambda x: paddle.concat([x, x * 2.0], axis=-1),
    "beside": lambda x: x + paddle.nn.Linear(x.shape[-1], x.shape[-1])(x),
    "flat": lambda x: x.reshape([-1, 16]),
    "scores": lambda x: paddle.matmul(x, x, transpose_y=True),
    "summed": lambda x: x * paddle.mean(x, axis=-1, keepdim=True),
    "shifted": lambda x: x + paddle.roll(x, 1, axis=-1),
}


def network(layers, shape):
    """A few layers, with something between them, and an update of their weights."""
    x = paddle.static.data("x", shape)
    for size, act, between in layers:
        x = BETWEEN[between](ACTS[act](paddle.nn.Linear(x.shape[-1], size)(x)))
    loss = paddle.mean(x * x)
    paddle.optimizer.Momentum(0.1).minimize(loss)
    return loss


def run_of(build, feed):
    """The losses of three steps, and the values that are left."""
    paddle.seed(3)
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
            loss = build()
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        with paddle.static.scope_guard(scope), flags(COMPILE="eager"):
            exe.run(startup)
            losses = [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)]
        return [*losses, *(np.array(c.value) for _, c in sorted(scope.cells.items()))]
    finally:
        paddle.disable_static()


def both(patch, layers, shape):
    """What a network gives in panels of 16 columns, and without; how many copies were left out."""
    feed = {"x": np.random.default_rng(0).standard_normal(shape).astype("float32")}
    gone, forms = [], settle._Plan.forms

    def noted(plan):
        found = forms(plan)
        gone.extend(found[1])
        return found

    for module in (panel, settle):
        patch.setattr(module, "width", lambda: 16)
    for name in ("ROWS", "NEAREST"):
        patch.setattr(panel, name, 1)
    patch.setattr(settle, "LEAST", 16)
    patch.setattr(settle, "LARGE", 0)
    patch.setattr(settle._Plan, "forms", noted)
    found = run_of(lambda: network(layers, shape), feed)
    patch.setattr(flow, "settled", lambda statements, kept: statements)
    return found, run_of(lambda: network(layers, shape), feed), len(gone)


@pytest.mark.parametrize(
    ("between", "least"), [("nothing", 4), ("twice", 2), ("columns", 1), ("norm", 1)]
)
def test_a_network_in_panels_has_the_same_bits(between, least, monkeypatch):
    layers = [(64, "relu", between), (48, "none", "nothing"), (80, "gelu", "nothing")]
    found, want, gone = both(monkeypatch, layers, [3, 32, 17])
    assert gone >= least
    for x, y in zip(found, want, strict=True):
        np.testing.assert_array_equal(x, y)


layer = st.tuples(
    st.sampled_from([32, 48, 64, 80]),
    st.sampled_from(list(ACTS)),
    st.sampled_from(list(BETWEEN)),
)


@given(st.lists(layer, min_size=2, max_size=3), st.sampled_from([[40, 24], [3, 32, 17]]))
@settings(max_examples=20, deadline=None)
def test_any_network_in_panels_gives_the_same(layers, shape):
    """Sums along lanes may have another order, so bits may differ."""
    with pytest.MonkeyPatch.context() as patch:
        found, want, _ = both(patch, layers, shape)
    check_close(found, want, "the network in panels")
