"""Samples of clipping and of norms."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, rows, samples, strided


def dense(x: Any) -> Any:
    """The whole matrix of row-sparse values."""
    return x if isinstance(x, np.ndarray) else x.dense()


def clipped(
    x: Any, low: Any = None, high: Any = None, *, min: float = -np.inf, max: float = np.inf
) -> Any:
    low = min if low is None else low.reshape(())
    return np.clip(dense(x), low, max if high is None else high.reshape(()))


@samples("clip", reference=clipped)
def clip_samples():
    yield call(f32(3, 4), min=-1.0, max=0.5)
    yield call(f64(3), max=0.5)
    yield call(f32(), min=0.0)
    yield call(f32(0, 2), min=0.0, max=1.0)
    yield call(f32(5), array([-0.5]), max=1.0, grad=("x",))
    yield call(f32(5), array(-0.5), array([0.5]), grad=("x",))
    yield call(i32(5), min=-2.0, max=3.0, grad=False)
    yield call(f16(3), min=-1.0)
    yield call(strided(f32(2, 3)), min=-1.0, max=1.0)
    yield call(array([np.nan, -np.inf, np.inf]), min=-1.0, max=1.0, grad=False)
    yield fails(ArgumentError, "min is 2.0, above max, 1.0", f32(3), min=2.0, max=1.0)
    law = "min has the shape [2], one element is needed"
    yield fails(ShapeError, law, f32(3), f32(2), max=1.0)


@samples("squared_l2_norm", reference=lambda x: np.sum(dense(x) ** 2).reshape(1))
def squared_l2_norm_samples():
    yield call(f32(3, 4))
    yield call(f64(5))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(strided(f32(2, 3)))
    yield call(f16(3))
    yield call(rows(5, [3, 0, 3], 2), grad=False)
    yield fails(DtypeError, "not of floating-point elements", i32(3))


def shortened(x: Any, *, max_norm: float) -> Any:
    x = dense(x)
    norm = np.sqrt(np.sum(x**2))
    return x * (max_norm / norm if norm > max_norm else 1)


@samples("clip_by_norm", reference=shortened)
def clip_by_norm_samples():
    yield call(f32(3, 4), max_norm=1.0)
    yield call(f64(5), max_norm=100.0)
    yield call(f32(), max_norm=0.01)
    yield call(f32(0, 3), max_norm=1.0)
    yield call(strided(f32(2, 3)), max_norm=0.5)
    yield call(f16(3), max_norm=0.5)
    yield call(rows(5, [3, 0, 3], 2), max_norm=0.5)
    yield fails(ArgumentError, "max_norm is 0.0, not above 0", f32(3), max_norm=0.0)
    yield fails(DtypeError, "not of floating-point elements", i32(3), max_norm=1.0)
