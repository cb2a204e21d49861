"""Samples of activations that shrink, saturate or cut off; references are formulas."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples, strided


def everywhere(reference: Any, **attrs: Any) -> Any:
    """Calls on operands of every kind."""
    yield call(f32(3, 4), reference=reference)
    yield call(f64(2, 3, low=-6, high=6), reference=reference, **attrs)
    yield call(f32(), reference=reference)
    yield call(f32(0, 3), reference=reference)
    yield call(strided(f32(2, 3)), reference=reference, **attrs)
    yield call(f16(2, 3), reference=reference)
    yield call(f32(4, low=-30, high=30), reference=reference)
    yield fails(DtypeError, "not of floating-point elements", i32(3))


def scaled_elu(x: Any, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> Any:
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@samples("selu")
def selu_samples():
    yield from everywhere(scaled_elu, scale=2.0, alpha=0.5)


@samples("celu")
def celu_samples():
    def celu(x: Any, alpha: float = 1.0) -> Any:
        return np.where(x > 0, x, alpha * np.expm1(np.minimum(x / alpha, 0)))

    yield from everywhere(celu, alpha=2.0)


@samples("mish")
def mish_samples():
    yield from everywhere(lambda x: x * np.tanh(np.logaddexp(0, x)), threshold=15.0)


@samples("logsigmoid")
def logsigmoid_samples():
    yield from everywhere(special.log_expit)


@samples("softsign")
def softsign_samples():
    yield from everywhere(lambda x: x / (1 + np.abs(x)))


@samples("tanh_shrink")
def tanh_shrink_samples():
    yield from everywhere(lambda x: x - np.tanh(x))


@samples("brelu")
def brelu_samples():
    def kept(x: Any, t_min: float = 0.0, t_max: float = 24.0) -> Any:
        return np.clip(x, t_min, t_max)

    yield from everywhere(kept, t_min=-1.0, t_max=1.0)


@samples("softshrink")
def softshrink_samples():
    def nearer(x: Any, threshold: float = 0.5) -> Any:
        return np.sign(x) * np.maximum(np.abs(x) - threshold, 0)

    yield from everywhere(nearer, threshold=0.75)


@samples("hard_shrink")
def hard_shrink_samples():
    def cut(x: Any, threshold: float = 0.5) -> Any:
        return np.where(np.abs(x) > threshold, x, 0)

    yield from everywhere(cut, threshold=0.75)


@samples("thresholded_relu")
def thresholded_relu_samples():
    def cut(x: Any, threshold: float = 1.0) -> Any:
        return np.where(x > threshold, x, 0)

    yield from everywhere(cut, threshold=0.25)


def leaking(x: Any, alpha: Any, *, data_format: str = "NCHW", mode: str = "all") -> Any:
    if mode == "channel":
        place = 1 if data_format == "NCHW" else x.ndim - 1
        alpha = alpha.reshape([-1 if i == place else 1 for i in range(x.ndim)])
    return np.where(x > 0, x, x * alpha)


@samples("prelu", reference=leaking)
def prelu_samples():
    yield call(f32(2, 3, 4), f32(1))
    yield call(f32(2, 3, 4), f32(3), mode="channel")
    yield call(f64(2, 4, 3), f64(3), mode="channel", data_format="NHWC")
    yield call(f32(2, 3, 2), f32(1, 3, 2), mode="element")
    yield call(f32(2, 3, 2, 2), f32(1, 3, 1, 1), mode="channel")
    yield call(f32(0, 3), f32(3), mode="channel")
    yield call(f16(2, 3), f16(1))
    law = "alpha has 4 numbers and x has 3 channels"
    yield fails(ShapeError, law, f32(2, 3), f32(4), mode="channel")
    yield fails(ShapeError, "x has 1 axes, so no channels", f32(3), f32(3), mode="channel")
    yield fails(ArgumentError, "mode is 'row'", f32(2, 3), f32(3), mode="row")
    yield fails(DtypeError, "x is float32 and alpha is float64", f32(2, 3), f64(1))
