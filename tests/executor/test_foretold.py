"""Numbers that sizes tell: Programs that reshape by the shapes of what is fed are one function."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull import static
from scull.errors import ArgumentError
from scull.executor.call import Call
from scull.flags import flags

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def heads(x):
    """As exported models split heads: a batch and a length that nobody knows before the run."""
    sizes = paddle.shape(x)
    split = paddle.reshape(x, [sizes[0], sizes[1], 2, 4]).transpose([0, 2, 1, 3])
    scores = F.softmax(paddle.matmul(split, split, transpose_y=True))
    merged = paddle.matmul(scores, split).transpose([0, 2, 1, 3])
    return paddle.reshape(merged, paddle.concat([sizes[:2], paddle.full([1], 8, "int32")]))


def padded(x):
    rows = paddle.full([paddle.shape(x)[0], 1, 8], 2.0)
    return paddle.concat([x, rows], axis=1) * 3.0


def causal(x):
    length = paddle.shape(x)[1]
    mask = paddle.tril(paddle.ones([length, length]))
    return paddle.matmul(mask, x) + 1.0


def divided(x):
    """A value that is a size of the batch."""
    return x / paddle.cast(paddle.shape(x)[0], "float32") + 1.0


def cut(x):
    half = paddle.shape(x)[1] // 2
    return paddle.tanh(x[:, half:]) + paddle.mean(x)


def stretched(x):
    first = x[:, :1]
    return paddle.expand(first, [-1, paddle.shape(x)[1], -1]) * x


def counted(x):
    """Its instruction for the positions stands between two functions."""
    places = paddle.arange(0, paddle.shape(x)[1], dtype="float32")
    return paddle.tanh(x + places.unsqueeze(-1)) * 2.0


BUILDS = {f.__name__: f for f in (heads, padded, causal, divided, cut, stretched, counted)}


def built(build, shape=(-1, -1, 8)):
    main = static.Program()
    with static.program_guard(main), paddle.utils.unique_name.guard():
        x = static.data("x", list(shape))
        x.stop_gradient = False
        out = build(x)
        (gradient,) = static.gradients([paddle.sum(out * out)], [x])
    return main, [out, gradient]


def rows_of(main):
    """The steps that runs took, for each shape that was fed."""
    return [rows for b in main.plans.values() for rows in b.tier.variants.values()]


@pytest.mark.parametrize("name", BUILDS)
def test_any_sizes_give_what_the_instructions_give(name):
    main, fetches = built(BUILDS[name])
    exe = static.Executor()
    for seed, shape in enumerate([(2, 3), (1, 5), (3, 2), (2, 6), (4, 3), (5, 4), (2, 2), (6, 7)]):
        feed = {"x": np.random.default_rng(seed).normal(size=(*shape, 8)).astype("float32")}
        with flags(COMPILE="off"):
            plain = exe.run(main.clone(), feed, [v.name for v in fetches])
        with flags(COMPILE="eager"):
            made = exe.run(main, feed, fetches)
        for x, y in zip(made, plain, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", BUILDS)
def test_batches_that_run_in_slices_give_that_too(name):
    main, fetches = built(BUILDS[name], (-1, 3, 8))
    exe, found = static.Executor(), static.Executor()
    for batch in range(1, 15):
        feed = {"x": np.random.default_rng(batch).normal(size=(batch, 3, 8)).astype("float32")}
        with flags(COMPILE="off"):
            plain = found.run(main.clone(), feed, [fetches[0].name])
        with flags(COMPILE="eager"):
            made = exe.run(main, feed, fetches[:1])
        np.testing.assert_allclose(made[0], plain[0], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", [name for name in BUILDS if name != "counted"])
def test_a_program_that_asks_for_sizes_is_one_function(name):
    main, fetches = built(BUILDS[name])
    with flags(COMPILE="eager"):
        static.Executor().run(main, {"x": np.ones([2, 4, 8], "float32")}, fetches)
    (rows,) = rows_of(main)
    assert [type(row[0]) for row in rows] == [Call]


def test_positions_of_a_length_that_is_fed_stand_between_two_functions():
    main, fetches = built(counted)
    with flags(COMPILE="eager"):
        static.Executor().run(main, {"x": np.ones([2, 4, 8], "float32")}, fetches)
    (rows,) = rows_of(main)
    assert sum(isinstance(row[0], Call) for row in rows) >= 1
    assert sum(not isinstance(row[0], Call) for row in rows) <= 2


@pytest.mark.parametrize(("start", "step"), [(0, 0), (9, 1), (0, -1)])
def test_positions_that_no_step_leads_to_are_refused_as_the_instructions_refuse_them(start, step):
    def build(x):
        ends = (paddle.full([1], start, "int64"), paddle.cast(paddle.shape(x)[1], "int64"))
        places = paddle.arange(*ends, paddle.full([1], step, "int64"))
        return x + paddle.cast(paddle.sum(places), "float32")

    main, fetches = built(build)
    for mode in ("off", "eager"):
        with flags(COMPILE=mode), pytest.raises(ArgumentError, match="no number of steps"):
            static.Executor().run(main, {"x": np.ones([2, 4, 8], "float32")}, fetches)


def test_a_size_that_is_changed_in_place_is_the_changed_one():
    def build(x):
        size = paddle.shape(x)[1]
        more = paddle.increment(paddle.cast(size, "int64"), 1)
        return paddle.full([1, more, 1], 2.0) * paddle.mean(x, axis=1, keepdim=True)

    main, fetches = built(build)
    for length in (3, 5):
        feed = {"x": np.ones([2, length, 8], "float32")}
        with flags(COMPILE="eager"):
            out, gradient = static.Executor().run(main, feed, fetches)
        assert out.shape == (2, length + 1, 8) and gradient.shape == (2, length, 8)
        np.testing.assert_array_equal(out, np.full_like(out, 2.0))
