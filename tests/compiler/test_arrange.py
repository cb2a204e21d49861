"""In which order the axes of a product lie: lanes along the axis for which least is copied."""

import pytest

from scull.compiler.affine import Positions
from scull.compiler.arrange import arranged, lane_axis
from scull.compiler.trace import Statement
from scull.lang import axis, cast, random_half, sum
from scull.lang.body import Map
from scull.lang.expression import Array


def gradient(terms, rows, columns):
    """The gradient of a weight [rows, columns], and an update that reads it."""
    x, dout, w, made, out = (
        Array(name, shape, "float32")
        for name, shape in [
            ("x", (terms, columns)),
            ("dout", (terms, rows)),
            ("w", (rows, columns)),
            ("made", (rows, columns)),
            ("out", (rows, columns)),
        ]
    )
    i, j, k = axis(rows), axis(columns), axis(terms)
    product = Statement(made, Map((i, j), sum(dout[k, i] * x[k, j], k)), "matmul_v2_grad")
    m, n = axis(rows), axis(columns)
    return [product, Statement(out, Map((m, n), w[m, n] - made[m, n]), "sgd")], out


@pytest.mark.parametrize(
    ("sizes", "turned"),
    [
        ((2048, 512, 64), True),  # all of dout would be copied for 64 columns
        ((2048, 64, 512), False),
        ((2048, 128, 128), False),  # its terms lie near: nothing is copied
        ((32, 512, 64), False),  # to turn the result costs more than the copy
    ],
    ids=["narrow", "wide", "near", "few terms"],
)
def test_a_long_sum_has_its_lanes_where_the_larger_operand_needs_no_copy(sizes, turned):
    statements, out = gradient(*sizes)
    first, _ = arranged(statements, [out])
    assert first.out.shape == (sizes[:0:-1] if turned else sizes[1:])


def test_an_image_has_its_lanes_along_channels_whatever_would_be_copied():
    x, w = Array("x", (2, 9, 9, 64), "float32"), Array("w", (3, 3, 64, 32), "float32")
    n, i, j, c = (axis(s) for s in (2, 7, 7, 32))
    a, b, k = axis(3), axis(3), axis(64)
    body = Map((n, i, j, c), sum(x[n, i + a, j + b, k] * w[a, b, k, c], (a, b, k)))
    assert lane_axis(body, Positions()) is c


@pytest.mark.parametrize("shape", [(2, 9, 4, 32), (2, 4, 9, 32)])
def test_what_both_operands_vary_with_comes_before_what_one_does(shape):
    places = {2: "batch", 4: "head", 9: "row", 32: "column"}
    x, y = Array("x", (2, 4, 9, 16), "float32"), Array("y", (2, 4, 16, 32), "float32")
    made, out = Array("made", shape, "float32"), Array("out", shape, "float32")
    axes = tuple(axis(s) for s in shape)
    at = {places[a.size]: a for a in axes}
    k, lead = axis(16), (at["batch"], at["head"])
    product = Map(axes, sum(x[(*lead, at["row"], k)] * y[(*lead, k, at["column"])], k))
    others = tuple(axis(s) for s in shape)
    read = Statement(out, Map(others, made[others] + 1.0), "add")
    first, second = arranged([Statement(made, product, "matmul_v2"), read], [out])
    assert [a.size for a in first.body.axes] == [2, 4, 9, 32]
    assert first.out.shape == (2, 4, 9, 32)
    assert second.out.shape == shape


@pytest.mark.parametrize(("many", "turned"), [(16, False), (4096, True)])
def test_random_words_lie_as_they_follow_each_other_unless_a_product_loses_more(many, turned):
    key, w = Array("key", (2,), "uint64"), Array("w", (many, 8), "float32")
    drawn, out = Array("drawn", (64, 8), "float32"), Array("out", (many, 64), "float32")
    i, k = axis(64), axis(8)
    half = cast(cast(random_half((key[0], key[1]), i * 8 + k), "int32"), "float32")
    o, j, n = axis(many), axis(64), axis(8)
    product = Map((o, j), sum(w[o, n] * drawn[j, n], n))  # whose lanes had better lie along j
    statements = [Statement(drawn, Map((i, k), half), "dropout"), Statement(out, product, "matmul")]
    first, _ = arranged(statements, [out])
    assert first.out.shape == ((8, 64) if turned else (64, 8))


def test_who_needs_an_axis_decides_where_others_could_do_with_several():
    """Products of as many channels as places fill lanes, and filters of each channel in steps."""
    arrays = {"x": (2, 64, 64, 64), "w": (64, 64), "v": (64, 64), "k": (64, 3, 3)}
    x, w, v, k = (Array(name, shape, "float32") for name, shape in arrays.items())
    made, more = (Array(name, x.shape, "float32") for name in ("made", "more"))
    out = Array("out", (2, 64, 31, 31), "float32")
    n, c, i, j, m = (axis(s) for s in (*x.shape, 64))
    product = Map((n, c, i, j), sum(x[n, m, i, j] * w[c, m], m))
    again = Map((n, c, i, j), sum(made[n, m, i, j] * v[c, m], m))
    b, d, p, q, r, s = (axis(size) for size in (*out.shape, 3, 3))
    filtered = Map((b, d, p, q), sum(made[b, d, 2 * p + r, 2 * q + s] * k[d, r, s], (r, s)))
    statements = [
        Statement(made, product, "conv2d"),
        Statement(more, again, "conv2d"),
        Statement(out, filtered, "depthwise_conv2d"),
    ]
    first, *_ = arranged(statements, [out, more])
    assert first.body.axes == (n, i, j, c)


def test_axes_that_run_together_are_in_no_order_of_theirs():
    """Scores added to themselves turned: rows and columns are one class of axes."""
    x, y = (Array(name, (2, 16, 4, 8), "float32") for name in "xy")
    scores, out = (Array(name, (2, 16, 4, 16), "float32") for name in ("scores", "out"))
    each, z = Array("each", (2, 16, 4), "float32"), Array("z", (2, 16, 4), "float32")
    b, m, h, n, k = (axis(s) for s in (2, 16, 4, 16, 8))
    both = (scores[b, m, h, n] + scores[b, n, h, m]) * each[b, m, h]
    statements = [
        Statement(scores, Map((b, m, h, n), sum(x[b, m, h, k] * y[b, n, h, k], k)), "einsum"),
        Statement(each, Map((b, m, h), z[b, m, h] * 2.0), "scale"),
        Statement(out, Map((b, m, h, n), both), "add"),
    ]
    for found in arranged(statements, [out]):
        assert len(set(found.body.axes)) == len(found.body.axes) == found.out.ndim
        assert tuple(a.size for a in found.body.axes) == found.out.shape


def test_terms_lie_next_to_the_lanes_of_what_they_are_read_of_where_the_batch_is_last():
    """Twenty channels fill lanes badly, 64 images do; their channels would lie far apart then."""
    x, w = Array("x", (64, 20, 12, 12), "float32"), Array("w", (50, 20, 5, 5), "float32")
    before, made, out = (
        Array(name, shape, "float32")
        for name, shape in [
            ("before", (64, 20, 12, 12)),
            ("made", (64, 50, 8, 8)),
            ("out", (64, 50, 8, 8)),
        ]
    )
    first = tuple(axis(s) for s in before.shape)
    n, o, i, j = (axis(s) for s in made.shape)
    k, a, b = axis(20), axis(5), axis(5)
    body = Map((n, o, i, j), sum(before[n, k, i + a, j + b] * w[o, k, a, b], (k, a, b)))
    last = tuple(axis(s) for s in out.shape)
    statements = [
        Statement(before, Map(first, x[first] + 1.0), "scale"),
        Statement(made, body, "conv2d"),
        Statement(out, Map(last, made[last] * 2.0), "scale"),
    ]
    found = arranged(statements, [out])
    assert found[0].out.shape == (12, 12, 20, 64)
