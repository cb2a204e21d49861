"""Samples of normalisation of groups of channels, and of each channel."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples


def beside(vector: Any, x: Any) -> Any:
    """A vector of the channels on axis 1."""
    return vector.reshape(1, -1, *[1] * (x.ndim - 2))


def by_groups(
    x: Any,
    scale: Any = None,
    bias: Any = None,
    *,
    epsilon: float = 1e-5,
    groups: int,
    data_layout: str = "NCHW",
) -> Any:
    x = np.moveaxis(x, -1, 1) if data_layout == "NHWC" else x
    rows = x.reshape(len(x), groups, -1)
    mean, variance = rows.mean(-1), rows.var(-1)
    y = ((rows - mean[..., None]) / np.sqrt(variance[..., None] + epsilon)).reshape(x.shape)
    y = y if scale is None else y * beside(scale, x)
    y = y if bias is None else y + beside(bias, x)
    return mean, variance, np.moveaxis(y, 1, -1) if data_layout == "NHWC" else y


@samples("group_norm", reference=by_groups)
def group_norm_samples():
    yield call(f32(2, 4, 3, 3), f32(4), f32(4), groups=2)
    yield call(f64(2, 3, 3, 4), f64(4), f64(4), groups=2, data_layout="NHWC", epsilon=1e-3)
    yield call(f32(2, 6, 3), groups=3)
    yield call(f32(2, 4, 2, 2), f32(4), groups=4)
    yield call(f32(2, 4, 2), None, f32(4), groups=1)
    yield call(f32(2, 4, 1, 2, 1, 2, 1), f32(4), f32(4), groups=2)
    yield call(f16(2, 4, 3), f16(4), f16(4), groups=2)
    law = "3 groups do not divide 4 channels"
    yield fails(ArgumentError, law, f32(2, 4, 3), groups=3)
    law = "scale has 3 elements, 4 are needed"
    yield fails(ShapeError, law, f32(2, 4, 3), f32(3), groups=2)
    yield fails(ShapeError, "x has 1 axes, 2 to 9 are needed", f32(4), groups=2)
    yield fails(DtypeError, "bias is float64", f32(2, 4, 3), None, f64(4), groups=2)
    yield fails(DtypeError, "not of floating-point elements", i32(2, 4, 3), groups=2)


def by_channels(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5) -> Any:
    mean, variance, y = by_groups(x, scale, bias, epsilon=epsilon, groups=x.shape[1])
    return mean.reshape(-1), 1 / np.sqrt(variance + epsilon).reshape(-1), y


@samples("instance_norm", reference=by_channels)
def instance_norm_samples():
    yield call(f32(2, 3, 4, 2), f32(3), f32(3))
    yield call(f64(2, 3, 4), f64(3), f64(3), epsilon=1e-3)
    yield call(f32(2, 3, 2, 2, 2))
    yield call(f32(2, 3, 4), f32(3))
    yield call(f16(2, 3, 4), f16(3), f16(3))
    yield fails(ShapeError, "x has 1 axes, 2 to 5 are needed", f32(3))
    yield fails(ShapeError, "bias has 2 elements, 3 are needed", f32(2, 3, 4), f32(3), f32(2))
