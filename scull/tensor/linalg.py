"""Products of matrices, norms, distances."""

import math
from typing import Any

import numpy as np

from scull.core.door import shown_by
from scull.core.interpreter import current
from scull.core.meta import axis_of, promote
from scull.core.op import Op
from scull.core.refusal import explained
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, AssertError, DtypeError, RangeError, ShapeError
from scull.ir.variable import Variable
from scull.ops import count, distance, elementwise, linear, move, product, reduce
from scull.ops.promotion import cast_to
from scull.tensor.elementwise import pow
from scull.tensor.function import abs
from scull.tensor.size import axis_held, called, integer, integers, needs_tensor, number, several

EITHER = (Tensor, Variable)


def of_one_kind(op: Op, x: Any, y: Any) -> tuple[Any, Any]:
    """Factors of one element type: floats beside complex numbers become such.

    Others that differ are refused, which `@` would cast.
    """
    if not isinstance(x, EITHER) or not isinstance(y, EITHER) or x.dtype is y.dtype:
        return x, y
    if (x.dtype.is_complex or y.dtype.is_complex) and (x.dtype.is_float or y.dtype.is_float):
        common = promote(x.dtype, y.dtype)
        return cast_to(x, common), cast_to(y, common)
    if isinstance(x, Tensor) and isinstance(y, Tensor) and current().setting is None:
        law = DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
        raise explained(law, op, (x, y), {})
    return x, y


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """The product of matrices in the last two axes; the others stretch to a common shape.

    Args:
        x (Tensor): the left operand; a vector is a row.
        y (Tensor): the right one; a vector is a column.
        transpose_x (bool): exchange the last two axes of `x` first.
        transpose_y (bool): exchange the last two axes of `y` first.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.matmul(paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    x, y = of_one_kind(linear.matmul.op, x, y)
    if not transpose_x and not transpose_y:
        return linear.matmul(x, y) if name is None else linear.matmul(x, y, name=name)
    return linear.matmul(x, y, transpose_x=transpose_x, transpose_y=transpose_y, name=name)


def mm(input: Any, mat2: Any, name: str | None = None) -> Any:
    """The product of two matrices.

    Args:
        input (Tensor): the left one.
        mat2 (Tensor): the right one.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.mm(paddle.ones([1, 3]), paddle.ones([3, 1])).tolist()
        [[3.0]]
    """
    x, y = of_one_kind(linear.matmul.op, input, mat2)
    return linear.matmul(x, y, name=called(name, "mm"))


def bmm(x: Any, y: Any, name: str | None = None) -> Any:
    """The products of two rows of matrices.

    Args:
        x (Tensor): of three axes.
        y (Tensor): of three axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).shape
        [2, 1, 1]
    """
    needs_tensor(x, "bmm")
    return product.bmm(x, y, name=name)


def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """The product of a matrix and a vector.

    Args:
        x (Tensor): a matrix.
        vec (Tensor): a vector.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.mv(paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [3.0, 3.0]
    """
    needs_tensor(x, "mv")
    return product.mv(x, vec, name=name)


def dot(x: Any, y: Any, name: str | None = None) -> Any:
    """The inner product of vectors, along the last axis.

    Args:
        x (Tensor): a vector, or rows of them.
        y (Tensor): the same.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    needs_tensor(x, "dot")
    return product.dot(x, y, name=name)


def inner(x: Any, y: Any, name: str | None = None) -> Any:
    """The inner products of all rows of `x` and `y`.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one, with as long a last axis.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.inner(paddle.ones([2, 3]), paddle.ones([1, 3])).tolist()
        [[3.0], [3.0]]
    """
    needs_tensor(x, "inner")
    needs_tensor(y, "inner", "y")
    if 1 in (math.prod(x.shape), math.prod(y.shape)):  # one element, of as many axes as it has
        return elementwise.multiply(x, y, name)
    rows, columns = (move.reshape(v, shape=(-1, v.shape[-1])) for v in (x, y))
    found = linear.matmul(rows, columns, transpose_y=True)
    return move.reshape(found, shape=[*x.shape[:-1], *y.shape[:-1]], name=name)


def outer(x: Any, y: Any, name: str | None = None) -> Any:
    """All products of an element of `x` and one of `y`.

    Args:
        x (Tensor): the rows.
        y (Tensor): the columns.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    column, row = move.reshape(x, shape=(-1, 1)), move.reshape(y, shape=(1, -1))
    return linear.matmul(column, row, name=called(name, "outer"))


def kron(x: Any, y: Any, name: str | None = None) -> Any:
    """Every element of `x` replaced by its product with `y`.

    Args:
        x (Tensor): the outer operand.
        y (Tensor): the inner one, with as many axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 1])).tolist()
        [1, 1, 2, 2]
    """
    needs_tensor(x, "kron")
    x, y = of_one_kind(product.kron.op, x, y)
    return product.kron(x, y, name=name)


def cross(x: Any, y: Any, axis: int = 9, name: str | None = None) -> Any:
    """The vector products along an axis of size 3.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one, of the same shape.
        axis (int): the axis; 9 stands for the first of size 3.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.cross(paddle.to_tensor([1, 0, 0]), paddle.to_tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
    needs_tensor(x, "cross")
    axis = 9 if axis is None else axis
    return product.cross(x, y, axis=axis, name=name)


def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Any:
    """``beta * input + alpha * (x @ y)``.

    Args:
        input (Tensor): what is added.
        x (Tensor): the left matrix.
        y (Tensor): the right matrix.
        beta (float): the factor of `input`.
        alpha (float): the factor of the product.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.addmm(paddle.ones([1, 1]), paddle.ones([1, 2]), paddle.ones([2, 1])).item()
        3.0
    """
    needs_tensor(x, "addmm")
    return product.addmm(input, x, y, beta=beta, alpha=alpha, name=name)


def norm(
    x: Any, p: Any = "fro", axis: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The `p`-norm over axes.

    Args:
        x (Tensor): the elements.
        p (float | str): the order; `fro`, 2, 1, 0, inf, -inf and others.
        axis (int | list, optional): the axes; all of them when None.
        keepdim (bool): whether they stay, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    needs_tensor(x, "norm")
    if isinstance(p, str) and p != "fro":
        raise ArgumentError(f"`p` is a number or 'fro', not {p!r}")
    axes = () if axis is None else integers(axis, "axis")
    if len(axes) > 2:
        raise ArgumentError(f"a norm is taken over one or two axes, not {list(axes)}")
    if len(axes) == 2:
        return norm_of_matrices(x, p, axes, keepdim, name)
    if p == "fro" and not axes:
        return distance.frobenius_norm(x, axis=(0,), keepdim=keepdim, reduce_all=True, name=name)
    order = {"porder": 2.0 if p == "fro" else number(p, "p"), "keepdim": keepdim}
    if not axes:
        return distance.p_norm(x, **order, asvector=True, name=name)
    return distance.p_norm(x, **order, axis=axes[0], name=name)


def norm_of_matrices(x: Any, p: Any, axes: tuple[int, ...], keepdim: bool, name: str | None) -> Any:
    """The `p`-norm of all elements along two axes."""
    over = {"axis": axes, "keepdim": keepdim, "reduce_all": len(x.shape) == 2}
    if p == "fro":
        return distance.frobenius_norm(x, axis=axes, keepdim=keepdim, name=name)
    if p == 0:
        raise ArgumentError(f"a norm of order 0 is taken over one axis, not {list(axes)}")
    size = abs(x)
    if p in (math.inf, -math.inf):
        extreme = reduce.reduce_max if p > 0 else reduce.reduce_min
        return extreme(size, **over, name=name)
    return pow(reduce.reduce_sum(pow(size, number(p, "p")), **over), 1.0 / p, name)


def dist(x: Any, y: Any, p: Any = 2, name: str | None = None) -> Any:
    """The `p`-norm of ``x - y``.

    Args:
        x (Tensor): one operand.
        y (Tensor): the other; both stretch to a common shape.
        p (float): the order.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.dist(paddle.zeros([2]), paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    needs_tensor(x, "dist")
    return distance.dist(x, y, p=number(p, "p"), name=name)


def met_axes(axes: Any, ndim: int, others: int) -> tuple[list[int], list[int]]:
    """The axes of two tensors that `tensordot` sums over; one list goes on like the other."""
    axes = axes.tolist() if isinstance(axes, Tensor | np.ndarray | np.generic) else axes
    if isinstance(axes, int):
        if axes < 0:
            raise AssertError(f"`axes` is {axes}, less than 0")
        if axes > min(ndim, others):
            raise RangeError(f"`axes` is {axes}, outside [0, {min(ndim, others)}]")
        left, right = tuple(range(ndim - axes, ndim)), tuple(range(axes))
    else:
        axes = several(axes, "axes")
        pairs = axes if axes and isinstance(axes[0], list | tuple | Tensor) else (axes, axes)
        left, right = (integers(v, "axes") for v in (pairs[0], pairs[-1]))
        left, right = left + right[len(left) :], right + left[len(right) :]
    if (left and not ndim) or (right and not others):
        raise ShapeError("a 0-D tensor has no axis to sum over")
    return [axis_of(a, ndim) for a in left], [axis_of(a, others) for a in right]


def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Any:
    """The sums of products over pairs of axes.

    Args:
        x (Tensor): the left operand.
        y (Tensor): the right one.
        axes (int | list): how many last axes of `x` meet the first of `y`; or the axes of each,
            where one list goes on like a longer other. An axis of size 1 meets each of any size.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 2]), 1).tolist()
        [[3.0, 3.0], [3.0, 3.0]]
    """
    needs_tensor(x, "tensordot")
    needs_tensor(y, "tensordot", "y")
    ndim, others = len(x.shape), len(y.shape)
    left, right = met_axes(axes, ndim, others)
    for a, b in zip(left, right, strict=True):
        m, n = x.shape[a], y.shape[b]
        if m != n and m == 1:
            y = reduce.reduce_sum(y, axis=(b,), keepdim=True)
        elif m != n and n == 1:
            x = reduce.reduce_sum(x, axis=(a,), keepdim=True)
        elif m != n and -1 not in (m, n):
            raise AssertError(f"axis {a} of x has size {m} and axis {b} of y has size {n}")
    rest = [a for a in range(ndim) if a not in left]
    more = [a for a in range(others) if a not in right]
    count = math.prod([x.shape[a] for a in left])
    rows = move.reshape(move.transpose(x, perm=[*rest, *left]), shape=(-1, count))
    columns = move.reshape(move.transpose(y, perm=[*right, *more]), shape=(count, -1))
    shape = [*[x.shape[a] for a in rest], *[y.shape[a] for a in more]]
    return move.reshape(linear.matmul(rows, columns), shape=shape, name=name)


def bincount(x: Any, weights: Any = None, minlength: int = 0, name: str | None = None) -> Any:
    """How often each whole number from 0 on is found.

    Args:
        x (Tensor): whole numbers from 0 on.
        weights (Tensor, optional): what each counts.
        minlength (int | Tensor): the least length of the result.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.bincount(paddle.to_tensor([1, 1, 2])).tolist()
        [0, 2, 1]
    """
    needs_tensor(x, "bincount")
    if not x.dtype.is_integer:
        raise DtypeError("Elements in Input(x) should all be integers")
    least = axis_held(minlength, "minlength")
    return count.bincount(x, weights, minlength=least, name=name)


def histogram(
    input: Any, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None
) -> Any:
    """How many elements lie in each of equal parts of a range.

    Args:
        input (Tensor): the elements.
        bins (int): how many parts.
        min (float): where the range begins.
        max (float): where it ends; both 0 for that of the elements.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), 4, 0, 3).tolist()
        [0, 2, 1, 0]
    """
    needs_tensor(input, "histogram", "input")
    attrs = {"bins": bins, "min": integer(min, "min"), "max": integer(max, "max")}
    return count.histogram(input, **attrs, name=name)


__getattr__ = shown_by("scull.tensor")
