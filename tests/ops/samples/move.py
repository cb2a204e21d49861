"""Samples of reshaping, reordering and repeating."""

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, fails, i64, samples, strided


def filling(shape):
    """A reference: the elements in this shape."""
    return lambda x, *_: x.reshape(shape)


@samples("reshape")
def reshape_samples():
    yield call(f32(2, 3), shape=(3, 2), reference=filling((3, 2)))
    yield call(f32(2, 3), shape=(-1,), reference=filling(6))
    yield call(f32(2, 3, 4), shape=(0, -1), reference=filling((2, 12)))
    yield call(f32(2, 3, 4), shape=(4, 0, 2), reference=filling((4, 3, 2)))
    yield call(f32(), shape=(1, 1), reference=filling((1, 1)))
    yield call(f32(1), shape=(), reference=filling(()))
    yield call(f32(0, 3), shape=(3, -1), reference=filling((3, 0)))
    yield call(f32(0), shape=(0, 4), reference=filling((0, 4)), unknown_sizes=False)
    yield call(f32(2, 0), shape=(4, 0, 5), reference=filling((4, 0, 5)), unknown_sizes=False)
    yield call(f32(3, 2).T, shape=(6,), reference=filling(6))
    yield call(i64(4), shape=(2, -1), reference=filling((2, 2)))
    yield call(f32(2, 3), array([6], "int32"), reference=filling(6), unknown_sizes=False)
    whole, rest = array([2], "int32"), array(-1, "int32")
    yield call(f32(2, 3), None, [whole, rest], shape=(-1, -1), reference=filling((2, 3)))
    yield fails(ShapeError, "[2, 3] does not fill the shape [4]", f32(2, 3), shape=(4,))
    yield fails(ShapeError, "[2, 3] does not fill the shape [4, -1]", f32(2, 3), shape=(4, -1))
    yield fails(ArgumentError, "leaves more open than one size", f32(2, 3), shape=(-1, -1))


@samples("flatten")
def flatten_samples():
    yield call(f32(2, 3, 4), start_axis=0, stop_axis=-1, reference=filling(24))
    yield call(f32(2, 3, 4), start_axis=1, stop_axis=2, reference=filling((2, 12)))
    yield call(f32(2, 3), start_axis=1, stop_axis=1, reference=filling((2, 3)))
    yield call(f32(), start_axis=0, stop_axis=-1, reference=filling(1))
    yield call(f32(2, 0, 3), start_axis=0, stop_axis=1, reference=filling((0, 3)))
    yield call(f32(3, 2).T, start_axis=0, stop_axis=1, reference=filling(6))
    late = "start_axis 2 comes after stop_axis 1"
    yield fails(ArgumentError, late, f32(2, 3, 4), start_axis=2, stop_axis=1)
    yield fails(RangeError, "axis 3 is outside", f32(2, 3), start_axis=0, stop_axis=3)


@samples("transpose", reference=lambda x, perm: x.transpose(perm))
def transpose_samples():
    yield call(f32(2, 3), perm=(1, 0))
    yield call(f32(2, 3, 4), perm=(2, 0, 1))
    yield call(f32(2, 3, 4), perm=(-1, 0, 1))
    yield call(f32(), perm=())
    yield call(f32(0, 3), perm=(1, 0))
    yield call(i64(3), perm=(0,))
    yield call(strided(f32(2, 3)), perm=(1, 0))
    yield fails(ArgumentError, "perm [0, 0] is no order of 2 axes", f32(2, 3), perm=(0, 0))
    yield fails(ArgumentError, "perm [0] is no order of 2 axes", f32(2, 3), perm=(0,))


def stretched_to(shape):
    """A reference: NumPy's broadcasting."""
    return lambda x, *_: np.broadcast_to(x, shape)


@samples("expand")
def expand_samples():
    yield call(f32(1, 3), shape=(2, 3), reference=stretched_to((2, 3)))
    yield call(f32(3), shape=(2, -1), reference=stretched_to((2, 3)))
    yield call(f32(), shape=(2, 3), reference=stretched_to((2, 3)))
    yield call(f32(), shape=(), reference=stretched_to(()))
    yield call(f32(2, 3), shape=(-1, -1), reference=stretched_to((2, 3)))
    yield call(f32(0, 1), shape=(0, 3), reference=stretched_to((0, 3)))
    yield call(f32(1, 2).T, shape=(2, 3), reference=stretched_to((2, 3)))
    yield call(boolean(1), shape=(2,), reference=stretched_to((2,)))
    yield call(
        f32(1, 3), array([2, 3], "int32"), reference=stretched_to((2, 3)), unknown_sizes=False
    )
    sizes = [array([2], "int32"), array([3], "int32")]
    yield call(f32(1, 3), None, sizes, shape=(-2, 3), reference=stretched_to((2, 3)))
    yield fails(ShapeError, "[2] does not stretch to the shape [3, 3]", f32(2), shape=(3, 3))
    yield fails(ShapeError, "[2, 1] has more axes than the shape [2]", f32(2, 1), shape=(2,))
    yield fails(ArgumentError, "has no size for axis 0", f32(2), shape=(-1, 2))
    yield fails(ArgumentError, "has no size for axis 0", f32(2), shape=(0, 2))


def repeated(times):
    """A reference: NumPy's tile."""
    return lambda x, *_: np.tile(x, times)


@samples("tile")
def tile_samples():
    yield call(f32(2, 3), repeat_times=(2, 1), reference=repeated((2, 1)))
    yield call(f32(2), repeat_times=(2, 3), reference=repeated((2, 3)))
    yield call(f32(1, 2), repeat_times=(2,), reference=repeated(2))
    yield call(f32(), repeat_times=(2,), reference=repeated(2))
    yield call(f32(), repeat_times=(), reference=repeated(()))
    yield call(f32(0, 3), repeat_times=(2, 2), reference=repeated((2, 2)))
    yield call(f32(3, 2).T, repeat_times=(1, 2), reference=repeated((1, 2)))
    yield call(i64(3), repeat_times=(2,), reference=repeated(2))
    yield call(f32(2), array([2, 3], "int32"), reference=repeated((2, 3)), unknown_sizes=False)
    times = [array([2], "int32"), array(1, "int32")]
    yield call(f32(2, 3), None, times, repeat_times=(-1, 1), reference=repeated((2, 1)))
    below = "repeat_times [0, 2] has a number below 1"
    yield fails(ArgumentError, below, f32(1, 2), repeat_times=(0, 2))


@samples("sum_tiles")
def sum_tiles_samples():
    yield call(
        f32(4, 3),
        f32(2, 3),
        repeat_times=(2, 1),
        reference=lambda x, like: x[:2] + x[2:],
    )
    yield call(
        f32(2, 4), f32(2), repeat_times=(2, 2), reference=lambda x, like: x.reshape(4, 2).sum(0)
    )
    yield call(f32(3), f32(), repeat_times=(3,), reference=lambda x, like: x.sum())
    yield call(f32(), f32(), repeat_times=(), reference=lambda x, like: x)


@samples("flip", reference=lambda x, axis: np.flip(x, axis))
def flip_samples():
    yield call(f32(2, 3), axis=(0,))
    yield call(f32(2, 3), axis=(-1, 0))
    yield call(f32(2, 3), axis=())
    yield call(f32(0, 3), axis=(0,))
    yield call(i64(3), axis=(0,))
    yield call(strided(f32(2, 3)), axis=(1,))
    yield fails(RangeError, "axis 2 is outside", f32(3), axis=(2,))
    yield fails(ArgumentError, "names an axis twice", f32(3, 2), axis=(0, -2))


def triangle(x, diagonal, lower):
    """NumPy's own."""
    return np.tril(x, diagonal) if lower else np.triu(x, diagonal)


@samples("tril_triu", reference=triangle)
def tril_triu_samples():
    yield call(f32(3, 4), lower=True)
    yield call(f32(3, 4), diagonal=1)
    yield call(f32(2, 3, 3), diagonal=-1, lower=True)
    yield call(f32(0, 3))
    yield call(boolean(3, 3), lower=True)
    yield call(f32(4, 3).T, diagonal=-1)
    yield fails(ShapeError, "at least 2 are needed", f32(3))
