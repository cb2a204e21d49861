"""Masks that compare places: what they leave out is not computed, and nothing else changes."""

from functools import partial
from importlib.util import find_spec

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import scull as paddle
import scull.nn.functional as F
from scull import static
from scull.compiler.cost import cost_of
from scull.errors import RangeError
from scull.flags import flags
from scull.ops.attention import flash_attn
from scull.runtime import llvm
from tests.compiler.test_attention import numbers, run

pytestmark = pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite has no wheel here")


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def with_gradients(form, **inputs):
    """What a form gives, and gradients that depend on all of it."""
    out = form(**inputs)
    loss = paddle.sum(paddle.tanh(out) * out)
    return [out, *static.gradients([loss], list(inputs.values()))]


def attention(q, k, v):
    """Each query looks at the keys up to it."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def operator(q, k, v):
    """The same as one operator."""
    return flash_attn(q, k, v, causal=True)[0]


def written_out(q, k, v):
    """The same in a user's words."""
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    scores = paddle.matmul(q, k, transpose_y=True)
    before = paddle.tril(paddle.ones(scores.shape[-2:])) == 0
    weights = F.softmax(paddle.where(before, paddle.full_like(scores, -1e9), scores))
    return paddle.matmul(paddle.tril(weights), v).transpose([0, 2, 1, 3])


def hidden(scores, how):
    """Scores of which those of later keys are -infinity, as users write it."""
    sizes, low = scores.shape[-2:], -float("inf")
    if how == "added":
        return scores + paddle.triu(paddle.full(sizes, low), 1)
    if how == "given to a Transformer":
        return paddle.nn.Transformer.generate_square_subsequent_mask(None, sizes[-1]) + scores
    if how == "filled":
        later = paddle.triu(paddle.ones(sizes), 1).astype("bool")
        return paddle.masked_fill(scores, later.expand_as(scores), low)
    return paddle.where(paddle.tril(paddle.ones(sizes)) > 0, scores, paddle.full_like(scores, low))


def masked(how, q, k, v):
    """The same with scores that are -infinity."""
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    weights = F.softmax(hidden(paddle.matmul(q, k, transpose_y=True), how))
    return paddle.matmul(weights, v).transpose([0, 2, 1, 3])


WAYS = ["added", "given to a Transformer", "filled", "chosen"]


def heads(length, batch=1, heads=2, size=8):
    """Queries, keys and values: positions before heads."""
    return {n: numbers(batch, length, heads, size, seed=i) for i, n in enumerate("qkv")}


def regions_agree(build, feed, rtol=2e-4, atol=2e-5):
    """The regions of a Program that gives the same with and without machine code."""
    plain, _ = run(build, feed, "off")
    made, regions = run(build, feed, "eager")
    for x, y in zip(made, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol)
    return regions


@pytest.mark.parametrize("length", [1, 2, 17, 64, 127, 128, 200, 401, 512])
@pytest.mark.parametrize("form", [attention, operator, written_out])
def test_causal_attention_is_that_of_the_numpy_kernels(form, length):
    regions_agree(partial(with_gradients, form), heads(length))


@settings(deadline=None, max_examples=12)
@given(st.data())
def test_causal_attention_of_any_sizes_is_that_of_the_numpy_kernels(data):
    size = st.integers(1, 40)
    feed = heads(data.draw(st.integers(1, 150)), data.draw(st.integers(1, 3)), 3, data.draw(size))
    regions_agree(partial(with_gradients, attention), feed)


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_products_with_triangles_are_those_of_the_numpy_kernels(data):
    sizes = st.sampled_from([1, 2, 7, 16, 17, 33, 64, 70, 130])
    m, n, other = (data.draw(sizes) for _ in range(3))
    cut = partial(data.draw(st.sampled_from([paddle.tril, paddle.triu])))
    diagonal, left = data.draw(st.integers(-5, 5)), data.draw(st.booleans())
    band = data.draw(st.booleans())
    feed = {"x": numbers(m, n), "y": numbers(*((n, other) if left else (other, m)), seed=1)}

    def form(x, y):
        part = cut(x, diagonal)
        if band:
            part = paddle.triu(paddle.tril(part, 3), -4)
        return paddle.matmul(part, y) if left else paddle.matmul(y, part)

    regions_agree(partial(with_gradients, form), feed)


def test_a_causal_mask_leaves_out_near_half_of_the_products():
    def operations(causal):
        attend = partial(F.scaled_dot_product_attention, is_causal=causal)
        return operations_of(lambda q, k, v: [attend(q, k, v)], heads(512, size=32))

    assert operations(True) < 0.62 * operations(False)


def operations_of(build, feed):
    (region,) = regions_agree(build, feed)
    return sum(cost_of(group).operations for group in region.groups)


@pytest.mark.parametrize("length", [1, 17, 64, 200, 401])
@pytest.mark.parametrize("how", WAYS)
def test_scores_of_minus_infinity_give_what_the_numpy_kernels_give(how, length):
    regions_agree(partial(with_gradients, partial(masked, how)), heads(length))


@pytest.mark.parametrize("how", WAYS)
def test_scores_of_minus_infinity_are_not_computed(how):
    feed = heads(512, size=32)
    every = operations_of(lambda q, k, v: [F.scaled_dot_product_attention(q, k, v)], feed)
    assert operations_of(lambda **x: [masked(how, **x)], feed) < 0.62 * every


@pytest.mark.parametrize("how", WAYS)
def test_rows_without_any_finite_score_are_nan(how):
    feed = heads(64)
    feed["k"][:, :3] = -np.inf
    feed["q"] = np.abs(feed["q"])
    made, _ = run(lambda **x: [masked(how, **x)], feed, "eager")
    plain, _ = run(lambda **x: [masked(how, **x)], feed, "off")
    np.testing.assert_array_equal(np.isnan(made[0]), np.isnan(plain[0]))
    assert np.isnan(made[0][:, :3]).all()


def test_values_of_later_keys_are_not_looked_at():
    feed = heads(300)
    with_nan = dict(feed, v=feed["v"].copy())
    with_nan["v"][:, 200:] = np.nan
    (plain,), _ = run(lambda **x: [attention(**x)], feed, "eager")
    (found,), _ = run(lambda **x: [attention(**x)], with_nan, "eager")
    np.testing.assert_array_equal(found[:, :200], plain[:, :200])
    assert np.isnan(found[:, 200:]).all()


def test_scores_beyond_all_bounds_that_a_mask_hides_do_no_harm():
    feed = heads(64)
    feed["k"][:, 40:] = 1e4
    regions_agree(lambda **x: [attention(**x)[:, :40]], feed)


def test_causal_attention_has_the_same_bits_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 8):
        with flags(NUM_THREADS=threads):
            found.append(run(partial(with_gradients, attention), heads(330, 2), "eager")[0])
    for others in found[1:]:
        for x, y in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(x, y)


def test_weights_that_somebody_wants_are_zero_behind_the_query():
    def build(q, k):
        scores = paddle.matmul(q, k, transpose_y=True)
        weights = paddle.incubate.softmax_mask_fuse_upper_triangle(scores)
        return [weights, paddle.matmul(weights, k)]

    feed = {n: numbers(1, 2, 96, 8, seed=i) for i, n in enumerate("qk")}
    regions_agree(build, feed)
    (weights, _), _ = run(build, feed, "eager")
    assert not np.triu(weights[0, 0], 1).any()


def test_the_explain_page_tells_what_is_left_out(tmp_path):
    main, page = static.Program(), tmp_path / "page.html"
    feed = heads(128)
    with static.program_guard(main):
        out = attention(**{n: static.data(n, x.shape) for n, x in feed.items()})
    static.Executor().explain(main, feed, [out], str(page), machine_code=True)
    assert "is not computed everywhere" in page.read_text()


@pytest.mark.parametrize("form", [attention, operator])
def test_scores_far_above_the_others_that_a_mask_hides_leave_gradients_finite(form):
    feed = heads(64)
    feed["k"][:, 32:] *= 300
    for mode in ("off", "eager"):
        found, _ = run(partial(with_gradients, form), feed, mode)
        assert all(np.isfinite(x).all() for x in found)


def test_truth_values_that_are_wanted_on_one_side_alone():
    def build(x, y):
        s = paddle.tanh(paddle.exp(paddle.matmul(x, y)))
        a = paddle.tanh(s * x) * paddle.exp(-s) > 0.1
        p, q = (paddle.tril(paddle.where(a, x, z)) for z in (x * 2, x - 1))
        return [paddle.matmul(p, y), paddle.matmul(q, y)]

    regions_agree(build, {"x": numbers(64, 64), "y": numbers(64, 64, seed=1)})


@pytest.mark.parametrize(
    "use",
    [paddle.matmul, lambda cut, x: paddle.sum(cut, axis=1), lambda cut, x: paddle.sum(cut, axis=0)],
    ids=["product", "rows", "columns"],
)
def test_an_index_out_of_range_is_found_where_a_mask_hides_it(use):
    def build(x, i):
        return [use(paddle.tril(paddle.take_along_axis(x, i, 1)), x)]

    i = np.zeros((128, 128), "int64")
    i[0, 127] = 99
    for mode in ("off", "eager"):
        with pytest.raises(RangeError):
            run(build, {"x": numbers(128, 7), "i": i}, mode)


def test_windows_over_borders_beside_a_triangle_read_nothing_outside():
    def build(x, y):
        u = F.unfold(x.reshape([1, 1, 1, 1024]), [1, 300], 1, [0, 150])
        u = u.reshape([-1, 300, 1025])[:, :, ::16]
        return [paddle.matmul(paddle.tril(y), y), paddle.sum(u, axis=1)]

    (region,) = regions_agree(build, {"x": numbers(1024), "y": numbers(8, 8, seed=1)})
    assert "guarded" in str(region)


def test_an_index_out_of_range_is_found_in_a_row_that_no_triangle_reaches():
    def build(x, y, i):
        return [paddle.matmul(paddle.tril(y), paddle.take_along_axis(x, i, 0))]

    i = np.zeros((40, 7), "int64")
    i[39] = 99
    for mode in ("off", "eager"):
        with pytest.raises(RangeError):
            run(build, {"x": numbers(5, 7), "y": numbers(4, 40), "i": i}, mode)


def test_causal_attention_is_the_operators_that_paddle_makes():
    main = static.Program()
    with static.program_guard(main):
        attention(**{n: static.data(n, x.shape) for n, x in heads(8).items()})
    found = [op.type for op in main.global_block().ops]
    assert found == [
        *["transpose2"] * 3, "scale", "matmul_v2", "fused_softmax_mask_upper_triangle",
        "matmul_v2", "transpose2",
    ]  # fmt: skip


def test_one_query_looks_at_the_first_key():
    feed = heads(5) | {"q": numbers(1, 1, 2, 8)}
    regions_agree(partial(with_gradients, attention), feed)


@pytest.mark.parametrize("level", llvm.levels()[1:] if llvm.available() else ())
@pytest.mark.parametrize("length", [70, 401])
def test_narrower_vectors_leave_out_the_same(level, length, monkeypatch):
    levels = llvm.levels()
    monkeypatch.setattr(llvm, "levels", lambda: levels[levels.index(level) :])
    with flags(CACHE_DIR="off"):
        regions_agree(partial(with_gradients, attention), heads(length))
