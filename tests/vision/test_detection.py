"""Boxes chosen by category, and layers of regions."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ShapeError
from scull.ops import suppress
from scull.vision import ops

BOXES = [[0.0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 9, 9], [6, 6, 9, 8], [0, 0, 3, 4]]
SCORES = [0.5, 0.9, 0.2, 0.4, 0.8]


def test_boxes_of_one_category_do_not_concern_others():
    boxes, scores = paddle.to_tensor(BOXES), paddle.to_tensor(SCORES)
    assert ops.nms(boxes, 0.5, scores).tolist() == [1, 3]
    categories = paddle.to_tensor([0, 0, 0, 1, 1])
    assert ops.nms(boxes, 0.5, scores, categories, [0, 1]).tolist() == [1, 4, 3, 2]
    assert ops.nms(boxes, 0.5, scores, categories, [0, 1, 7], top_k=2).tolist() == [1, 4]
    with pytest.raises(ArgumentError, match="top_k"):
        ops.nms(boxes, 0.5, scores, categories, [0, 1], top_k=9)
    with pytest.raises(ArgumentError, match="categories is needed"):
        ops.nms(boxes, 0.5, scores, categories)


def test_windows_without_offsets_are_those_of_a_convolution():
    x = paddle.to_tensor(np.random.default_rng(1).standard_normal((2, 4, 6, 6)).astype("float32"))
    layer = ops.DeformConv2D(4, 6, 3, stride=2, padding=1, groups=2)
    found = layer(x, paddle.zeros([2, 18, 3, 3]))
    expected = paddle.nn.functional.conv2d(x, layer.weight, layer.bias, 2, 1, groups=2)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_a_region_of_one_value_keeps_it():
    x, count = paddle.full([1, 2, 8, 8], 3.0), paddle.to_tensor([1], dtype="int32")
    box = paddle.to_tensor([[1.0, 1.0, 6.0, 5.0]])
    for layer in (ops.RoIAlign((2, 3)), ops.RoIPool((2, 3))):
        assert np.all(layer(x, box, count).numpy() == 3)


def test_each_bin_of_a_region_has_channels_of_its_own():
    x = paddle.arange(12, dtype="float32").reshape([1, 12, 1, 1]).expand([1, 12, 6, 6])
    count, box = paddle.to_tensor([1], dtype="int32"), paddle.to_tensor([[0.0, 0.0, 5.0, 5.0]])
    found = ops.PSRoIPool((2, 3))(x, box, count)
    assert found.reshape([-1]).tolist() == list(range(12))
    with pytest.raises(ShapeError, match="x has 12 channels, and 10 are needed"):
        ops.psroi_pool(x, box, count, (5, 1))
    with pytest.raises(ArgumentError, match="above 0"):
        ops.psroi_pool(x, box, count, 0)


def test_the_loss_of_boxes_is_that_of_paddle_where_two_share_a_place_too():
    x = paddle.to_tensor((np.arange(28).reshape(1, 7, 2, 2) % 9 / 4 - 1).astype("float32"))
    x.stop_gradient = False
    boxes = [[[0.3, 0.3, 0.6, 0.8], [0.35, 0.3, 0.65, 0.8], [0.8, 0.7, 0.7, 0.9]]]
    labels = paddle.to_tensor([[0, 1, 1]], dtype="int32")
    loss = ops.yolo_loss(x, paddle.to_tensor(boxes), labels, [10, 13], [0], 2, 0.7, 8)
    assert (loss.shape, round(loss.item(), 4)) == ([1], 20.3554)
    loss.backward()
    wanted = [-0.63797, -0.148, 1.48, -1.48, -0.32082, 0.35254, -0.35254]  # the last box's
    np.testing.assert_allclose(x.grad[0, :, 0, 0].numpy(), wanted, atol=1e-5)


def test_of_many_regions_each_has_its_own_mean():
    x = paddle.arange(64.0).reshape([1, 1, 8, 8])
    corners = np.arange(600) % 7
    rois = np.stack([corners, corners, corners + 1, corners + 1], 1).astype("float32")
    found = ops.roi_align(x, paddle.to_tensor(rois), paddle.to_tensor([600], "int32"), 1)
    assert found.flatten().tolist() == (corners * 9.0).tolist()  # their middles are elements


def test_of_many_boxes_those_that_surer_ones_cover_are_left_out():
    places = np.repeat(np.arange(100.0), 2) * 10
    boxes = np.stack([places, places, places + 8, places + 8], 1).astype("float32")
    scores = np.linspace(1.0, 0.5, 200, dtype="float32")
    given = paddle.to_tensor(boxes[None]), paddle.to_tensor(scores[None, None]), None
    _, index, count = paddle._C_ops.multiclass_nms3(*given, 0.1, 1000, -1, 0.5, True, 1.0, -1)
    assert count.tolist() == [100]
    assert index.flatten().tolist() == list(range(0, 200, 2))


@pytest.mark.parametrize(("limit", "tables"), [(0.1, 1), (0.9, 8)])
def test_boxes_that_many_classes_share_are_compared_once(monkeypatch, limit, tables):
    random = np.random.default_rng(0)
    boxes = random.random((1, 40, 4), "float32")
    boxes[..., 2:] += boxes[..., :2]
    scores = random.random((1, 8, 40), "float32")
    compared, shared = [], suppress.shared
    monkeypatch.setattr(
        suppress, "shared", lambda box, *rest: compared.append(box.shape) or shared(box, *rest)
    )
    attrs = {"score_threshold": limit, "nms_top_k": 9, "keep_top_k": -1, "background_label": -1}
    kept, *_ = suppress.multiclass_nms3(*map(paddle.to_tensor, (boxes, scores)), **attrs)
    assert len(compared) == tables
    alone = [
        suppress.multiclass_nms3(*map(paddle.to_tensor, (boxes, own)), **attrs)[0].numpy()[:, 1:]
        for own in scores.transpose(1, 0, 2)[:, :, None].reshape(8, 1, 1, 40)
    ]
    assert np.array_equal(kept.numpy()[:, 1:], np.concatenate(alone))
