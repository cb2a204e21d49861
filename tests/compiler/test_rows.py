"""Row-sparse gradients and tall tables in machine code: few rows, merged, never written out."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.core.tensor import Rows
from scull.flags import flags
from tests.executor.test_compiled import calls_of, program_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
OPTIMIZERS = {
    "sgd": lambda: paddle.optimizer.SGD(0.1),
    "momentum": lambda: paddle.optimizer.Momentum(0.1, 0.9, weight_decay=0.01),
    "adam": lambda: paddle.optimizer.Adam(0.01),
    "lazy": lambda: paddle.optimizer.Adam(0.01, lazy_mode=True),
    "adamw": lambda: paddle.optimizer.AdamW(0.01, lazy_mode=True),
    "adagrad": lambda: paddle.optimizer.Adagrad(0.01),
    "norm": lambda: paddle.optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByNorm(0.01)),
    "global": lambda: paddle.optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.01)),
    "value": lambda: paddle.optimizer.SGD(0.1, grad_clip=paddle.nn.ClipGradByValue(1e-3)),
}


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def words(optimizer, height, sparse, width=9, shared=False):
    """A step that learns a table of so many rows, and perhaps reads it twice."""

    def build():
        x, y = (paddle.static.data(n, [12, k], "int64") for n, k in (("x", 6), ("y", 1)))
        table = paddle.nn.Embedding(height, width, sparse=sparse, padding_idx=3)
        h = table(x).sum(1)
        if shared:
            h = h + table(y).sum(1) * 2.0
        loss = F.cross_entropy(paddle.nn.Linear(width, 10)(h), y)
        OPTIMIZERS[optimizer]().minimize(loss)
        return [loss, table.weight]

    return build


def steps(build, mode, height, fetches=None):
    """What some steps give with other words each, and the functions they ran."""
    main, startup, outs = program_of(build)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    rng, found = np.random.default_rng(1), []
    with flags(COMPILE=mode), paddle.static.scope_guard(scope):
        exe.run(startup)
        for _ in range(4):
            feed = {
                "x": rng.integers(0, min(height, 40), (12, 6)),
                "y": rng.integers(0, 9, (12, 1)),
            }
            numpy = fetches is None
            found.append(exe.run(main, feed=feed, fetch_list=fetches or outs, return_numpy=numpy))
    return found, calls_of(main)


def agree(build, height):
    """Both ways give the same; the region that all became."""
    expected, _ = steps(build, "off", height)
    found, ((*calls,),) = steps(build, "eager", height)
    for got, want in zip(found, expected, strict=True):
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-6)
    (call,) = calls
    return call.native.region


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_updates_by_row_sparse_gradients_are_part_of_the_function(optimizer):
    agree(words(optimizer, 300, True), 300)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("height", [10, 145, 300])
@pytest.mark.parametrize("width", [1, 16, 19])
def test_tables_of_every_size_learn(height, width, sparse):
    agree(words("adam", height, sparse, width, shared=True), height)


@pytest.mark.parametrize("optimizer", ["adam", "lazy"])
def test_a_gradient_is_as_large_as_its_table_only_where_most_rows_have_one(optimizer):
    for height, written in ((20, optimizer == "adam"), (300, False)):
        for sparse in (False, True):
            region = agree(words(optimizer, height, sparse), height)
            shapes = [x.shape for x in region.arena.blocks]
            assert ((height, 9) in shapes) == (written or (height == 20 and not sparse))


def test_a_fetched_row_sparse_gradient_has_the_rows_of_the_instructions():
    def build():
        found = words("norm", 300, True, shared=True)()
        block = found[0].block.program.global_block()
        wanted = [op for op in block.ops if op.type in ("sum", "clip_by_norm")]
        names = [op.output("Out")[0] for op in wanted]
        fetched.extend(n for n in names if n.startswith("embedding"))
        return found

    results = []
    for mode in ("off", "eager"):
        fetched = []
        found, _ = steps(build, mode, 300, fetched)
        results.append([v for row in found for v in row])
    for x, y in zip(*results, strict=True):
        assert type(x) is type(y)
        if isinstance(x, Rows):
            np.testing.assert_array_equal(x.rows, y.rows)
            x, y = x.values, y.values
        np.testing.assert_allclose(np.array(x), np.array(y), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_rows_of_half_precision_and_their_exact_ones_are_set_together(optimizer):
    def build():
        x = paddle.static.data("x", [12, 6], "int64")
        paddle.static.data("y", [12, 1], "int64")
        start = paddle.nn.initializer.Normal()
        table = paddle.create_parameter([300, 8], "float16", default_initializer=start)
        loss = paddle.cast(F.embedding(x, table, sparse=True), "float32").square().sum()
        options = {"lazy_mode": True} if optimizer == "Adam" else {}
        getattr(paddle.optimizer, optimizer)(0.1, multi_precision=True, **options).minimize(loss)
        return [loss, table]

    (expected, _), (found, ((_,),)) = (steps(build, mode, 300) for mode in ("off", "eager"))
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got[0], want[0], rtol=1e-4)
        np.testing.assert_allclose(got[1], want[1], rtol=2e-3, atol=1e-4)
