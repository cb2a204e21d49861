"""Basic operators: those that `incubate.autograd` differentiates in both directions.

Each is an operator of everyday use in its barest form: operands neither stretch nor change their
element type. Their bodies are how they are spelt in those operators.
"""

from typing import Any

import numpy as np

from scull import lang
from scull.core import random
from scull.core.attribute import Dtype, Long, Longs
from scull.core.dtype import float32
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, axis_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops import compare, create, elementwise, index, join, math, move, trigonometry
from scull.ops.activation import erf
from scull.ops.arithmetic import power
from scull.ops.complex import abs as absolute
from scull.ops.like import full_like
from scull.ops.linear import matmul
from scull.ops.random import (
    NO_GRADIENT,
    bernoulli,
    finished,
    real,
    uniform,
    uniform_kernel,
    uniform_lowered,
    wide,
)
from scull.ops.reduce import reduce_sum
from scull.ops.slicing import set_value, strided_slice
from scull.ops.word import Draw, place_of, uniform_at

BODIES: dict[str, Any] = {}  # every basic operator by type, with what it is made of


def basic(body: Any = None, **options: Any) -> Any:
    """Declare a composite and note its body."""
    if body is None:
        return lambda body: basic(body, **options)
    BODIES[body.__name__] = body
    return composite(body, **options)


def alike(x: Any, y: Any) -> None:
    """Refuse two operands that differ in shape or element type."""
    if x.dtype != y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    alike_in_shape(x, y)


def alike_in_shape(x: Any, y: Any) -> None:
    """Refuse two operands that differ in shape."""
    if len(x.shape) != len(y.shape):
        raise ShapeError(f"x has {len(x.shape)} axes and y has {len(y.shape)}; broadcast one")
    for a, b in zip(x.shape, y.shape, strict=True):
        agree(a, b, "x has a size {} where y has {}; broadcast one")


# ---- element by element ----


def unary(name: str, whole: Any, text: str) -> Any:
    """Declare one operator of one tensor."""

    def body(x: Any) -> Any:
        return whole(x)

    body.__name__, body.__doc__ = name, text
    return basic(body, outputs=("y",))


def binary(name: str, whole: Any, text: str) -> Any:
    """Declare one operator of two tensors of one shape and element type."""

    def body(x: Any, y: Any) -> Any:
        alike(x, y)
        return whole(x, y)

    body.__name__, body.__doc__ = name, text
    return basic(body, outputs=("z",))


sqrt_p = unary("sqrt_p", math.sqrt, "The square root.")
rsqrt_p = unary("rsqrt_p", math.rsqrt, "1 divided by the square root.")
tanh_p = unary("tanh_p", math.tanh, "The hyperbolic tangent.")
sin_p = unary("sin_p", trigonometry.sin, "The sine.")
cos_p = unary("cos_p", trigonometry.cos, "The cosine.")
exp_p = unary("exp_p", math.exp, "e to the power `x`.")
log_p = unary("log_p", math.log, "The natural logarithm.")
erf_p = unary("erf_p", erf, "The error function.")
abs_p = unary("abs_p", absolute, "The size without the sign.")

add_p = binary("add_p", elementwise.add, "``x + y``.")
sub_p = binary("sub_p", elementwise.subtract, "``x - y``.")
mul_p = binary("mul_p", elementwise.multiply, "``x * y``.")
div_p = binary("div_p", elementwise.divide, "``x / y``.")
max_p = binary("max_p", elementwise.maximum, "The greater of `x` and `y`.")
pow_p = binary("pow_p", power, "`x` to the power `y`.")
eq_p = binary("eq_p", compare.equal, "Whether `x` and `y` are equal.")
ne_p = binary("ne_p", compare.not_equal, "Whether `x` and `y` differ.")
gt_p = binary("gt_p", compare.greater_than, "Whether `x` is above `y`.")
ge_p = binary("ge_p", compare.greater_equal, "Whether `x` is not below `y`.")

for comparison in (eq_p, ne_p, gt_p, ge_p):
    comparison.no_grad("a comparison is constant almost everywhere")


@basic(outputs=("z",))
def select_p(condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition` holds, `y` elsewhere."""
    alike(x, y)
    alike_in_shape(condition, x)
    return compare.where(condition, x, y)


@basic(outputs=("y",))
def cast_p(x: Any, *, dtype: Dtype) -> Any:
    """`x` in another element type."""
    return create.cast(x, out_dtype=dtype)


# ---- shapes ----


@basic(outputs=("y",), views={"y": "x"})
def reshape_p(x: Any, *, shape: Longs) -> Any:
    """The elements of `x` in another shape."""
    return move.reshape(x, shape=shape)


@basic(outputs=("y",), enlarges=("shape",))
def broadcast_p(x: Any, *, shape: Longs) -> Any:
    """`x` repeated along axes of size 1 and new leading ones."""
    return move.expand(x, shape=shape)


@basic(outputs=("y",), views={"y": "x"})
def transpose_p(x: Any, *, axis: Longs) -> Any:
    """`x` with its axes in the order `axis`."""
    return move.transpose(x, perm=axis)


@basic(outputs=("ys[]",), slots={"ys": "YS"})
def split_p(x: Any, *, num_or_sections: Longs, axis: Long = 0) -> Any:
    """Pieces of `x` along `axis`: of these sizes, or as many equal ones as the one number says."""
    if len(num_or_sections) == 1:
        return join.split(x, num=num_or_sections[0], axis=axis)
    return join.split(x, sections=num_or_sections, axis=axis)


@basic(outputs=("y",), slots={"xs": "XS"})
def concat_p(xs: list[Meta], *, axis: Long = 0) -> Any:
    """The tensors `xs` one behind the other along `axis`."""
    return join.concat(xs, axis=axis)


@concat_p.grad("xs")
def concat_p_grad(xs_meta: Any, dy: Any, axis: int) -> Any:
    return join.split_like(dy, xs_meta, None, axis=axis)


# ---- sums and products ----


@basic(outputs=("y",))
def reduce_sum_p(x: Any, *, axis: Longs, keepdim: bool = False) -> Any:
    """The sum along the axes `axis`; without axes it is `x`."""
    if not axis:
        return create.assign(x)
    return reduce_sum(x, axis=axis, keepdim=keepdim)


@basic(outputs=("z",))
def matmul_p(x: Any, y: Any) -> Any:
    """The product of two matrices, or of two batches of them that are as long."""
    if len(x.shape) != len(y.shape) or len(x.shape) not in (2, 3):
        raise ShapeError(
            f"x has {len(x.shape)} axes and y has {len(y.shape)}; both take 2, or both 3"
        )
    if len(x.shape) == 3:
        agree(x.shape[0], y.shape[0], "x has {} matrices and y has {}")
    return matmul(x, y)


# ---- windows and rows ----


@basic(outputs=("y",), views={"y": "x"})
def slice_select_p(x: Any, *, axis: Longs, starts: Longs, ends: Longs, strides: Longs) -> Any:
    """The window of `x` from `starts` to before `ends` along the axes `axis`."""
    return strided_slice(x, axes=axis, starts=starts, ends=ends, strides=strides)


@basic(outputs=("z",))
def slice_assign_p(
    x: Any, y: Any, *, axis: Longs, starts: Longs, ends: Longs, strides: Longs
) -> Any:
    """`x` with `y` in the window that `slice_select_p` would read."""
    if len(x.shape) != len(y.shape):
        raise ShapeError(f"x has {len(x.shape)} axes and y has {len(y.shape)}")
    bounds = {"axes": axis, "starts": starts, "ends": ends, "steps": strides}
    return set_value(create.assign(x), y, **bounds)


@basic(outputs=("y",))
def gather_p(x: Any, index_tensor: Any, *, axis: Long) -> Any:
    """The slices of `x` along `axis` that `index_tensor` lists."""
    return index.gather(x, index_tensor, axis=axis)


@basic(outputs=("z",))
def scatter_add_p(x: Any, y: Any, index_tensor: Any, *, axis: Long) -> Any:
    """`x` with the slices of `y` added where `gather_p` would read them."""
    axis = axis_of(axis, len(x.shape))
    if axis:
        order = (axis, *(i for i in range(len(x.shape)) if i != axis))
        back = tuple(order.index(i) for i in range(len(order)))
        moved = [move.transpose(v, perm=order) for v in (x, y)]
        return move.transpose(added_rows(*moved, index_tensor), perm=back)
    return added_rows(x, y, index_tensor)


def added_rows(x: Any, y: Any, places: Any) -> Any:
    """`x` with the rows of `y` added at `places`."""
    none = full_like(x, value=0.0, dtype=None)
    return elementwise.add(x, index.scatter(none, places, y, overwrite=False))


# ---- what has no operand ----


@primitive(outputs=("y",), enlarges=("shape",))
def fill_constant_p(*, value: float, shape: Longs, dtype: Dtype = float32) -> Meta:
    """A tensor of one value."""
    return create.fill_constant.op.body(shape=shape, dtype=dtype)


@fill_constant_p.kernel
def fill_constant_p_kernel(xp: Any, *, out: Any = None, **attrs: Any) -> Any:
    return create.fill_constant_kernel(xp, out=out, str_value="", **attrs)


@fill_constant_p.lower
def fill_constant_p_at(index: Any, **attrs: Any) -> Any:
    return create.fill_constant_at(index, None, None, None, str_value="", **attrs)


fill_constant_p.no_grad("it reads no value")


@primitive(outputs=("y",), enlarges=("shape",), effects=("random",), infer_first=True)
def bernoulli_p(*, shape: Longs, dtype: Dtype = float32, p: float) -> Meta:
    """1 with the probability `p`, else 0."""
    if not 0 <= p <= 1:
        raise ArgumentError(f"p is {p}, and probabilities lie in [0, 1]")
    real(dtype)
    return create.fill_constant.op.body(shape=shape, dtype=dtype)


@bernoulli_p.kernel
def bernoulli_p_kernel(
    xp: Any, *, out: Any = None, draw: Any, shape: Any, dtype: Any, p: float
) -> Any:
    kind = wide(dtype)
    return finished(random.uniform(draw, shape, kind) < np.asarray(p, dtype.array), dtype, out)


@bernoulli_p.lower
def bernoulli_p_at(index: Any, draw: Draw, dtype: Any, p: float, **_: Any) -> Any:
    kind = np.dtype(wide(dtype)).name
    chance = lang.constant(float(np.asarray(p, dtype.array)), kind)
    return lang.cast(uniform_at(draw, place_of(index), kind) < chance, dtype.name)


@primitive(enlarges=("shape",), effects=("random",), infer_first=True)
def uniform_random_p(
    *, shape: Longs, min: float, max: float, seed: int = 0, dtype: Dtype = float32
) -> Meta:
    """Numbers from `min` to before `max`, all equally likely."""
    return uniform.op.body(shape=shape, dtype=dtype)


@uniform_random_p.kernel
def uniform_random_p_kernel(xp: Any, *, out: Any = None, draw: Any, **attrs: Any) -> Any:
    return uniform_kernel(xp, out=out, draw=draw, diag_num=0, **attrs)


@uniform_random_p.lower
def uniform_random_p_at(index: Any, draw: Draw, **attrs: Any) -> Any:
    return uniform_lowered(index, None, None, draw, diag_num=0, **attrs)


def drawn_bernoulli(*, shape: Any, dtype: Any, p: float) -> Any:
    """What `bernoulli_p` draws, by everyday operators."""
    return bernoulli(create.fill_constant(shape=shape, value=p, dtype=dtype))


for operator in (bernoulli_p, uniform_random_p):
    operator.no_grad(NO_GRADIENT)
BODIES |= {
    "fill_constant_p": create.fill_constant,
    "bernoulli_p": drawn_bernoulli,
    "uniform_random_p": uniform,
}
