"""A product and a bias; in a Program they are recorded as their parts, which share a name."""

import math
from typing import Any

from scull.core.attribute import Dtype, Ints
from scull.core.eager import composite, gradient
from scull.core.op import meta_of
from scull.core.tensor import unbroadcast
from scull.errors import DtypeError
from scull.ops.convolution import conv2d, conv3d, depthwise_conv2d
from scull.ops.create import cast
from scull.ops.elementwise import add, subtract
from scull.ops.half import is_half
from scull.ops.like import squeeze, sum_like, unsqueeze
from scull.ops.linear import matmul, rows_of
from scull.ops.math import square
from scull.ops.move import reshape
from scull.ops.softmax import log_softmax, softmax
from scull.ops.transpose import conv2d_transpose, depthwise_conv2d_transpose
from scull.ops.window import LAST


@composite(inline=True)
def linear(x, weight, bias=None):
    """``x @ weight + bias``."""
    product = matmul(x, weight)
    return product if bias is None else add(product, bias)


@linear.kernel
def linear_kernel(xp: Any, x: Any, weight: Any, bias: Any = None, *, out: Any = None) -> Any:
    if x.dtype is not weight.dtype and x.dtype != weight.dtype:
        raise DtypeError(f"x is {x.dtype} and weight is {weight.dtype}; cast one")
    if is_half(x):
        wide = x.astype("float32") @ weight.astype("float32")
        product = wide.astype(x.dtype)
    else:
        product = xp.matmul(x, weight, out=out)
    if bias is None:
        return product
    if bias.dtype != x.dtype or bias.ndim > product.ndim:
        raise DtypeError(f"bias is {bias.dtype} with {bias.ndim} axes; x is {x.dtype}")
    product += bias
    return product


def is_vector(weight: Any) -> bool:
    """Whether a weight has one axis: the one column of a matrix, whose products are flat."""
    return len(weight.shape) == 1


@linear.grad("x")
def linear_grad_x(x_meta: Any, weight: Any, dout: Any) -> Any:
    if is_vector(weight):
        weight, dout = unsqueeze(weight, axes=(1,)), unsqueeze(dout, axes=(-1,))
    return matmul(dout, weight, transpose_y=True)


@linear.grad("weight")
def linear_grad_weight(x: Any, weight_meta: Any, dout: Any) -> Any:
    if is_vector(weight_meta):
        return squeeze(matrix_grad(x, unsqueeze(dout, axes=(-1,))), axes=(1,))
    return matrix_grad(x, dout)


def matrix_grad(x: Any, dout: Any) -> Any:
    """The gradient for a weight of two axes."""
    if len(x.shape) == 1:
        return matmul(reshape(x, shape=(-1, 1)), reshape(dout, shape=(1, -1)))
    if len(x.shape) > 2:
        x, dout = rows_of(x), rows_of(dout)
    return matmul(x, dout, transpose_x=True)


@linear.grad("bias")
def linear_grad_bias(bias_meta: Any, dout: Any) -> Any:
    return None if bias_meta is None else sum_like(dout, bias_meta)


@gradient(linear).kernel("cpu")
def linear_grad_cpu(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any,
    dout: Any,
    *,
    out: Any = None,
    wanted: tuple[str, ...] = ("dx", "dweight", "dbias"),
) -> Any:
    """The rules, in one step."""
    if is_half(x):
        wide = [v.astype("float32") for v in (x, weight, dout)]
        found = linear_grad_cpu(xp, *wide[:2], bias, wide[2], wanted=wanted)
        return tuple([g if g is None else g.astype(x.dtype) for g in found])
    if is_vector(weight):
        return linear.op.gradient.body(x, weight, bias, dout, wanted=wanted)
    dx, dweight, dbias = out or (None, None, None)
    if "dx" in wanted:
        dx = xp.matmul(dout, weight.T, dx)
    if "dweight" in wanted:
        count = math.prod(x.shape[:-1])
        rows = x.reshape(count, x.shape[-1]).T
        dweight = xp.matmul(rows, dout.reshape(count, dout.shape[-1]), dweight)
    if "dbias" in wanted and bias is not None:
        dbias = unbroadcast(dout, bias.shape)
    return dx, dweight, dbias


@composite(inline=True, prefix="reshape2")
def bias_row(bias, *, shape: Ints):
    """`bias` in a shape that meets the channels of an image."""
    return reshape(bias, shape=shape)


def biased(convolution: Any, name: str, axes: int = 2) -> Any:
    """Declare a convolution over `axes` inner axes with a bias for each channel."""
    ones, form = (1,) * axes, "NCDHW" if axes == 3 else "NCHW"

    def body(
        input,
        filter,
        bias,
        *,
        strides: Ints = ones,
        paddings: Ints = (0,) * axes,
        padding_algorithm: str = "EXPLICIT",
        dilations: Ints = ones,
        groups: int = 1,
        data_format: str = form,
    ):
        """The convolution of `input` with `filter`, and a number of `bias` for each channel."""
        product = convolution(
            input,
            filter,
            strides=strides,
            paddings=paddings,
            padding_algorithm=padding_algorithm,
            dilations=dilations,
            groups=groups,
            data_format=data_format,
        )
        return with_bias(product, bias, data_format)

    body.__name__ = name
    return composite(body, inline=True, prefix=convolution.op.type)


biased_conv2d = biased(conv2d, "biased_conv2d")
biased_conv3d = biased(conv3d, "biased_conv3d", 3)
biased_depthwise_conv2d = biased(depthwise_conv2d, "biased_depthwise_conv2d")


@composite(inline=True, prefix="softmax")
def cast_softmax(x, *, dtype: Dtype, axis: int = -1):
    """The softmax of `x` in another element type."""
    return softmax(cast(x, out_dtype=dtype, in_dtype=meta_of(x).dtype), axis=axis)


@composite(inline=True, prefix="log_softmax")
def cast_log_softmax(x, *, dtype: Dtype, axis: int = -1):
    """The logarithm of the softmax of `x` in another element type."""
    return log_softmax(cast(x, out_dtype=dtype, in_dtype=meta_of(x).dtype), axis=axis)


@composite(inline=True)
def square_error_cost(input, label):
    """The square of ``input - label``."""
    return square(subtract(input, label))


def biased_transpose_of(transpose: Any, name: str) -> Any:
    """Declare a convolution's transpose with a bias for each channel."""

    def body(
        input,
        filter,
        bias,
        *,
        strides: Ints = (1, 1),
        paddings: Ints = (0, 0),
        output_padding: Ints = (),
        output_size: Ints = (),
        padding_algorithm: str = "EXPLICIT",
        groups: int = 1,
        dilations: Ints = (1, 1),
        data_format: str = "NCHW",
    ):
        """The transpose of a convolution, and a number of `bias` for each channel."""
        product = transpose(
            input,
            filter,
            strides=strides,
            paddings=paddings,
            output_padding=output_padding,
            output_size=output_size,
            padding_algorithm=padding_algorithm,
            groups=groups,
            dilations=dilations,
            data_format=data_format,
        )
        return with_bias(product, bias, data_format)

    body.__name__ = name
    return composite(body, inline=True, prefix=transpose.op.type)


def with_bias(product: Any, bias: Any, data_format: str) -> Any:
    """`product` and a number for each channel."""
    if data_format in LAST:
        return add(product, bias)
    ones = (1,) * (len(product.shape) - 2)
    return add(product, bias_row(bias, shape=(1, int(bias.shape[0]), *ones)))


biased_conv2d_transpose = biased_transpose_of(conv2d_transpose, "biased_conv2d_transpose")
biased_depthwise_conv2d_transpose = biased_transpose_of(
    depthwise_conv2d_transpose, "biased_depthwise_conv2d_transpose"
)
