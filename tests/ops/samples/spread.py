"""Samples of tensors stretched, repeated and moved around."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, bf16, boolean, call, f32, fails, i64, samples, strided


@samples("meshgrid", reference=lambda x: (np.meshgrid(*x, indexing="ij"),))
def meshgrid_samples():
    yield call([f32(2), f32(3)])
    yield call([f32(2), f32(), f32(1)])
    yield call([i64(2), i64(3)])
    yield call([f32(0), f32(3)])
    yield call([strided(f32(2)), f32(2)])
    yield fails(ArgumentError, "spanned by 2 vectors or more, not 1", [f32(2)])
    yield fails(ShapeError, "has 2 axes", [f32(2), f32(2, 2)])
    yield fails(DtypeError, "differ in element type", [f32(2), i64(2)])


@samples("broadcast_tensors", reference=lambda x: (list(np.broadcast_arrays(*x)),))
def broadcast_tensors_samples():
    yield call([f32(3), f32(2, 1)])
    yield call([f32(), f32(2, 3), f32(1, 3)])
    yield call([f32(2)])
    yield call([i64(2, 1), i64(1, 0)])
    yield call([boolean(2), boolean()])
    yield fails(ShapeError, "shapes do not broadcast: [2] and [3]", [f32(2), f32(3)])
    yield fails(DtypeError, "differ in element type", [f32(2), i64(2)])


def rolled(x, tensor=None, shifts=(), axis=()):
    """NumPy's `roll`, with shifts of a tensor."""
    shifts = shifts if tensor is None else tuple(tensor.astype(int))
    return np.roll(x, shifts, axis) if axis else np.roll(x, sum(shifts))


@samples("roll", reference=rolled)
def roll_samples():
    yield call(f32(3, 4), shifts=(1,))
    yield call(f32(3, 4), shifts=(1, -6), axis=(0, 1))
    yield call(i64(5), shifts=(2, 2), axis=(0, -1))
    yield call(f32(), shifts=(3,))
    yield call(f32(0, 3), shifts=(1,), axis=(0,))
    yield call(bf16(4), shifts=(-1,), axis=(0,))
    yield call(boolean(4), shifts=(1,), axis=(0,))
    yield call(strided(f32(3, 4)), shifts=(2,), axis=(1,))
    yield call(f32(3, 4), array([2], "int64"), axis=(0,))
    yield fails(ArgumentError, "1 axes do not go with 2 shifts", f32(3), shifts=(1, 2), axis=(0,))
    yield fails(RangeError, "axis 5 is outside", f32(3), shifts=(1,), axis=(5,))
    yield fails(DtypeError, "shifts are float32[1], not integers", f32(3), f32(1), axis=(0,))


def repeated(x, tensor=None, repeats=0, axis=0):
    """NumPy's `repeat`."""
    return np.repeat(x, repeats if tensor is None else tensor.astype(int), axis)


@samples("repeat_interleave", reference=repeated)
def repeat_interleave_samples():
    yield call(f32(2, 3), repeats=2)
    yield call(f32(2, 3), repeats=3, axis=-1)
    yield call(i64(4), repeats=1)
    yield call(f32(0, 3), repeats=2)
    yield call(strided(f32(2, 3)), repeats=2, axis=1)
    yield call(f32(3, 2), array([2, 0, 1], "int64"))
    yield call(f32(2, 3), array([2, 0, 1], "int32"), axis=1)
    yield fails(ArgumentError, "repeats is 0, not above 0", f32(2), repeats=0)
    yield fails(ShapeError, "axis 0 has 2 slices, not 3", f32(2), array([1, 2, 3], "int64"))
    below = array([1, -1], "int64")
    yield fails(ArgumentError, "repeats -1 is below 0", f32(2), below, by_value=True)
    yield fails(DtypeError, "not integers", f32(2), f32(2))
    yield fails(RangeError, "axis 2 is outside", f32(2), repeats=1, axis=2)
    yield fails(ShapeError, "has no slices", f32(), repeats=1)


def gathered_up(x, like, tensor=None, repeats=0, axis=0):
    """Zeros with each slice added to that which it repeats."""
    out = np.moveaxis(np.zeros(like.shape), axis, 0)
    times = repeats if tensor is None else tensor.astype(int)
    for place, row in zip(
        np.repeat(np.arange(len(out)), times), np.moveaxis(x, axis, 0), strict=True
    ):
        out[place] += row
    return np.moveaxis(out, 0, axis)


@samples("sum_repeated", reference=gathered_up)
def sum_repeated_samples():
    yield call(f32(4, 3), f32(2, 3), repeats=2)
    yield call(f32(2, 6), f32(2, 2), repeats=3, axis=-1)
    yield call(f32(0, 3), f32(0, 3), repeats=2)
    yield call(f32(3, 2), f32(3, 2), array([2, 0, 1], "int64"))
