"""The same elements in another shape or order, and repetitions."""

from typing import Any

import numpy as np

from scull.core.door import shown_by
from scull.core.dtype import dtype_of
from scull.core.interpreter import is_recording
from scull.core.meta import axis_of
from scull.core.tensor import Tensor
from scull.eager.property import tensor_of
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, ShapeError, UnsupportedError
from scull.ir.told import holds_variables
from scull.ir.variable import Variable
from scull.ops import index, like, move, slicing, spread
from scull.tensor.size import (
    asserted_axis,
    axes_held,
    called,
    integer,
    integers,
    needs_tensor,
    several,
    shape_inputs,
)


def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The elements of `x` in another shape; in eager mode a view where memory allows it.

    Args:
        x (Tensor): the elements.
        shape (int | list | tuple | Tensor): the sizes; 0 keeps one, a single -1 takes the rest.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.reshape(paddle.ones([2, 3]), [0, -1, 1]).shape
        [2, 3, 1]
    """
    needs_tensor(x, "reshape")
    tensor, tensors, sizes = shape_inputs(shape)
    if tensor is None and not tensors:
        return move.reshape(x, shape=sizes, name=name)
    return move.reshape(x, tensor, tensors, shape=sizes, name=name)


def view(x: Any, shape_or_dtype: Any, name: str | None = None) -> Any:
    """`x` in another shape, or its memory read as another element type.

    Args:
        x (Tensor): the elements.
        shape_or_dtype (list | tuple | str | DType): the shape, or the element type; through one
            of another size the last axis becomes longer or shorter, and no gradient passes.
        name (str, optional): the name of the output in a Program.

    Raises:
        ArgumentTypeError: neither a shape nor an element type is given.
        ShapeError: the bytes of the last axis are not those of whole elements.

    Examples:
        >>> import scull as paddle
        >>> paddle.view(paddle.ones([2, 3]), [3, 2]).shape
        [3, 2]
        >>> paddle.view(paddle.ones([1]), "uint8").tolist()
        [0, 0, 128, 63]
    """
    if isinstance(shape_or_dtype, list | tuple):
        return reshape(x, shape_or_dtype, name)
    if isinstance(shape_or_dtype, int):
        raise ArgumentTypeError(f"{shape_or_dtype} is neither a shape nor an element type")
    kind = dtype_of(shape_or_dtype)
    if not isinstance(x, Tensor):
        raise UnsupportedError("a Program has no memory to read as another element type")
    if kind is x.dtype:
        return reshape(x, x.shape, name)
    try:
        return tensor_of(x.array.view(kind.array))
    except ValueError as error:
        raise ShapeError(f"{x.meta} is not read as {kind.name}: {error}") from None


def view_as(x: Any, other: Any, name: str | None = None) -> Any:
    """`x` in the shape of `other`.

    Args:
        x (Tensor): the elements.
        other (Tensor): whose shape is taken.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.view_as(paddle.ones([2, 3]), paddle.ones([6])).shape
        [6]
    """
    needs_tensor(other, "view_as", "other")
    return reshape(x, other.shape, name)


def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """The axes from `start_axis` to `stop_axis` made one.

    Args:
        x (Tensor): the elements.
        start_axis (int): the first axis.
        stop_axis (int): the last axis.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.flatten(paddle.ones([2, 3, 4]), 1).shape
        [2, 12]
    """
    needs_tensor(x, "flatten")
    ndim = max(len(x.shape), 1)
    for axis, parameter in ((start_axis, "start_axis"), (stop_axis, "stop_axis")):
        if not isinstance(axis, int) or not -ndim <= axis < ndim:
            raise ArgumentError(f"`{parameter}` is {axis!r}, outside [-{ndim}, {ndim})")
    if start_axis % ndim > stop_axis % ndim:
        raise ArgumentError(f"`start_axis` {start_axis} lies behind `stop_axis` {stop_axis}")
    return move.flatten(x, start_axis=start_axis % ndim, stop_axis=stop_axis % ndim, name=name)


def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> Any:
    """One axis taken apart into several.

    Args:
        x (Tensor): the elements.
        axis (int): the axis.
        shape (list | tuple | Tensor): the sizes it becomes; one may be -1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.unflatten(paddle.ones([4, 3]), 0, [2, -1]).shape
        [2, 2, 3]
    """
    needs_tensor(x, "unflatten")
    axis = asserted_axis(axis, len(x.shape))
    sizes = [*x.shape[:axis], *integers(shape, "shape"), *x.shape[axis + 1 :]]
    return reshape(x, sizes, name)


def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """`x` without axes of size 1.

    Args:
        x (Tensor): the elements.
        axis (int | list | tuple | Tensor, optional): which axes; all of size 1 when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.squeeze(paddle.ones([1, 2, 1])).shape
        [2]
    """
    needs_tensor(x, "squeeze")
    if holds_variables(axis):
        return like.squeeze(x, axes=axes_held(axis), name=name)
    return like.squeeze(x, axes=() if axis is None else integers(axis, "axis"), name=name)


def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """`x` with axes of size 1 put in, one after another.

    Args:
        x (Tensor): the elements.
        axis (int | list | tuple | Tensor): where.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.unsqueeze(paddle.ones([2]), [0, 2]).shape
        [1, 2, 1]
    """
    needs_tensor(x, "unsqueeze")
    if isinstance(axis, Variable):
        return like.unsqueeze(x, axis, name=name)
    if holds_variables(axis):
        return like.unsqueeze(x, None, axes_held(axis), name=name)
    return like.unsqueeze(x, axes=integers(axis, "axis"), name=name)


def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """`x` with its axes in another order; in eager mode a view.

    Args:
        x (Tensor): the elements.
        perm (list | tuple): the axes of `x` in their new order.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.transpose(paddle.ones([2, 3]), [1, 0]).shape
        [3, 2]
    """
    needs_tensor(x, "transpose")
    return move.transpose(x, perm=integers(perm, "perm"), name=name)


def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Any:
    """`x` with some axes moved elsewhere; the others keep their order.

    Args:
        x (Tensor): the elements.
        source (int | list): the axes.
        destination (int | list): where each goes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, 2).shape
        [3, 4, 2]
    """
    needs_tensor(x, "moveaxis")
    ndim = len(x.shape)
    sources = named_axes(source, ndim, "source")
    places = named_axes(destination, ndim, "destination")
    if len(sources) != len(places):
        raise AssertError("`source` and `destination` name as many axes")
    rest = iter([a for a in range(ndim) if a not in sources])
    at = dict(zip(places, sources, strict=True))
    perm = [at[i] if i in at else next(rest) for i in range(ndim)]
    return move.transpose(x, perm=perm, name=name)


def named_axes(given: Any, ndim: int, name: str) -> list[int]:
    """Axes from 0 on, each once."""
    axes = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(a, int | np.integer) and -ndim <= a < ndim for a in axes):
        raise AssertError(f"`{name}` holds integers in [{-ndim}, {ndim}), not {given}")
    found = [axis_of(a, ndim) for a in axes]
    if len(set(found)) < len(found):
        raise ArgumentError(f"`{name}` names each axis once")
    return found


def t(input: Any, name: str | None = None) -> Any:
    """A matrix with rows and columns exchanged; a vector or number as it is.

    Args:
        input (Tensor): of at most two axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.t(paddle.ones([2, 3])).shape
        [3, 2]
    """
    needs_tensor(input, "t", "input")
    if len(input.shape) > 2:
        raise ShapeError(f"t() takes at most two axes, not {len(input.shape)}; use `transpose`")
    if len(input.shape) < 2:
        return input
    return move.transpose(input, perm=(1, 0), name=called(name, "t"))


def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x` repeated along axes of size 1 and new leading ones.

    Args:
        x (Tensor): the elements.
        shape (list | tuple | Tensor): the sizes; -1 leaves one as it is.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.expand(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2], [1, 2]]
    """
    needs_tensor(x, "expand")
    tensor, tensors, sizes = shape_inputs(shape)
    return move.expand(x, tensor, tensors, shape=sizes, name=name)


broadcast_to = expand


def expand_as(x: Any, y: Any, name: str | None = None) -> Any:
    """`x` repeated to the shape of `y`.

    Args:
        x (Tensor): the elements.
        y (Tensor): whose shape is taken.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.expand_as(paddle.to_tensor([1]), paddle.ones([3])).tolist()
        [1, 1, 1]
    """
    needs_tensor(y, "expand_as", "y")
    return like.expand_as(
        x, y, target_shape=[int(n) for n in y.shape], name=called(name, "expand_as")
    )


def broadcast_tensors(input: Any, name: str | None = None) -> list[Any]:
    """Several tensors repeated to the shape they stretch to together.

    Args:
        input (list[Tensor]): the tensors.
        name (str, optional): the name of the outputs in a Program.

    Examples:
        >>> import scull as paddle
        >>> a, b = paddle.broadcast_tensors([paddle.ones([3]), paddle.ones([2, 1])])
        >>> a.shape, b.shape
        ([2, 3], [2, 3])
    """
    tensors = several(input, "input")
    try:
        return spread.broadcast_tensors(tensors, name=name)
    except ShapeError as error:
        if not isinstance(tensors[0], Variable):
            raise
        raise ArgumentTypeError(str(error)) from None


def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """`x` laid side by side, so many times along each axis.

    Args:
        x (Tensor): the elements.
        repeat_times (int | list | tuple | Tensor): how often.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2]).tolist()
        [1, 2, 1, 2]
    """
    needs_tensor(x, "tile")
    tensor, tensors, times = shape_inputs(repeat_times, "repeat_times")
    return move.tile(x, tensor, tensors, repeat_times=times, name=name)


def repeat_interleave(x: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each slice along an axis, `repeats` times in a row.

    Args:
        x (Tensor): the elements.
        repeats (int | Tensor): how often, for all slices or for each.
        axis (int, optional): along which axis; of all elements in order when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    needs_tensor(x, "repeat_interleave")
    if axis is None:
        x, axis = flatten(x), 0
    if isinstance(repeats, Tensor | Variable):
        return spread.repeat_interleave(x, repeats, axis=axis, name=name)
    return spread.repeat_interleave(x, repeats=integer(repeats, "repeats"), axis=axis, name=name)


def flip(x: Any, axis: Any, name: str | None = None) -> Any:
    """`x` in reverse order along axes.

    Args:
        x (Tensor): the elements.
        axis (int | list | tuple): the axes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.flip(paddle.to_tensor([1, 2]), 0).tolist()
        [2, 1]
    """
    return move.flip(x, axis=integers(axis, "axis"), name=name)


reverse = flip


def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None) -> Any:
    """`x` moved along axes; what leaves one end enters at the other.

    Args:
        x (Tensor): the elements.
        shifts (int | list | tuple | Tensor): how far.
        axis (int | list | tuple, optional): along which axes; all elements in order when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    needs_tensor(x, "roll")
    axes = () if axis is None else integers(axis, "axis")
    for a in axes:
        if not -len(x.shape) <= a < len(x.shape):
            ndim = len(x.shape)
            raise ArgumentError(
                f"axis is out of range, it should be in range [-{ndim}, {ndim}), but received {a}"
            )
    if isinstance(shifts, Variable):
        return spread.roll(x, shifts, axis=axes, name=name)
    return spread.roll(x, shifts=integers(shifts, "shifts"), axis=axes, name=name)


def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """The elements from `starts` to before `ends` along `axes`; in eager mode a view.

    Args:
        input (Tensor): the elements.
        axes (list | tuple): the axes.
        starts (list | tuple | Tensor): where each begins.
        ends (list | tuple | Tensor): where each ends.

    Examples:
        >>> import scull as paddle
        >>> paddle.slice(paddle.arange(5), [0], [1], [3]).tolist()
        [1, 2]
    """
    axes = integers(axes, "axes")
    first, firsts, starts = shape_inputs(starts, "starts")
    last, lasts, ends = shape_inputs(ends, "ends")
    known = first is None and last is None and not firsts and not lasts
    bounds: dict[str, Any] = {"starts": starts, "ends": ends}
    bounds["infer_flags"] = (1 if known else -1,) * len(axes)
    tensors = () if known else (first, last, firsts, lasts)
    return slicing.slice(input, *tensors, axes=axes, **bounds)


def strided_slice(
    x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Any:
    """As `slice`, in steps, which may be negative.

    Args:
        x (Tensor): the elements.
        axes (list | tuple): the axes.
        starts (list | tuple | Tensor): where each begins.
        ends (list | tuple | Tensor): where each ends.
        strides (list | tuple | Tensor): the steps.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.strided_slice(paddle.arange(5), [0], [0], [5], [2]).tolist()
        [0, 2, 4]
    """
    axes = integers(axes, "axes")
    first, firsts, starts = shape_inputs(starts, "starts")
    last, lasts, ends = shape_inputs(ends, "ends")
    step, steps, strides = shape_inputs(strides, "strides")
    tensors = (first, firsts, last, lasts, step, steps)
    bounds = {"starts": starts, "ends": ends, "strides": strides}
    known = not any(v is not None for v in tensors)
    flags = (1 if known else -1,) * len(axes)
    given = () if known else tensors
    return slicing.strided_slice(x, *given, axes=axes, **bounds, infer_flags=flags, name=name)


def as_strided(x: Any, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> Any:
    """The memory of `x` read with other steps; a view where no gradient is asked for.

    Args:
        x (Tensor): the elements.
        shape (list | tuple): the sizes.
        stride (list | tuple): how many elements apart neighbours along each axis are.
        offset (int): how many elements before the first.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.as_strided(paddle.arange(4), [2, 2], [1, 1]).tolist()
        [[0, 1], [1, 2]]
    """
    needs_tensor(x, "as_strided")
    if isinstance(x, Variable):
        raise ArgumentError("as_strided() reads memory, which a Variable has none of")
    shape, stride = integers(shape, "shape"), integers(stride, "stride")
    offset, array = integer(offset, "offset"), x.array.reshape(-1)
    if len(shape) != len(stride) or min(shape, default=0) < 0:
        raise ShapeError(f"`shape` {list(shape)} and `stride` {list(stride)} do not fit")
    ways = [(n - 1) * s for n, s in zip(shape, stride, strict=True) if n]
    for reach in (offset + sum(w for w in ways if w < 0), offset + sum(w for w in ways if w > 0)):
        if not 0 <= reach < array.size:
            raise ArgumentError(f"element {reach} lies outside the memory of {array.size} elements")
    if x.node is not None and is_recording():
        places = as_strided(Tensor(np.arange(array.size)), (*shape, 1), (*stride, 1), offset)
        return index.gather_nd(move.reshape(x, shape=(-1,)), places)
    steps = [s * array.itemsize for s in stride]
    return Tensor(np.lib.stride_tricks.as_strided(array[offset:], shape, steps))


__getattr__ = shown_by("scull.tensor")
