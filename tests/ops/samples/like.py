"""Samples of the operators that take the shape of another tensor, and of axes of size 1."""

import numpy as np

from scull.core.dtype import float64
from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import call, f32, fails, i64, samples, strided


def summed_down(x, like, axis):
    """`x` summed to the shape of `like`, whose first axis is axis `axis` of `x`."""
    lead = x.ndim - like.ndim if axis == -1 else axis
    placed = (1,) * lead + like.shape + (1,) * (x.ndim - lead - like.ndim)
    axes = tuple(i for i, n in enumerate(placed) if n == 1)
    return x.sum(axes, keepdims=True).reshape(like.shape)


def stretched(x, like, axis):
    """`x` in the shape of `like`, where the first axis of `x` is axis `axis`."""
    lead = like.ndim - x.ndim if axis == -1 else axis
    placed = (1,) * lead + x.shape + (1,) * (like.ndim - lead - x.ndim)
    return np.broadcast_to(x.reshape(placed), like.shape)


@samples("sum_like", reference=summed_down)
def sum_like_samples():
    yield call(f32(2, 3), f32(3))
    yield call(f32(2, 3), f32(2, 1))
    yield call(f32(2, 3), f32())
    yield call(f32(2, 3), f32(2, 3))
    yield call(f32(0, 3), f32(3))
    yield call(f32(2, 3, 4), f32(3), axis=1)
    yield call(f32(2, 3, 4), f32(2, 1), axis=0)
    yield call(strided(f32(2, 3)), f32(1, 3))


@samples("broadcast_like", reference=stretched)
def broadcast_like_samples():
    yield call(f32(3), f32(2, 3))
    yield call(f32(2, 1), f32(2, 3))
    yield call(f32(), f32(2, 3))
    yield call(f32(), f32())
    yield call(f32(3), f32(0, 3))
    yield call(f32(3), f32(2, 3, 4), axis=1)
    yield call(f32(2, 1), f32(2, 3, 4), axis=0)
    yield call(f32(3, 2).T, f32(4, 2, 3))
    yield call(i64(3), f32(2, 3))
    yield fails(ShapeError, "shapes do not broadcast: [2, 3] and [2]", f32(2), f32(2, 3))


@samples("reshape_like", reference=lambda x, like: x.reshape(like.shape))
def reshape_like_samples():
    yield call(f32(2, 3), f32(3, 2))
    yield call(f32(1, 1), f32())
    yield call(f32(0, 3), f32(0))
    yield call(f32(3, 2).T, f32(6))
    yield fails(ShapeError, "x has 6 elements and like has 4", f32(2, 3), f32(4))


@samples("full_like", reference=lambda like, value, dtype: np.full(like.shape, value))
def full_like_samples():
    yield call(f32(2, 3), value=0.5)
    yield call(f32(), value=-1.0)
    yield call(f32(0, 3), value=1.0)
    yield call(i64(2), value=3.0)
    yield call(f32(2, 3), value=1.0, dtype="int64")
    yield call(i64(2, 3), value=0.5, dtype=float64)


def product_of_sizes(x, axis):
    """The number of elements along `axis`."""
    return np.array(np.prod([x.shape[i] for i in axis or range(x.ndim)]), x.dtype)


@samples("size_of", reference=product_of_sizes)
def size_of_samples():
    yield call(f32(2, 3))
    yield call(f32(2, 3, 4), axis=(0, -1))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(i64(2, 3), axis=(1,))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(2, 3), axis=(2,))


@samples("shape", reference=lambda x: np.array(x.shape))
def shape_samples():
    yield call(f32(2, 3))
    yield call(f32(0, 3))
    yield call(f32())


def with_axes(x, axes):
    """`x` with axes put in one after another."""
    for a in axes:
        x = np.expand_dims(x, a)
    return x


@samples("unsqueeze", reference=with_axes)
def unsqueeze_samples():
    yield call(f32(2, 3), axes=(0,))
    yield call(f32(2, 3), axes=(1, -1))
    yield call(f32(), axes=(0,))
    yield call(f32(0, 3), axes=(2,))
    yield call(f32(3, 2).T, axes=(1,))
    yield call(strided(f32(2, 3)), axes=(-2,))
    yield fails(ArgumentError, "axis 3 is outside [-3, 3)", f32(2, 3), axes=(3,))


def without_axes(x, axes):
    """`x` without those of `axes` that have size 1."""
    chosen = [a for a in axes if x.shape[a] == 1] if axes else None
    return np.squeeze(x, None if chosen is None else tuple(chosen))


@samples("squeeze", reference=without_axes)
def squeeze_samples():
    yield call(f32(1, 3, 1), axes=(), unknown_sizes=False)
    yield call(f32(1, 3, 1), axes=(0, 1), unknown_sizes=False)
    yield call(f32(1, 3, 1), axes=(-1,))
    yield call(f32(), axes=())
    yield call(f32(0, 1), axes=(1,))
    yield call(f32(3, 1).T, axes=(0,))
    yield fails(RangeError, "axis 2 is outside [-2, 2)", f32(1, 3), axes=(2,))


def stretched(x, y=None, *, target_shape=()):
    return np.broadcast_to(x, target_shape if y is None else y.shape)


@samples("expand_as", reference=stretched)
def expand_as_samples():
    yield call(f32(1, 3), f32(2, 3))
    yield call(f32(), f32(2))
    yield call(f32(2, 1), target_shape=(2, 4))
    yield call(f32(0, 1), f32(0, 3))
    yield fails(ShapeError, "does not stretch to", f32(2, 3), f32(2, 1))
    yield fails(ShapeError, "x has 2 axes and y has 1", f32(2, 3), f32(3))
