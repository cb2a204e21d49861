"""Rows of a kernel lie where rows lie that nothing reads any more."""

import numpy as np
import pytest

import scull as paddle
from scull import lang
from scull.compiler.fuse import fused
from scull.compiler.group import grouped
from scull.compiler.reuse import with_rows_shared
from scull.compiler.split import rows_of
from scull.compiler.trace import Statement
from scull.flags import flags
from scull.lang import axis
from scull.lang.body import Map
from scull.lang.expression import Array


@pytest.fixture
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def array(name, *shape, dtype="float32"):
    return Array(name, shape, dtype)


def elementwise(out, value):
    """A statement whose elements `value` computes of their places."""
    axes = tuple(axis(n) for n in out.shape)
    return Statement(out, Map(axes, value(*axes)), "op")


X, OUT = array("x", 6, 40), array("out", 6, 40)


def placed(*statements):
    """The rows of one kernel, and over which rows others lie."""
    (group,) = map(with_rows_shared, grouped(fused(statements, [OUT]), [OUT]))
    over = {row.name: home.name for row, home in group.over.items()}
    assert {x.name for x in rows_of(group)} == {x.name for x in group.local if x.size > 1} - {*over}
    return over


def softmax(dtype="float32"):
    """Normalised exponentials of squares, both of which are rows."""
    y, z = array("y", 6, 40), array("z", 6, 40, dtype=dtype)
    top, total = array("top", 6), array("total", 6)
    k = axis(40)

    def lifted(i, j):
        return lang.cast(lang.exp(y[i, j] - top[i]), dtype)

    return [
        elementwise(y, lambda i, j: lang.exp(lang.tanh(X[i, j]) * X[i, j])),
        elementwise(top, lambda i: lang.max(y[i, k], k)),
        elementwise(z, lifted),
        elementwise(total, lambda i: lang.sum(lang.cast(z[i, k], "float32"), k)),
        elementwise(OUT, lambda i, j: lang.cast(z[i, j], "float32") / total[i]),
    ]


def test_a_row_lies_where_what_it_is_made_of_is_read_for_the_last_time():
    assert placed(*softmax()) == {"z": "y"}


def test_elements_of_another_size_lie_elsewhere():
    assert placed(*softmax("float64")) == {}


def test_what_is_read_at_other_places_stays():
    first, top, _, *rest = softmax()
    y, z = array("y", 6, 40), array("z", 6, 40)
    turned = elementwise(z, lambda i, j: lang.exp(y[i, 39 - j] - top.out[i]))
    assert placed(first, top, turned, *rest) == {}


def test_what_a_later_stage_reads_stays():
    *before, last = softmax()
    y, z, total = before[0].out, before[2].out, before[3].out
    assert placed(*before, elementwise(OUT, lambda i, j: z[i, j] / total[i] + y[i, j])) == {}
    assert placed(*before, last) == {"z": "y"}


def test_what_was_read_before_makes_place_for_any_row():
    """Its greatest and its least are all that is left of the first row."""
    first, top, _, *rest = softmax()
    low, z, k = array("low", 6), array("z", 6, 40), axis(40)
    least = elementwise(low, lambda i: lang.min(first.out[i, k] * top.out[i], k))
    apart = elementwise(z, lambda i, j: lang.exp(lang.tanh(X[i, 39 - j]) * low[i]))
    assert placed(first, top, least, apart, *rest) == {"z": "y"}


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("width", [7, 96, 130])
def test_norm_and_softmax_over_the_same_row_give_the_same(width):
    x, y = np.random.default_rng(0).standard_normal((2, 40, width)).astype("float32")
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        given = [paddle.static.data(name, [40, width]) for name in "xy"]
        lifted = paddle.nn.functional.gelu(given[0]) + given[1]
        out = paddle.nn.functional.softmax(paddle.nn.functional.layer_norm(lifted, [width]))
    found = []
    for mode in ("off", "eager"):
        with flags(COMPILE=mode):
            found += paddle.static.Executor().run(main, {"x": x, "y": y}, [out])
    np.testing.assert_allclose(found[1], found[0], 2e-6, 1e-8)
