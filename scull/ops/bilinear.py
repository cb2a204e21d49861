"""Products of two vectors through a matrix for each number of the result."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from scull.core.dtype import float32
from scull.core.eager import composite
from scull.core.meta import agree, floating
from scull.core.op import meta_of
from scull.errors import ShapeError
from scull.lang.dtype import HALF
from scull.ops.create import cast
from scull.ops.half import by_body
from scull.ops.like import unsqueeze
from scull.ops.linear import matmul
from scull.ops.move import transpose
from scull.ops.product import same_type
from scull.ops.reduce import reduce_sum


def check_bilinear(x: Any, y: Any, weight: Any, bias: Any) -> None:
    """Refuse operands that do not go together."""
    floating(*map(meta_of, (x, y, weight)))
    for name, m, count in (("x", x, 2), ("y", y, 2), ("weight", weight, 3), ("bias", bias, 2)):
        if m is not None and len(m.shape) != count:
            raise ShapeError(f"{name} has {len(m.shape)} axes, {count} are needed")
    for m in (y, weight):
        same_type(x, m)
    agree(x.shape[0], y.shape[0], "x has {} rows and y {}")
    agree(x.shape[1], weight.shape[1], "x has {} columns, weight is for {}")
    agree(y.shape[1], weight.shape[2], "y has {} columns, weight is for {}")
    if bias is not None:
        same_type(x, bias)
        agree(bias.shape[0], 1, "bias has {} rows, {} is needed")
        agree(bias.shape[1], weight.shape[0], "bias has {} numbers, weight makes {}")


def by_number(dout: Any) -> Any:
    """The numbers of the results, a column for each: ``[number, row, 1]``."""
    return unsqueeze(transpose(dout, perm=(1, 0)), axes=(2,))


@composite(prefix="bilinear")
def bilinear_tensor_product(x, y, weight, bias=None):
    """``x @ weight[i] @ y`` row by row for each i, and `bias`."""
    check_bilinear(x, y, weight, bias)
    sums = reduce_sum(matmul(x, weight) * y, axis=(-1,))
    out = transpose(sums, perm=(1, 0))
    return out if bias is None else out + bias


def rounded_once(rule: Callable[..., Any]) -> Callable[..., Any]:
    """`rule` of a gradient, which computes in float32 in place of half precision."""

    @wraps(rule)
    def wider(*values: Any) -> Any:
        dtype = meta_of(values[-1]).dtype
        if dtype.name not in HALF:
            return rule(*values)
        found = rule(*[cast(v, out_dtype=float32, in_dtype=dtype) for v in values])
        return cast(found, out_dtype=dtype, in_dtype=float32)

    return wider


@bilinear_tensor_product.grad("x")
@rounded_once
def bilinear_grad_x(y: Any, weight: Any, dout: Any) -> Any:
    return reduce_sum(matmul(y, weight, transpose_y=True) * by_number(dout), axis=(0,))


@bilinear_tensor_product.grad("y")
@rounded_once
def bilinear_grad_y(x: Any, weight: Any, dout: Any) -> Any:
    return reduce_sum(matmul(x, weight) * by_number(dout), axis=(0,))


@bilinear_tensor_product.grad("weight")
@rounded_once
def bilinear_grad_weight(x: Any, y: Any, dout: Any) -> Any:
    return matmul(x * by_number(dout), y, transpose_x=True)


@bilinear_tensor_product.grad("bias")
@rounded_once
def bilinear_grad_bias(dout: Any) -> Any:
    return reduce_sum(dout, axis=(0,), keepdim=True)


by_body(bilinear_tensor_product)
