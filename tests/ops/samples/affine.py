"""Samples of what a Program records as its parts: a bias, softmax of another element type."""

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i64, samples, strided
from tests.ops.samples.convolution import convolved


def product_with_bias(x, weight, bias=None):
    """``x @ weight + bias``."""
    return x @ weight + (0 if bias is None else bias)


@samples("linear", reference=product_with_bias)
def linear_samples():
    yield call(f32(2, 3), f32(3, 4), f32(4))
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(2, 2, 3), f32(3, 4), f32(4))
    yield call(f32(3), f32(3, 4), f32(4))
    yield call(f32(0, 3), f32(3, 4), f32(4))
    yield call(f32(1, 1), f32(1, 1), f32(1))
    yield call(strided(f32(2, 3)), f32(4, 3).T, f32(4))
    yield call(f16(2, 3), f16(3, 4), f16(4))
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 4), f32(4))
    yield fails(ShapeError, "do not broadcast: [2, 4] and [3]", f32(2, 3), f32(3, 4), f32(3))
    yield fails(DtypeError, "x is float32 and y is float64", f32(2, 3), f64(3, 4), f64(4))


@samples("bias_row", reference=lambda bias, shape: bias.reshape(shape))
def bias_row_samples():
    yield call(f32(3), shape=(1, 3, 1, 1))


def with_bias(input, filter, bias, **attrs):
    """A convolution and a number for each channel."""
    row = bias if attrs["data_format"] == "NHWC" else bias.reshape(1, -1, 1, 1)
    return convolved(input, filter, **attrs) + row


@samples("biased_conv2d", reference=with_bias)
def biased_conv2d_samples():
    yield call(f32(2, 2, 3, 4), f32(3, 2, 2, 2), f32(3), unknown_sizes=False)
    yield call(
        f32(1, 2, 4, 4), f32(2, 1, 3, 3), f32(2), groups=2, paddings=(1, 1), unknown_sizes=False
    )
    yield call(f32(1, 3, 4, 2), f32(3, 2, 2, 2), f32(3), data_format="NHWC", unknown_sizes=False)


@samples("biased_depthwise_conv2d", reference=with_bias)
def biased_depthwise_conv2d_samples():
    yield call(f32(1, 2, 4, 4), f32(2, 1, 3, 3), f32(2), groups=2, unknown_sizes=False)


def softmax_of(x, axis):
    """Exponentials over their sum."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@samples("cast_softmax", reference=softmax_of)
def cast_softmax_samples():
    yield call(f32(2, 3), dtype="float64")
    yield call(f32(2, 3), dtype="float64", axis=0)
    yield call(i64(2, 3), dtype="float32")


@samples("cast_log_softmax", reference=lambda x, axis: np.log(softmax_of(x, axis)))
def cast_log_softmax_samples():
    yield call(f32(2, 3), dtype="float64")
    yield call(f32(2, 3), dtype="float64", axis=0)


@samples("square_error_cost", reference=lambda x, y: (x - y) ** 2)
def square_error_cost_samples():
    yield call(f32(2, 3), f32(2, 3))
    yield call(f32(), f32())
    yield call(f32(0, 3), f32(0, 3))
    yield fails(ShapeError, "do not broadcast: [2, 3] and [2]", f32(2, 3), f32(2))
