"""Samples of products with a bias, which a Program records as their parts."""

import numpy as np
from scipy import special

from scull.core.dtype import float32, float64
from scull.errors import DtypeError, ShapeError
from tests.ops.sample import bf16, call, f16, f32, f64, fails, samples, strided
from tests.ops.samples.convolution import reference as convolution


def product(x, weight, bias=None):
    return x @ weight + (0 if bias is None else bias)


@samples("linear", reference=product)
def linear_samples():
    yield call(f32(2, 3), f32(3, 4), f32(4))
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(3), f32(3, 4), f32(4))
    yield call(f32(2, 1, 3), f32(3, 4), f32(4))
    yield call(f32(2, 2, 2, 3), f32(3, 1), f32(1))
    yield call(f32(2, 3), f32(3))
    yield call(f32(2, 4, 3), f32(3), f32(4))
    yield call(f32(3), f32(3))
    yield call(f32(0, 3), f32(3, 4), f32(4))
    yield call(strided(f32(2, 3)), f32(4, 3).T, f32(4))
    yield call(f64(2, 3), f64(3, 4), f64(4))
    yield call(f16(2, 3), f16(3, 4), f16(4))
    yield call(bf16(2, 3), bf16(3, 4), bf16(4))
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 3), f32(3))
    yield fails(DtypeError, "x is float32 and y is float64", f32(2, 3), f64(3, 4))


@samples("bias_row", reference=lambda bias, shape: bias.reshape(shape))
def bias_row_samples():
    yield call(f32(3), shape=(1, 3, 1, 1))
    yield fails(ShapeError, "[3] does not fill the shape [1, 2]", f32(3), shape=(1, 2))


def windows(x, filter, stride):
    """All windows of images that are not padded, and how many there are."""
    found = np.lib.stride_tricks.sliding_window_view(x, filter.shape[2:], axis=(2, 3))
    return found[:, :, ::stride, ::stride]


def convolved(input, filter, bias, strides=(1, 1), data_format="NCHW"):
    channels_last = data_format == "NHWC"
    x = input.transpose(0, 3, 1, 2) if channels_last else input
    out = np.einsum("nchwij,fcij->nfhw", windows(x, filter, strides[0]), filter)
    out += bias[:, None, None]
    return out.transpose(0, 2, 3, 1) if channels_last else out


@samples("biased_conv2d", reference=convolved)
def biased_conv2d_samples():
    yield call(f32(2, 2, 4, 5), f32(3, 2, 2, 3), f32(3))
    yield call(f64(1, 2, 5, 5), f64(1, 2, 3, 3), f64(1), strides=(2, 2))
    yield call(f32(2, 4, 4, 2), f32(3, 2, 2, 2), f32(3), data_format="NHWC")
    yield fails(ShapeError, "3", f32(1, 2, 4, 4), f32(1, 3, 2, 2), f32(1))


def convolved_over_volumes(input, filter, bias, data_format="NCDHW", **attrs):
    out = convolution(input, filter, data_format=data_format, **attrs)
    return out + (bias if data_format == "NDHWC" else bias[:, None, None, None])


@samples("biased_conv3d", reference=convolved_over_volumes)
def biased_conv3d_samples():
    yield call(f32(1, 2, 3, 3, 4), f32(3, 2, 2, 2, 3), f32(3), strides=(1, 2, 1))
    last = {"data_format": "NDHWC", "paddings": (1, 0, 0)}
    yield call(f32(1, 2, 3, 2, 2), f32(2, 2, 2, 2, 2), f32(2), **last)


def convolved_apart(input, filter, bias):
    out = np.einsum("nchwij,cij->nchw", windows(input, filter, 1), filter[:, 0])
    return out + bias[:, None, None]


@samples("biased_depthwise_conv2d", reference=convolved_apart)
def biased_depthwise_conv2d_samples():
    yield call(f32(2, 2, 4, 5), f32(2, 1, 2, 3), f32(2), groups=2)


@samples("cast_softmax", reference=lambda x, dtype, axis=-1: special.softmax(x, axis=axis))
def cast_softmax_samples():
    yield call(f32(2, 3), dtype=float64)
    yield call(f64(2, 3), dtype=float32, axis=0, grad=False)


@samples("cast_log_softmax", reference=lambda x, dtype, axis=-1: special.log_softmax(x, axis=axis))
def cast_log_softmax_samples():
    yield call(f32(2, 3), dtype=float64)
    yield call(f64(2, 3), dtype=float32, axis=0, grad=False)


@samples("square_error_cost", reference=lambda x, y: (x - y) ** 2)
def square_error_cost_samples():
    yield call(f32(2, 3), f32(2, 3))
    yield call(f32(2, 3), f32(3))
    yield call(f32(), f32())
    yield fails(ShapeError, "shapes do not broadcast", f32(2), f32(3))
