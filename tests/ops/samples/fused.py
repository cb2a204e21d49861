"""Samples of several operators as one."""

import math

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import bf16, call, f16, f32, f64, fails, samples
from tests.ops.samples.linear import product

erf = np.vectorize(math.erf, otypes=[np.float64])
ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "gelu": lambda x: x * 0.5 * (1 + erf(x * math.sqrt(0.5))),
}


def activated(x, name):
    return ACTIVATIONS.get(name, lambda x: x)(x)


def with_epilogue(x, y, bias, transpose_x, transpose_y, activation):
    return activated(product(x, y, transpose_x, transpose_y) + bias, activation)


@samples("fused_gemm_epilogue", reference=with_epilogue)
def fused_gemm_epilogue_samples():
    yield call(f32(2, 3), f32(3, 4), f32(4))
    yield call(f32(2, 3), f32(3, 4), f32(4), activation="relu")
    yield call(f32(2, 3), f32(3, 4), f32(4), activation="gelu")
    yield call(f32(3, 2), f32(4, 3), f32(4), transpose_x=True, transpose_y=True)
    yield call(f32(2, 2, 3), f32(3, 4), f32(4), activation="relu")
    yield call(f32(0, 3), f32(3, 4), f32(4))
    yield call(f64(2, 3), f64(3, 4), f64(4), activation="relu")
    yield call(f16(2, 3), f16(3, 4), f16(4), activation="relu")
    yield call(bf16(2, 3), bf16(3, 4), bf16(4), activation="relu")
    yield fails(ShapeError, "bias has 2 axes, not one", f32(2, 3), f32(3, 4), f32(1, 4))
    yield fails(ShapeError, "bias has 3 elements", f32(2, 3), f32(3, 4), f32(3))
    yield fails(
        ArgumentError, "no activation 'step'", f32(2, 3), f32(3, 4), f32(4), activation="step"
    )


def connected(input, weight, bias=None, *, in_num_col_dims, activation_type):
    rows = input.reshape(*input.shape[:in_num_col_dims], -1)
    found = rows @ weight
    return activated(found if bias is None else found + bias.reshape(-1), activation_type)


@samples("fc", reference=connected)
def fc_samples():
    yield call(f32(2, 3), f32(3, 4))
    yield call(f32(2, 3), f32(3, 4), f32(4), activation_type="relu")
    yield call(f32(2, 3, 2), f32(6, 4), f32(4), activation_type="tanh")
    yield call(f32(2, 3, 2), f32(2, 4), f32(4), in_num_col_dims=2, activation_type="relu")
    yield call(f64(2, 3), f64(3, 4), f64(4), activation_type="gelu")
    yield fails(ShapeError, "x has 3 columns and y has 2 rows", f32(2, 3), f32(2, 4), f32(4))
    yield fails(
        ArgumentError, "no activation 'step'", f32(2, 3), f32(3, 4), f32(4), activation_type="step"
    )


def paired(x, y, axis, scale, save_intermediate_out, functor_list):
    functions = ACTIVATIONS | {"scale": lambda x: x * scale}
    functions |= {"elementwise_add": np.add, "elementwise_mul": np.multiply}
    if axis != -1:
        y = y.reshape(y.shape + (1,) * (x.ndim - axis - y.ndim))
    first, second = (functions[name] for name in functor_list)
    joined = functor_list[1].startswith("elementwise")
    between = second(x, y) if joined else second(y)
    found = first(between) if joined else first(x, between)
    return found, between if save_intermediate_out else None


def pairs(sum_first, sum_last):
    yield call(f32(2, 3), f32(2, 3), functor_list=sum_last)
    yield call(f32(2, 3), f32(3), functor_list=sum_first)
    yield call(f32(2, 3), f32(2), axis=0, functor_list=["tanh", "elementwise_mul"])
    yield call(f32(2, 3), f32(2, 3), scale=0.5, functor_list=["scale", "elementwise_add"])
    yield call(f32(2, 3), f32(2, 3), scale=0.5, functor_list=["elementwise_add", "scale"])
    yield call(f32(2, 3), f32(3), functor_list=sum_last, save_intermediate_out=True)
    yield call(f32(), f32(), functor_list=["sigmoid", "elementwise_add"])
    yield call(f64(2, 3), f64(2, 3), functor_list=["gelu", "elementwise_add"])
    yield call(f16(2, 3), f16(2, 3), functor_list=sum_last)
    yield fails(ArgumentError, "one of two is to join", f32(2), f32(2), functor_list=["relu"])
    yield fails(ShapeError, "do not broadcast", f32(2), f32(3), functor_list=sum_last)


@samples("fused_elemwise_activation", reference=paired)
def fused_elemwise_activation_samples():
    yield from pairs(["elementwise_add", "relu"], ["relu", "elementwise_add"])


@samples("fused_elemwise_add_activation", reference=paired)
def fused_elemwise_add_activation_samples():
    yield from pairs(["elementwise_add", "tanh"], ["tanh", "elementwise_add"])


def chained(x, functor_list):
    for name in reversed(functor_list):
        x = activated(x, name)
    return x


@samples("fused_activations", reference=chained)
def fused_activations_samples():
    yield call(f32(2, 3), functor_list=["relu", "tanh"])
    yield call(f32(2, 3), functor_list=["sigmoid", "gelu", "relu"])
    yield call(f32(2, 3), functor_list=["gelu", "tanh"])
    yield call(f32(), functor_list=["tanh"])
    yield call(f16(2, 3), functor_list=["relu", "sigmoid"])
    yield call(f64(0, 3), functor_list=["relu", "tanh"])
    yield fails(ArgumentError, "no activation 'step'", f32(2), functor_list=["step"])


def convolved(input, filter, bias=None, residual_data=None, *, activation, data_format, **_):
    """A convolution of stride one without borders."""
    x = input if data_format == "NCHW" else np.moveaxis(input, -1, 1)
    windows = np.lib.stride_tricks.sliding_window_view(x, filter.shape[2:], axis=(2, 3))
    found = np.einsum("nchwij,fcij->nfhw", windows, filter)
    if bias is not None:
        found = found + bias[:, None, None]
    found = found if data_format == "NCHW" else np.moveaxis(found, 1, -1)
    if residual_data is not None:
        found = found + residual_data
    return activated(found, activation), []


@samples("fused_conv2d_add_act", reference=convolved)
def fused_conv2d_add_act_samples():
    yield call(f32(2, 3, 4, 4), f32(2, 3, 2, 2), f32(2))
    yield call(f32(2, 3, 4, 4), f32(2, 3, 2, 2), f32(2), f32(2, 2, 3, 3))
    yield call(f32(1, 2, 3, 3), f32(2, 2, 1, 1), activation="identity")
    yield call(f32(1, 3, 3, 2), f32(2, 2, 2, 2), f32(2), data_format="NHWC", activation="tanh")
    yield fails(
        ArgumentError,
        "results are not split",
        f32(1, 2, 3, 3),
        f32(2, 2, 1, 1),
        split_channels=[1, 1],
    )
