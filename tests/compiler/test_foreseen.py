"""An array of which later statements want one function alone is stored as that."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull import lang, static
from scull.compiler.foreseen import with_foreseen
from scull.compiler.fuse import loads_of
from scull.compiler.trace import Statement
from scull.executor.compiled import Call
from scull.flags import flags
from scull.lang import axis
from scull.lang.body import Map
from scull.lang.expression import Array
from tests.ops.closeness import TOLERANCES


def array(name, *shape, dtype="float32"):
    return Array(name, shape, dtype)


def elementwise(out, value):
    """A statement whose elements `value` computes of their places."""
    axes = tuple(axis(n) for n in out.shape)
    return Statement(out, Map(axes, value(*axes)), "op")


X, MADE, OUT = array("x", 8, 6), array("made", 8, 6), array("out", 8, 6)
BACK, DX = array("back", 8, 6), array("dx", 8, 6)


def chance(x):
    return lang.erf(x) + 1.0


def statements(later, beside=lambda x: x * chance(x)):
    """A value, what is made of it at once, what comes back, and what is made of that `later`."""
    return [
        elementwise(MADE, lambda i, j: X[i, j] * 2.0),
        elementwise(OUT, lambda i, j: beside(MADE[i, j])),
        elementwise(BACK, lambda i, j: OUT[7 - i, j]),
        elementwise(DX, lambda i, j: BACK[i, j] * later(i, j)),
    ]


def slope(i, j):
    return chance(MADE[i, j]) + MADE[i, j] * lang.exp(-MADE[i, j] * MADE[i, j])


def read_last(given, kept=(DX,)):
    """The names of the arrays that the last statement reads then."""
    last = with_foreseen(given, kept)[-1]
    return sorted({load.array.name for load in loads_of(last.body)})


def test_a_slope_is_stored_in_place_of_what_it_is_made_of():
    found = with_foreseen(statements(slope), [DX])
    assert [s.out.name for s in found] == ["made", "made_foreseen", "out", "back", "dx"]
    assert sorted({x.array.name for x in loads_of(found[1].body)}) == ["made"]
    assert sorted({x.array.name for x in loads_of(found[-1].body)}) == ["back", "made_foreseen"]


def test_it_is_read_at_other_places_and_within_sums():
    def summed(i, j):
        k = axis(8)
        return lang.sum(slope(k, j) * BACK[k, j], k)

    assert read_last(statements(summed)) == ["back", "made_foreseen"]


@pytest.mark.parametrize(
    "later",
    [
        lambda i, j: lang.exp(MADE[i, j]),  # no part of it is computed at once
        lambda i, j: chance(MADE[i, j]) * X[i, j] * MADE[i, j],  # two functions of it
        lambda i, j: chance(MADE[i, j]) + MADE[7 - i, j],  # two elements of it
    ],
    ids=["nothing shared", "two functions", "two elements"],
)
def test_else_it_is_stored_itself(later):
    assert "made" in read_last(statements(later))


def test_what_is_wanted_in_more_bytes_stays_as_it_is():
    def wide(i, j):
        return chance(lang.cast(MADE[i, j], "float64")) * 2.0

    far = array("far", 8, 6, dtype="float64")
    given = [
        *statements(slope, lambda x: lang.cast(chance(lang.cast(x, "float64")), "float32"))[:-1],
        elementwise(far, lambda i, j: lang.cast(BACK[i, j], "float64") * wide(i, j)),
    ]
    assert read_last(given, [far]) == ["back", "made"]


def test_an_index_is_looked_at_where_it_is_used_alone():
    made, out, back, dx = (array(n, 8, 6, dtype="float64") for n in ("made", "out", "back", "dx"))
    half, table = array("half", 4, 6, dtype="float64"), array("table", 9, dtype="float64")

    def picked(i, j):
        return table[lang.within(lang.cast(lang.exp(made[i, j]), "int64"), 9)] * back[i, j]

    given = [
        elementwise(made, lambda i, j: dx[i, j] * 2.0),
        elementwise(out, lambda i, j: lang.exp(made[i, j])),
        elementwise(back, lambda i, j: out[7 - i, j]),
        elementwise(half, picked),
    ]
    assert read_last(given, [half]) == ["back", "made", "table"]


def test_axes_of_one_place_stand_anywhere():
    made, out, back, dx = (array(name, 1, 6) for name in ("made", "out", "back", "dx"))
    given = [
        elementwise(made, lambda i, j: X[i, j] * 2.0),
        elementwise(out, lambda i, j: chance(made[0, j])),
        elementwise(back, lambda i, j: out[i, 5 - j]),
        elementwise(dx, lambda i, j: back[i, j] * (chance(made[0, j]) + made[0, j])),
    ]
    assert read_last(given, [dx]) == ["back", "made_foreseen"]


def test_results_stay_as_they_are():
    assert read_last(statements(slope), [MADE, DX]) == ["back", "made"]


def test_what_is_read_later_only_stays_as_it_is():
    given = statements(slope)
    assert read_last([given[0], *given[2:]]) == ["back", "made"]


@pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel")
@pytest.mark.parametrize("function", [F.gelu, F.silu, F.mish])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_steps_with_activations_are_those_of_the_numpy_kernels(function, dtype):
    def build():
        x = static.data("x", [12, 20])
        hidden = static.nn.fc(x, 24)
        made = function(hidden.astype(dtype)).astype("float32")
        loss = paddle.mean(paddle.square(static.nn.fc(made, 5)))
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    feed = {"x": np.random.default_rng(3).normal(size=(12, 20)).astype("float32")}
    paddle.enable_static()
    found = []
    for mode in ("off", "eager"):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.utils.unique_name.guard():
            paddle.seed(5)
            loss = build()
        exe = static.Executor()
        with flags(COMPILE=mode), static.scope_guard(static.Scope()):
            exe.run(startup)
            found.append([exe.run(main, feed, [loss])[0] for _ in range(4)])
            tiers = [b.tier for b in main.plans.values() if b.tier]
            rows = [row for t in tiers for rows in t.variants.values() for row in rows]
            calls = [row[0] for row in rows if isinstance(row[0], Call)]
    paddle.disable_static()
    rtol, atol = TOLERANCES[dtype]
    np.testing.assert_allclose(*found, rtol=rtol, atol=atol)
    if function is F.gelu and dtype == "float32":
        written = [x.name for c in calls for g in c.native.region.groups for x in g.written]
        assert any(name.endswith("_foreseen") for name in written)
