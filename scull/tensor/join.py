"""Tensors put together, taken apart, gathered from and scattered to."""

from typing import Any

from scull.core import session
from scull.core.meta import Kind, axis_of
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops import compare, move, pick, search
from scull.ops import index as places
from scull.ops import join as ops
from scull.ops import mask as masks
from scull.ops.slicing import slice
from scull.tensor.attribute import broadcast_shape
from scull.tensor.creation import zeros
from scull.tensor.size import (
    asserted_axis,
    axis_inputs,
    held_number,
    integer,
    integers,
    is_static,
    needs_tensor,
    several,
    tensor_like,
)


def listed(x: Any, function: str) -> list[Any]:
    """A list of tensors."""
    if isinstance(x, Tensor | Variable):
        return [x]
    if not isinstance(x, list | tuple):
        raise ArgumentTypeError(f"{function}() takes a list of Tensors, not {type(x).__name__}")
    if not x:
        raise ArgumentError(
            f"{function}(): argument `x` must be list of Tensors, but got empty list"
        )
    for v in x:
        needs_tensor(v, function)
    return list(x)


def concat(x: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Several tensors one behind the other along an axis.

    Args:
        x (list[Tensor]): the tensors.
        axis (int | Tensor): the axis.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.concat([paddle.ones([1]), paddle.zeros([2])]).tolist()
        [1.0, 0.0, 0.0]
    """
    tensors = listed(x, "concat")
    if holds_tensors(tensors):
        return joined(tensors[0], axis, False, "concat", name)[0]
    tensor, axis = axis_inputs(axis)
    return ops.concat(tensors, *([] if tensor is None else [tensor]), axis=axis, name=name)


def stack(x: Any, axis: int = 0, name: str | None = None) -> Any:
    """Several tensors side by side along a new axis.

    Args:
        x (list[Tensor]): the tensors, of one shape.
        axis (int): where the new axis is.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.stack([paddle.ones([2]), paddle.zeros([2])]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
    """
    tensors = listed(x, "stack")
    if holds_tensors(tensors):
        return joined(tensors[0], axis, True, "stack", name)[0]
    return ops.stack(tensors, axis=integer(axis, "axis"), name=name)


def holds_tensors(tensors: list[Any]) -> bool:
    """Whether it is one variable of a Program that holds a list of tensors."""
    found = [v for v in tensors if isinstance(v, Variable) and v.kind is Kind.ARRAY]
    if found and len(tensors) > 1:
        raise ArgumentError(f"a list of tensors stands alone, not among {len(tensors)}")
    return bool(found)


def joined(
    array: Variable, axis: Any, use_stack: bool, prefix: str, name: str | None
) -> tuple[Variable, Variable]:
    """The tensor of the tensors of a list in a Program, and their sizes."""
    if not isinstance(axis, int):
        raise ArgumentTypeError(f"`axis` is an int beside a list of tensors, not {type(axis)}")
    prefix = (name or session.unique_name(prefix)) + ".tmp"
    block = main_program().current_block()
    out = block.create_var(session.unique_name(prefix), dtype=array.dtype)
    sizes = block.create_var(session.unique_name(prefix), dtype="int32")
    outputs = {"Out": out, "OutIndex": sizes}
    attrs = {"axis": axis, "use_stack": use_stack}
    block.append_op("tensor_array_to_tensor", {"X": array}, outputs, attrs)
    return out, sizes


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """Pieces of `x` along an axis.

    Args:
        x (Tensor): the elements.
        num_or_sections (int | list | tuple): how many equal pieces, or their sizes; one may be -1.
        axis (int | Tensor): the axis.
        name (str, optional): the name of the outputs in a Program.

    Examples:
        >>> import scull as paddle
        >>> [v.tolist() for v in paddle.split(paddle.arange(4), [1, -1])]
        [[0], [1, 2, 3]]
    """
    needs_tensor(x, "split")
    tensor, axis = axis_inputs(axis)
    if tensor is None and -x.ndim <= axis < 0:
        axis += x.ndim  # Paddle's kernel counts from the front
    given = [] if tensor is None else [tensor]
    if isinstance(num_or_sections, int):
        if num_or_sections <= 0:
            raise AssertError(f"`num_or_sections` is {num_or_sections}, not above 0")
        return ops.split(x, *given, num=num_or_sections, axis=axis, name=name)
    if not isinstance(num_or_sections, list | tuple):
        kind = type(num_or_sections).__name__
        raise ArgumentTypeError(f"`num_or_sections` is an int, a list or a tuple, not {kind}")
    sizes = list(num_or_sections)
    if any(isinstance(n, Variable) for n in sizes):
        held = [n if isinstance(n, Variable) else held_number(n, "int32") for n in sizes]
        known = [-1 if isinstance(n, Variable) else n for n in sizes]
        return ops.split(x, tensor, held, sections=known, axis=axis, name=name)
    sections = integers(sizes, "num_or_sections")
    return ops.split(x, *given, sections=sections, axis=axis, name=name)


def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """`chunks` equal pieces of `x` along an axis.

    Args:
        x (Tensor): the elements.
        chunks (int): how many.
        axis (int | Tensor): the axis.
        name (str, optional): the name of the outputs in a Program.

    Examples:
        >>> import scull as paddle
        >>> [v.tolist() for v in paddle.chunk(paddle.arange(4), 2)]
        [[0, 1], [2, 3]]
    """
    needs_tensor(x, "chunk")
    axis = axis_of(axis, len(x.shape)) if isinstance(axis, int) else axis
    return split(x, integer(chunks, "chunks"), axis, name)


def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The slices along an axis, which they lack; in eager mode views.

    Args:
        input (Tensor): the elements.
        axis (int): the axis.

    Examples:
        >>> import scull as paddle
        >>> [v.tolist() for v in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    needs_tensor(input, "unbind", "input")
    return ops.unbind(input, axis=integer(axis, "axis"))


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The slices along an axis, which they lack.

    Args:
        x (Tensor): the elements.
        axis (int): the axis.
        num (int, optional): how many there are.

    Examples:
        >>> import scull as paddle
        >>> [v.tolist() for v in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    needs_tensor(x, "unstack")
    ndim, axis = len(x.shape), integer(axis, "axis")
    if not -ndim <= axis < ndim:
        raise ArgumentError(f"`axis` must be in the range [-{ndim}, {ndim})")
    size = x.shape[axis]
    if num is not None and not 0 <= integer(num, "num") <= size:
        raise ArgumentError(f"`num` must be in the range [0, {size})")
    return ops.unstack(x, axis=axis, num=size if num is None else num)


def gather(x: Any, index: Any, axis: Any = None, name: str | None = None) -> Any:
    """The slices of `x` along an axis that `index` lists.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places, int32 or int64.
        axis (int | Tensor, optional): the axis; 0 when None.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.gather(paddle.to_tensor([5, 6, 7]), paddle.to_tensor([2, 0])).tolist()
        [7, 5]
    """
    tensor, axis = axis_inputs(0 if axis is None else axis)
    given = [] if tensor is None else [tensor]
    return places.gather(x, index, *given, axis=axis, name=name)


def gather_nd(x: Any, index: Any, name: str | None = None) -> Any:
    """The parts of `x` at the places that the last axis of `index` spells.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    return places.gather_nd(x, index, name=name)


def scatter(
    x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None
) -> Any:
    """`x` with the rows at `index` replaced by `updates`.

    Args:
        x (Tensor): the elements.
        index (Tensor): the rows.
        updates (Tensor): what is written.
        overwrite (bool): False: repeated rows add up, from 0.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, rows = paddle.zeros([3]), paddle.to_tensor([0, 2])
        >>> paddle.scatter(x, rows, paddle.to_tensor([7.0, 9.0])).tolist()
        [7.0, 0.0, 9.0]
    """
    return places.scatter(x, index, updates, overwrite=overwrite, name=name)


def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """`x` with `updates` added at the places that the last axis of `index` spells.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places.
        updates (Tensor): what is added.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, places = paddle.ones([2]), paddle.to_tensor([[1], [1]])
        >>> paddle.scatter_nd_add(x, places, paddle.to_tensor([2.0, 3.0])).tolist()
        [1.0, 6.0]
    """
    return places.scatter_nd_add(x, index, updates, name=name)


def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of a shape with `updates` added at the places that `index` spells.

    Args:
        index (Tensor): the places.
        updates (Tensor): what is added.
        shape (list | tuple | Tensor): the sizes.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.scatter_nd(paddle.to_tensor([[1]]), paddle.to_tensor([2.0]), [3]).tolist()
        [0.0, 2.0, 0.0]
    """
    needs_tensor(updates, "scatter_nd", "updates")
    return places.scatter_nd_add(zeros(shape, updates.dtype), index, updates, name=name)


def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None) -> Any:
    """The slices of `x` along an axis that `index` lists.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places.
        axis (int): the axis.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.index_select(x, paddle.to_tensor([1]), axis=1).tolist()
        [[2], [4]]
    """
    needs_tensor(x, "index_select")
    return pick.index_select(x, index, axis=axis, name=name)


def index_sample(x: Any, index: Any) -> Any:
    """From each row of a matrix the elements that the same row of `index` lists.

    Args:
        x (Tensor): a matrix.
        index (Tensor): a matrix of places.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.index_sample(x, paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    needs_tensor(x, "index_sample")
    return pick.index_sample(x, index)


def index_add(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """`x` with `value` added to the slices along an axis that `index` lists.

    Args:
        x (Tensor): the elements.
        index (Tensor): the places.
        axis (int): the axis.
        value (Tensor): what is added.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, places = paddle.ones([2]), paddle.to_tensor([1, 1])
        >>> paddle.index_add(x, places, 0, paddle.to_tensor([2.0, 3.0])).tolist()
        [1.0, 6.0]
    """
    needs_tensor(x, "index_add")
    return pick.index_add(x, index, value, axis=axis, name=name)


def index_put(
    x: Any, indices: Any, value: Any, accumulate: bool = False, name: str | None = None
) -> Any:
    """`x` with ``x[indices]`` replaced by `value`, or with `value` added there.

    Args:
        x (Tensor): the elements.
        indices (tuple[Tensor]): tensors of places, or masks.
        value (Tensor): what is written.
        accumulate (bool): whether it is added.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, places = paddle.zeros([3]), paddle.to_tensor([2])
        >>> paddle.index_put(x, (places,), paddle.to_tensor([5.0])).tolist()
        [0.0, 0.0, 5.0]
    """
    return masks.index_put(x, several(indices, "indices"), value, accumulate=accumulate, name=name)


def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """The elements whose places along an axis stand in `indices`.

    Args:
        arr (Tensor): the elements.
        indices (Tensor): the places, with as many axes.
        axis (int): the axis.
        broadcast (bool): whether `indices` stretch along the other axes.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.take_along_axis(x, paddle.to_tensor([[0]]), 0).tolist()
        [[1, 2]]
    """
    needs_tensor(arr, "take_along_axis", "arr")
    needs_tensor(indices, "take_along_axis", "indices")
    needs_axes_alike(arr, indices)
    axis = asserted_axis(axis, len(arr.shape))
    if broadcast and arr.shape:
        shape = stretched_shape(arr, indices, axis)
        indices = stretched(indices, shape)
        shape[axis] = arr.shape[axis]
        arr = stretched(arr, shape)
    return search.take_along_axis(arr, indices, axis=axis)


def needs_axes_alike(x: Any, indices: Any) -> None:
    """Refuse places that have not as many axes as what they lie in."""
    if len(x.shape) != len(indices.shape):
        raise ArgumentError("`indices` and `arr` must have the same number of dimensions!")


def stretched_shape(x: Any, indices: Any, axis: int) -> list[int]:
    """The shape both stretch to but along `axis`, where it is that of the places."""
    shape = broadcast_shape(
        *[[1 if i == axis else n for i, n in enumerate(v.shape)] for v in (x, indices)]
    )
    shape[axis] = indices.shape[axis]
    return shape


def stretched(x: Any, shape: list[int]) -> Any:
    """`x` stretched to a shape; a Program says so even where nothing changes."""
    return x if list(x.shape) == shape and not is_static() else move.expand(x, shape=shape)


def cut_to(values: Any, shape: list[int]) -> Any:
    """The first of `values` on each axis, as many as `shape` says; fewer are stretched."""
    if len(values.shape) != len(shape):
        return stretched(values, shape)
    more = [a for a, (n, m) in enumerate(zip(values.shape, shape, strict=True)) if n > m]
    if more:
        values = slice(values, axes=more, starts=(0,) * len(more), ends=[shape[a] for a in more])
    return stretched(values, shape)


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """`arr` with `values` written at the places along an axis that stand in `indices`.

    Args:
        arr (Tensor): the elements.
        indices (Tensor): the places, with as many axes.
        values (number | Tensor): what is written.
        axis (int): the axis.
        reduce (str): `assign`, or how values meet: `add`, `mul`, `mean`, `amin`, `amax`.
        include_self (bool): whether what is there counts too.
        broadcast (bool): whether `indices` stretch along the other axes.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 4]])
        >>> paddle.put_along_axis(x, paddle.to_tensor([[0]]), 9, 0).tolist()
        [[9, 9], [3, 4]]
    """
    needs_tensor(arr, "put_along_axis", "arr")
    needs_tensor(indices, "put_along_axis", "indices")
    needs_axes_alike(arr, indices)
    axis = asserted_axis(axis, len(arr.shape))
    if broadcast and arr.shape:
        indices = stretched(indices, stretched_shape(arr, indices, axis))
        values = stretched(tensor_like(values, arr), list(indices.shape))
    else:
        values = cut_to(tensor_like(values, arr), list(indices.shape))
    attrs = {"axis": axis, "reduce": reduce, "include_self": include_self}
    return pick.put_along_axis(arr, indices, values, **attrs)


def masked_select(x: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of `x` where a mask is true, in a row.

    Args:
        x (Tensor): the elements.
        mask (Tensor): truth values, of the same shape.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.masked_select(paddle.arange(3), paddle.arange(3) > 0).tolist()
        [1, 2]
    """
    return masks.masked_select(x, mask, name=name)


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """`x` with `value` where a mask is true.

    Args:
        x (Tensor): the elements.
        mask (Tensor): truth values; both stretch to a common shape.
        value (number | Tensor): of one element.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.masked_fill(paddle.arange(3), paddle.arange(3) > 0, 9).tolist()
        [0, 9, 9]
    """
    needs_tensor(x, "masked_fill")
    return compare.where(mask, tensor_like(value, x), x, name=name)
