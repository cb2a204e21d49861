"""Samples of waves that tell where in a sequence a row stands."""

from typing import Any

import numpy as np

from scull.errors import DtypeError, ShapeError
from scull.ops.level import packed
from tests.ops.sample import call, f32, f64, fails, i64, samples

LEVELS = packed([[0, 2, 2, 5]])


def waving(x: Any, levels: Any = None, *, alpha: float = 1.0, beta: float = 1.0) -> Any:
    found, half = x * alpha, x.shape[-1] // 2
    for place in np.ndindex(x.shape):
        row = place[-2] if x.ndim == 3 or len(levels) == 1 else (0, 1, 0, 1, 2)[place[0]]
        column = place[-1] % half
        angle = row / 10000.0 ** (column / (half - 1) if half > 1 else 1.0)
        found[place] += beta * (np.sin(angle) if place[-1] < half else np.cos(angle))
    return found


@samples("add_position_encoding", reference=waving)
def add_position_encoding_samples():
    for make in (f32, f64):
        yield call(make(2, 3, 6))
        yield call(make(5, 4), LEVELS, alpha=0.5, beta=2.0)
    yield call(f32(2, 3, 2), alpha=0.25)
    yield call(f32(3, 4), packed([]))
    yield fails(ShapeError, "x has 3 columns, which cannot be halved", f32(2, 4, 3))
    yield fails(ShapeError, "x has 1 axes, 2 or 3 are needed", f32(4))
    yield fails(DtypeError, "int64[2, 3, 4] is not of float32 or float64", i64(2, 3, 4))
