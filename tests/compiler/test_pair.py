"""Products of bfloat16, two terms at a time where the machine has an instruction for it."""

import importlib.util

import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
from scull import lang, static
from scull.compiler import pair
from scull.compiler.native import compile
from scull.compiler.target import AVX512_PAIRS
from scull.executor.compiled import Call
from scull.flags import flags
from scull.lang.expression import Apply
from scull.lang.walk import ordered
from scull.nn import functional
from scull.runtime import llvm
from tests.lang.samples import meta

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
LEVELS = llvm.levels() if llvm.available() else ()
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(autouse=True)
def every_machine_takes_pairs(monkeypatch):
    """Where there is no instruction, pairs are taken apart: what is tested is tested everywhere."""
    monkeypatch.setattr(pair, "target", lambda: AVX512_PAIRS)


@pytest.fixture
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(BFLOAT16)


def wide(x):
    return np.asarray(x, np.float64)


def run(build, arrays):
    """What `build` makes of its inputs, with their gradients, and the operations of the code."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        given = [static.data(f"x{n}", x.shape, "bfloat16") for n, x in enumerate(arrays)]
        for each in given:
            each.stop_gradient = False
        y = build(*given)
        fetches = [y, *static.gradients([y], given)]
    feed = {f"x{n}": x for n, x in enumerate(arrays)}
    exe = static.Executor()
    with flags(COMPILE="eager", CACHE_DIR="off"), static.scope_guard(static.Scope()):
        found = exe.run(main, feed, fetches)
        tiers = [b.tier for b in main.plans.values() if b.tier]
    rows = [row[0] for tier in tiers for made in tier.variants.values() for row in made]
    calls = [row for row in rows if isinstance(row, Call)]
    assert len(calls) == len(rows) == 1, "it is one function"
    groups = calls[0].native.region.groups
    roots = [r for g in groups for stage in g.stages for body in stage.bodies for r in body.roots]
    return found, [x.operation for x in ordered(roots) if isinstance(x, Apply)]


def close(got, want, size):
    """To the rounding of the result, and of sums in float32 whose absolute terms add to `size`."""
    bound = np.abs(want) * 2.0**-8 + size * 1e-5
    assert np.all(np.abs(wide(got) - want) <= bound), np.max(np.abs(wide(got) - want) - bound)


def test_pairs_are_the_bits_of_two():
    x = np.array([1.5, -0.0, np.inf, np.nan, 1e-40], BFLOAT16)
    y = x[::-1].copy()

    def lower(index, x, y):
        return lang.pair(x[index], y[index])

    kernel = lang.trace(lower, [meta(5, dtype="bfloat16")] * 2, [meta(5, dtype="uint32")], {})
    want = x.view(np.uint16).astype(np.uint32) | y.view(np.uint16).astype(np.uint32) << 16
    assert lang.run(kernel, [x, y])[0].tolist() == want.tolist()
    for level in LEVELS:
        got = np.zeros(5, np.uint32)
        compile(kernel, level)([x, y], [got])
        same = (got == want) | np.array([False, True, False, True, False])  # a NaN's own bits
        assert same.all(), (level, got, want)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("count", [1, 2, 7, 16, 33])
def test_sums_of_pairs_are_those_of_their_products(count, level):
    x, y = numbers(count, 6), numbers(6, 19, seed=1)

    def lower(index, x, y):
        i, j = index
        k = lang.axis(3)
        rows = lang.pair(x[i, k * 2], x[i, k * 2 + 1])
        return lang.sum(lang.pair_dot(rows, lang.pair(y[k * 2, j], y[k * 2 + 1, j])), over=k)

    metas = [meta(*v.shape, dtype="bfloat16") for v in (x, y)]
    kernel = lang.trace(lower, metas, [meta(count, 19)], {})
    want = wide(x) @ wide(y)
    np.testing.assert_allclose(lang.run(kernel, [x, y])[0], want, rtol=1e-5, atol=1e-5)
    got = np.zeros((count, 19), np.float32)
    compile(kernel, level)([x, y], [got])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def check_product(sizes, batch, turned):
    """The operations of a product of matrices of `sizes` m, n, k, with its gradients, which agree
    with those of float64.
    """
    m, n, k = sizes
    x = numbers(*batch, *((k, m) if turned[0] else (m, k)))
    y = numbers(*batch, *((n, k) if turned[1] else (k, n)), seed=1)
    paddle.enable_static()
    try:
        flip = {"transpose_x": turned[0], "transpose_y": turned[1]}
        found, operations = run(lambda x, y: paddle.matmul(x, y, **flip), [x, y])
    finally:
        paddle.disable_static()
    a = np.swapaxes(wide(x), -1, -2) if turned[0] else wide(x)
    b = np.swapaxes(wide(y), -1, -2) if turned[1] else wide(y)
    close(found[0], a @ b, np.abs(a) @ np.abs(b))
    ones = np.ones((*batch, m, n))
    da, db = ones @ np.swapaxes(b, -1, -2), np.swapaxes(a, -1, -2) @ ones
    close(found[1], np.swapaxes(da, -1, -2) if turned[0] else da, np.abs(b).sum(-1).max() * 2)
    close(found[2], np.swapaxes(db, -1, -2) if turned[1] else db, np.abs(a).sum(-2).max() * 2)
    return operations


@given(
    sizes=st.tuples(*[st.integers(1, 70)] * 3),
    batch=st.sampled_from([(), (3,), (2, 3)]),
    turned=st.tuples(st.booleans(), st.booleans()),
)
@settings(max_examples=40, deadline=None)
def test_products_of_any_size_and_their_gradients(sizes, batch, turned):
    m, n, k = sizes
    operations = check_product(sizes, batch, turned)
    if k % 2 == 0 and min(m, n) > 32:
        assert "pair_dot" in operations


@pytest.mark.parametrize(
    "attrs",
    [{}, {"stride": 2}, {"dilation": 2}, {"groups": 2}, {"padding": 0}, {"data_format": "NHWC"}],
    ids=str,
)
def test_convolutions_and_their_gradients(static_mode, attrs):
    attrs = {"padding": 1} | attrs
    shape = (4, 12, 12, 32) if "data_format" in attrs else (4, 32, 12, 12)
    x, w = numbers(*shape), numbers(48, 32 // attrs.get("groups", 1), 3, 3, seed=1)
    found, operations = run(lambda x, w: functional.conv2d(x, w, **attrs), [x, w])
    assert "pair_dot" in operations
    paddle.disable_static()
    given = [paddle.to_tensor(wide(v), stop_gradient=False) for v in (x, w)]
    sizes = [paddle.to_tensor(np.abs(wide(v)), stop_gradient=False) for v in (x, w)]
    want, size = (functional.conv2d(*v, **attrs) for v in (given, sizes))
    grads, bounds = paddle.grad(want, given), paddle.grad(size, sizes)
    paddle.enable_static()
    for got, exact, bound in zip(found, [want, *grads], [size, *bounds], strict=True):
        close(got, exact.numpy(), bound.numpy() * 2)


@pytest.mark.parametrize(
    "shapes", [[(4, 32, 9, 9), (48, 32, 1, 1)], [(1, 32, 9, 9), (48, 32, 3, 3)]]
)
def test_axes_of_one_place_are_no_hindrance(static_mode, shapes):
    x, w = (numbers(*shape, seed=n) for n, shape in enumerate(shapes))
    _, operations = run(lambda x, w: functional.conv2d(x, w), [x, w])
    assert "pair_dot" in operations


def test_what_rows_of_a_batch_make_of_weights_is_paired_within_them(static_mode):
    def squares(x, w):
        y = functional.linear(x, w)
        return y * y

    x, w = numbers(4, 64, 96), numbers(96, 80, seed=1)
    found, operations = run(squares, [x, w])
    assert operations.count("pair_dot") == 3
    a = wide(x).reshape(256, 96)
    dy = 2 * wide((a @ wide(w)).astype(BFLOAT16))
    close(found[2], a.T @ dy, 100 * np.abs(a).T @ np.abs(dy))


def test_infinities_and_nan_stay_what_they_are(static_mode):
    x, y = numbers(40, 40), np.abs(numbers(40, 40, seed=1))
    x[3, 5], x[7, 9] = np.inf, np.nan
    found, _ = run(lambda x, y: paddle.matmul(x, y), [x, y])
    got = wide(found[0])
    assert np.all(got[3] == np.inf)
    assert np.all(np.isnan(got[7]))
    assert np.all(np.isfinite(np.delete(got, [3, 7], 0)))


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_change_no_bit(static_mode, threads):
    x, y = numbers(512, 256), numbers(256, 384, seed=1)
    with flags(NUM_THREADS=1):
        alone, _ = run(lambda x, y: paddle.matmul(x, y), [x, y])
    with flags(NUM_THREADS=threads):
        shared, _ = run(lambda x, y: paddle.matmul(x, y), [x, y])
    for a, b in zip(alone, shared, strict=True):
        assert a.tobytes() == b.tobytes()


def test_what_is_computed_in_strips_is_copied_nowhere(static_mode):
    found = {}
    for length in (1024, 2048):
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup), paddle.utils.unique_name.guard():
            q, k, v = (static.data(n, [1, 2, length, 64], "bfloat16") for n in "qkv")
            weights = functional.softmax(paddle.matmul(q, k, transpose_y=True))
            out = paddle.matmul(weights, v)
        exe, x = static.Executor(), numbers(1, 2, length, 64)
        with flags(COMPILE="eager", CACHE_DIR="off"):
            exe.run(main, {"q": x, "k": x, "v": x}, [out])
        (tier,) = (b.tier for b in main.plans.values() if b.tier)
        ((call, *_),) = next(iter(tier.variants.values()))
        found[length] = call.native.region.arena.size
    assert found[2048] < 2.5 * found[1024], found


def test_numbers_too_small_for_all_their_digits_count_where_they_are_kept(static_mode):
    x, y = np.full((40, 64), 1e-39, BFLOAT16), np.full((64, 40), 1e30, BFLOAT16)
    with flags(FLUSH="never"):
        found, operations = run(lambda x, y: paddle.matmul(x, y), [x, y])
    assert "pair_dot" not in operations
    close(found[0], wide(x) @ wide(y), 0.0)


@pytest.mark.parametrize("channels", [(34, 10, 2), (33, 17, 1), (6, 64, 1)])
@pytest.mark.parametrize("size", [(16, 14), (9, 9), (7, 17)])
@pytest.mark.parametrize("function", ["conv2d", "conv2d_transpose"])
def test_odd_convolutions(static_mode, function, size, channels):
    convolve, (inner, outer, groups) = getattr(functional, function), channels
    shape = (outer, inner // groups, 3, 3)
    shape = (inner, outer // groups, 3, 3) if function == "conv2d_transpose" else shape
    arrays = [numbers(4, inner, *size), numbers(*shape, seed=1)]
    found, _ = run(lambda x, w: convolve(x, w, padding=1, groups=groups), arrays)
    paddle.disable_static()
    given = [paddle.to_tensor(wide(v), stop_gradient=False) for v in arrays]
    sizes = [paddle.to_tensor(np.abs(wide(v)), stop_gradient=False) for v in arrays]
    want, bound = (convolve(*v, padding=1, groups=groups) for v in (given, sizes))
    grads, bounds = paddle.grad(want, given), paddle.grad(bound, sizes)
    paddle.enable_static()
    for got, exact, size in zip(found, [want, *grads], [bound, *bounds], strict=True):
        close(got, exact.numpy(), size.numpy() * 2)
