"""The meaning of kernels: against NumPy, and where NumPy leaves a choice, against the rule."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

from scull import lang
from scull.errors import DtypeError, RangeError, ShapeError
from scull.lang.dtype import element
from tests.lang.samples import (
    FLOATS,
    INTEGERS,
    direct,
    kernel_of,
    meta,
    programs,
    same_bits,
    same_values,
    values_of,
)
from tests.lang.test_kernel import embedding_grad_at, matmul_at, softmax_at, window_max_at


def run(lowering, arrays, *outputs, **attrs):
    """The outputs of a lowering on arrays."""
    metas = [meta(*x.shape, dtype=x.dtype.name) for x in arrays]
    kernel = lang.trace(lowering, metas, outputs, attrs)
    return lang.run(kernel, arrays)


def only(lowering, arrays, output, **attrs):
    """The one output of a lowering on arrays."""
    (out,) = run(lowering, arrays, output, **attrs)
    return out


def reduced(reduction, x, dtype=None):
    """A reduction over the first axis."""
    over = lang.axis(x.shape[0])
    return only(
        lambda index, x: reduction(x[over, *index], over=over),
        [x],
        meta(*x.shape[1:], dtype=dtype or x.dtype.name),
    )


@given(programs())
@settings(max_examples=300)
def test_any_expression_is_what_numpy_computes(program):
    tree, dtype, inputs, arrays = program
    shape = arrays[0].shape
    (got,) = lang.run(kernel_of(tree, inputs, shape, dtype), arrays)
    with np.errstate(all="ignore"):
        want = np.asarray(direct(tree, arrays)).astype(got.dtype)
    assert same_values(got, want)


def test_inputs_have_the_shapes_and_dtypes_of_the_kernel():
    kernel = lang.trace(lambda index, x: x[index], [meta(3)], [meta(3)], name="same")
    with pytest.raises(ShapeError, match=r"`x` is \[3\], given \[4\]"):
        lang.run(kernel, [np.zeros(4, np.float32)])
    with pytest.raises(DtypeError, match="`x` is float32, given float64"):
        lang.run(kernel, [np.zeros(3)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_sum_adds_one_term_after_another(dtype):
    x = np.random.default_rng(0).normal(0, 1, (50, 3)).astype(_numpy(dtype))
    wide = np.float32 if x.dtype.itemsize == 2 else x.dtype
    total = x[0].astype(wide)
    for term in x[1:]:
        total = (total.astype(np.float64) + term.astype(np.float64)).astype(wide)
    assert same_bits(reduced(lang.sum, x), total.astype(x.dtype))


def _numpy(dtype):
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype


def test_several_axes_are_reduced_with_the_last_running_fastest():
    x = np.array([[1e8, 1.0, -1e8], [1.0, 1.0, 1.0]], np.float32)

    def by_rows(index, x):
        i, j = lang.axis(2), lang.axis(3)
        return lang.sum(x[i, j], over=(i, j))

    def by_columns(index, x):
        i, j = lang.axis(2), lang.axis(3)
        return lang.sum(x[i, j], over=(j, i))

    assert only(by_rows, [x], meta()) == np.float32(3.0)
    assert only(by_columns, [x], meta()) == np.float32(1.0)


def test_a_sum_of_many_terms_is_the_same_in_blocks():
    x = np.random.default_rng(1).normal(0, 1, (300_000,)).astype(np.float32)
    assert reduced(lang.sum, x) == np.add.accumulate(x)[-1]


def test_a_sum_starts_with_its_first_term():
    assert np.signbit(reduced(lang.sum, np.array([-0.0, -0.0], np.float32)))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_reductions_are_numpys(dtype):
    x = values_of(np.random.default_rng(2), (7, 4), dtype)
    with np.errstate(all="ignore"):
        assert same_values(reduced(lang.max, x), np.max(x, axis=0))
        assert same_values(reduced(lang.min, x), np.min(x, axis=0))
        wide = x.astype(np.float64) if element(dtype).kind == "float" else x
        assert np.array_equal(reduced(lang.argmax, x, "int64"), np.argmax(wide, axis=0))
        assert np.array_equal(reduced(lang.argmin, x, "int64"), np.argmin(wide, axis=0))
        if element(dtype).kind == "integer":
            assert np.array_equal(reduced(lang.sum, x), np.sum(x, axis=0, dtype=x.dtype))
            assert np.array_equal(reduced(lang.prod, x), np.prod(x, axis=0, dtype=x.dtype))


def test_any_and_all_are_numpys():
    x = np.array([[True, False, False], [True, True, False]])
    assert np.array_equal(reduced(lang.any, x), x.any(0))
    assert np.array_equal(reduced(lang.all, x), x.all(0))


def test_positions_count_over_all_axes_and_over_blocks():
    x = np.zeros((600, 500), np.float32)
    x[599, 498] = x[599, 499] = 1

    def lower(index, x):
        i, j = lang.axis(600), lang.axis(500)
        return lang.argmax(x[i, j], over=(i, j))

    assert only(lower, [x], meta(dtype="int64")) == 599 * 500 + 498
    x[3, 4] = np.nan
    assert only(lower, [x], meta(dtype="int64")) == 3 * 500 + 4


@pytest.mark.parametrize(
    ("reduction", "dtype", "value"),
    [
        (lang.sum, "float32", 0.0),
        (lang.prod, "int8", 1),
        (lang.max, "float16", -np.inf),
        (lang.min, "float32", np.inf),
        (lang.max, "int8", -128),
        (lang.min, "uint8", 255),
        (lang.any, "bool", False),
        (lang.all, "bool", True),
    ],
)
def test_a_reduction_of_nothing_is_neutral(reduction, dtype, value):
    out = reduced(reduction, np.zeros((0, 2), dtype))
    assert np.array_equal(out, np.full(2, value, dtype))
    assert not np.any(np.signbit(out)) or value < 0


def test_maximum_keeps_nan_and_puts_minus_0_below_0():
    x = np.array([0.0, -0.0, np.nan, 1.0], np.float32)
    y = np.array([-0.0, 0.0, 1.0, np.nan], np.float32)
    greater, less = run(
        lambda index, x, y: (
            lang.maximum(x[index[0]], y[index[0]]),
            lang.minimum(x[index[0]], y[index[0]]),
        ),
        [x, y],
        meta(4),
        meta(4),
    )
    assert same_bits(greater, np.array([0.0, 0.0, np.nan, np.nan], np.float32))
    assert same_bits(less, np.array([-0.0, -0.0, np.nan, np.nan], np.float32))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_float_becomes_an_integer_within_its_range(dtype):
    low, high = int(element(dtype).lowest), int(element(dtype).highest)
    x = np.array([np.nan, np.inf, -np.inf, 1.9, -1.9, 1e30, -1e30, 0.5])
    want = [0, high, low, 1, -1 if low else 0, high, low, 0]
    got = only(lambda index, x: lang.cast(x[index], dtype), [x], meta(8, dtype=dtype))
    assert got.tolist() == want


def test_integers_keep_their_low_bits_and_wrap():
    x = np.array([300, -1, 2**31 - 1], np.int32)
    got = only(lambda index, x: lang.cast(x[index], "uint8"), [x], meta(3, dtype="uint8"))
    assert got.tolist() == [44, 255, 255]
    got = only(lambda index, x: x[index] + 1, [x], meta(3, dtype="int32"))
    assert got.tolist() == [301, 0, -(2**31)]


def test_division_by_0_gives_0_and_rounds_down():
    x = np.array([7, -7, 7, -7, 5, -128, -128], np.int8)
    y = np.array([2, 2, -2, -2, 0, -1, 0], np.int8)
    quotient, rest = run(
        lambda index, x, y: (x[index[0]] // y[index[0]], x[index[0]] % y[index[0]]),
        [x, y],
        meta(7, dtype="int8"),
        meta(7, dtype="int8"),
    )
    assert quotient.tolist() == [3, -4, -4, 3, 0, -128, 0]
    assert rest.tolist() == [1, 1, -1, -1, 0, 0, 0]


def test_a_shift_by_too_much_shifts_everything_out():
    x = np.array([-8, -8, 8, 8, 1], np.int8)
    amount = np.array([8, -1, 8, 100, 7], np.int8)
    left, right = run(
        lambda index, x, n: (x[index[0]] << n[index[0]], x[index[0]] >> n[index[0]]),
        [x, amount],
        meta(5, dtype="int8"),
        meta(5, dtype="int8"),
    )
    assert left.tolist() == [0, 0, 0, 0, -128]
    assert right.tolist() == [-1, -1, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_float64_is_rounded_once_to_half(dtype):
    tie = 1 + 2.0 ** -(element(dtype).fraction + 1)
    x = np.array([tie, tie + 2.0**-40, -tie - 2.0**-40, tie + 2.0**-20, np.inf, np.nan, 1e300])
    got = only(lambda index, x: lang.cast(x[index], dtype), [x], meta(7, dtype=dtype))
    up = 1 + 2.0 ** -element(dtype).fraction
    want = np.array([1, up, -up, up, np.inf, np.nan, np.inf])
    assert same_values(got.astype(np.float64), want)


def test_what_a_guard_leaves_out_is_not_read():
    def lower(index, x, ids):
        (i,) = index
        place = lang.cast(ids[i], "int64")
        return lang.guarded((place >= 0) & (place < 3), x[place] * 2, -x[0])

    x = np.array([1.0, 2.0, 3.0], np.float32)
    ids = np.array([2, -1, 10**9, 0], np.int32)
    assert only(lower, [x, ids], meta(4)).tolist() == [6.0, -1.0, -1.0, 2.0]


def test_a_guard_around_an_empty_array_reads_nothing():
    def lower(index, x):
        return lang.padded(x, (index[0],), 5.0)

    assert only(lower, [np.zeros(0, np.float32)], meta(2)).tolist() == [5.0, 5.0]


def test_an_axis_may_be_reduced_again_within_its_own_reduction():
    def lower(index, x):
        k = lang.axis(3)
        own = lang.guarded(x[k] > 0, x[k] / lang.sum(x[k], over=k), 10.0)
        return lang.sum(own, over=k)

    x = np.array([1.0, -2.0, 5.0], np.float32)
    assert only(lower, [x], meta()) == 0.25 + 10.0 + 1.25


def test_matmul_is_the_sum_of_products_in_order():
    generator = np.random.default_rng(3)
    x = generator.normal(0, 1, (2, 3, 4)).astype(np.float32)
    y = generator.normal(0, 1, (2, 5, 4)).astype(np.float32)
    got = only(matmul_at, [x, y], meta(2, 3, 5), transpose_x=False, transpose_y=True)
    want = np.zeros((2, 3, 5), np.float32)
    for k in range(4):
        want += x[:, :, None, k] * y[:, None, :, k]
    assert same_bits(got, want)


def test_a_window_at_the_border_sees_the_padding():
    x = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    got = only(window_max_at, [x], meta(1, 1, 4, 4))
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))[:, :, ::2, ::2]
    assert np.array_equal(got, windows.max((-1, -2))[:, :, :4, :4])


def test_a_softmax_sums_to_1():
    x = np.random.default_rng(4).normal(0, 3, (4, 9)).astype(np.float32)
    assert np.allclose(only(softmax_at, [x], meta(4, 9)).sum(1), 1, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scatter_adds_in_order_and_drops_what_is_outside(dtype):
    ids = np.array([2, 0, 2, -1, 3, 2])
    dout = np.random.default_rng(5).normal(0, 1, (6, 2)).astype(_numpy(dtype))
    got = only(embedding_grad_at, [ids, dout], meta(3, 2, dtype=dtype), rows=3)
    want = np.zeros((3, 2), np.result_type(dout.dtype, np.float32))
    for place, row in zip(ids, dout, strict=True):
        if 0 <= place < 3:
            want[place] += row
    assert same_bits(got, want.astype(dout.dtype))


def test_a_scatter_to_one_number_is_a_sum():
    def lower(index, x):
        i = lang.axis(4)
        return lang.scatter_add((), (), x[i], over=i)

    assert only(lower, [np.arange(4, dtype=np.float32)], meta()) == 6.0


def begun(anew):
    """A lowering that adds rows to those of an array."""

    def lower(index, x, ids, rows):
        i, j = lang.axis(rows.shape[0]), lang.axis(rows.shape[1])
        place = lang.cast(ids[i], "int64")
        return lang.scatter_add(x, (place, j), rows[i, j], over=(i, j), anew=anew)

    return lower


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scatter_begins_as_an_array(dtype, anew):
    ids = np.array([2, 0, 2])
    x, rows = np.random.default_rng(5).normal(0, 1, (2, 3, 2)).astype(_numpy(dtype))
    got = only(begun(anew), [x, ids, rows], meta(3, 2, dtype=dtype))
    want = x.astype(np.result_type(x.dtype, np.float32))
    if anew:
        want[ids] = 0
    np.add.at(want, ids, rows.astype(want.dtype))
    assert same_bits(got, want.astype(x.dtype))


@pytest.mark.parametrize(("x", "fine"), [([0.25, 1.0], True), ([0.5, 1.5], False)])
def test_what_must_hold_is_looked_at(x, fine):
    def lower(index, x):
        return lang.sure(x[index], x[index] <= 1.0)

    x = np.array(x, np.float32)
    if fine:
        assert same_bits(only(lower, [x], meta(2)), x)
        return
    with pytest.raises(RangeError):
        only(lower, [x], meta(2))


def test_an_index_can_be_a_value():
    got = only(lambda index: index[0] * 10 + index[1], [], meta(2, 3, dtype="int64"))
    assert got.tolist() == [[0, 1, 2], [10, 11, 12]]


def test_an_expression_may_be_deeper_than_pythons_stack():
    def lower(index, x):
        value = x[index]
        for _ in range(2000):
            value = value + 1
        return value

    assert only(lower, [np.zeros(2, np.float32)], meta(2)).tolist() == [2000.0, 2000.0]
