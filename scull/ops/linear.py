"""Products of matrices."""

import math
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, agree, at_least, broadcast, count
from scull.core.tensor import HALF
from scull.errors import DtypeError
from scull.ops.conjugate import turned
from scull.ops.create import scale
from scull.ops.half import multiplied
from scull.ops.like import reshape_like, squeeze, unsqueeze
from scull.ops.move import flatten


@primitive(
    type="matmul_v2",
    attrs={"transpose_x": "trans_x", "transpose_y": "trans_y"},
    broadcasts=True,
)
def matmul(x: Meta, y: Meta, *, transpose_x: bool = False, transpose_y: bool = False) -> Meta:
    """The product of the last two axes; the others broadcast.

    A vector is a row on the left, a column on the right.
    """
    at_least(1, x, y)
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    a = (1, *x.shape) if x.ndim == 1 else swapped(x.shape, transpose_x)
    b = (*y.shape, 1) if y.ndim == 1 else swapped(y.shape, transpose_y)
    agree(a[-1], b[-2], "x has {} columns and y has {} rows")
    tail = (() if x.ndim == 1 else (a[-2],)) + (() if y.ndim == 1 else (b[-1],))
    return Meta(broadcast(a[:-2], b[:-2]) + tail, x.dtype)


def swapped(shape: tuple[int, ...], transpose: bool) -> tuple[int, ...]:
    """`shape` with the last two sizes exchanged if `transpose`."""
    return (*shape[:-2], shape[-1], shape[-2]) if transpose else shape


@matmul.kernel
def matmul_kernel(
    xp: Any, x: Any, y: Any, *, out: Any = None, transpose_x: bool, transpose_y: bool
) -> Any:
    x = x.swapaxes(-1, -2) if transpose_x and x.ndim > 1 else x
    y = y.swapaxes(-1, -2) if transpose_y and y.ndim > 1 else y
    return multiplied(xp, x, y, out)


@matmul.direct
def matmul_direct(dtype: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    return None if transpose_x or transpose_y or dtype.num >= HALF else (np.matmul,)


@matmul.grad("x")
def matmul_grad_x(x_meta: Any, y: Any, dout: Any, transpose_x: bool, transpose_y: bool) -> Any:
    y, vector_x, vector_y = turned(y), len(x_meta.shape) == 1, len(y.shape) == 1
    if vector_x and vector_y:
        return dout * y
    if vector_y:
        y, dout, transpose_y = unsqueeze(y, axes=(1,)), unsqueeze(dout, axes=(-1,)), False
    if vector_x:
        return matmul(unsqueeze(dout, axes=(-2,)), y, transpose_y=not transpose_y)
    if transpose_x:
        return matmul(y, dout, transpose_x=transpose_y, transpose_y=True)
    return matmul(dout, y, transpose_y=not transpose_y)


@matmul.grad("y")
def matmul_grad_y(x: Any, y_meta: Any, dout: Any, transpose_x: bool, transpose_y: bool) -> Any:
    x, vector_x, vector_y = turned(x), len(x.shape) == 1, len(y_meta.shape) == 1
    if vector_x and vector_y:
        return dout * x
    if vector_x:
        x, dout, transpose_x = unsqueeze(x, axes=(0,)), unsqueeze(dout, axes=(-2,)), False
    if vector_y:
        column = matmul(x, unsqueeze(dout, axes=(-1,)), transpose_x=not transpose_x)
        return squeeze(column, axes=(-1,))
    if len(y_meta.shape) == 2 < len(x.shape) == len(dout.shape) and not transpose_x:
        x, dout = rows_of(x), rows_of(dout)
    if transpose_y:
        return matmul(dout, x, transpose_x=True, transpose_y=transpose_x)
    return matmul(x, dout, transpose_x=not transpose_x)


def rows_of(x: Any) -> Any:
    """All rows of `x` in one matrix."""
    return flatten(x, start_axis=0, stop_axis=len(x.shape) - 2)


@matmul.lower
def matmul_at(index: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """One element of the product: what it is, not in which order."""
    rest = list(index)
    n = rest.pop() if len(y.shape) > 1 else None
    m = rest.pop() if len(x.shape) > 1 else None
    k = lang.axis(x.shape[-2 if transpose_x and len(x.shape) > 1 else -1])
    a = [k] if m is None else [k, m] if transpose_x else [m, k]
    b = [k] if n is None else [n, k] if transpose_y else [k, n]
    return lang.sum(lang.at(x, (*rest, *a)) * lang.at(y, (*rest, *b)), over=k)


@composite(
    type="matmul",
    attrs={"transpose_x": "transpose_X", "transpose_y": "transpose_Y"},
    fixed={
        "Scale_out": 1.0,
        "Scale_x": 1.0,
        "Scale_y": 1.0,
        "force_fp32_output": False,
        "head_number": 1,
        "mkldnn_data_type": "float32",
        "use_mkldnn": False,
        "use_quantizer": False,
    },
)
def scaled_matmul(
    x, y, *, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0
):
    """``alpha * matmul(x, y)``: the product of Programs written before `matmul_v2`."""
    found = matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    return found if alpha == 1.0 else scale(found, scale=alpha)


@primitive(infer_first=True)
def mul(x: Meta, y: Meta, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Meta:
    """The product as matrices: the first `num_col_dims` axes are rows, the others columns."""
    inner_x, inner_y = count(x.shape[x_num_col_dims:]), count(y.shape[:y_num_col_dims])
    agree(inner_x, inner_y, "x has {} columns and y has {} rows")
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    return x.with_shape((*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:]))


@mul.kernel
def mul_kernel(
    xp: Any, x: Any, y: Any, *, out: Any = None, x_num_col_dims: int = 1, y_num_col_dims: int = 1
) -> Any:
    shape = (*x.shape[:x_num_col_dims], *y.shape[y_num_col_dims:])
    inner = math.prod(y.shape[:y_num_col_dims])
    a = x.reshape(math.prod(x.shape[:x_num_col_dims]), inner)
    b = y.reshape(inner, math.prod(y.shape[y_num_col_dims:]))
    found = multiplied(xp, a, b, None if out is None else out.reshape(len(a), b.shape[1]))
    return found.reshape(shape)


def as_matrix(x: Any, rows: int) -> Any:
    """`x` with its first `rows` axes made one, and the others too."""
    if len(x.shape) == 2 and rows == 1:
        return x
    front = flatten(x, start_axis=0, stop_axis=rows - 1)
    return flatten(front, start_axis=1, stop_axis=-1)


@mul.grad("x")
def mul_grad_x(x_meta: Any, y: Any, dout: Any, x_num_col_dims: int, y_num_col_dims: int) -> Any:
    rows, columns = as_matrix(dout, x_num_col_dims), as_matrix(turned(y), y_num_col_dims)
    return reshape_like(matmul(rows, columns, transpose_y=True), x_meta)


@mul.grad("y")
def mul_grad_y(x: Any, y_meta: Any, dout: Any, x_num_col_dims: int, y_num_col_dims: int) -> Any:
    rows, columns = as_matrix(turned(x), x_num_col_dims), as_matrix(dout, x_num_col_dims)
    return reshape_like(matmul(rows, columns, transpose_x=True), y_meta)


@mul.lower
def mul_at(index: Any, x: Any, y: Any, x_num_col_dims: int, y_num_col_dims: int) -> Any:
    inner = y.shape[:y_num_col_dims]
    over = [lang.axis(n) for n in inner]
    k = lang.ravel(over, inner)
    rows = math.prod(x.shape[:x_num_col_dims])
    row = lang.ravel(index[:x_num_col_dims], x.shape[:x_num_col_dims])
    columns = math.prod(inner)
    element = lang.flat(x, row * columns + k) if rows else x[(0,) * len(x.shape)]
    return lang.sum(element * y[(*over, *index[x_num_col_dims:])], over=over)
