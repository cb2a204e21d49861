"""Layers of recommendation and detection."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ShapeError
from scull.incubate import layers

TABLE = np.arange(80, dtype="float32").reshape(20, 4)


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    scope = paddle.static.Scope()
    with (
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(scope),
    ):
        yield scope
    paddle.disable_static()


def run(feed, fetches):
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return [np.asarray(v) for v in exe.run(feed=feed, fetch_list=fetches, return_numpy=False)]


def given(array, **options):
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(array), **options)


def test_rows_that_sequences_name_are_summed_and_one_adds_nothing(static):
    words = paddle.static.data("words", [None, 1], "int64", lod_level=1)
    found = layers.fused_embedding_seq_pool(
        words, [20, 4], padding_idx=-17, param_attr=given(TABLE, name="table")
    )
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(found))
    fed = paddle.base.create_lod_tensor([[3, 4], [5]], [[2, 1]], paddle.CPUPlace())
    (sums,) = run({"words": fed}, [found])
    np.testing.assert_array_equal(sums, TABLE[[4, 5]])
    after = np.array(static.find_var("table").get_tensor())
    np.testing.assert_array_equal(
        TABLE - after, np.isin(np.arange(20), [4, 5])[:, None] * np.ones(4)
    )


def test_updates_may_know_the_rows_that_occur_alone(static):
    words = paddle.static.data("words", [None, 1], "int64", lod_level=1)
    attr = given(TABLE, name="table")
    found = layers.fused_embedding_seq_pool(words, [20, 4], is_sparse=True, param_attr=attr)
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(found))
    fed = paddle.base.create_lod_tensor([[3, 4], [4]], [[2, 1]], paddle.CPUPlace())
    run({"words": fed}, [])
    after = np.array(static.find_var("table").get_tensor())
    np.testing.assert_array_equal((TABLE - after)[:, 0], np.bincount([3, 4, 4], minlength=20))


def test_a_better_box_hides_what_it_covers():
    boxes, scores = paddle.static.data("boxes", [1, 3, 4]), paddle.static.data("scores", [1, 2, 3])
    options = {"score_threshold": 0.1, "nms_top_k": 10, "keep_top_k": 5, "return_index": True}
    kept, index = layers.multiclass_nms2(boxes, scores, **options)
    corners = np.float32([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]])
    chances = np.float32([[[0, 0, 0], [0.5, 0.7, 0.2]]])
    found = run({"boxes": corners, "scores": chances}, [kept, index])
    np.testing.assert_allclose(found[0][:, :2], np.float32([[1, 0.7], [1, 0.2]]))
    np.testing.assert_array_equal(found[0][:, 2:], corners[0, [1, 2]])
    assert (found[1].tolist(), found[1].dtype) == ([[1], [2]], np.int32)
    alone = layers.multiclass_nms2(boxes, scores, 0.1, 10, 5)
    assert alone.stop_gradient and alone.shape == kept.shape


def test_each_slot_has_a_linear_layer():
    x = paddle.static.data("x", [2, None, 3])
    rng = np.random.default_rng(0)
    weights, biases = (rng.standard_normal(s).astype("float32") for s in ((2, 3, 4), (2, 4)))
    found = layers.batch_fc(x, [2, 3, 4], given(weights), [2, 4], given(biases), act="relu")
    fed = rng.standard_normal((2, 5, 3)).astype("float32")
    want = np.maximum(fed @ weights + biases[:, None], 0)
    np.testing.assert_allclose(run({"x": fed}, [found])[0], want, rtol=1e-5, atol=1e-6)
    law = r"input is \[2, -1, 3\]: param_size is \[2, 4, 4\]"
    with pytest.raises(ShapeError, match=law):
        layers.batch_fc(x, [2, 4, 4], None, [2, 4], None)


def test_what_takes_parameter_servers_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="tdm_child` is not in scull"):
        layers.tdm_child(None)
