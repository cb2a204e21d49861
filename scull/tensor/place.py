"""Elements read at places of the flattened tensor, and elements put at places of an axis."""

from typing import Any

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops import compare, distance, move, pick, slicing
from scull.ops.clip import clip
from scull.ops.promotion import cast_to
from scull.ops.search import numel
from scull.tensor.fill import fill_diagonal_tensor
from scull.tensor.join import index_put
from scull.tensor.manipulation import flatten, reshape
from scull.tensor.size import integer, is_one_of, needs_tensor, number, tensor_like


def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Any:
    """The elements that stand at `index` when all of `x` are in line.

    Args:
        x (Tensor): the elements, of any shape.
        index (Tensor): places, of int32 or int64; negative ones count from the end.
        mode (str): what a place outside means: "raise" an error, "wrap" begins anew, "clip" the
            nearest place, and then negative ones are the first.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape of `index` and the dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.take(x, paddle.to_tensor([0, -1])).tolist()
        [1, 4]
        >>> paddle.take(x, paddle.to_tensor([5]), mode="wrap").tolist()
        [2]
    """
    if not is_one_of(mode, ("raise", "wrap", "clip")):
        raise ArgumentError(f"`mode` is raise, wrap or clip, not {mode!r}")
    needs_tensor(x, "take")
    needs_tensor(index, "take", "index")
    if index.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"places are int32 or int64, not {index.dtype.name}")
    line, places = flatten(x), flatten(index)
    number = int(line.shape[0])
    if number < 0:
        number = cast_to(numel(line), places.dtype)
    if mode == "raise":
        places = compare.where(places < 0, places + number, places)
    elif mode == "clip":
        known = {"max": float(number - 1)} if type(number) is int else {}
        places = clip(places, None, None if known else number - 1, min=0.0, **known)
    elif line.shape[0] != 0:
        places = places % number
    return reshape(pick.index_select(line, places, axis=0), list(index.shape), name)


def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """`x` with one number at some places of an axis.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places along `axis`, of int32 or int64.
        axis (int): along which axis.
        value (bool | int | float | Tensor): the number.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([2, 3])
        >>> paddle.index_fill(x, paddle.to_tensor([0, 2]), 1, 5).tolist()
        [[5.0, 0.0, 5.0], [5.0, 0.0, 5.0]]
    """
    needs_tensor(x, "index_fill")
    needs_tensor(index, "index_fill", "index")
    ndim, axis = len(x.shape), integer(axis, "axis")
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"`axis` {axis} is outside [-{ndim}, {ndim}) of {x.meta}")
    if len(index.shape) != 1:
        raise ShapeError(f"`index` {index.meta} has {len(index.shape)} axes, not 1")
    number = cast_to(tensor_like(value, x), x.dtype)
    perm = list(range(ndim))
    perm[0], perm[axis] = perm[axis], 0
    moved = move.transpose(x, perm=tuple(perm))
    return move.transpose(index_put(moved, (index,), number), perm=tuple(perm))


def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> Any:
    """`x` with `values` in the place of the slice at one place of an axis.

    Args:
        x (Tensor): the elements.
        values (Tensor): of the shape of `x` without `axis`.
        axis (int): along which axis.
        index (int): the place.
        name (str, optional): of no effect.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 1, 0).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """
    needs_tensor(x, "select_scatter")
    needs_tensor(values, "select_scatter", "values")
    ndim, axis = len(x.shape), integer(axis, "axis")
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"`axis` {axis} is outside [-{ndim}, {ndim}) of {x.meta}")
    axis, index = axis % ndim, integer(index, "index")
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    if tuple(values.shape) != rest:
        raise ShapeError(f"`values` have the shape {list(values.shape)}, the slice {list(rest)}")
    index = index + x.shape[axis] if index < 0 else index
    bounds = {"axes": (axis,), "starts": (index,), "ends": (index + 1,), "steps": (1,)}
    value = cast_to(values, x.dtype)
    return slicing.set_value(x, value, **bounds, decrease_axes=(axis,), dtype=x.dtype)


def diagonal_scatter(
    x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """`x` with `y` in the place of a diagonal of two axes; `y` has no gradient, as in Paddle.

    Args:
        x (Tensor): the elements, with 2 axes or more.
        y (Tensor): of the shape of that diagonal, which runs along its last axis.
        offset (int): the diagonal; above the main one when positive.
        axis1 (int): the axis of rows.
        axis2 (int): the axis of columns.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return fill_diagonal_tensor(x, y, offset, axis1, axis2, name)


def renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """`x` whose slices along an axis are made shorter where their norm is greater than a bound.

    Args:
        x (Tensor): of float32 or float64, with 2 axes or more.
        p (float): the order of the norm, above 0.
        axis (int): each of its places is one slice.
        max_norm (float): the greatest norm a slice keeps.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[3.0, 4.0], [0.3, 0.4]])
        >>> paddle.renorm(x, 2.0, 0, 1.0).astype("float64").numpy().round(3).tolist()
        [[0.6, 0.8], [0.3, 0.4]]
    """
    needs_tensor(x, "renorm")
    ndim, axis = len(x.shape), integer(axis, "axis")
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"`axis` {axis} is outside [-{ndim}, {ndim}) of {x.meta}")
    order, longest = number(p, "p"), number(max_norm, "max_norm")
    return distance.renorm(x, p=order, axis=axis % ndim, max_norm=longest)
