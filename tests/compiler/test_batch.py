"""What is said of one row of a batch is the same for every size of it, or refused with a reason."""

import pytest

from scull import lang
from scull.compiler.batch import Batch, said, widths
from scull.compiler.trace import Statement
from scull.errors import UnsupportedError
from scull.lang.body import Map, Scatter
from scull.lang.expression import Array, cast, guarded

COUNTS = (5, 1009)


def batch(make, count, *shape):
    """A region of what `make` gives of one input [count, *shape]: an array's axes and its value."""
    x = Array("x", (count, *shape), "float32")
    nodes, made = [], x
    for n, (axes, value) in enumerate(make(x)):
        made = Array(f"t{n}", tuple(a.size for a in axes), value.dtype)
        nodes.append(Statement(made, Map(tuple(axes), value), "op"))
    return Batch(count, [x], nodes)


def proved(make, *shape, other=None):
    """The widths of its arrays; the text is the same for few rows, for one and for many."""
    one, many = (batch(make, count, *shape) for count in COUNTS)
    wide = widths(one, many)
    texts = [said(batch(make, n, *shape), wide, one) for n in (*COUNTS, 1, 2, 8)]
    assert all(text == texts[0] for text in texts)
    return wide


def axes_of(*sizes):
    return [lang.axis(n) for n in sizes]


def test_elements_of_the_same_row_are_read():
    def make(x):
        i, j = axes_of(x.shape[0], 6)
        yield (i, j), x[i, 5 - j] * 2.0

    assert proved(make, 6) == [1, 1]


def test_rows_may_be_spread_over_several_positions_and_back():
    def make(x):
        n = x.shape[0]
        i, j = axes_of(3 * n, 2)
        flat = i * 2 + j
        yield (i, j), x[flat // 6, flat % 6] + 1.0
        t = Array("t0", (3 * n, 2), "float32")
        a, b, c = axes_of(n, 2, 3)
        flat = a * 6 + b * 3 + c
        yield (a, b, c), t[flat // 2, flat % 2]

    assert proved(make, 6) == [1, 3, 1]


def test_sums_within_a_row_and_conditions_that_always_hold_are_no_harm():
    def make(x):
        n = x.shape[0]
        i, k = axes_of(n, 6)
        value = guarded((i >= 0) & (i < n), x[i, k], 0.0)
        yield (i,), lang.sum(value, over=k)

    assert proved(make, 6) == [1, 1]


def test_what_is_read_by_an_index_of_the_row_is_its_own():
    def make(x):
        i, j = axes_of(x.shape[0], 4)
        yield (i, j), cast(x[i, j], "int64") % 4
        places = Array("t0", (x.shape[0], 4), "int64")
        i, j = axes_of(x.shape[0], 4)
        yield (i, j), guarded(places[i, j] >= 0, x[i, places[i, j]], 0.0)

    assert proved(make, 4) == [1, 1, 1]


def shifted(x):
    i, j = axes_of(x.shape[0], 4)
    yield (i, j), guarded(i > 0, x[i - 1, j], 0.0)


def reversed_rows(x):
    i, j = axes_of(x.shape[0], 4)
    yield (i, j), x[x.shape[0] - 1 - i, j]


def numbered(x):
    i, j = axes_of(x.shape[0], 4)
    yield (i, j), x[i, j] + cast(i, "float32")


def beyond_twenty(x):
    i, j = axes_of(x.shape[0], 4)
    yield (i, j), lang.select(i < 20, x[i, j], 0.0)


def cut_off(x):
    i, j = axes_of(min(x.shape[0], 20), 4)
    yield (i, j), x[i, j]


def summed(x):
    (j,), k = axes_of(4), lang.axis(x.shape[0])
    yield (j,), lang.sum(x[k, j], over=k)


def divided(x):
    i, j = axes_of(x.shape[0], 4)
    yield (i, j), x[i, j] / float(x.shape[0])


def turned(x):
    i, j = axes_of(4, x.shape[0])
    yield (i, j), x[j, i]


def across(x):
    i, j = axes_of(x.shape[0] * 2, 2)
    flat = (i * 2 + j + 1) % (x.shape[0] * 4)
    yield (i, j), x[flat // 4, flat % 4]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (shifted, "reads other rows|depends on the place"),
        (reversed_rows, "reads other rows"),
        (numbered, "depends on the place"),
        (beyond_twenty, "depends on the place"),
        (cut_off, "not so many positions"),
        (summed, "reads the whole batch"),
        (divided, "differ"),
        (turned, "not so many positions"),
        (across, "reads other rows"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_tells_rows_apart_or_mixes_them_is_refused(make, reason):
    one, many = (batch(make, count, 4) for count in COUNTS)
    with pytest.raises(UnsupportedError, match=reason):
        wide = widths(one, many)
        texts = said(one, wide, one), said(many, wide, one)
        if texts[0] != texts[1]:
            raise UnsupportedError("the texts differ")


def test_what_is_written_by_an_index_is_refused():
    def scattered(count):
        x, out = Array("x", (count,), "float32"), Array("out", (count,), "float32")
        (k,) = axes_of(count)
        body = Scatter((count,), (k,), x[k], (k,))
        return Batch(count, [x], [Statement(out, body, "scatter")])

    one, many = map(scattered, COUNTS)
    with pytest.raises(UnsupportedError, match="writes where an index says"):
        said(one, widths(one, many), one)
