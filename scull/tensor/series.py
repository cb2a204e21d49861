"""Areas below curves, powers of a vector and the choices among its elements."""

import itertools
import math
from typing import Any

import numpy as np

from scull.core.memory import memory
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, DtypeError, ResourceError, ShapeError
from scull.ops import cumulate, join, like, move, pick, search, slicing
from scull.ops.reduce import reduce_sum
from scull.tensor.creation import assign, to_tensor
from scull.tensor.reduction import diff
from scull.tensor.size import integer, needs_tensor

ENDLESS = 2**31 - 1
PLACE = 64  # bytes of an element's place while choices are listed


def trapezes(y: Any, x: Any, dx: Any, axis: int, function: str) -> tuple[Any, int]:
    """The areas between neighbours along an axis counted from 0."""
    needs_tensor(y, function, "y")
    if x is not None and dx is not None:
        raise ArgumentError("`x` and `dx` both say how far points lie apart; give one of them")
    if x is not None:
        needs_tensor(x, function)
    for v in (y, x):
        if v is not None and not v.dtype.is_float:
            raise DtypeError(f"{v.meta} is not of floating-point elements")
    ndim = len(y.shape)
    if not -ndim <= integer(axis, "axis") < ndim:
        raise ArgumentError(f"`axis` {axis} is outside [-{ndim}, {ndim}) of {y.meta}")
    axis %= ndim
    above = slicing.slice(y, axes=(axis,), starts=(1,), ends=(ENDLESS,))
    below = slicing.slice(y, axes=(axis,), starts=(0,), ends=(-1,))
    total = above + below
    if x is None:
        return total * distance(dx), axis
    width = diff(x, axis=0 if len(x.shape) == 1 else axis)
    if len(x.shape) == 1:
        width = (
            like.unsqueeze(width, axes=tuple(range(1, ndim - axis))) if axis < ndim - 1 else width
        )
    return total * width, axis


def distance(dx: Any) -> Any:
    """How far points lie apart: a number or a tensor that holds one."""
    if isinstance(dx, list | tuple | np.ndarray):
        dx = to_tensor(dx)
    if hasattr(dx, "shape") and len(dx.shape) > 1:
        raise ArgumentError(f"`dx` is one number, not {dx.meta}")
    return 1.0 if dx is None else dx


def trapezoid(
    y: Any, x: Any = None, dx: Any = None, axis: int = -1, name: str | None = None
) -> Any:
    """The area below points that lines connect, along an axis.

    Args:
        y (Tensor): the heights, of float16, float32 or float64.
        x (Tensor, optional): where they stand: a vector, or of the shape of `y`.
        dx (float | Tensor, optional): how far apart they stand, where `x` is None; 1 by default.
        axis (int): along which axis.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape of `y` without `axis`.

    Examples:
        >>> import scull as paddle
        >>> paddle.trapezoid(paddle.to_tensor([0.0, 1.0, 3.0]), dx=2.0).item()
        5.0
    """
    areas, axis = trapezes(y, x, dx, axis, "trapezoid")
    return reduce_sum(areas, axis=(axis,)) * 0.5


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = None, axis: int = -1, name: str | None = None
) -> Any:
    """The area below points that lines connect, up to each of them but the first.

    Args:
        y (Tensor): the heights, of float16, float32 or float64.
        x (Tensor, optional): where they stand: a vector, or of the shape of `y`.
        dx (float | Tensor, optional): how far apart they stand, where `x` is None; 1 by default.
        axis (int): along which axis.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape of `y`, with one place less along `axis`.

    Examples:
        >>> import scull as paddle
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([0.0, 1.0, 3.0])).tolist()
        [0.5, 2.5]
    """
    areas, axis = trapezes(y, x, dx, axis, "cumulative_trapezoid")
    return search.cumsum(areas, axis=axis) * 0.5


def vander(x: Any, n: Any = None, increasing: bool = False, name: str | None = None) -> Any:
    """The powers of a vector, a column each.

    Args:
        x (Tensor): a vector of numbers.
        n (int, optional): how many powers; as many as there are elements when None.
        increasing (bool): the lowest power first, not last.
        name (str, optional): of no effect.

    Returns:
        Tensor: a matrix with `n` columns, of the dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.vander(paddle.to_tensor([1.0, 2.0]), 3).tolist()
        [[1.0, 1.0, 1.0], [4.0, 2.0, 1.0]]
    """
    needs_tensor(x, "vander")
    if len(x.shape) != 1:
        raise ArgumentError(f"{x.meta} has {len(x.shape)} axes, not 1")
    n = int(x.shape[0]) if n is None else integer(n, "n")
    if n < 0:
        raise ArgumentError(f"`n` is {n}, not 0 or more")
    column = like.unsqueeze(x, axes=(1,))
    if n == 0:
        return slicing.slice(column, axes=(1,), starts=(0,), ends=(0,))
    powers = like.full_like(column, value=1.0)
    if n > 1:
        columns = [powers, move.expand(column, shape=(-1, n - 1))]
        powers = cumulate.cumprod(join.concat(columns, axis=1), axis=1)
    return powers if increasing else move.flip(powers, axis=(1,))


def combinations(
    x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None
) -> Any:
    """All choices of `r` elements of a vector in their order, a row each.

    Args:
        x (Tensor): a vector.
        r (int): how many elements are chosen.
        with_replacement (bool): whether an element may be chosen again.
        name (str, optional): of no effect.

    Returns:
        Tensor: with `r` columns, of the dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    needs_tensor(x, "combinations")
    if len(x.shape) != 1:
        raise ShapeError(f"{x.meta} has {len(x.shape)} axes, not 1")
    if not isinstance(r, int) or r < 0:
        raise ArgumentError(f"`r` is an integer from 0 on, not {r!r}")
    count = int(x.shape[0])
    if count == -1:
        raise ShapeError(f"{x.meta} has as many elements as are known when the Program runs")
    none = slicing.slice(x, axes=(0,), starts=(0,), ends=(0,))
    if r == 0:
        return none
    rows = math.comb(count + r - 1 if with_replacement and count else count, r)
    if rows * r * PLACE > memory():
        raise ResourceError(f"{rows} choices of {r} elements are more than there is memory for")
    if not rows:
        return move.expand(like.unsqueeze(none, axes=(1,)), shape=(-1, r))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(count), r)), "int64").reshape(-1)
    hold = Tensor if isinstance(x, Tensor) else assign
    return move.reshape(pick.index_select(x, hold(places), axis=0), shape=(rows, r))
