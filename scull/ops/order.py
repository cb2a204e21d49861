"""Single elements by their order or number along an axis."""

from typing import Any

from scull.core.dtype import float32, int64
from scull.core.eager import primitive
from scull.core.meta import Meta, axis_of
from scull.core.op import meta_of
from scull.errors import ArgumentError, ShapeError
from scull.ops.like import unsqueeze
from scull.ops.search import along, place_along
from scull.ops.sort import first_in_order, order_of

SORTED = "sorting is no loop over elements"


def one_of(x: Meta, axis: int, keepdim: bool) -> Meta:
    """`x` with one element along `axis`, or without the axis."""
    axis = axis_of(axis, x.ndim)
    if x.ndim and x.shape[axis] == 0:
        raise ShapeError(f"axis {axis} of {x} has no element to find")
    return x.with_shape(
        1 if i == axis else n for i, n in enumerate(x.shape) if keepdim or i != axis
    )


def picked(xp: Any, x: Any, order: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    """The elements of `x` at the places `order` along `axis`, and these."""
    found = x[along(x, order, axis)]
    if keepdim:
        return found, order
    return found.squeeze(axis), order.squeeze(axis)


@primitive(outputs=("out", "indices"), recorded={"indices": float32})
def kthvalue(x: Meta, *, k: int = 1, axis: int = -1, keepdim: bool = False) -> tuple[Meta, Meta]:
    """The `k`-th least element along `axis`, from 1 on, and its place."""
    found = one_of(x, axis, keepdim)
    size = x.shape[axis] if x.ndim else 1
    if k < 1 or (size != -1 and k > size):
        raise ArgumentError(f"k is {k} and axis {axis_of(axis, x.ndim)} has {int(size)} elements")
    return found, found.with_dtype(int64)


@kthvalue.kernel
def kthvalue_kernel(xp: Any, x: Any, *, out: Any = None, k: int, axis: int, keepdim: bool) -> Any:
    kthvalue.op.body(meta_of(x), k=k, axis=axis, keepdim=keepdim)
    if not x.ndim:
        return x.copy(), xp.zeros((), "int64")
    axis = axis_of(axis, x.ndim)
    order = first_in_order(x, k, axis, descending=False)
    order = order[(*(slice(None),) * axis, slice(k - 1, k))].copy()
    return picked(xp, x, order, axis, keepdim)


@primitive(outputs=("out", "indices"), recorded={"indices": float32})
def mode(x: Meta, *, axis: int = -1, keepdim: bool = False) -> tuple[Meta, Meta]:
    """The most frequent element along `axis`, the least of several, and its last place."""
    found = one_of(x, axis, keepdim)
    return found, found.with_dtype(int64)


@mode.kernel
def mode_kernel(xp: Any, x: Any, *, out: Any = None, axis: int, keepdim: bool) -> Any:
    mode.op.body(meta_of(x), axis=axis, keepdim=keepdim)
    if not x.ndim:
        return x.copy(), xp.zeros((), "int64")
    axis = axis_of(axis, x.ndim)
    order = order_of(x, axis)
    rising = x[along(x, order, axis)]
    before = (slice(None),) * axis
    fresh = xp.ones(x.shape, bool)
    fresh[(*before, slice(1, None))] = (
        rising[(*before, slice(1, None))] != rising[(*before, slice(0, -1))]
    )
    places = xp.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    starts = xp.maximum.accumulate(xp.where(fresh, places, 0), axis=axis)
    best = xp.argmax(places - starts, axis=axis, keepdims=True)
    return picked(xp, x, order[along(order, best, axis)], axis, keepdim)


@kthvalue.grad("x")
def kthvalue_grad(x_meta: Any, indices: Any, dout: Any, axis: int, keepdim: bool) -> Any:
    return returned(x_meta, indices, dout, axis, keepdim)


@mode.grad("x")
def mode_grad(x_meta: Any, indices: Any, dout: Any, axis: int, keepdim: bool) -> Any:
    return returned(x_meta, indices, dout, axis, keepdim)


def returned(x_meta: Any, indices: Any, dout: Any, axis: int, keepdim: bool) -> Any:
    """The gradient put where the elements were taken."""
    if not keepdim and len(x_meta.shape):
        dout, indices = unsqueeze(dout, axes=(axis,)), unsqueeze(indices, axes=(axis,))
    return place_along(dout, indices, x_meta, axis=axis)


kthvalue.no_lowering(SORTED)
mode.no_lowering(SORTED)
