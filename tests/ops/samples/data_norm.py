"""Samples of normalisation by sums over all rows so far."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples


def normal(
    x: Any, size: Any, total: Any, squares: Any, scale: Any = None, bias: Any = None, **attrs: Any
) -> Any:
    means, scales = total / size, np.sqrt(size / squares)
    y = (x - means) * scales
    return (y if scale is None else y * scale + bias), means, scales


def sums(make: Any, columns: int) -> tuple[Any, ...]:
    """How many rows there were, their sum and that of their squares."""
    return make(columns, low=4, high=9), make(columns), make(columns, low=1, high=5)


@samples("data_norm", reference=normal)
def data_norm_samples():
    yield call(f32(4, 3), *sums(f32, 3), grad=("x",))
    both = {"enable_scale_and_shift": True, "grad": ("x", "scale_w", "bias")}
    yield call(f64(2, 3), *sums(f64, 3), f64(3), f64(3), data_layout="NHWC", **both)
    yield call(f32(0, 2), *sums(f32, 2), grad=("x",))
    yield call(f16(2, 3), *sums(f16, 3), grad=("x",))
    yield fails(ShapeError, "x has 3 axes, 2 are needed", f32(2, 3, 2), *sums(f32, 3))
    law = "batch_size has 2 elements, 3 are needed"
    yield fails(ShapeError, law, f32(2, 3), *sums(f32, 2))
    yield fails(DtypeError, "batch_size is float64", f32(2, 3), *sums(f64, 3))
    yield fails(DtypeError, "not of floating-point elements", i32(2, 3), *sums(f32, 3))
    law = "enable_scale_and_shift is True; scale_w and bias go with it"
    yield fails(ArgumentError, law, f32(2, 3), *sums(f32, 3), enable_scale_and_shift=True)
    law = "data_layout is 'X', neither NCHW nor NHWC"
    yield fails(ArgumentError, law, f32(2, 3), *sums(f32, 3), data_layout="X")
    law = "slot_dim is 2; slots are not told apart"
    yield fails(UnsupportedError, law, f32(2, 4), *sums(f32, 4), slot_dim=2)
