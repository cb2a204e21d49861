"""Samples of padding."""

import numpy as np

from scull.errors import ArgumentError
from tests.ops.sample import call, f32, f64, fails, i32, samples, strided


def padded(x, paddings, pad_value=0.0):
    sides = list(zip(paddings[::2], paddings[1::2], strict=True))
    return np.pad(x, sides, constant_values=pad_value) if sides else x


@samples("pad", reference=padded)
def pad_samples():
    yield call(f32(2, 3), paddings=(1, 0, 0, 2))
    yield call(f64(2, 3), paddings=(1, 1, 2, 2), pad_value=1.5)
    yield call(i32(3), paddings=(1, 2), pad_value=7.0)
    yield call(f32(), paddings=())
    yield call(f32(0, 2), paddings=(1, 1, 0, 0))
    yield call(strided(f32(2, 3)), paddings=(0, 1, 1, 0))
    yield fails(ArgumentError, "2 axes need 4 paddings, not 2", f32(2, 3), paddings=(1, 1))
    yield fails(ArgumentError, "not all at least 0", f32(2), paddings=(-1, 0))
