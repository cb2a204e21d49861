"""Attention as one kernel: what lies between its products is that of one head."""

import importlib.util

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
from scull import static
from scull.executor.compiled import Call
from scull.flags import flags

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def attention(q, k, v, mask=None, merge=False):
    """Attention in the words of a model, over axes of batches, heads, positions, elements."""
    scores = paddle.matmul(q * q.shape[-1] ** -0.5, k, transpose_y=True)
    weights = paddle.nn.functional.softmax(scores if mask is None else scores + mask)
    out = paddle.matmul(weights, v)
    if merge:
        batch, heads, length, size = out.shape
        out = out.transpose([0, 2, 1, 3]).reshape([batch, length, heads * size])
    return out


def run(build, feed, mode):
    """What a Program gives, and its regions."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        inputs = {n: static.data(n, x.shape, str(x.dtype)) for n, x in feed.items()}
        for x in inputs.values():
            x.stop_gradient = False
        fetches = build(**inputs)
    exe = static.Executor()
    with flags(COMPILE=mode), static.scope_guard(static.Scope()):
        exe.run(startup)
        found = exe.run(main, feed, fetches)
        made = [rows for b in main.plans.values() if b.tier for rows in b.tier.variants.values()]
        calls = [row[0] for rows in made for row in rows if isinstance(row[0], Call)]
        return found, [call.native.region for call in calls]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_attention_and_its_gradients_are_those_of_the_numpy_kernels(data):
    batch, heads = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    length, keys = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    size, width = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 20))
    feed = {
        "q": numbers(batch, heads, length, size),
        "k": numbers(batch, heads, keys, size, seed=1),
        "v": numbers(batch, heads, keys, width, seed=2),
    }
    if data.draw(st.booleans()):
        feed["mask"] = numbers(*data.draw(st.sampled_from([(length, keys), (batch, 1, 1, keys)])))
    merge = data.draw(st.booleans())

    def build(**inputs):
        out = attention(**inputs, merge=merge)
        loss = paddle.sum(out * out)
        return [out, *static.gradients([loss], [inputs[n] for n in "qkv"])]

    plain, _ = run(build, feed, "off")
    made, _ = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("merge", [False, True])
def test_scores_of_one_head_at_a_time_lie_in_memory(merge):
    batch, heads, length, size = 2, 4, 64, 16
    feed = {n: numbers(batch, heads, length, size, seed=i) for i, n in enumerate("qkv")}
    (_,), (region,) = run(lambda **x: [attention(**x, merge=merge)], feed, "eager")
    all_scores = batch * heads * length * length * 4
    assert max(block.size for block in region.arena.blocks.values()) <= all_scores // 4
    (group,) = [g for g in region.groups if "softmax" in g.origins]
    assert sum(stage.is_contraction for stage in group.stages) == 2


def test_what_is_too_large_for_a_thread_of_its_own_is_kernels_of_their_own():
    feed = {n: numbers(1, 2, 600, 16, seed=i) for i, n in enumerate("qkv")}
    (made,), (region,) = run(lambda **x: [attention(**x)], feed, "eager")
    (plain,), _ = run(lambda **x: [attention(**x)], feed, "off")
    np.testing.assert_allclose(made, plain, rtol=2e-4, atol=2e-5)
    assert max(sum(s.is_contraction for s in g.stages) for g in region.groups) == 1
