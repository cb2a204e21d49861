"""Samples of normalisations."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples, strided

EPSILON = float(np.float32(1e-5))


def layer(
    x: Any,
    scale: Any = None,
    bias: Any = None,
    *,
    epsilon: float = EPSILON,
    begin_norm_axis: int = 1,
) -> Any:
    rows = x.reshape(*x.shape[:begin_norm_axis], math.prod(x.shape[begin_norm_axis:]))
    mean, variance = rows.mean(-1), rows.var(-1)
    y = (rows - mean[..., None]) / np.sqrt(variance[..., None] + epsilon)
    y = (y if scale is None else y * scale) + (0 if bias is None else bias)
    return mean, variance, y.reshape(x.shape)


@samples("layer_norm", reference=layer)
def layer_norm_samples():
    yield call(f32(3, 4), f32(4), f32(4))
    yield call(f64(2, 3, 4), f64(12), f64(12), epsilon=0.001)
    yield call(f32(2, 3, 4), f32(4), None, begin_norm_axis=2)
    yield call(f32(2, 4), None, f32(4))
    yield call(f32(2, 4))
    yield call(strided(f32(2, 4)), strided(f32(4)), f32(4))
    yield call(f32(0, 4), f32(4), f32(4))
    yield call(f16(2, 4), f16(4), f16(4))
    yield fails(ArgumentError, "epsilon is 0.5, outside [0, 0.001]", f32(2, 4), epsilon=0.5)
    law = "begin_norm_axis is 2, outside [1, 2)"
    yield fails(ArgumentError, law, f32(2, 4), begin_norm_axis=2)
    yield fails(ShapeError, "scale has 3 elements, 4 are needed", f32(2, 4), f32(3))
    yield fails(ShapeError, "bias has 2 axes, 1 is needed", f32(2, 4), None, f32(1, 4))
    yield fails(DtypeError, "scale is float64 and x is float32; cast one", f32(2, 4), f64(4))
    yield fails(DtypeError, "not of floating-point elements", i32(2, 4))


def batch(
    x: Any,
    mean: Any,
    variance: Any,
    scale: Any = None,
    bias: Any = None,
    tensor: Any = None,
    *,
    is_test: bool = False,
    momentum: float = float(np.float32(0.9)),
    epsilon: float = EPSILON,
    data_layout: str = "NCHW",
    use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> Any:
    x = np.moveaxis(x, -1, 1) if data_layout == "NHWC" else x
    axes, shape = (0, *range(2, x.ndim)), (-1,) + (1,) * (x.ndim - 2)
    momentum = momentum if tensor is None else float(tensor.reshape(()))
    used, spread, rate = x.mean(axes), x.var(axes), momentum
    given = use_global_stats or (is_test and not trainable_statistics)
    lone = not given and x.size == len(mean)
    if given or lone:
        used, spread, rate = mean, variance, 1.0
    inverse = 1 / np.sqrt(spread + epsilon)
    y = (x - used.reshape(shape)) * inverse.reshape(shape)
    y = y if scale is None else y * scale.reshape(shape)
    y = y if bias is None else y + bias.reshape(shape)
    y = x if lone else y
    y = np.moveaxis(y, 1, -1) if data_layout == "NHWC" else y
    moved = mean * rate + used * (1 - rate), variance * rate + spread * (1 - rate)
    return *moved, used, inverse, y, None if is_test else np.zeros(0)


def operands(make: Any, *shape: int, channels: int) -> tuple[Any, ...]:
    """Images, running mean and variance, scale and bias."""
    return (
        make(*shape),
        make(channels),
        make(channels, low=0.5, high=2.0),
        make(channels),
        make(channels),
    )


@samples("batch_norm", reference=batch)
def batch_norm_samples():
    wanted = ("x", "scale", "bias")
    yield call(*operands(f32, 2, 3, 2, 2, channels=3), grad=wanted)
    yield call(
        *operands(f64, 2, 2, 2, 3, channels=3), data_layout="NHWC", momentum=0.5, grad=wanted
    )
    yield call(*operands(f32, 4, 3, channels=3), epsilon=0.001, grad=wanted)
    yield call(*operands(f32, 2, 3, 2, channels=3), use_global_stats=True, grad=wanted)
    yield call(*operands(f32, 2, 3, 2, 2, channels=3), is_test=True, grad=wanted)
    attrs = {"is_test": True, "trainable_statistics": True}
    yield call(*operands(f32, 2, 3, 2, 2, channels=3), grad=wanted, **attrs)
    yield call(*operands(f32, 2, 3, 2, 2, channels=3), f32(1, low=0.2, high=0.4), grad=wanted)
    yield call(*operands(f32, 1, 3, 1, channels=3), grad=wanted, name_of_case="one value each")
    lone = operands(f64, 1, 1, 1, 2, channels=2)
    yield call(*lone, data_layout="NHWC", grad=wanted, name_of_case="one value each, last")
    x, mean, variance, *_ = operands(f32, 3, 2, 2, channels=2)
    yield call(x, mean, variance, grad=("x",), name_of_case="neither scale nor bias")
    x = strided(f32(2, 2, 1, 4))
    yield call(x, mean, variance, grad=("x",), name_of_case="with gaps")
    law = "scale has 2 elements, 3 are needed"
    yield fails(ShapeError, law, f32(2, 3, 2), f32(3), f32(3), f32(2), f32(3))
    yield fails(ShapeError, "x has 1 axes, 2 to 5 are needed", f32(3), f32(3), f32(3))
    law = "mean is float64 and x is float32; cast one"
    yield fails(DtypeError, law, f32(2, 3), f64(3), f64(3))
    law = "epsilon is 0.5, outside [0, 0.001]"
    yield fails(ArgumentError, law, f32(2, 3), f32(3), f32(3), epsilon=0.5)
    law = "data_layout is 'NC', neither NCHW nor NHWC"
    yield fails(ArgumentError, law, f32(2, 3), f32(3), f32(3), data_layout="NC")
