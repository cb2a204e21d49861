"""Kernels cut into chunks: the same bits for any number of threads, and as in one piece."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull import lang
from scull.compiler import native, recall, split
from scull.compiler.group import Group
from scull.compiler.kernel import function_of
from scull.compiler.native import compile, modules_of, region_of, region_of_kernel
from scull.compiler.stage import Stage
from scull.compiler.target import TARGETS, target
from scull.compiler.trace import Statement
from scull.flags import flags
from scull.lang import axis, sum
from scull.lang.body import Map
from scull.lang.expression import Array
from tests.compiler.feature import FEATURES
from tests.compiler.graph import built
from tests.compiler.test_graphs import graph_of, results_of
from tests.lang.samples import meta, values_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture
def small(monkeypatch):
    """Kernels are cut however little they do."""

    def cut(nanoseconds=0.05):
        monkeypatch.setattr(split, "SHARED", 0.0)
        monkeypatch.setattr(split, "CHUNK", nanoseconds)
        monkeypatch.setattr(recall, "sources", lambda _: f"with chunks of {nanoseconds} ns")

    return cut


@pytest.fixture
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def plus_tanh(index, x, y):
    return lang.tanh(x[index]) + y[index]


def turned(index, x):
    i, j, k = index
    return x[k, i, j] * 2.0


def row_sums(index, x):
    (i,) = index
    k = lang.axis(x.shape[1])
    return lang.sum(x[i, k] * x[i, k], over=k)


def product(index, x, y):
    *batch, i, j = index
    k = lang.axis(x.shape[-1])
    return lang.sum(x[(*batch, i, k)] * y[(*batch, k, j)], over=k)


def full_convolution(index, x, w):
    o, i, j, n = index
    c, a, b = (lang.axis(w.shape[number]) for number in (1, 2, 3))
    return lang.sum(lang.padded(x, (c, i - a, j - b, n), 0.0) * w[o, c, a, b], over=(c, a, b))


KERNELS = {
    "a map of one axis": (plus_tanh, [(70,), (70,)], (70,)),
    "a map with a tail": (plus_tanh, [(1037,), (1037,)], (1037,)),
    "a map whose tiles do not end in a tail": (plus_tanh, [(1024,), (1024,)], (1024,)),
    "a map of three axes": (turned, [(5, 3, 37)], (3, 37, 5)),
    "a map of few outer positions": (turned, [(300, 2, 3)], (2, 3, 300)),
    "sums of rows": (row_sums, [(41, 70)], (41,)),
    "a product": (product, [(37, 19), (19, 45)], (37, 45)),
    "a product with a narrow column": (product, [(37, 19), (19, 50)], (37, 50)),
    "sums with fewer terms at edges": (
        full_convolution,
        [(3, 4, 4, 45), (5, 3, 3, 3)],
        (5, 6, 6, 45),
    ),
    "products": (product, [(3, 2, 9, 19), (3, 2, 19, 45)], (3, 2, 9, 45)),
}


def outcome(kernel, arrays, threads):
    with flags(NUM_THREADS=threads):
        compiled = compile(kernel)
        found = [np.full(x.shape, np.nan, x.dtype) for x in kernel.outputs]
        compiled(arrays, found)
        return found


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("chunk", [0.05, 1.0])
def test_chunks_have_the_bits_of_the_whole(small, name, chunk):
    lowering, shapes, shape = KERNELS[name]
    arrays = [values_of(np.random.default_rng(n), s, "float32") for n, s in enumerate(shapes)]
    kernel = lang.trace(lowering, [meta(*x.shape) for x in arrays], [meta(*shape)], {}, name="k")
    want = outcome(kernel, arrays, 1)
    small(chunk)
    assert "@share(ptr @" in modules_of(region_of_kernel(kernel), target())[-1].text
    for threads in (1, 2, 8):
        for x, y in zip(outcome(kernel, arrays, threads), want, strict=True):
            np.testing.assert_array_equal(x.view(np.uint32), y.view(np.uint32))


def normalised():
    """Rows that a kernel keeps in memory, of two axes: their sums take several stages."""
    x = paddle.static.data("x", [3, 11, 70])
    h = F.softmax(F.layer_norm(F.gelu(x) + x, [70]))
    return [h, F.softmax(h * 3.0, axis=1)]


def ran(build, feed, threads, mode="eager"):
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        fetches = build()
    with flags(COMPILE=mode, NUM_THREADS=threads):
        return paddle.static.Executor().run(main, feed=feed, fetch_list=fetches)


@pytest.mark.usefixtures("static")
def test_threads_have_rows_of_their_own(small, monkeypatch):
    x = values_of(np.random.default_rng(0), (3, 11, 70), "float32")
    want = ran(normalised, {"x": x}, 1)
    small()
    rows = []
    kernel_of = native.kernel_of

    def noted(group, machine):
        code = kernel_of(group, machine)
        rows.append((code.chunks, len(code.rows)))
        return code

    monkeypatch.setattr(native, "kernel_of", noted)
    for threads in (1, 2, 8):
        for a, b in zip(ran(normalised, {"x": x}, threads), want, strict=True):
            np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))
    assert any(chunks > 1 and kept for chunks, kept in rows)


def pytest_generate_tests(metafunc):
    if "number" in metafunc.fixturenames:
        step = 5 if metafunc.config.getoption("--sweep") else 71
        metafunc.parametrize("number", range(0, 500, step))


@pytest.mark.usefixtures("static")
def test_random_graphs_have_the_bits_of_the_whole(small, number):
    b = built(graph_of(number), FEATURES, False)
    want, left, _ = results_of(b, "eager")
    small()
    for threads in (1, 2, 8):
        with flags(NUM_THREADS=threads):
            b = built(graph_of(number), FEATURES, False)
            got, after, _ = results_of(b, "eager")
        for x, y in zip([*got, *after.values()], [*want, *left.values()], strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.usefixtures("static")
def test_rows_of_chunks_are_computed_in_as_many_lanes(small, monkeypatch):
    texts, kernel_of = [], native.kernel_of

    def noted(group, machine):
        texts.append(kernel_of(group, machine).text)
        return kernel_of(group, machine)

    monkeypatch.setattr(native, "kernel_of", noted)
    x = np.ones((33, 70), "float32")

    def softmax():
        return [F.softmax(paddle.static.data("x", x.shape))]

    ran(softmax, {"x": x}, 1)
    whole, texts[:] = list(texts), []
    small()
    ran(softmax, {"x": x}, 1)
    counts = [[text.count(" x float>") for text in each] for each in (whole, texts)]
    assert counts[0] == counts[1]


def test_little_work_is_not_shared():
    kernel = lang.trace(plus_tanh, [meta(256)] * 2, [meta(256)], {}, name="k")
    assert "call void @share" not in modules_of(region_of_kernel(kernel), target())[-1].text


@pytest.mark.usefixtures("static")
def test_a_kernel_is_cut_in_the_same_way_for_any_number_of_threads():
    kernel = lang.trace(plus_tanh, [meta(1 << 18)] * 2, [meta(1 << 18)], {}, name="k")
    region = region_of_kernel(kernel)
    texts = set()
    for threads in (1, 2, 8):
        with flags(NUM_THREADS=threads):
            texts.add(tuple(module.text for module in modules_of(region, target())))
    assert len(texts) == 1


@pytest.mark.usefixtures("static")
def test_large_kernels_are_shared():
    x = values_of(np.random.default_rng(0), (64, 1 << 13), "float32")
    with flags(NUM_THREADS=3):
        (got,) = ran(lambda: [F.softmax(paddle.static.data("x", [64, 1 << 13]))], {"x": x}, 3)
    (want,) = ran(lambda: [F.softmax(paddle.static.data("x", [64, 1 << 13]))], {"x": x}, 1)
    np.testing.assert_array_equal(got, want)


def chunks_of(value, *shape):
    """How many chunks the kernel of one statement has, of elements that `value` computes."""
    axes, out = tuple(axis(n) for n in shape), Array("out", shape, "float32")
    stage = Stage(axes, [out], [Map(axes, value(*axes))], ["conv2d"])
    return function_of(Group((), [stage]), "kernel", TARGETS["avx512"]).chunks


def test_filters_of_each_channel_alone_are_more_work_than_as_many_shared_products():
    x, w = Array("x", (16, 16, 384), "float32"), Array("w", (3, 3, 384), "float32")
    y, m = Array("y", (196, 9), "float32"), Array("m", (9, 384), "float32")

    def alone(i, j, c):
        a, b = axis(3), axis(3)
        return sum(x[i + a, j + b, c] * w[a, b, c], (a, b))

    def shared(i, c):
        k = axis(9)
        return sum(y[i, k] * m[k, c], k)

    assert chunks_of(shared, 196, 384) == 1 < chunks_of(alone, 14, 14, 384)


def test_kernels_of_as_many_arrays_are_shared_by_one_function():
    names, sizes = ("x", "y", "z"), (1 << 18, 1 << 17, 1 << 16)
    given = [Array(name, (size,), "float32") for name, size in zip(names, sizes, strict=True)]
    made = [Array(f"{x.name}.out", x.shape, x.dtype) for x in given]
    statements = []
    for x, out in zip(given, made, strict=True):
        place = axis(x.size)
        statements.append(Statement(out, Map((place,), lang.tanh(x[place])), "tanh"))
    *kernels, driver = modules_of(region_of(statements, given, made), TARGETS["avx2"])
    assert len(kernels) == 3 == driver.text.count("call void @share(ptr @share.2,")
    assert driver.text.count("define internal void @share.") == 1
