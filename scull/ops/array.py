"""Lists of tensors as values of a Program: each write gives a new list that shares the rest."""

import itertools
from typing import Any

import numpy as np

from scull.autograd import block  # noqa: F401  makes gradients of lists of tensors
from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Kind, Meta, axis_of, count, sized
from scull.core.op import meta_of
from scull.errors import DtypeError, RangeError, ShapeError

OF_TENSORS = "a list of tensors has no elements"


def place(i: Meta) -> None:
    """Refuse what cannot tell a place in a list."""
    if i.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"the place is {i.dtype.name}, not int32 or int64")
    if count(i.shape) not in (1, -1):
        raise ShapeError(f"the place {i} has not one element")


@primitive(
    prefix="array_write",
    views={"out": "array"},
    unsaid=("Array",),
    infer_first=True,
)
def write_to_array(x: Meta, i: Meta, array: Meta = None) -> Meta:
    """What `array` holds, with a copy of `x` at place `i`; without it a new list.

    A Program does not name `array`: it is what the result held before.
    """
    place(i)
    return x.with_kind(Kind.ARRAY)


@write_to_array.kernel
def write_to_array_kernel(
    xp: Any, x: Any, i: Any, array: Any = None, *, out: Any = None
) -> list[Any]:
    return grown(x, i, [] if array is None else list(array))


def grown(x: Any, i: Any, array: Any) -> list[Any]:
    """`array` itself, which is nobody else's, with a copy of `x` at place `i`."""
    at, found = place_of(i), [] if array is None else array
    found.extend([None] * (at + 1 - len(found)))
    found[at] = None if x is None else x.copy()
    return found


@primitive(prefix="array_read", views={"out": "x"}, slots={"like": "X_W"}, infer_first=True)
def read_from_array(x: Meta, i: Meta, like_meta: Meta = None) -> Meta:
    """What stands in `x` at place `i`; where nothing does, zeros in the shape of `like`."""
    place(i)
    return x.with_kind(Kind.DENSE)


@read_from_array.kernel
def read_from_array_kernel(xp: Any, x: Any, i: Any, like: Any = None, *, out: Any = None) -> Any:
    at, held = place_of(i), x or []
    value = held[at] if at < len(held) else None
    if value is not None:
        return value
    if like is None:
        raise RangeError(f"nothing was written at place {at} of a list of {len(held)} tensors")
    return np.zeros(like.shape, like.dtype)


@primitive(type="lod_array_length", prefix="array_length")
def array_length(x: Meta) -> Meta:
    """How many tensors `x` holds."""
    return Meta((1,), int64)


array_length.kernel(lambda xp, x, *, out=None: np.array([len(x or ())]))
array_length.no_grad("a length carries none")


def place_of(i: Any) -> int:
    """The place that an array of one element tells."""
    if i.size != 1:
        raise ShapeError(f"the place {meta_of(i)} has not one element")
    at = int(np.asarray(i).item())
    if at < 0:
        raise RangeError(f"{at} is no place in a list of tensors")
    return at


for operator in (write_to_array, read_from_array):
    operator.no_grad("its gradient is in the Program, where lists of gradients grow")
for operator in (write_to_array, read_from_array, array_length):
    operator.no_lowering(OF_TENSORS)


@primitive(outputs=("out", "out_index"), hidden=("out_index",))
def tensor_array_to_tensor(x: Meta, *, axis: int = 0, use_stack: bool = False) -> Any:
    """The tensors `x` holds side by side along a new axis, or one behind the other along one.

    With them comes how many elements of that axis are of each.
    """
    shape = list(x.shape)
    at = axis_of(axis, len(shape) + use_stack)
    if use_stack:
        shape.insert(at, UNKNOWN)
    elif shape:
        shape[at] = UNKNOWN
    return Meta(sized(shape), x.dtype), Meta((UNKNOWN,), int32)


@tensor_array_to_tensor.kernel
def tensor_array_to_tensor_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, use_stack: bool
) -> Any:
    held = written(x)
    if use_stack:
        for other in (v for v in held if v.shape != held[0].shape):
            raise ShapeError(f"{meta_of(held[0])} and {meta_of(other)} are not of one shape")
        return xp.stack(held, axis), xp.ones(len(held), "int32")
    at = axis_of(axis, held[0].ndim)
    return xp.concatenate(held, at), xp.array([v.shape[at] for v in held], "int32")


def written(x: Any) -> list[Any]:
    """The tensors of a list without gaps."""
    if not x:
        raise RangeError("a list without tensors is no tensor")
    for i, value in enumerate(x):
        if value is None:
            raise RangeError(f"nothing was written at place {i} of a list of {len(x)} tensors")
    return list(x)


@primitive(slots={"dout": "Out@GRAD", "dx": "X@GRAD"}, outputs=("dx",))
def tensor_array_to_tensor_grad(
    x: Meta, dout: Meta, *, axis: int = 0, use_stack: bool = False
) -> Meta:
    """The pieces of `dout` that belong to each tensor of `x`."""
    return x


@tensor_array_to_tensor_grad.kernel
def tensor_array_to_tensor_grad_kernel(
    xp: Any, x: Any, dout: Any, *, out: Any = None, axis: int, use_stack: bool
) -> list[Any]:
    if use_stack:
        at = axis_of(axis, dout.ndim)
        return [dout.take(i, at) for i in range(len(x))]
    at = axis_of(axis, dout.ndim)
    ends = list(itertools.accumulate(v.shape[at] for v in x))
    return [piece.copy() for piece in xp.split(dout, ends[:-1], at)]


tensor_array_to_tensor.no_grad("its gradient is an operator of its own")
tensor_array_to_tensor_grad.no_grad("it is a gradient")
for operator in (tensor_array_to_tensor, tensor_array_to_tensor_grad):
    operator.no_lowering(OF_TENSORS)
