"""Samples of columns of several matrices."""

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import boolean, call, f16, f32, f64, fails, i64, samples, strided


def taken(x, start, length):
    width = x[0].shape[1]
    first = start % width
    return [m[:, first : first + length if length >= 0 else width] for m in x]


@samples(
    "partial_concat",
    reference=lambda x, start_index=0, length=-1: np.concatenate(taken(x, start_index, length), 1),
)
def partial_concat_samples():
    yield call([f32(2, 3), f32(2, 3)])
    yield call([f32(2, 3), f32(2, 3)], start_index=1, length=1)
    yield call([f32(2, 3), f32(2, 3), f32(2, 3)], start_index=-2, length=2)
    yield call([f64(2, 4)], start_index=-3, length=1)
    yield call([i64(2, 3), i64(2, 3)], length=2)
    yield call([strided(f32(2, 3)), f32(3, 2).T], start_index=1)
    yield call([f32(0, 3), f32(0, 3)], length=2)
    yield fails(RangeError, "columns 3 to 2 are outside", [f32(2, 3)], start_index=3)
    yield fails(RangeError, "columns -4 to -5 are outside", [f32(2, 3)], start_index=-4)
    yield fails(RangeError, "columns 2 to 4 are outside", [f32(2, 3)], start_index=2, length=2)
    yield fails(ShapeError, "x has 1 axes, not 2", [f32(3)])
    yield fails(ShapeError, "sizes 2 and 3 are not the same", [f32(2, 3), f32(2, 2)], length=1)
    yield fails(DtypeError, "x is float16, not float32", [f16(2, 3)])
    yield fails(DtypeError, "differ in element type", [f32(2, 3), f64(2, 3)])


@samples(
    "partial_sum",
    reference=lambda x, start_index=0, length=-1: sum(taken(x, start_index, length)),
)
def partial_sum_samples():
    yield call([f32(2, 3), f32(2, 3)])
    yield call([f32(2, 3), f32(2, 3), f32(2, 3)], start_index=1, length=1)
    yield call([f64(2, 4)], start_index=2)
    yield call([i64(2, 3), i64(2, 3)], length=2)
    yield call([strided(f32(2, 3)), f32(3, 2).T], start_index=1)
    yield call([f32(0, 3), f32(0, 3)], length=2)
    yield fails(RangeError, "start_index is -2, below 0", [f32(2, 3)], start_index=-2)
    yield fails(RangeError, "columns 0 to 4 are outside", [f32(2, 3)], length=4)
    yield fails(ShapeError, "sizes 2 and 3 are not the same", [f32(2, 3), f32(2, 2)])
    yield fails(DtypeError, "x is bool, not float32", [boolean(2, 3)])
