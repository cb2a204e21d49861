"""Samples of comparisons and of choosing by a condition."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i64, samples, strided


def comparison():
    """Calls that any comparison takes."""
    yield call(i64(3, 4, high=-7), i64(3, 4, high=-7))
    yield call(f32(), f32())
    yield call(f32(0, 3), f32(3))
    yield call(f32(2, 3), f32(2, 1))
    yield call(f32(2, 3, 2), f32(3), axis=1)
    yield call(boolean(4), boolean(4))
    yield call(f32(3, 2).T, strided(f32(2, 3)))
    yield call(array([float("nan"), 1.0]), array([float("nan"), 1.0]), name_of_case="nan")
    yield fails(ShapeError, "shapes do not broadcast: [2, 3] and [2]", f32(2, 3), f32(2))


for name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    samples(name)(comparison)


@samples("where", reference=np.where)
def where_samples():
    yield call(boolean(2, 3), f32(2, 3), f32(2, 3))
    yield call(boolean(), f32(), f32())
    yield call(boolean(0, 3), f32(0, 3), f32(0, 3))
    yield call(boolean(2, 1), f32(3), f32(2, 3))
    yield call(boolean(3), f32(2, 3), f32())
    yield call(boolean(3, 2).T, strided(f32(2, 3)), f32(2, 3))
    yield call(boolean(3), i64(3), i64(3))
    yield call(boolean(3), f64(3), f64(3))
    yield fails(DtypeError, "condition is float32, not bool", f32(3), f32(3), f32(3))
    yield fails(DtypeError, "x is float32 and y is float64; cast one", boolean(3), f32(3), f64(3))
    yield fails(
        ShapeError, "shapes do not broadcast: [2] and [3] and [3]", boolean(2), f32(3), f32(3)
    )
