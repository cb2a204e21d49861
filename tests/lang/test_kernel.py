"""Tracing, the text of kernels, and the proof that they read within their arrays."""

import pytest

from scull import lang
from scull.errors import DtypeError, RangeError, ShapeError, UnknownSizeError
from tests.lang.samples import meta


def matmul_at(index, x, y, transpose_x, transpose_y):
    *batch, m, n = index
    k = lang.axis(x.shape[-2 if transpose_x else -1])
    a = x[*batch, k, m] if transpose_x else x[*batch, m, k]
    b = y[*batch, n, k] if transpose_y else y[*batch, k, n]
    return lang.sum(a * b, over=k)


def window_max_at(index, x):
    n, c, row, column = index
    i, j = lang.axis(3), lang.axis(3)
    spot = (n, c, row * 2 + i - 1, column * 2 + j - 1)
    return lang.max(lang.padded(x, spot, float("-inf")), over=(i, j))


def softmax_at(index, x):
    i, j = index
    k = lang.axis(x.shape[1])
    greatest = lang.max(x[i, k], over=k)
    total = lang.sum(lang.exp(x[i, k] - greatest), over=k)
    return lang.exp(x[i, j] - greatest) / total


def embedding_grad_at(index, ids, dout, rows):
    i, j = lang.axis(ids.shape[0]), lang.axis(dout.shape[1])
    return lang.scatter_add((rows, dout.shape[1]), (ids[i], j), dout[i, j], over=(i, j))


def test_the_text_of_matmul(golden):
    attrs = {"transpose_x": False, "transpose_y": True}
    kernel = lang.trace(matmul_at, [meta(2, 4, 8), meta(2, 5, 8)], [meta(2, 4, 5)], attrs)
    assert str(kernel) == golden


def test_the_text_of_a_broadcast_add(golden):
    kernel = lang.trace(
        lambda index, x, y: lang.at(x, index) + lang.at(y, index),
        [meta(4, 1, 3), meta(5, 1)],
        [meta(4, 5, 3)],
        name="add",
    )
    assert str(kernel) == golden


def test_the_text_of_a_padded_window_maximum(golden):
    kernel = lang.trace(window_max_at, [meta(1, 2, 8, 8)], [meta(1, 2, 4, 4)])
    assert str(kernel) == golden


def test_the_text_of_a_shared_value_and_a_scatter(golden):
    ids = meta(7, dtype="int64")
    kernels = [
        lang.trace(softmax_at, [meta(2, 8)], [meta(2, 8)]),
        lang.trace(embedding_grad_at, [ids, meta(7, 3)], [meta(10, 3)], {"rows": 10}),
        lang.trace(
            embedding_grad_at,
            [ids, meta(7, 3, dtype="bfloat16")],
            [meta(10, 3, dtype="bfloat16")],
            {"rows": 10},
        ),
    ]
    assert "\n".join(map(str, kernels)) == golden


def test_the_same_lowering_gives_the_same_text():
    texts = {str(lang.trace(softmax_at, [meta(2, 8)], [meta(2, 8)])) for _ in range(3)}
    assert len(texts) == 1


def test_texts_bind_as_python_does():
    def lower(index, x, y):
        a, b = x[index], y[index]
        return (a - (b - a)) * b / (a * b) + -(a ** (b**a)) - (a**b) ** b

    text = str(lang.trace(lower, [meta(), meta()], [meta()]))
    assert "(x[] - (y[] - x[])) * y[] / (x[] * y[])" in text
    assert "negative(x[] ** (y[] ** x[]))" in text
    assert "(x[] ** y[]) ** y[]" in text


def test_several_outputs_have_an_index_each_and_share_axes_of_one_shape():
    def lower(index, x):
        (i, j), (m, n), (k,) = index
        assert (i, j) == (m, n)
        over = lang.axis(3)
        return x[i, j], -x[m, n], lang.sum(x[over, k], over=over)

    kernel = lang.trace(lower, [meta(3, 4)], [meta(3, 4), meta(3, 4), meta(4)])
    assert [out.name for out in kernel.outputs] == ["out0", "out1", "out2"]
    assert kernel.bodies[0].axes is kernel.bodies[1].axes


def test_absent_inputs_are_none_lists_are_lists_and_unwanted_outputs_are_left_out():
    def lower(index, xs, bias):
        assert bias is None
        assert index[1] is None
        return xs[0][index[0]] + xs[1][index[0]], None

    kernel = lang.trace(lower, [[meta(3), meta(3)], None], [meta(3), None])
    assert [array.name for array in kernel.inputs] == ["xs0", "xs1"]
    assert [out.name for out in kernel.outputs] == ["out0"]


def test_a_number_is_a_value_of_the_output_dtype():
    kernel = lang.trace(lambda index: 1, [], [meta(3, dtype="float64")])
    assert "= float64(1.0)" in str(kernel)


def test_the_value_has_the_dtype_and_the_body_the_shape_of_the_output():
    with pytest.raises(DtypeError, match="`out` is float64 and its value float32: `cast` it"):
        lang.trace(lambda index, x: x[index], [meta(3)], [meta(3, dtype="float64")])
    with pytest.raises(ShapeError, match=r"`out` has the shape \[9, 3\], its body \[10, 3\]"):
        ids = meta(7, dtype="int64")
        lang.trace(embedding_grad_at, [ids, meta(7, 3)], [meta(9, 3)], {"rows": 10})


def test_an_axis_that_nothing_runs_over_is_an_error():
    with pytest.raises(ShapeError, match="varies with an axis of 5"):
        lang.trace(lambda index, x: x[lang.axis(5)], [meta(5)], [meta()])


def test_unknown_sizes_are_not_lowered():
    with pytest.raises(UnknownSizeError, match=r"`x` has the shape \[-1, 3\]"):
        lang.trace(lambda index, x: x[index], [meta(-1, 3)], [meta(-1, 3)])


@pytest.mark.parametrize(
    ("place", "what"),
    [
        (lambda i: i + 1, "1 to 4"),
        (lambda i: i - 1, "-1 to 2"),
        (lambda i: i * 2, "0 to 6"),
        (lambda i: 7, "7"),
        (lambda i: i // 2 + 3, "3 to 4"),
        (lambda i: -i, "-3 to 0"),
    ],
)
def test_a_load_that_may_leave_its_array_is_refused(place, what):
    with pytest.raises(RangeError, match=f"index 0 of `x` may be {what} and the axis has 4"):
        lang.trace(lambda index, x: x[place(index[0])], [meta(4)], [meta(4)])


@pytest.mark.parametrize(
    "value",
    [
        lambda i, x: x[(i + 3) % 4],
        lambda i, x: x[3 - i],
        lambda i, x: x[i // 2 + 2],
        lambda i, x: x[lang.select(i < 2, i, 0)],
        lambda i, x: x[lang.minimum(i + 2, 3)],
        lambda i, x: lang.padded(x, (i - 2,), 0.0),
        lambda i, x: lang.guarded(i < 2, x[i + 2], x[i - 2]),
        lambda i, x: lang.guarded((i >= 1) & (i * 2 < 4), x[i * 2], 0.0),
        lambda i, x: lang.guarded(~(i < 1), x[i - 1], 0.0),
        lambda i, x: lang.guarded((i < 1) | (i > 2), 0.0 * x[i], x[i + 1]),
        lambda i, x: lang.guarded(lang.equal(i, 2), x[i + 1], 0.0),
        lambda i, x: lang.guarded(i > 5, x[i + 100], 0.0),
        lambda i, x: x[lang.argmax(x[(k := lang.axis(4))], over=k)],
        lambda i, x: x[lang.max(lang.select(x[k := lang.axis(4)] > 0, k, 0), over=k)],
    ],
)
def test_a_load_that_stays_within_its_array_is_seen_to(value):
    kernel = lang.trace(lambda index, x: value(index[0], x), [meta(4)], [meta(4)])
    assert kernel.name == "<lambda>"


def test_a_guard_that_says_too_little_is_refused():
    with pytest.raises(RangeError, match="may be 1 to 4"):
        lang.trace(
            lambda index, x: lang.guarded(index[0] >= 0, x[index[0] + 1], 0.0), [meta(4)], [meta(4)]
        )


def test_an_index_from_data_needs_a_guard():
    def lower(index, x, ids):
        return x[ids[index]]

    with pytest.raises(RangeError, match="put the load in a `guarded`"):
        lang.trace(lower, [meta(4), meta(3, dtype="int64")], [meta(3)])


def test_an_empty_axis_reaches_no_load():
    kernel = lang.trace(lambda index, x: x[5], [meta(4)], [meta(0)])
    assert kernel.outputs[0].size == 0
    total = lang.trace(lambda index, x: lang.sum(x[k := lang.axis(0)], over=k), [meta(0)], [meta()])
    assert total.outputs[0].size == 1
