"""Places and order of elements: extremes, sorting, conditions."""

from typing import Any

from scull.core.door import shown_by
from scull.core.dtype import bool_, dtype_of, float64
from scull.core.meta import Meta, promote
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.variable import Variable
from scull.ops import compare, count, order, pick, search
from scull.ops.promotion import cast_to
from scull.ops.slicing import slice
from scull.tensor.elements import regular
from scull.tensor.size import axis_held, called, integer, needs_tensor, several, tensor_like


def place_of(operator: Any, x: Any, axis: Any, keepdim: bool, dtype: Any, name: Any) -> Any:
    """The place of an extreme."""
    needs_tensor(x, operator.op.name)
    if dtype is None:
        raise ArgumentError("`dtype` is int32 or int64, not None")
    attrs = {"keepdims": keepdim, "dtype": dtype_of(dtype)}
    if axis is None:
        return operator(x, axis=0, flatten=True, **attrs, name=name)
    return operator(x, axis=axis_held(axis), **attrs, name=name)


def argmax(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """The place of the first greatest element.

    Args:
        x (Tensor): the elements.
        axis (int, optional): along which axis; among all elements in order when None.
        keepdim (bool): whether the axis stays, with size 1.
        dtype (str | DType): int32 or int64.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.argmax(paddle.to_tensor([1, 5, 3])).item()
        1
    """
    return place_of(search.argmax, x, axis, keepdim, dtype, name)


def argmin(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """The place of the first least element.

    Args:
        x (Tensor): the elements.
        axis (int, optional): along which axis; among all elements in order when None.
        keepdim (bool): whether the axis stays, with size 1.
        dtype (str | DType): int32 or int64.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.argmin(paddle.to_tensor([4, 1, 3])).item()
        1
    """
    return place_of(search.argmin, x, axis, keepdim, dtype, name)


def argsort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """The places of the elements in order along an axis.

    Args:
        x (Tensor): the elements.
        axis (int): the axis.
        descending (bool): whether the greatest come first.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    return search.argsort(x, axis=axis, descending=descending, name=name)[1]


def sort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """The elements in order along an axis.

    Args:
        x (Tensor): the elements.
        axis (int): the axis.
        descending (bool): whether the greatest come first.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.sort(paddle.to_tensor([3, 1, 2])).tolist()
        [1, 2, 3]
    """
    return search.argsort(x, axis=axis, descending=descending, name=called(name, "sort"))[0]


def topk(
    x: Any,
    k: Any,
    axis: Any = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The `k` greatest or least elements along an axis, and their places.

    Args:
        x (Tensor): the elements.
        k (int | Tensor): how many.
        axis (int, optional): the axis; the last when None.
        largest (bool): the greatest, or the least.
        sorted (bool): whether they come in order; here they always do.
        name (str, optional): the name of the outputs in a Program.

    Examples:
        >>> import scull as paddle
        >>> values, places = paddle.topk(paddle.to_tensor([1, 5, 3]), 2)
        >>> values.tolist(), places.tolist()
        ([5, 3], [1, 2])
    """
    axis = -1 if axis is None else integer(axis, "axis")
    attrs = {"axis": axis, "largest": largest, "sorted": sorted}
    if isinstance(k, Variable):
        return search.topk(x, k, **attrs, name=name)
    return search.topk(x, k=integer(k, "k"), **attrs, name=name)


def kthvalue(
    x: Any, k: int, axis: Any = None, keepdim: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The `k`-th least element along an axis, and its place.

    Args:
        x (Tensor): the elements.
        k (int): from 1 on.
        axis (int, optional): the axis; the last when None.
        keepdim (bool): whether the axis stays, with size 1.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> value, place = paddle.kthvalue(paddle.to_tensor([3, 1, 2]), 2)
        >>> value.item(), place.item()
        (2, 2)
    """
    needs_tensor(x, "kthvalue")
    axis = -1 if axis is None else integer(axis, "axis")
    found: tuple[Any, Any] = order.kthvalue(x, k=k, axis=axis, keepdim=keepdim, name=name)
    return found


def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The most frequent element along an axis, the least of several, and its last place.

    Args:
        x (Tensor): the elements.
        axis (int): the axis.
        keepdim (bool): whether the axis stays, with size 1.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> value, place = paddle.mode(paddle.to_tensor([2, 1, 2]))
        >>> value.item(), place.item()
        (2, 2)
    """
    needs_tensor(x, "mode")
    found: tuple[Any, Any] = order.mode(x, axis=integer(axis, "axis"), keepdim=keepdim, name=name)
    return found


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where a condition holds, `y` elsewhere; without them the places where it holds.

    A `float` of Python is of float64, and so is the result beside a tensor of fewer bits.

    Args:
        condition (Tensor): truth values; where shapes differ also numbers, which hold unless 0.
        x (number | Tensor, optional): taken where it holds.
        y (number | Tensor, optional): taken elsewhere.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.where(paddle.to_tensor([True, False]), 1.0, paddle.zeros([2])).tolist()
        [1.0, 0.0]
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ArgumentError("either both or neither of x and y should be given")
    needs_tensor(condition, "where", "condition")
    known = next((v for v in (x, y) if isinstance(v, Tensor | Variable)), None)
    if known is None:
        known = Meta((), dtype_of(regular([x, y]).dtype))
    wide = Meta((), float64) if known.dtype.is_float else known  # a fraction of Python is float64
    x, y = (tensor_like(v, wide if type(v) is float else known) for v in (x, y))
    if x.dtype is not y.dtype and x.dtype.is_float and y.dtype.is_float:
        common = promote(x.dtype, y.dtype)
        x, y = cast_to(x, common), cast_to(y, common)
    if not tuple(condition.shape) == tuple(x.shape) == tuple(y.shape):
        condition = cast_to(condition, bool_)
    return compare.where(condition, x, y, name=name)


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0, a row each.

    Args:
        x (Tensor): the elements.
        as_tuple (bool): a column each, in a tuple.

    Examples:
        >>> import scull as paddle
        >>> paddle.nonzero(paddle.to_tensor([0, 3, 4])).tolist()
        [[1], [2]]
    """
    found = search.nonzero(x)
    if not as_tuple:
        return found
    if len(x.shape) == 1:
        return (found,)
    return tuple(
        slice(found, axes=(1,), starts=(i,), ends=(i + 1,), infer_flags=(1,))
        for i in range(len(x.shape))
    )


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """Where `values` belong in a sequence in rising order.

    Args:
        sorted_sequence (Tensor): in rising order along its last axis.
        values (Tensor): what is looked for.
        out_int32 (bool): places as int32 instead of int64.
        right (bool): behind equal elements instead of before them.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([2, 3])).tolist()
        [1, 1]
    """
    needs_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    attrs = {"out_int32": out_int32, "right": right}
    return count.searchsorted(
        sorted_sequence, tensor_like(values, sorted_sequence), **attrs, name=name
    )


def bucketize(
    x: Any,
    sorted_sequence: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """Where the elements of `x` belong in a vector in rising order.

    Args:
        x (Tensor): what is looked for.
        sorted_sequence (Tensor): a vector in rising order.
        out_int32 (bool): places as int32 instead of int64.
        right (bool): behind equal elements instead of before them.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.bucketize(paddle.to_tensor([2, 3]), paddle.to_tensor([1, 3, 5])).tolist()
        [1, 1]
    """
    needs_tensor(sorted_sequence, "bucketize", "sorted_sequence")
    if len(sorted_sequence.shape) != 1:
        raise ArgumentError(f"sorted_sequence has {len(sorted_sequence.shape)} axes, not one")
    return searchsorted(sorted_sequence, x, out_int32, right, name)


def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The elements without repetition, in rising order.

    Args:
        x (Tensor): the elements.
        return_index (bool): also where each is first found.
        return_inverse (bool): also which of them each element is.
        return_counts (bool): also how often each is found.
        axis (int, optional): slices along this axis instead of elements.
        dtype (str | DType): of places and counts.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.unique(paddle.to_tensor([3, 1, 1])).tolist()
        [1, 3]
    """
    needs_tensor(x, "unique")
    wanted = (return_index, return_inverse, return_counts)
    if not all(isinstance(v, bool) for v in wanted):
        raise ArgumentTypeError("`return_index`, `return_inverse` and `return_counts` are bool")
    flags = {"return_index": return_index, "return_inverse": return_inverse}
    flags |= {"return_counts": return_counts, "axis": () if axis is None else (axis,)}
    found, *others = count.unique(x, **flags, dtype=dtype_of(dtype), is_sorted=True)
    rest = [v for v, w in zip(others, wanted, strict=True) if w]
    return (found, *rest) if rest else found


def unique_consecutive(
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """The elements that differ from the one before them.

    Args:
        x (Tensor): the elements.
        return_inverse (bool): also which of the results each element is.
        return_counts (bool): also how often each stands in a row.
        axis (int, optional): slices along this axis instead of elements.
        dtype (str | DType): of places and counts.
        name (str, optional): of no effect.

    Examples:
        >>> import scull as paddle
        >>> paddle.unique_consecutive(paddle.to_tensor([1, 1, 2, 1])).tolist()
        [1, 2, 1]
    """
    needs_tensor(x, "unique_consecutive")
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    axes = () if axis is None else (axis,)
    found = count.unique_consecutive(x, **flags, axis=axes, dtype=dtype_of(dtype))
    rest = [v for v, w in zip(found[1:], (return_inverse, return_counts), strict=True) if w]
    return (found[0], *rest) if rest else found[0]


def multiplex(inputs: Any, index: Any, name: str | None = None) -> Any:
    """Row by row the row of one of several tensors, which `index` chooses.

    Args:
        inputs (list[Tensor]): tensors of one shape.
        index (Tensor): which one, a row each.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> a, b = paddle.zeros([2, 1]), paddle.ones([2, 1])
        >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]])).tolist()
        [[1.0], [0.0]]
    """
    return pick.multiplex(several(inputs, "inputs"), index, name=name)


__getattr__ = shown_by("scull.tensor")
