"""Random rows of operators, some of which mix a batch: slices give what the instructions give."""

import importlib.util
import random

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull.executor.sliced import SlicedCall
from scull.flags import flags

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
WIDTH = 8
COUNTS = (1, 2, 3, 5, 7, 19, 21, 33, 41, 64, 70)


def words(x):
    return paddle.cast(paddle.abs(x) * 3.0, "int64") % WIDTH


def back(x):
    return paddle.reshape(x, [-1, WIDTH])


# Operators that keep [batch, 8]; those of the second list tell rows apart, or mix them.
APART = [
    lambda x: paddle.tanh(x),
    lambda x: F.softmax(x, axis=1),
    lambda x: paddle.nn.Linear(WIDTH, WIDTH)(x),
    lambda x: back(paddle.transpose(paddle.reshape(x, [-1, 4, 2]), [0, 2, 1])),
    lambda x: back(paddle.nn.Linear(2, 2)(paddle.reshape(x, [-1, 2]))),
    lambda x: paddle.concat([x[:, :3], x[:, 3:] * 2.0], axis=1),
    lambda x: paddle.flip(x, [1]),
    lambda x: paddle.cumsum(x, axis=1) * 0.3,
    lambda x: paddle.nn.LayerNorm(WIDTH)(x),
    lambda x: paddle.static.setitem(x * 1.0, (slice(None), slice(2, 5)), 0.5),
    lambda x: paddle.max(paddle.stack([x, -x], axis=1), axis=1),
    lambda x: paddle.tile(x, [1, 2])[:, 4:12],
    lambda x: paddle.take_along_axis(x, words(x), 1),
    lambda x: paddle.nn.Embedding(WIDTH, WIDTH)(words(x[:, 0])),
    lambda x: x * paddle.cast(paddle.argmax(x, axis=1, keepdim=True), "float32"),
    lambda x: back(paddle.nn.Conv1D(2, 2, 3, padding=1)(paddle.reshape(x, [-1, 2, 4]))),
    lambda x: x * paddle.arange(0, WIDTH, dtype="float32"),
]
MIXED = [
    lambda x: F.softmax(x, axis=0),
    lambda x: paddle.flip(x, [0]),
    lambda x: paddle.roll(x, 1, axis=0),
    lambda x: paddle.cumsum(x, axis=0) * 0.1,
    lambda x: x - paddle.mean(x),
    lambda x: paddle.matmul(paddle.matmul(x, x, transpose_y=True), x) * 0.01,
    lambda x: paddle.static.setitem(x * 1.0, (slice(20, None),), 0.0),
    lambda x: paddle.concat([x[:40], x[40:] * 2.0], axis=0),
    lambda x: paddle.gather(x, paddle.zeros([1], "int64")) + x,
    lambda x: paddle.tril(x) + x,
    lambda x: x * paddle.cast(paddle.shape(x)[0], "float32") * 0.01,
]


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        count = 400 if metafunc.config.getoption("--nightly") else 10
        metafunc.parametrize("seed", range(count))


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_a_random_row_of_operators(seed):
    drawn = random.Random(seed)
    steps = drawn.choices(APART, k=drawn.randint(1, 4))
    mixes = seed % 3 == 0
    if mixes:
        steps.insert(drawn.randint(0, len(steps)), drawn.choice(MIXED))
    main, startup = paddle.static.Program(), paddle.static.Program()
    startup.random_seed = seed + 1
    with paddle.static.program_guard(main, startup):
        y = paddle.static.data("x", [None, WIDTH])
        for step in steps:
            y = step(y)
    exe, rng = paddle.static.Executor(), np.random.default_rng(seed)
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe.run(startup)
        fed = [{"x": rng.standard_normal((n, WIDTH), np.float32)} for n in drawn.sample(COUNTS, 4)]
        wanted = [exe.run(main, feed=feed, fetch_list=[y])[0] for feed in fed]
        with flags(COMPILE="eager", BATCH_SLICES="always"):
            found = [exe.run(main, feed=feed, fetch_list=[y])[0] for feed in fed]
            (tier,) = [b.tier for b in main.plans.values() if b.tier is not None]
            (sliced,) = tier.slices.values()
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-4)
    whole = not sliced.refusal and all(isinstance(row[0], SlicedCall) for row in sliced.steps)
    assert not (mixes and whole)
    assert mixes or sliced.refusal in ("", "it has no regions")
