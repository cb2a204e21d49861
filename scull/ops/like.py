"""The operators that let a body do without sizes.

Of a parameter `*_meta` only the shape and element type are looked at.
"""

import math
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype, Ints
from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import (
    UNKNOWN,
    Meta,
    agree,
    axes_of,
    axis_of,
    broadcast,
    count,
    first_axis,
    ones_behind,
)
from scull.core.tensor import unbroadcast
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError


@primitive(views={"out": "x"})
def sum_like(x: Meta, like_meta: Meta, *, axis: int = -1) -> Meta:
    """`x` summed down to the shape of `like`: the reverse of broadcasting.

    `axis` is where `like` begins.
    """
    return Meta(like_meta.shape, x.dtype)


@sum_like.kernel
def sum_like_kernel(xp: Any, x: Any, like: Any, *, out: Any = None, axis: int = -1) -> Any:
    shape = like.shape
    if axis != -1:
        shape = shape + ones_behind(x.ndim, len(shape), axis)
    return unbroadcast(x, shape).reshape(like.shape)


sum_like.grad("x")(lambda x_meta, dout, axis: broadcast_like(dout, x_meta, axis=axis))


@sum_like.lower
def sum_like_at(index: Any, x: Any, like: Any, axis: int) -> Any:
    lead = first_axis(len(x.shape), len(like.shape), axis)
    spots, over = [], []
    for i, n in enumerate(x.shape):
        j = i - lead
        own = like.shape[j] if 0 <= j < len(like.shape) else 1
        if own == n and 0 <= j < len(like.shape):
            spots.append(index[j])
        else:
            over.append(lang.axis(n))
            spots.append(over[-1])
    return lang.sum(x[tuple(spots)], over=over) if over else x[tuple(spots)]


@primitive
def broadcast_like(x: Meta, like_meta: Meta, *, axis: int = -1) -> Meta:
    """`x` stretched to the shape of `like`; `axis` is where `x` begins."""
    return Meta(broadcast(like_meta.shape, _placed(x.shape, like_meta, axis)), x.dtype)


def _placed(shape: tuple[int, ...], like: Any, axis: int) -> tuple[int, ...]:
    return shape + ones_behind(len(like.shape), len(shape), axis)


@broadcast_like.kernel
def broadcast_like_kernel(xp: Any, x: Any, like: Any, *, out: Any = None, axis: int = -1) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = x if axis == -1 else x.reshape(_placed(x.shape, like, axis))
    return out


broadcast_like.grad("x")(lambda x_meta, dout, axis: sum_like(dout, x_meta, axis=axis))


@broadcast_like.lower
def broadcast_like_at(index: Any, x: Any, like: Any, axis: int) -> Any:
    first = first_axis(len(index), len(x.shape), axis)
    return lang.at(x, index) if axis == -1 else lang.at(x, index[first : first + len(x.shape)])


@primitive(views={"out": "x"})
def reshape_like(x: Meta, like_meta: Meta) -> Meta:
    """The elements of `x` in the shape of `like`."""
    agree(count(x.shape), count(like_meta.shape), "x has {} elements and like has {}")
    return x.with_shape(like_meta.shape)


reshape_like.kernel(lambda xp, x, like, *, out=None: x.reshape(like.shape))
reshape_like.grad("x")(lambda x_meta, dout: reshape_like(dout, x_meta))
reshape_like.lower(lambda index, x, like: lang.flat(x, lang.ravel(index, like.shape)))


@primitive(type="fill_any_like", slots={"like": "X"})
def full_like(like_meta: Meta, *, value: float = 0.0, dtype: Dtype = None) -> Meta:
    """`value` in the shape of `like`."""
    return Meta(like_meta.shape, dtype or like_meta.dtype)


@full_like.kernel
def full_like_kernel(
    xp: Any, like: Any, *, out: Any = None, value: float, dtype: Any = None
) -> Any:
    out = xp.empty(like.shape, dtype.array if dtype else like.dtype) if out is None else out
    out[...] = value
    return out


full_like.no_grad("it reads no value")


@full_like.lower
def full_like_at(index: Any, like: Any, value: float, dtype: Any) -> Any:
    name = dtype.name if dtype else like.dtype
    return lang.constant(value if "float" in name else int(value), name)


@primitive
def size_of(x_meta: Meta, *, axis: Ints = ()) -> Meta:
    """How many elements there are along the axes `axis`, along all when it is empty.

    A 0-D tensor of the element type of `x`.
    """
    axes_of(axis, len(x_meta.shape))
    return Meta((), x_meta.dtype)


def size_along(x: Any, axis: tuple[int, ...]) -> int:
    """The product of the sizes of `axis`; of all axes when empty."""
    return math.prod([x.shape[i] for i in axis] if axis else x.shape)


size_of.kernel(lambda xp, x, *, out=None, axis: np.array(size_along(x, axis), x.dtype))
size_of.no_grad("it reads no value")
size_of.lower(lambda index, x, axis: lang.constant(size_along(x, axis), x.dtype))


@primitive(slots={"x": "Input"})
def shape(x_meta: Meta) -> Meta:
    """The sizes of `x` as a value."""
    return Meta((len(x_meta.shape),), int32)


shape.kernel(lambda xp, x, *, out=None: np.array(x.shape, "int32"))
shape.kernel(rows=True)(lambda xp, x, *, out=None: np.array(x.values.shape, "int32"))
shape.no_grad("it reads no value")


@shape.lower
def shape_at(index: Any, x: Any) -> Any:
    value = lang.constant(0, "int32")
    for i, n in enumerate(x.shape):
        value = lang.select(lang.equal(index[0], i), lang.constant(n, "int32"), value)
    return value


@primitive(type="unsqueeze2", xshape="x", views={"out": "x"})
def unsqueeze(
    x: Meta,
    axes_tensor: Meta = None,
    axes_tensor_list: list[Meta] | None = None,
    *,
    axes: Ints = (),
) -> Meta:
    """`x` with axes of size 1 put in at `axes`, one after another."""
    if axes_tensor is not None:
        number = axes_tensor.shape[0] if axes_tensor.shape else 1
        return x.with_shape((UNKNOWN,) * (x.ndim + number))
    if axes_tensor_list:
        return x.with_shape((UNKNOWN,) * (x.ndim + len(axes_tensor_list)))
    return x.with_shape(with_ones(x.shape, axes))


def whole_number(tensor: Any) -> int:
    """The one integer in `tensor`."""
    if tensor.size != 1:
        raise ShapeError(f"a tensor of shape {list(tensor.shape)} is no single integer")
    return int(whole_numbers(tensor)[0])


def whole_numbers(tensor: Any) -> tuple[int, ...]:
    """The integers in `tensor`, in order."""
    if tensor.dtype.kind not in "iu":
        raise DtypeError(f"integers are needed, not elements of {tensor.dtype}")
    return tuple(tensor.reshape(-1).tolist())


def given_axes(tensor: Any, tensors: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes when run: a tensor may give them."""
    if tensors:
        return tuple([whole_number(v) for v in tensors])
    return axes if tensor is None else whole_numbers(tensor)


def with_ones(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with a 1 put in at each of `axes`, one after another."""
    sizes = list(shape)
    for a in axes:
        reach = len(sizes) + 1
        if not -reach <= a < reach:
            raise ArgumentError(f"axis {a} is outside [-{reach}, {reach})")
        sizes.insert(a % reach, 1)
    return tuple(sizes)


@unsqueeze.kernel
def unsqueeze_kernel(
    xp: Any, x: Any, tensor: Any = None, tensors: Any = None, *, out: Any = None, axes: Any
) -> Any:
    if tensor is not None or tensors:
        axes = given_axes(tensor, tensors, axes)
    return x.reshape(with_ones(x.shape, axes))


@unsqueeze.grad("x")
def unsqueeze_grad(
    x_meta: Any, axes_tensor_meta: Any, axes_tensor_list_meta: Any, dout: Any
) -> Any:
    return reshape_like(dout, x_meta)


@unsqueeze.lower
def unsqueeze_at(index: Any, x: Any, tensor: Any, tensors: Any, axes: Any) -> Any:
    if tensor is not None or tensors:
        raise UnsupportedError("axes that a tensor gives are known only when run")
    return lang.flat(x, lang.ravel(index, with_ones(x.shape, axes)))


@primitive(type="squeeze2", prefix="squeeze", xshape="x", views={"out": "x"})
def squeeze(x: Meta, *, axes: Ints = ()) -> Meta:
    """`x` without those of `axes` (of all axes when empty) that have size 1."""
    if any([a is UNKNOWN for a in axes]):
        return x.with_shape((UNKNOWN,) * (x.ndim - len(axes)))
    return x.with_shape(without_ones(x.shape, axes))


def without_ones(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` without the sizes 1 at `axes`, or unknown there; of all axes when empty."""
    if not axes:
        return tuple(n for n in shape if n != 1)
    gone = {axis_of(a, len(shape)) for a in axes}
    return tuple(n for i, n in enumerate(shape) if i not in gone or n not in (1, -1))


squeeze.kernel(lambda xp, x, *, out=None, axes: x.reshape(without_ones(x.shape, axes)))
squeeze.grad(lambda x_meta, dout: reshape_like(dout, x_meta))
squeeze.lower(lambda index, x, axes: lang.flat(x, lang.ravel(index, without_ones(x.shape, axes))))


@primitive(type="expand_as_v2", prefix="expand_as")
def expand_as(x: Meta, y_meta: Meta = None, *, target_shape: Ints = ()) -> Meta:
    """`x` stretched to the shape of `y`, or to `target_shape` when there is no `y`."""
    target = tuple(target_shape) if y_meta is None else y_meta.shape
    if len(target) < x.ndim:
        raise ShapeError(f"x has {x.ndim} axes and y has {len(target)}; it needs as many or more")
    found = broadcast(target, x.shape)
    if -1 not in (*target, *found) and found != target:
        raise ShapeError(f"x of shape {list(x.shape)} does not stretch to {list(target)}")
    return Meta(found, x.dtype)


@expand_as.kernel
def expand_as_kernel(
    xp: Any, x: Any, y: Any = None, *, out: Any = None, target_shape: Any = ()
) -> Any:
    shape = tuple(target_shape) if y is None else y.shape
    out = xp.empty(shape, x.dtype) if out is None else out
    out[...] = x
    return out


expand_as.grad("x")(lambda x_meta, dout: sum_like(dout, x_meta))
expand_as.lower(lambda index, x, y, target_shape: lang.at(x, index))
