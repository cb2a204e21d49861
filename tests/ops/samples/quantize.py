"""Samples of numbers rounded to steps of a scale; gradients pass as if nothing were rounded."""

import math
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from tests.ops.sample import array, call, f32, f64, fails, i32, samples

HALVES = array([-2.0, -1.5, -0.5, 0.0, 0.5, 1.5, 2.0, 1.0])


def rounded(value: float, scale: float, bits: int, kind: int) -> float:
    """One number as a whole number of steps."""
    most = 2 ** (bits - 1) - 1
    inverse = 1 / (scale + 1e-6) if scale <= 1e-6 else 1 / scale
    if kind == 0:
        return min(max(float(np.rint(value * most * inverse)), -most - 1), most)
    cut = min(max(value, -scale), scale) * most * inverse
    return math.copysign(math.floor(abs(cut) + 0.5), cut)


def made(x: Any, scale: Any, bits: int, kind: int, back: bool) -> Any:
    """Every number as steps, or as what the steps stand for."""
    scales = np.broadcast_to(np.asarray(scale, "float64"), x.shape)
    found = np.empty(x.shape)
    for at in np.ndindex(x.shape):
        step = rounded(float(x[at]), float(scales[at]), bits, kind)
        found[at] = step * scales[at] / (2 ** (bits - 1) - 1) if back else step
    return found.astype(x.dtype)


def of_all(back: bool) -> Any:
    def reference(x: Any, bit_length: int = 8, round_type: int = 1) -> Any:
        scale = np.abs(x).max(initial=0).reshape(1)
        return made(x, scale, bit_length, round_type, back), scale

    return reference


def of_channels(back: bool) -> Any:
    def reference(x: Any, bit_length: int = 8, quant_axis: int = 0, **attrs: Any) -> Any:
        other = tuple(i for i in range(x.ndim) if i != quant_axis)
        scale = np.abs(x).max(other, keepdims=True)
        found = made(x, scale, bit_length, attrs.get("round_type", 1), back)
        return found, scale.reshape(-1)

    return reference


def whole_samples():
    """Calls of operators that find their scale themselves."""
    yield call(f32(3, 4), grad=False)
    yield call(HALVES, bit_length=3, grad=False)
    yield call(HALVES, bit_length=3, round_type=0, grad=False)
    yield call(f64(2, 3), bit_length=16, grad=False)
    yield call(np.zeros((2, 2), "float32"), grad=False)
    yield fails(ArgumentError, "bit_length is 0", f32(3), bit_length=0)
    yield fails(ArgumentError, "round_type is 2", f32(3), round_type=2)
    yield fails(DtypeError, "not of floating-point", i32(3))


def channel_samples():
    """Calls of operators that find a scale a channel."""
    yield call(f32(3, 4), grad=False)
    yield call(f32(3, 4), quant_axis=1, grad=False)
    yield call(f32(2, 3, 2, 2), quant_axis=1, bit_length=4, round_type=0, grad=False)
    yield call(f64(2, 3), grad=False)
    yield fails(ArgumentError, "quant_axis is 2", f32(2, 3, 4), quant_axis=2)
    yield fails(ArgumentError, "quant_axis is 0", f32(), quant_axis=0)


samples("fake_quantize_abs_max", reference=of_all(False))(whole_samples)
samples("fake_quantize_dequantize_abs_max", reference=of_all(True))(whole_samples)
samples("fake_channel_wise_quantize_abs_max", reference=of_channels(False))(channel_samples)
samples("fake_channel_wise_quantize_dequantize_abs_max", reference=of_channels(True))(
    channel_samples
)


@samples(
    "fake_quantize_range_abs_max",
    reference=lambda x, s, **a: (made(x, s, a.get("bit_length", 8), 1, False), s),
)
def range_samples():
    yield call(f32(3, 4), array([1.5]), is_test=True)
    yield call(f32(3, 4), array([0.25]), is_test=True, bit_length=4)
    yield fails(UnsupportedError, "it is not trained here", f32(3), array([1.0]))
    yield fails(ShapeError, "one number is needed", f32(3), f32(2), is_test=True)


def of_mean(back: bool) -> Any:
    def reference(x: Any, scale: Any, accum: Any = None, state: Any = None, **attrs: Any) -> Any:
        if not attrs.get("is_test", False):
            rate = np.float32(attrs.get("moving_rate", 0.9))
            state = (state * rate + 1).astype(x.dtype)
            accum = (accum * rate + np.abs(x).max()).astype(x.dtype)
            scale = accum / state
        kind = attrs.get("round_type", 1)
        return made(x, scale, attrs.get("bit_length", 8), kind, back), scale, state, accum

    return reference


def mean_samples():
    """Calls of operators with a moving scale."""
    yield call(f32(3, 4), array([0.5]), array([2.0]), array([3.0]), grad=False)
    yield call(
        f32(3, 4),
        array([0.5]),
        array([2.0]),
        array([3.0]),
        moving_rate=0.5,
        round_type=0,
        grad=False,
    )
    yield call(f32(3, 4), array([0.5]), array([2.0]), array([3.0]), is_test=True, grad=False)
    yield fails(ArgumentError, "are needed where the scale is trained", f32(3), array([1.0]))
    yield fails(ShapeError, "one number is needed", f32(3), f32(2), f32(1), f32(1))


samples("fake_quantize_moving_average_abs_max", reference=of_mean(False))(mean_samples)
samples("fake_quantize_dequantize_moving_average_abs_max", reference=of_mean(True))(mean_samples)


def watched(x: Any, accum: Any, state: Any, moving_rate: float = 0.9, is_test: bool = False) -> Any:
    """`x`, and the scale with what it is made of."""
    if is_test:
        return x, None, state, accum
    state, accum = state * np.float32(moving_rate) + 1, accum * np.float32(moving_rate)
    accum = accum + np.abs(x).max()
    return x, accum / state, state, accum


@samples("moving_average_abs_max_scale", reference=watched)
def scale_samples():
    yield call(f32(3, 4), array([2.0]), array([3.0]))
    yield call(f32(3, 4), array([2.0]), array([3.0]), is_test=True)
    yield fails(ArgumentError, "are needed where the scale is trained", f32(3))


@samples("fake_dequantize_max_abs", reference=lambda x, s, max_range: x * s / np.float32(max_range))
def dequantize_samples():
    yield call(f32(3, 4), array([0.5]), max_range=127.0)
    yield call(f64(3), array([0.5]).astype("float64"), max_range=7.0)
    yield fails(ShapeError, "one number is needed", f32(3), f32(2), max_range=127.0)


def channels_back(x: Any, scales: Any, quant_bits: Any = (8,), **attrs: Any) -> Any:
    """Each channel by its own scale; results by the scale of the input besides."""
    lone = len(scales) == 1
    axis = attrs.get("quant_axis", 0) if lone else attrs.get("x_num_col_dims", 1)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    found = x * scales[0].reshape(shape) / (2 ** (quant_bits[0] - 1) - 1)
    return found if lone else found * scales[1] / (2 ** (quant_bits[1] - 1) - 1)


@samples("fake_channel_wise_dequantize_max_abs", reference=channels_back)
def channel_dequantize_samples():
    yield call(f32(3, 4), [f32(3, low=0.1, high=1.0)])
    yield call(f32(3, 4), [f32(4, low=0.1, high=1.0)], quant_axis=1, quant_bits=(4,))
    yield call(f32(2, 3, 2), [f32(3, low=0.1, high=1.0), array([0.5])], quant_bits=(8, 8))
    yield call(
        f32(2, 3, 4), [f32(4, low=0.1, high=1.0), array([0.5])], quant_bits=(8, 4), x_num_col_dims=2
    )
    yield fails(ArgumentError, "there are 2 scales", f32(2, 3), [f32(3), f32(1)])


def beside(scale: Any, x: Any, axis: int) -> Any:
    """Scales shaped to stand beside `x`."""
    return scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)] if axis >= 0 else ())


def with_scale(x: Any, scale: Any, zero: Any, accum: Any = None, state: Any = None, **attrs: Any):
    """Steps of a scale that is given, or found while it trains."""
    axis, shape = attrs.get("quant_axis", 0), scale.shape
    if not attrs.get("is_test", True):
        if axis < 0:
            state, accum = state * np.float32(0.9) + 1, accum * np.float32(0.9) + np.abs(x).max()
            scale = accum / state
        else:
            scale = np.abs(x).max(tuple(i for i in range(x.ndim) if i != axis))
    kind = attrs.get("round_type", 0)
    found = x if attrs.get("only_observer") else made(x, beside(scale, x, axis), 8, kind, False)
    return found, state, accum, scale.reshape(shape)


@samples("quantize_linear", reference=with_scale)
def quantize_linear_samples():
    zero, one = array([0.0]), array([0.75])
    yield call(f32(3, 4), f32(3, low=0.1, high=1.0), zero, grad=False)
    yield call(f32(3, 4), f32(4, low=0.1, high=1.0), zero, quant_axis=1, is_test=False, grad=False)
    yield call(f32(3, 4), one, zero, quant_axis=-1, round_type=1, grad=False)
    states = (one, zero, array([2.0]), array([3.0]))
    yield call(f32(3, 4), *states, quant_axis=-1, is_test=False, grad=False)
    yield call(f32(3, 4), one, zero, quant_axis=-1, only_observer=True, grad=False)
    yield fails(ShapeError, "there are 2 scales and 3 channels", f32(3, 4), f32(2), zero)
    yield fails(ShapeError, "scale has 2 axes", f32(3, 4), f32(3, 1), zero)
    yield fails(
        ArgumentError, "quant_axis is 2 and x has 2 axes", f32(3, 4), one, zero, quant_axis=2
    )
    law = "are needed where the scale is trained"
    yield fails(ArgumentError, law, f32(3), one, zero, quant_axis=-1, is_test=False)


def from_scale(x: Any, scale: Any, zero: Any, **attrs: Any) -> Any:
    """What steps stand for."""
    if attrs.get("only_observer"):
        return x.astype(scale.dtype), None, None, scale
    most = 2 ** (attrs.get("bit_length", 8) - 1) - 1
    return x * beside(scale, x, attrs.get("quant_axis", 0)) / most, None, None, scale


@samples("dequantize_linear", reference=from_scale)
def dequantize_linear_samples():
    zero, one = array([0.0]), array([0.75])
    yield call(np.rint(f32(3, 4) * 50), f32(3, low=0.1, high=1.0), zero)
    yield call(np.arange(-6, 6, dtype="int8").reshape(3, 4), one, zero, quant_axis=-1)
    yield call(f32(3, 4), f32(4, low=0.1, high=1.0), zero, quant_axis=1, bit_length=4)
    yield call(f32(3, 4), one, zero, quant_axis=-1, only_observer=True)
    yield fails(ArgumentError, "bit_length is 0", f32(3, 4), f32(3), zero, bit_length=0)
    yield fails(ShapeError, "one number is needed", f32(3), f32(3), zero, quant_axis=-1)
