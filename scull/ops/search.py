"""Where the greatest, the least and the true elements are, and elements put in order."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype, Long
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, axis_of, of_shape
from scull.core.op import meta_of
from scull.core.tensor import add_at
from scull.errors import ArgumentError, DtypeError, IndexDtypeError, RangeError, ShapeError
from scull.ops.half import is_half, single
from scull.ops.like import reshape_like, whole_number
from scull.ops.sort import first_in_order, order_of


def extreme(name: str, type: str, kind: str) -> Any:
    """Declare `argmax` or `argmin`."""

    def body(
        x: Meta,
        *,
        axis: Long = 0,
        keepdims: bool = False,
        flatten: bool = False,
        dtype: Dtype = int64,
    ) -> Meta:
        if dtype is not None and dtype.name not in ("int32", "int64"):
            raise DtypeError(f"places are int32 or int64, not {dtype.name}")
        sizes = list(x.shape)
        if axis is UNKNOWN and not flatten:
            sizes = [UNKNOWN] * (x.ndim if keepdims else x.ndim - 1)
            return Meta(tuple(sizes), dtype or int64)
        for a in searched(x.ndim, axis, flatten):
            if sizes[a] == 0:
                raise ShapeError(f"axis {a} of {x} has no element to find")
            sizes[a] = 1 if keepdims else None
        return Meta(tuple([n for n in sizes if n is not None]), dtype or int64)

    def kernel(
        xp: Any, x: Any, *, out: Any = None, axis: int, keepdims: bool, flatten: bool, dtype: Any
    ) -> Any:
        along = None if flatten or not x.ndim else axis_of(axis, x.ndim)
        found = getattr(xp, name)(x, along, None, keepdims=keepdims)
        if out is not None:
            out[...] = found
            return out
        return xp.asarray(found, dtype.array if dtype else None)

    def at(index: Any, x: Any, axis: int, keepdims: bool, flatten: bool, dtype: Any) -> Any:
        places, over = lines_of(index, x, searched(x.ndim, axis, flatten), keepdims)
        found = (
            getattr(lang, name)(x[tuple(places)], over=over) if over else lang.constant(0, "int64")
        )
        return lang.cast(found, (dtype or int64).name)

    body.__name__ = name
    body.__doc__ = f"The first place of the {kind} along `axis`."
    function = primitive(body, type=type, prefix=name, infer_first=True)
    function.kernel(kernel)
    function.lower(at)
    function.no_grad("a place is not differentiable")
    return function


def searched(ndim: int, axis: int, flatten: bool) -> Sequence[int]:
    """The axes along which to look."""
    if flatten:
        return range(ndim)
    return [axis_of(axis, ndim)] if ndim else []


def lines_of(
    index: Any, x: Any, axes: Sequence[int], keepdims: bool
) -> tuple[list[Any], list[Any]]:
    """Where an element of the result looks: the places in `x`, and those of them that vary."""
    over, places, rest = [], [], iter(index)
    for i, n in enumerate(x.shape):
        if i in axes:
            over.append(lang.axis(n))
            places.append(over[-1])
            keepdims and next(rest)
        else:
            places.append(next(rest))
    return places, over


argmax = extreme("argmax", "arg_max", "greatest")
argmin = extreme("argmin", "arg_min", "least")


WIDE = 128  # elements beside each other that are worth a call of their own


def along(x: Any, order: Any, axis: int) -> tuple[Any, ...]:
    """The index that puts `order` along `axis` of `x`."""
    index: list[Any] = []
    for i, n in enumerate(order.shape):
        index.append(np.arange(n).reshape((n,) + (1,) * (order.ndim - 1 - i)))
    index[axis] = order
    return tuple(index)


def counted(x: Meta, k: Any, axis: int) -> Meta:
    """`x` with `k` elements along `axis`."""
    if not x.ndim:
        return x
    axis = axis_of(axis, x.ndim)
    if k is not UNKNOWN and (k < 1 or (x.shape[axis] != -1 and k > x.shape[axis])):
        raise ArgumentError(f"k is {k} and axis {axis} has {int(x.shape[axis])} elements")
    return x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))


@primitive(type="top_k_v2", slots={"k_tensor": "K"}, outputs=("out", "indices"))
def topk(
    x: Meta,
    k_tensor: Meta = None,
    *,
    k: int = 1,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> tuple[Meta, Meta]:
    """The `k` greatest (or least) elements along `axis`, in order, and their places."""
    out = counted(x, k if k_tensor is None else UNKNOWN, axis)
    return out, out.with_dtype(int64)


@topk.kernel
def topk_kernel(
    xp: Any,
    x: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    k: int,
    axis: int,
    largest: bool,
    sorted: bool,
) -> Any:
    k = k if tensor is None else whole_number(tensor)
    if not x.ndim:
        return x.copy(), xp.zeros((), "int64")
    axis = axis_of(axis, x.ndim)
    counted(meta_of(x), k, axis)
    order = first_in_order(x, k, axis, largest)
    return x[along(x, order, axis)], order


@topk.grad("x")
def topk_grad(x_meta: Any, k_tensor_meta: Any, indices: Any, dout: Any, axis: int) -> Any:
    return place_along(dout, indices, x_meta, axis=axis)


topk.no_lowering("selection is no loop over elements")


@primitive(outputs=("out", "indices"))
def argsort(x: Meta, *, axis: int = -1, descending: bool = False) -> tuple[Meta, Meta]:
    """The elements in order along `axis`, and where they were; equal ones stay in their order."""
    axis_of(axis, x.ndim)
    return x, x.with_dtype(int64)


@argsort.kernel
def argsort_kernel(xp: Any, x: Any, *, out: Any = None, axis: int, descending: bool) -> Any:
    if not x.ndim:
        return x.copy(), xp.zeros((), "int64")
    axis = axis_of(axis, x.ndim)
    order = order_of(x, axis, descending)
    return x[along(x, order, axis)], order


@argsort.grad("x")
def argsort_grad(x_meta: Any, indices: Any, dout: Any, axis: int) -> Any:
    return place_along(dout, indices, x_meta, axis=axis)


argsort.no_lowering("sorting is no loop over elements")


@primitive(slots={"x": "Input", "indices": "Index"}, attrs={"axis": "Axis"}, outputs=("result",))
def take_along_axis(x: Meta, indices: Meta, *, axis: int) -> Meta:
    """The elements of `x` whose places along `axis` stand in `indices`."""
    if not indices.dtype.is_integer:
        raise IndexDtypeError(f"the index {indices} is not of integers")
    if indices.ndim != x.ndim:
        raise ShapeError(f"the index {indices} does not have the axes of {x}")
    axis_of(axis, x.ndim)
    return x.with_shape(indices.shape)


@take_along_axis.kernel
def take_along_kernel(xp: Any, x: Any, indices: Any, *, out: Any = None, axis: int) -> Any:
    if indices.ndim != x.ndim:
        raise ShapeError(f"the index has {indices.ndim} axes and x has {x.ndim}")
    try:
        return x[along(x, indices, axis_of(axis, x.ndim))] if x.ndim else x.copy()
    except IndexError as error:
        raise RangeError(str(error)) from None


@take_along_axis.grad("x")
def take_along_grad(x_meta: Any, indices: Any, dresult: Any, axis: int) -> Any:
    return place_along(dresult, indices, x_meta, axis=axis)


def wrapped(load: Any, size: int) -> Any:
    """A loaded place; one below 0 counts from the end."""
    place = lang.cast(load, "int64")
    return lang.select(place < 0, place + size, place)


@take_along_axis.lower
def take_along_at(index: Any, x: Any, indices: Any, axis: int) -> Any:
    if not x.ndim:
        return x[()]
    axis = axis_of(axis, x.ndim)
    place = lang.within(wrapped(indices[tuple(index)], x.shape[axis]), x.shape[axis])
    return x[(*index[:axis], place, *index[axis + 1 :])]


@primitive
def place_along(x: Meta, indices: Meta, like_meta: Meta, *, axis: int) -> Meta:
    """Zeros in the shape of `like` with `x` added where `take_along_axis` would read it."""
    if like_meta.ndim:
        of_shape(x, take_along_axis.op.body(like_meta, indices, axis=axis).shape)
    return Meta(like_meta.shape, x.dtype)


@place_along.kernel
def place_along_kernel(
    xp: Any, x: Any, indices: Any, like: Any, *, out: Any = None, axis: int
) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    add_at(xp, out, along(out, indices, axis_of(axis, out.ndim)) if out.ndim else (), x)
    return out


place_along.grad("x")(lambda indices, dout, axis: take_along_axis(dout, indices, axis=axis))


@place_along.lower
def place_along_at(index: Any, x: Any, indices: Any, like: Any, axis: int) -> Any:
    if not x.ndim:
        return x[()]
    axis = axis_of(axis, x.ndim)
    over = [lang.axis(n) for n in x.shape]
    place = wrapped(indices[tuple(over)], like.shape[axis])
    where = (*over[:axis], place, *over[axis + 1 :])
    return lang.scatter_add(like.shape, where, x[tuple(over)], over=over)


@primitive
def cumsum(
    x: Meta,
    *,
    axis: int = -1,
    flatten: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
) -> Meta:
    """The sums of all elements up to each one (`exclusive`: before it; `reverse`: from it on)."""
    if x.dtype.name == "bool":
        raise DtypeError(f"{x} is not of numbers")
    if flatten:
        return x.with_shape((UNKNOWN if -1 in x.shape else math.prod(x.shape),))
    if axis is not UNKNOWN:
        axis_of(axis, x.ndim)
    return x


@cumsum.kernel
def cumsum_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, flatten: bool, exclusive: bool, reverse: bool
) -> Any:
    if x.dtype.kind == "b":
        raise DtypeError(f"{meta_of(x)} is not of numbers")
    if flatten:
        x, axis = x.reshape(-1), 0
    out = xp.empty(x.shape, x.dtype) if out is None else out
    axis = axis_of(axis, x.ndim)
    if not x.ndim:
        out[...] = 0 if exclusive else x
        return out
    before = (slice(None),) * axis
    turned = (*before, slice(None, None, -1 if reverse else 1))
    source, target = x[turned], out[turned]
    if exclusive:
        target[(*before, slice(0, 1))] = 0
        source, target = source[(*before, slice(0, -1))], target[(*before, slice(1, None))]
    if is_half(x):
        target[...] = xp.add.accumulate(single(source), axis=axis)
        return out
    accumulate(xp.add, source, axis, target)
    return out


def accumulate(ufunc: Any, source: Any, axis: int, target: Any) -> Any:
    """What `ufunc` makes of all elements up to each one along `axis`, into `target`.

    Wide lines come one by one, which is work for vectors; NumPy goes from element to element.
    """
    if axis == source.ndim - 1 or source.size < WIDE * source.shape[axis]:
        return ufunc.accumulate(source, axis=axis, out=target)
    lines, found = np.moveaxis(source, axis, 0), np.moveaxis(target, axis, 0)
    found[:1] = lines[:1]
    for line, last, next in zip(lines[1:], found, found[1:], strict=False):
        ufunc(last, line, out=next)
    return target


@cumsum.grad
def cumsum_grad(
    x_meta: Any, dout: Any, axis: int, flatten: bool, exclusive: bool, reverse: bool
) -> Any:
    turned = not reverse
    dx = cumsum(dout, axis=axis, flatten=flatten, exclusive=exclusive, reverse=turned)
    return reshape_like(dx, x_meta) if flatten else dx


@cumsum.lower
def cumsum_at(index: Any, x: Any, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> Any:
    if not flatten and not x.ndim:
        return lang.constant(0, x.dtype) if exclusive else x[()]
    axis = 0 if flatten else axis_of(axis, x.ndim)
    k = lang.axis(math.prod(x.shape) if flatten else x.shape[axis])
    own = index[axis]
    after = (k > own if reverse else k < own) if exclusive else (k >= own if reverse else k <= own)
    value = lang.flat(x, k) if flatten else x[(*index[:axis], k, *index[axis + 1 :])]
    return lang.sum(lang.select(after, value, lang.constant(0, x.dtype)), over=k)


@primitive(type="where_index", slots={"x": "Condition"})
def nonzero(x: Meta) -> Meta:
    """The places of the elements that are not 0, a row each."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no places")
    return Meta((UNKNOWN, x.ndim), int64)


@nonzero.kernel
def nonzero_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no places")
    return xp.ascontiguousarray(xp.stack(x.nonzero(), axis=1))


nonzero.no_grad("places are not differentiable")
nonzero.no_lowering("its length depends on values")


@primitive(type="size", prefix="numel", slots={"x": "Input"})
def numel(x_meta: Meta) -> Meta:
    """How many elements there are: a 0-D tensor."""
    return Meta((), int64)


numel.kernel(lambda xp, x, *, out=None: xp.array(math.prod(x.shape), "int64"))
numel.no_grad("it reads no value")
numel.lower(lambda index, x: lang.constant(math.prod(x.shape), "int64"))
