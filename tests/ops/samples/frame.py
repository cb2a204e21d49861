"""Samples of cutting sequences into frames and putting them together."""

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import c128, call, f16, f32, f64, fails, i64, samples, strided


def cut(x, frame_length, hop_length, axis=-1):
    """One frame behind another."""
    size = x.shape[axis]
    starts = range(0, size - frame_length + 1, hop_length)
    frames = [x.take(range(s, s + frame_length), axis) for s in starts]
    return np.stack(frames, 0 if axis == 0 else -1)


def added(frames, size, hop_length, axis):
    """One frame added after another."""
    frames = frames if axis == 0 else np.moveaxis(frames, (-1, -2), (0, 1))
    out = np.zeros((size, *frames.shape[2:]), frames.dtype)
    for i, frame in enumerate(frames):
        out[i * hop_length : i * hop_length + len(frame)] += frame
    return out if axis == 0 else np.moveaxis(out, 0, -1)


def added_up(x, hop_length, axis=-1):
    count, length = x.shape[:2] if axis == 0 else x.shape[:-3:-1]
    return added(x, (count - 1) * hop_length + length, hop_length, axis)


@samples("frame", reference=cut)
def frame_samples():
    yield call(f32(10), frame_length=4, hop_length=2)
    yield call(f64(2, 11), frame_length=4, hop_length=3)
    yield call(f64(7, 2, 2), frame_length=3, hop_length=2, axis=0)
    yield call(c128(2, 6), frame_length=2, hop_length=1)
    yield call(i64(9), frame_length=2, hop_length=4)
    yield call(f16(6), frame_length=6, hop_length=1)
    yield call(f32(0, 4), frame_length=2, hop_length=1)
    yield call(strided(f64(2, 5)), frame_length=3, hop_length=1)
    law = "a frame of 5 is longer than the sequence of 4"
    yield fails(ShapeError, law, f32(4), frame_length=5, hop_length=1)
    law = "hop_length is 1 and frame_length 0; both must be above 0"
    yield fails(ArgumentError, law, f32(4), frame_length=0, hop_length=1)
    law = "axis is 1, not 0 or -1"
    yield fails(ArgumentError, law, f32(4, 4), frame_length=2, hop_length=1, axis=1)


@samples("overlap_add", reference=added_up)
def overlap_add_samples():
    yield call(f32(4, 3), hop_length=2)
    yield call(f64(2, 5, 3), hop_length=2)
    yield call(f64(3, 4, 2, 2), hop_length=3, axis=0)
    yield call(c128(3, 4), hop_length=1)
    yield call(i64(4, 3), hop_length=4)
    yield call(f32(3, 0), hop_length=1)
    yield call(strided(f64(5, 3)), hop_length=2)
    law = "hop_length is 4, and a frame has 3 elements only"
    yield fails(ArgumentError, law, f32(3, 2), hop_length=4)
    law = "hop_length is 0 and frame_length 1; both must be above 0"
    yield fails(ArgumentError, law, f32(3, 2), hop_length=0)
    yield fails(ArgumentError, "axis is 1, not 0 or -1", f32(3, 2), hop_length=1, axis=1)
    yield fails(ShapeError, "float32[3] has 1 axes", f32(3), hop_length=1)


@samples("frames_like")
def frames_like_samples():
    def reference(x, like, hop_length, axis):
        return cut(x, like.shape[1 if axis == 0 else -2], hop_length, axis)

    yield call(f32(2, 11), f32(2, 4, 3), hop_length=3, axis=-1, reference=reference)
    yield call(f64(7, 2), f64(3, 3, 2), hop_length=2, axis=0, reference=reference)
    law = "x has 2 frames and like has 3"
    yield fails(ShapeError, law, f32(5), f32(4, 3), hop_length=1, axis=-1)


@samples("overlap_like")
def overlap_like_samples():
    def reference(x, like, hop_length, axis):
        return added(x, like.shape[axis], hop_length, axis)

    yield call(f32(2, 4, 3), f32(2, 11), hop_length=3, axis=-1, reference=reference)
    yield call(f64(2, 3, 2), f64(9, 2), hop_length=5, axis=0, reference=reference)
    law = "like has 2 frames and x has 3"
    yield fails(ShapeError, law, f32(4, 3), f32(5), hop_length=1, axis=-1)
    law = "like has 0 frames and x has 3"
    yield fails(ShapeError, law, f32(4, 3), f32(0), hop_length=3, axis=-1)
