"""Machine code against the emulator, to the bit."""

import importlib.util
import re

import numpy as np
import pytest
from hypothesis import given, settings

from scull import lang
from scull.compiler.native import compile, modules_of, region_of_kernel
from scull.compiler.target import target
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.flags import flags
from scull.lang.arithmetic import numpy_dtype
from scull.lang.dtype import element
from scull.lang.expression import apply
from scull.runtime import llvm
from tests.lang.samples import (
    FLOATS,
    INTEGERS,
    kernel_of,
    meta,
    programs,
    same_bits,
    values_of,
)
from tests.lang.test_elementary import BOUNDS, SPECIAL, arguments
from tests.lang.test_kernel import embedding_grad_at, matmul_at, softmax_at, window_max_at
from tests.ops.closeness import check_close
from tests.ops.lowering import adds_floats

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


def check(kernel, arrays, level=""):
    """Run a kernel both ways; the compiled outputs, which are the emulator's."""
    want = lang.run(kernel, arrays)
    got = [np.frombuffer(b"\xa5" * x.nbytes, x.dtype).reshape(x.shape).copy() for x in want]
    compile(kernel, level)(arrays, got)
    if adds_floats(kernel):
        check_close(got, want, str(kernel))
        return got
    for x, y in zip(got, want, strict=True):
        assert same_bits(x, y), f"{kernel}\n{x}\n{y}"
    return got


def assembly(kernel):
    """The text of a kernel alone, without that of the function that calls it."""
    return modules_of(region_of_kernel(kernel), target())[0].text


def check_lowering(lowering, arrays, *outputs, **attrs):
    metas = [meta(*x.shape, dtype=x.dtype.name) for x in arrays]
    return check(lang.trace(lowering, metas, outputs, attrs, name="lowering"), arrays)


@given(programs())
@settings(max_examples=80)
def test_any_expression_is_what_the_emulator_computes(program):
    tree, dtype, inputs, arrays = program
    check(kernel_of(tree, inputs, arrays[0].shape, dtype), arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "function",
    [*BOUNDS, "erf", "normal_cdf", "sqrt", "floor", "ceil", "round", "trunc"],
)
def test_functions_give_the_same_bits(function, dtype):
    x = arguments(dtype, 5000)
    check_lowering(lambda index, x: apply(function, x[index]), [x], meta(*x.shape, dtype=dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "operation",
    ["power", "floor_divide", "remainder", "truncated_remainder", "maximum", "minimum", "divide"],
)
def test_functions_of_two_give_the_same_bits(operation, dtype):
    x = arguments("float64", 500).astype(numpy_dtype("float64"))
    x = np.concatenate([x, np.repeat(SPECIAL, len(SPECIAL))])
    y = np.random.default_rng(1).permutation(x)
    y[-(len(SPECIAL) ** 2) :] = np.tile(SPECIAL, len(SPECIAL))
    with np.errstate(all="ignore"):
        x, y = x.astype(numpy_dtype(dtype)), y.astype(numpy_dtype(dtype))
    check_lowering(
        lambda index, x, y: apply(operation, x[index], y[index]), [x, y], meta(len(x), dtype=dtype)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multiply_add_gives_the_same_bits(dtype):
    x, y, z = (values_of(np.random.default_rng(n), (3000,), dtype) for n in range(3))
    check_lowering(
        lambda index, *xyz: lang.multiply_add(*(v[index] for v in xyz)),
        [x, y, z],
        meta(3000, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_operations_of_integers_give_the_same_bits(dtype):
    names = "add subtract multiply floor_divide remainder power minimum maximum and or xor"
    names = [*names.split(), "shift_left", "shift_right"]
    x, y = (values_of(np.random.default_rng(n), (500,), dtype) for n in range(2))
    y[::3] = np.random.default_rng(3).integers(0, 9, len(y[::3]))

    def lower(index, x, y):
        return tuple(apply(name, x[i], y[i]) for name, (i,) in zip(names, index, strict=True))

    check_lowering(lower, [x, y], *[meta(500, dtype=dtype)] * len(names))


@pytest.mark.parametrize("source", ("bool", *INTEGERS, *FLOATS))
def test_casts_give_the_same_bits(source):
    x = values_of(np.random.default_rng(4), (400,), source)
    targets = ("bool", *INTEGERS, *FLOATS)

    def lower(index, x):
        return tuple(lang.cast(x[i], t) for t, (i,) in zip(targets, index, strict=True))

    check_lowering(lower, [x], *(meta(400, dtype=each) for each in targets))


@pytest.mark.parametrize("dtype", ("float16", "bfloat16", "float32", "float64"))
def test_bits_go_both_ways(dtype):
    integer = f"int{element(dtype).bits}"
    x = values_of(np.random.default_rng(5), (300,), dtype)
    x = np.where(np.isnan(x), 1, x).astype(x.dtype)

    def lower(index, x):
        bits = lang.bitcast(x[index[0]], integer)
        return bits, lang.bitcast(bits ^ 1, dtype)

    check_lowering(lower, [x], meta(300, dtype=integer), meta(300, dtype=dtype))


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (9, 3), (40, 1), (3, 0)])
def test_reductions_give_the_same_bits(shape, dtype):
    x = values_of(np.random.default_rng(6), shape, dtype)
    reductions = [lang.sum, lang.prod, lang.max, lang.min]
    dtypes = [dtype] * 4
    if shape[0]:
        reductions += [lang.argmax, lang.argmin]
        dtypes += ["int64"] * 2

    def lower(index, x):
        k = lang.axis(shape[0])
        return tuple(f(x[k, i], over=k) for f, (i,) in zip(reductions, index, strict=True))

    check_lowering(lower, [x], *(meta(shape[1], dtype=each) for each in dtypes))


def test_any_and_all_give_the_same_bits():
    x = np.array([[True, False, False], [True, True, False]])

    def lower(index, x):
        k, ((i,), (j,)) = lang.axis(2), index
        return lang.any(x[k, i], over=k), lang.all(x[k, j], over=k)

    check_lowering(lower, [x], meta(3, dtype="bool"), meta(3, dtype="bool"))


@pytest.mark.parametrize("transposed", [False, True])
def test_matmul_gives_the_same_bits(transposed):
    generator = np.random.default_rng(7)
    x = generator.normal(0, 1, (2, 3, 17)).astype(np.float32)
    y = generator.normal(0, 1, (2, 5, 17) if transposed else (2, 17, 5)).astype(np.float32)
    check_lowering(matmul_at, [x, y], meta(2, 3, 5), transpose_x=False, transpose_y=transposed)


def test_windows_softmax_and_scatter_give_the_same_bits():
    generator = np.random.default_rng(8)
    image = generator.normal(0, 1, (2, 2, 7, 8)).astype(np.float32)
    check_lowering(window_max_at, [image], meta(2, 2, 4, 4))
    check_lowering(softmax_at, [image[0, 0].copy()], meta(7, 8))
    ids = generator.integers(-2, 12, 30)
    for dtype in FLOATS:
        dout = generator.normal(0, 1, (30, 3)).astype(numpy_dtype(dtype))
        check_lowering(embedding_grad_at, [ids, dout], meta(10, 3, dtype=dtype), rows=10)
        check_lowering(embedding_grad_at, [ids, dout], meta(0, 3, dtype=dtype), rows=0)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_scatter_that_begins_as_an_array_gives_the_same_bits(dtype, anew):
    def lower(index, x, ids, rows):
        i, j = lang.axis(rows.shape[0]), lang.axis(rows.shape[1])
        return lang.scatter_add(x, (ids[i], j), rows[i, j], over=(i, j), anew=anew)

    generator = np.random.default_rng(9)
    ids = generator.integers(-2, 12, 30)  # what lies outside is left out
    for width in (1, 3, 16, 37):
        x = generator.normal(0, 1, (10, width)).astype(numpy_dtype(dtype))
        rows = generator.normal(0, 1, (30, width)).astype(numpy_dtype(dtype))
        check_lowering(lower, [x, ids, rows], meta(10, width, dtype=dtype))


@pytest.mark.parametrize("level", llvm.levels() if llvm.available() else [])
@pytest.mark.parametrize("size", [3, 16, 70, 130])
@pytest.mark.parametrize(("bits", "kind"), [("random_bits", "uint64"), ("random_half", "uint32")])
def test_random_bits_are_the_same(bits, kind, size, level):
    drawn = getattr(lang, bits)

    def word(key, place):
        high = drawn((key[0], key[1]), place) >> (40 if kind == "uint64" else 8)
        return lang.cast(high, "int32")

    def lower(index, key):
        (a,), (b,), (c, d), (e, f), (g, h), (i,) = index
        pair = word(key, 2 * b) * 3 + word(key, 2 * b + 1)  # two words for an element
        rows, turned = word(key, c * size + d), word(key, f * 5 + e)
        odd = word(key, g * (size + 1) + h)  # rows that begin within blocks
        return drawn((key[0], key[1]), a), pair, rows, turned, odd, word(key, 4 * i + 3)

    key = np.array([3, 2**63], np.uint64)
    shapes = [(size,), (size,), (3, size), (5, size), (2, size), (size,)]
    outs = [meta(*s, dtype="int32" if n else kind) for n, s in enumerate(shapes)]
    check(lang.trace(lower, [meta(2, dtype="uint64")], outs), [key], level)


def test_an_axis_reduced_within_its_own_reduction_is_another_position():
    def lower(index, x):
        k = lang.axis(3)
        own = lang.guarded(x[k] > 0, x[k] / lang.sum(x[k], over=k), 10.0)
        return lang.sum(own, over=k)

    (got,) = check_lowering(lower, [np.array([1.0, -2.0, 5.0], np.float32)], meta())
    assert got == 11.5


def test_what_a_guard_leaves_out_is_not_read():
    def lower(index, x, ids):
        place = ids[index]
        return lang.guarded((place >= 0) & (place < 3), x[place], -1.0)

    ids = np.array([2**60, -(2**60), 1])
    (got,) = check_lowering(lower, [np.array([4.0, 5.0, 6.0], np.float32), ids], meta(3))
    assert got.tolist() == [-1.0, -1.0, 5.0]


def test_an_output_may_be_the_input():
    kernel = lang.trace(lambda index, x: x[index] * 2, [meta(5)], [meta(5)], name="double")
    x = np.arange(5, dtype=np.float32)
    compile(kernel)([x], [x])
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_what_does_not_vary_with_an_axis_is_computed_outside_its_loop():
    text = assembly(lang.trace(softmax_at, [meta(64, 64)], [meta(64, 64)]))
    depth, deepest = 0, {}
    for line in text.splitlines():
        if re.match(r"loop\d+:", line):
            depth += 1
        elif re.match(r"done\d+:", line):
            depth -= 1
        if "fcmp ogt" in line:
            deepest["maximum"] = depth
    assert deepest["maximum"] == 2  # rows, then the axis of the maximum; not columns


def test_no_library_of_functions_and_no_fast_arithmetic_is_used():
    x = arguments("float64", 5)

    def lower(index, x):
        (i,) = index
        value = x[i]
        for name in ("exp", "log", "tanh", "erf", "normal_cdf", "sin", "expm1", "log1p", "rsqrt"):
            value = value + apply(name, value)
        return value**value + value % 3.0 // 0.5

    text = assembly(
        lang.trace(lower, [meta(len(x), dtype="float64")], [meta(len(x), dtype="float64")])
    )
    assert not re.search(r"\b(fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)\b", text)
    own = set(re.findall(r"define .*@(\w+)\(", text))
    called = set(re.findall(r"@([\w.]+)\(", text)) - own
    assert {"truncated_remainder", "significand"} < own
    assert all(name.startswith("llvm.") for name in called)


def test_a_bound_kernel_runs_again_on_the_same_arrays():
    kernel = lang.trace(lambda index, x: x[index] + 1, [meta(3)], [meta(3)], name="increment")
    x, out = np.zeros(3, np.float32), np.zeros(3, np.float32)
    run = compile(kernel).bind([x], [out])
    run()
    x += 4
    run()
    assert out.tolist() == [5, 5, 5]


def test_arrays_have_the_shape_dtype_and_layout_of_the_kernel():
    compiled = compile(
        lang.trace(lambda index, x: x[index], [meta(3, 2)], [meta(3, 2)], name="same")
    )
    good = np.zeros((3, 2), np.float32)
    with pytest.raises(ShapeError, match=r"`x` is \[3, 2\], given \[2, 3\]"):
        compiled([good.T], [good])
    with pytest.raises(DtypeError, match="`out` is float32, given float64"):
        compiled([good], [good.astype(float)])
    with pytest.raises(ArgumentError, match="`x` is not contiguous in memory: copy it first"):
        compiled([np.zeros((2, 3), np.float32).T], [good])


def test_the_source_is_printed_when_asked_for(capsys):
    kernel = lang.trace(lambda index, x: -x[index], [meta(3)], [meta(3)], name="negative")
    with flags(DEBUG=4):
        compile(kernel)
    printed = capsys.readouterr().err
    assert "out[i0] = negative(x[i0])" in printed
    assert "fneg <" in printed


def test_the_same_kernel_gives_the_same_text():
    texts = {assembly(lang.trace(softmax_at, [meta(4, 5)], [meta(4, 5)])) for _ in range(3)}
    assert len(texts) == 1
    assert llvm.object_code(texts.pop())
