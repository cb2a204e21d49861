"""Samples of the division by the largest singular value."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, samples


def vectors(
    weight: Any, u: Any, v: Any, *, dim: int = 0, power_iters: int = 1, eps: float = 1e-12
) -> Any:
    """Power iterations, as the text of the law has them."""
    rows = np.moveaxis(weight, dim, 0).reshape(weight.shape[dim], -1)
    for _ in range(power_iters):
        v = rows.T @ u / (np.linalg.norm(rows.T @ u) + eps)
        u = rows @ v / (np.linalg.norm(rows @ v) + eps)
    return u, v


def divided(weight: Any, u: Any, v: Any, *, dim: int = 0, **attrs: Any) -> Any:
    left, right = vectors(weight, u, v, dim=dim, **attrs)
    rows = np.moveaxis(weight, dim, 0).reshape(weight.shape[dim], -1)
    return weight / (left @ rows @ right)


@samples("singular_vectors", reference=vectors)
def singular_vectors_samples():
    attrs = {"dim": 0, "eps": 1e-12}
    yield call(f32(3, 4, low=0.1), f32(3, low=0.1), f32(4, low=0.1), power_iters=2, **attrs)
    yield call(f64(3, 2, 2), f64(3), f64(4), power_iters=0, **attrs)


@samples("spectral_norm", reference=divided)
def spectral_norm_samples():
    once = {"power_iters": 0, "grad": ("weight",)}
    yield call(f64(3, 4, low=0.5), f64(3, low=0.5), f64(4, low=0.5), **once)
    yield call(f32(3, 4, low=0.5), f32(3, low=0.5), f32(4, low=0.5), **once)
    yield call(f32(2, 3, 2, low=0.5), f32(3, low=0.5), f32(4, low=0.5), dim=1, **once)
    weight = array(np.diag([3.0, 1.0, 0.5]), "float64")
    yield call(weight, f64(3, low=0.5), f64(3, low=0.5), power_iters=3, eps=1e-4, grad=False)
    yield call(f16(2, 3, low=0.5), f16(2, low=0.5), f16(3, low=0.5), power_iters=1, grad=False)
    law = "dim is 2 and weight has 3 axes; it must be 0 or 1, of 2 axes or more"
    yield fails(ArgumentError, law, f32(2, 3, 2), f32(2), f32(6), dim=2)
    law = "power_iters is -1, outside [0, 100000]"
    yield fails(ArgumentError, law, f32(2, 3), f32(2), f32(3), power_iters=-1)
    yield fails(ShapeError, "v has 2 elements, 3 are needed", f32(2, 3), f32(2), f32(2))
    law = "weight is float32 and u is float64; cast one"
    yield fails(DtypeError, law, f32(2, 3), f64(2), f32(3))
