"""Samples of operators of two tensors that know no axis."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided

UNKNOWN = np.array([1.0, np.nan, 2.0, np.nan, np.inf, -np.inf], "float32")
OTHER = np.array([np.nan, 3.0, 2.0, np.nan, 1.0, 1.0], "float32")


def pairs():
    """Calls that any of these operators takes."""
    yield call(f32(3, 4), f32(3, 4))
    yield call(f32(), f32())
    yield call(f32(2, 0), f32(2, 0))
    yield call(f32(2, 3), f32(3))
    yield call(f32(2, 1), f32(3))
    yield call(strided(f64(2, 3)), f64(2, 3))
    yield call(i64(2, 3), i64(2, 3))
    yield call(UNKNOWN, OTHER, grad=False, name_of_case="unknown")
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", f32(3), f32(4))


@samples("fmax")
def fmax_samples():
    yield from pairs()


@samples("fmin")
def fmin_samples():
    yield from pairs()


@samples("heaviside", reference=lambda x, y: np.where(x == 0, y, (x > 0).astype(x.dtype)))
def heaviside_samples():
    yield from pairs()
    yield call(array([0.0, -0.0, 2.0]), f32(3), grad=("y",), name_of_case="at 0")


@samples("lerp", reference=lambda x, y, weight: x + weight * (y - x))
def lerp_samples():
    yield call(f32(3, 4), f32(3, 4), f32(3, 4))
    yield call(f32(3, 4), f32(3, 4), f32())
    yield call(f32(), f32(), f32())
    yield call(f32(2, 3), f32(3), f32(2, 1))
    yield call(f32(0, 3), f32(3), f32())
    yield call(strided(f64(2, 3)), f64(2, 3), f64())
    yield fails(DtypeError, "one float is needed", i64(3), i64(3), i64())
    yield fails(ShapeError, "shapes do not broadcast", f32(3), f32(4), f32())
