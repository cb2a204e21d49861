"""Softmax of masked scores and losses by their names."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError

F = paddle.nn.functional


def test_masked_softmax_is_softmax_of_the_sum():
    x, mask = paddle.randn([2, 3, 4, 4]), paddle.randn([2, 1, 4, 4])
    found = paddle.incubate.softmax_mask_fuse(x, mask)
    np.testing.assert_allclose(found.numpy(), F.softmax(x + mask).numpy(), rtol=1e-6)


def test_no_query_looks_behind_itself():
    x = paddle.randn([1, 2, 3, 3])
    found = paddle.incubate.softmax_mask_fuse_upper_triangle(x)
    assert found[0, 0, 0].tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(found[0, :, 1, :2].numpy(), F.softmax(x[0, :, 1, :2]).numpy(), 1e-6)


@pytest.mark.parametrize(
    ("reduction", "value"),
    [(0, 6.0), ("sum", 6.0), (1, 2.0), ("mean", 2.0), (2, [1.0, 2.0, 3.0]), ("none", [1, 2, 3])],
)
def test_a_loss_is_reduced_by_name_or_number(reduction, value):
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    assert paddle.incubate.identity_loss(x, reduction).tolist() == value


@pytest.mark.parametrize("reduction", ["bad", 3])
def test_another_reduction_is_refused(reduction):
    with pytest.raises(ArgumentError, match="reduction is"):
        paddle.incubate.identity_loss(paddle.ones([2]), reduction)
