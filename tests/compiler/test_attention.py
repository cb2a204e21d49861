"""Attention as one kernel: what lies between its products is that of one head, or of a strip of it,
which gradients compute again.
"""

import importlib.util
from functools import partial
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
import scull.nn.functional as F
from scull import static
from scull.compiler.native import kernel_of
from scull.compiler.target import target
from scull.executor.compiled import Call
from scull.flags import flags
from scull.ops.attention import flash_attn

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
    weights = F.softmax(scores if mask is None else scores + mask)
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


def operands(data, most, lengths, sizes):
    """Queries, keys and values of up to so many batches and heads, and perhaps a mask."""
    batch, heads = data.draw(st.integers(1, most)), data.draw(st.integers(1, most))
    length, keys = data.draw(lengths), data.draw(lengths)
    size, width = data.draw(sizes), data.draw(sizes)
    feed = {
        "q": numbers(batch, heads, length, size),
        "k": numbers(batch, heads, keys, size, seed=1),
        "v": numbers(batch, heads, keys, width, seed=2),
    }
    if data.draw(st.booleans()):
        feed["mask"] = numbers(*data.draw(st.sampled_from([(length, keys), (batch, 1, 1, keys)])))
    return feed


def trained(merge=False, **inputs):
    """Attention, and gradients that depend on all of it."""
    out = attention(**inputs, merge=merge)
    loss = paddle.sum(paddle.tanh(out) * out)
    return [out, *static.gradients([loss], [inputs[n] for n in "qkv"])]


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_attention_and_its_gradients_are_those_of_the_numpy_kernels(data):
    feed = operands(data, 3, st.integers(1, 40), st.integers(1, 20))
    build = partial(trained, data.draw(st.booleans()))
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


def block(x, w, heads, causal=False):
    """Attention of a model between its projections, and the gradients of both operands."""
    batch, length, width = x.shape
    parts = paddle.matmul(x, w).reshape([batch, length, 3, heads, width // heads])
    q, k, v = parts.transpose([2, 0, 3, 1, 4])
    scores = paddle.matmul(q * q.shape[-1] ** -0.5, k, transpose_y=True)
    weights = paddle.incubate.softmax_mask_fuse_upper_triangle(scores) if causal else None
    out = paddle.matmul(F.softmax(scores) if weights is None else weights, v)
    out = paddle.matmul(out.transpose([0, 2, 1, 3]).reshape([batch, length, width]), w[:, :width])
    loss = paddle.sum(paddle.tanh(out) * out)
    return [loss, *static.gradients([loss], [x, w])]


def projected(batch, heads, length, size):
    width = heads * size
    w = numbers(width, 3 * width, seed=1) / width**0.5
    return {"x": numbers(batch, length, width), "w": w}


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_one_head_at_a_time_read_its_weights_once(causal):
    feed, build = projected(8, 4, 128, 32), partial(block, heads=4, causal=causal)
    plain, _ = run(build, feed, "off")
    made, (region,) = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)
    (group,) = [g for g in region.groups if any("softmax" in o and "grad" in o for o in g.origins)]
    assert [axis.size for axis in group.shared] == [8, 4]
    assert sum(stage.is_contraction for stage in group.stages) == 4
    assert all(x.size < 8 * 4 * 128 * 128 for x in group.written)


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_gradients_of_heads_of_any_size_are_those_of_the_numpy_kernels(data):
    batch, heads, length = (data.draw(st.integers(2, n)) for n in (4, 4, 14))
    feed = projected(batch, heads, length, data.draw(st.sampled_from([3, 16, 32])))
    build = partial(block, heads=heads, causal=data.draw(st.booleans()))
    plain, _ = run(build, feed, "off")
    with patch("scull.compiler.group.ROWS", data.draw(st.sampled_from([1 << 11, 1 << 13]))):
        made, _ = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)


def largest(region):
    """The bytes of the largest array between kernels."""
    return max(block.size for block in region.arena.blocks.values())


@settings(deadline=None, max_examples=5)
@given(st.data())
def test_long_attention_is_that_of_the_numpy_kernels_strip_by_strip(data):
    feed = operands(data, 2, st.sampled_from([401, 480, 512, 541]), st.integers(2, 9))
    build = partial(trained, data.draw(st.booleans()))
    plain, _ = run(build, feed, "off")
    made, (region,) = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)
    length, keys = feed["q"].shape[2], feed["k"].shape[2]
    assert largest(region) <= 64 * keys * 4 or largest(region) < 4 * length * keys // 4


def masked(q, k, v):
    """The operator with a causal mask, which takes positions before heads."""
    given = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    return F.scaled_dot_product_attention(*given, is_causal=True)


def flash(q, k, v):
    """The operator by its other name."""
    return flash_attn(*(x.transpose([0, 2, 1, 3]) for x in (q, k, v)), causal=True)[0]


def dropped(q, k, v):
    """Weights some of which are zero."""
    weights = F.softmax(paddle.matmul(q, k, transpose_y=True))
    return paddle.matmul(F.dropout(weights, 0.25), v)


def layer(q, k, v):
    """The layer, with its projections."""
    batch, heads, length, size = q.shape
    made = paddle.nn.MultiHeadAttention(heads * size, heads)
    shape = [batch, length, heads * size]
    return made(*(x.transpose([0, 2, 1, 3]).reshape(shape) for x in (q, k, v)))


@pytest.mark.parametrize("form", [masked, flash, dropped, layer])
def test_no_form_of_attention_keeps_scores_of_a_long_head(form):
    feed = {n: numbers(1, 2, 450, 8, seed=i) for i, n in enumerate("qkv")}

    def build(q, k, v):
        out = form(q, k, v)
        loss = paddle.sum(paddle.tanh(out) * out)
        return [out, *static.gradients([loss], [q, k, v])]

    found = []
    for mode in ("off", "eager"):
        paddle.seed(7)
        found.append(run(build, feed, mode))
    (plain, _), (made, (region,)) = found
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)
    assert largest(region) < 450 * 450 * 4 // 4


def test_long_attention_has_the_same_bits_on_any_number_of_threads():
    feed = {n: numbers(1, 2, 541, 8, seed=i) for i, n in enumerate("qkv")}
    found = []
    for threads in (1, 2, 8):
        with flags(NUM_THREADS=threads):
            found.append(run(trained, feed, "eager")[0])
    for others in found[1:]:
        for x, y in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("build", "kernels"), [(lambda **x: [attention(**x)], 4), (trained, 12)])
def test_memory_of_attention_grows_as_its_length(build, kernels):
    arenas = []
    for length in (1024, 2048):
        feed = {n: numbers(1, 2, length, 16, seed=i) for i, n in enumerate("qkv")}
        _, (region,) = run(build, feed, "eager")
        assert len(region.groups) <= kernels
        strips = [g for g in region.groups if sum(s.is_contraction for s in g.stages) > 1]
        assert all(kernel_of(group, target()).chunks > 1 for group in strips)
        arenas.append(region.arena.size)
    assert arenas[1] < 2.1 * arenas[0]
    assert arenas[1] < 2048 * 2048 * 4


def test_scores_that_somebody_wants_are_kept():
    feed = {n: numbers(1, 2, 400, 8, seed=i) for i, n in enumerate("qk")}

    def build(q, k):
        weights = F.softmax(paddle.matmul(q, k, transpose_y=True))
        return [weights, paddle.sum(weights * weights, axis=2)]

    plain, _ = run(build, feed, "off")
    made, _ = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)


def test_heads_of_which_few_are_wanted_are_cut_in_strips_of_all():
    feed = {n: numbers(1, 4, 400, 8, seed=i) for i, n in enumerate("qk")}
    feed["v"] = numbers(1, 2, 400, 8, seed=2)

    def build(q, k, v):
        weights = F.softmax(paddle.matmul(q, k, transpose_y=True))
        return [paddle.matmul(weights[:, 1:3], v)]

    plain, _ = run(build, feed, "off")
    made, _ = run(build, feed, "eager")
    np.testing.assert_allclose(made[0], plain[0], rtol=2e-4, atol=2e-5)


def test_the_explain_page_tells_of_strips(tmp_path):
    feed = {n: numbers(1, 1, 512, 8, seed=i) for i, n in enumerate("qkv")}
    main, page = static.Program(), tmp_path / "page.html"
    with static.program_guard(main):
        inputs = {n: static.data(n, x.shape) for n, x in feed.items()}
        out = attention(**inputs)
    static.Executor().explain(main, feed, [out], str(page), machine_code=True)
    assert "strip by strip: 64 rows of 512 at a time" in page.read_text()
