"""Samples of softmax of masked scores."""

import numpy as np

from scull.errors import ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, samples


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@samples("softmax_mask_fuse", reference=lambda x, mask: softmax_of(x + mask))
def softmax_mask_fuse_samples():
    yield call(f32(2, 3, 4, 5), f32(2, 1, 4, 5))
    yield call(f64(1, 2, 1, 3), f64(1, 1, 1, 3))
    yield call(f16(1, 2, 2, 3), f16(1, 1, 2, 3))
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 3, 4), f32(2, 1, 3, 4))
    yield fails(ShapeError, "axis 3 of x has size 4", f32(1, 2, 3, 4), f32(1, 1, 3, 5))
    yield fails(ShapeError, "mask has 2 heads, not 1", f32(1, 2, 3, 4), f32(1, 2, 3, 4))


def up_to_the_query(x):
    return softmax_of(np.where(np.tril(np.ones(x.shape[-2:])) > 0, x, -np.inf))


@samples("softmax_mask_fuse_upper_triangle", reference=up_to_the_query)
def softmax_mask_fuse_upper_triangle_samples():
    yield call(f32(2, 3, 4, 4))
    yield call(f64(1, 1, 1, 1))
    yield call(f16(1, 2, 3, 3))
    yield fails(ShapeError, "x has 2 axes, 4 are needed", f32(3, 3))
    yield fails(ShapeError, "x has 3 queries and 4 keys", f32(1, 1, 3, 4))
