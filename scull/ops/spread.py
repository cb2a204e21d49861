"""Tensors stretched over each other, repeated in place, moved around."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Longs
from scull.core.eager import gradient, primitive
from scull.core.meta import UNKNOWN, Meta, agree, axis_of, broadcast, of_shape
from scull.core.op import meta_of
from scull.core.tensor import add_at
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.ops.half import gathered
from scull.ops.like import reshape_like, sum_like
from scull.ops.reduce import reduce_sum


def one_type(x: list[Any]) -> None:
    """Refuse tensors of differing element types."""
    for other in x[1:]:
        if other.dtype is not x[0].dtype:
            raise DtypeError(f"{meta_of(x[0])} and {meta_of(other)} differ in element type")


@primitive(outputs=("out[]",), infer_first=True)
def meshgrid(x: list[Meta]) -> list[Meta]:
    """Each of several vectors stretched over the grid they span."""
    if len(x) < 2:
        raise ArgumentError(f"a grid is spanned by 2 vectors or more, not {len(x)}")
    one_type(x)
    for m in x:
        if m.ndim > 1:
            raise ShapeError(f"{m} has {m.ndim} axes; a grid is spanned by vectors")
    shape = [m.shape[0] if m.ndim else 1 for m in x]
    return [m.with_shape(shape) for m in x]


@meshgrid.kernel
def meshgrid_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    shape = [v.size for v in x]
    found = []
    for i, v in enumerate(x):
        target = xp.empty(shape, v.dtype) if out is None else out[0][i]
        target[...] = v.reshape([-1 if i == j else 1 for j in range(len(x))])
        found.append(target)
    return found


@meshgrid.grad("x")
def meshgrid_grad(x_meta: Any, dout: Any) -> Any:
    every = range(len(x_meta))
    sums = [reduce_sum(d, axis=tuple(j for j in every if j != i)) for i, d in enumerate(dout)]
    return [reshape_like(d, m) for d, m in zip(sums, x_meta, strict=True)]


gradient(meshgrid).op.spelling["dout"] = "outputs@GRAD"  # as Paddle spells it


@meshgrid.lower
def meshgrid_at(index: Any, x: Any) -> Any:
    return tuple([v[(own[i],) * v.ndim] for i, (v, own) in enumerate(zip(x, index, strict=True))])


@primitive(outputs=("out[]",), infer_first=True)
def broadcast_tensors(x: list[Meta]) -> list[Meta]:
    """Several tensors stretched to the shape that fits them all."""
    one_type(x)
    shape = broadcast(*x)
    return [m.with_shape(shape) for m in x]


@broadcast_tensors.kernel
def broadcast_tensors_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    shape = broadcast(*[v.shape for v in x])
    found = []
    for i, v in enumerate(x):
        target = xp.empty(shape, v.dtype) if out is None else out[0][i]
        target[...] = v
        found.append(target)
    return found


@broadcast_tensors.grad("x")
def broadcast_tensors_grad(x_meta: Any, dout: Any) -> Any:
    return [sum_like(d, m) for d, m in zip(dout, x_meta, strict=True)]


@broadcast_tensors.lower
def broadcast_tensors_at(index: Any, x: Any) -> Any:
    indices = index if len(x) > 1 else (index,)
    found = tuple([lang.at(v, own) for v, own in zip(x, indices, strict=True)])
    return found if len(x) > 1 else found[0]


@primitive(slots={"shifts_tensor": "ShiftsTensor"}, infer_first=True)
def roll(x: Meta, shifts_tensor: Meta = None, *, shifts: Longs = (), axis: Longs = ()) -> Meta:
    """`x` moved along axes; without axes all elements in order.

    What leaves one end enters at the other.
    """
    for a in axis:
        axis_of(a, x.ndim)
    if shifts_tensor is not None and not shifts_tensor.dtype.is_integer:
        raise DtypeError(f"shifts are {shifts_tensor}, not integers")
    count = len(shifts) if shifts_tensor is None else -1
    if count != -1 and count != max(len(axis), 1):
        raise ArgumentError(f"{len(axis)} axes do not go with {count} shifts")
    return x


@roll.kernel
def roll_kernel(
    xp: Any, x: Any, tensor: Any = None, *, out: Any = None, shifts: Any, axis: Any
) -> Any:
    shifts = shifts if tensor is None else tuple(tensor.reshape(-1).tolist())
    if not x.ndim:
        found = x.copy()
    elif axis:
        found = xp.roll(x, shifts, axis)
    else:
        found = xp.roll(x, sum(shifts))
    if out is None:
        return found
    out[...] = found
    return out


@roll.grad("x")
def roll_grad(x_meta: Any, shifts_tensor: Any, dout: Any, shifts: Any, axis: Any) -> Any:
    back = shifts_tensor if shifts_tensor is None else 0 - shifts_tensor
    return roll(dout, back, shifts=tuple([-s for s in shifts]), axis=axis)


@roll.lower
def roll_at(index: Any, x: Any, tensor: Any, shifts: Any, axis: Any) -> Any:
    if tensor is not None:
        raise UnsupportedError("shifts that a tensor gives are known only when run")
    if not axis:
        size = math.prod(x.shape)
        return lang.flat(x, (lang.ravel(index, x.shape) + (-sum(shifts)) % max(size, 1)) % size)
    places = list(index)
    for a, shift in zip(axis, shifts, strict=True):
        a = axis_of(a, x.ndim)
        if x.ndim and x.shape[a]:
            places[a] = (places[a] + (-shift) % x.shape[a]) % x.shape[a]
    return x[tuple(places)]


@primitive(enlarges=("repeats",), attrs={"repeats": "Repeats", "axis": "dim"}, infer_first=True)
def repeat_interleave(
    x: Meta, repeats_tensor: Meta = None, *, repeats: int = 0, axis: int = 0
) -> Meta:
    """Each slice along an axis several times in a row: `repeats` times, or as a tensor says."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no slices to be repeated")
    axis = axis_of(axis, x.ndim)
    if repeats_tensor is None:
        if repeats <= 0:
            raise ArgumentError(f"repeats is {repeats}, not above 0")
        size = UNKNOWN if x.shape[axis] == -1 else x.shape[axis] * repeats
    elif not repeats_tensor.dtype.is_integer:
        raise DtypeError(f"repeats are {repeats_tensor}, not integers")
    elif repeats_tensor.ndim != 1:
        raise ShapeError(f"repeats are {repeats_tensor}, not a list of numbers")
    else:
        agree(x.shape[axis], repeats_tensor.shape[0], f"axis {axis} has {{}} slices, not {{}}")
        size = UNKNOWN
    return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))


@repeat_interleave.kernel
def repeat_interleave_kernel(
    xp: Any, x: Any, tensor: Any = None, *, out: Any = None, repeats: int, axis: int
) -> Any:
    if tensor is not None and tensor.size and tensor.min() < 0:
        raise ArgumentError(f"repeats {tensor.min()} is below 0")
    found = xp.repeat(x, repeats if tensor is None else tensor, axis)
    if out is None or tensor is not None:
        return found
    out[...] = found
    return out


@repeat_interleave.grad("x")
def repeat_interleave_grad(
    x_meta: Any, repeats_tensor: Any, dout: Any, repeats: int, axis: int
) -> Any:
    return sum_repeated(dout, x_meta, repeats_tensor, repeats=repeats, axis=axis)


@repeat_interleave.lower
def repeat_interleave_at(index: Any, x: Any, tensor: Any, repeats: int, axis: int) -> Any:
    refuse_tensor(tensor)
    axis = axis_of(axis, x.ndim)
    return x[(*index[:axis], index[axis] // repeats, *index[axis + 1 :])]


def refuse_tensor(tensor: Any) -> None:
    """Refuse to lower what depends on how often a tensor says."""
    if tensor is not None:
        raise UnsupportedError("repeats that a tensor gives are known only when run")


@primitive
def sum_repeated(
    x: Meta, like_meta: Meta, repeats_tensor: Meta = None, *, repeats: int = 0, axis: int = 0
) -> Meta:
    """Slices along an axis summed to those they are repetitions of, in the shape of `like`."""
    again = {"repeats": repeats, "axis": axis}
    of_shape(x, repeat_interleave.op.body(like_meta, repeats_tensor, **again).shape)
    return Meta(like_meta.shape, x.dtype)


@sum_repeated.kernel
def sum_repeated_kernel(
    xp: Any,
    x: Any,
    like: Any,
    tensor: Any = None,
    *,
    out: Any = None,
    repeats: int,
    axis: int,
) -> Any:
    axis = axis_of(axis, x.ndim)
    out = xp.empty(like.shape, x.dtype) if out is None else out
    if tensor is None:
        split = (*like.shape[: axis + 1], repeats, *like.shape[axis + 1 :])
        return gathered(xp.add, x.reshape(split), axis + 1, out=out)
    out[...] = 0
    places = xp.repeat(xp.arange(like.shape[axis]), tensor)
    add_at(xp, out, (*(slice(None),) * axis, places), x)
    return out


@sum_repeated.grad("x")
def sum_repeated_grad(repeats_tensor: Any, dout: Any, repeats: int, axis: int) -> Any:
    return repeat_interleave(dout, repeats_tensor, repeats=repeats, axis=axis)


@sum_repeated.lower
def sum_repeated_at(index: Any, x: Any, like: Any, tensor: Any, repeats: int, axis: int) -> Any:
    refuse_tensor(tensor)
    axis = axis_of(axis, x.ndim)
    k = lang.axis(repeats)
    return lang.sum(x[(*index[:axis], index[axis] * repeats + k, *index[axis + 1 :])], over=k)
