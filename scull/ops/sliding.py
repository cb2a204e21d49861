"""Windows that slide along an axis, and their elements put back."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Long
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, axis_of
from scull.errors import ArgumentError
from scull.ops.half import gathered, placed, single


@primitive(slots={"x": "input", "out": "out"}, views={"out": "x"}, infer_first=True)
def tensor_unfold(x: Meta, *, axis: Long, size: Long, step: Long) -> Meta:
    """The windows of `size` elements along `axis`, `step` apart; their elements lie last."""
    axis = axis_of(axis, x.ndim)
    sizes = x.shape or (1,)
    if size < 0 or (sizes[axis] != -1 and size > sizes[axis]):
        raise ArgumentError(f"a window of {size} elements does not fit axis {axis} of {x}")
    if step < 1:
        raise ArgumentError(f"step is {step}, not at least 1")
    number = UNKNOWN if sizes[axis] == -1 else (sizes[axis] - size) // step + 1
    return x.with_shape((*sizes[:axis], number, *sizes[axis + 1 :], size)[0 if x.ndim else 1 :])


@tensor_unfold.kernel
def tensor_unfold_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, size: int, step: int
) -> Any:
    if not x.ndim:
        return x.reshape(1)[:size]
    axis = axis_of(axis, x.ndim)
    number = (x.shape[axis] - size) // step + 1
    stride = x.strides[axis]
    shape = (*x.shape[:axis], number, *x.shape[axis + 1 :], size)
    strides = (*x.strides[:axis], stride * step, *x.strides[axis + 1 :], stride)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


@tensor_unfold.grad
def tensor_unfold_grad(x_meta: Any, dout: Any, axis: int, size: int, step: int) -> Any:
    return fold_windows(dout, x_meta, axis=axis, size=size, step=step)


@tensor_unfold.lower
def tensor_unfold_at(index: Any, x: Any, axis: int, size: int, step: int) -> Any:
    if not x.ndim:
        return x[()]
    axis = axis_of(axis, x.ndim)
    *places, k = index
    return x[(*places[:axis], places[axis] * step + k, *places[axis + 1 :])]


@primitive
def fold_windows(x: Meta, like_meta: Meta, *, axis: Long, size: Long, step: Long) -> Meta:
    """Zeros in the shape of `like` with each element of the windows `x` added where it was read."""
    return Meta(like_meta.shape, x.dtype)


@fold_windows.kernel
def fold_windows_kernel(
    xp: Any, x: Any, like: Any, *, out: Any = None, axis: int, size: int, step: int
) -> Any:
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    if not out.ndim:
        return gathered(xp.add, x, None, out=out)
    axis = axis_of(axis, out.ndim)
    before, number = (slice(None),) * axis, x.shape[axis]
    total = single(out)
    for k in range(size):
        total[(*before, slice(k, k + (number - 1) * step + 1, step))] += x[..., k]
    return out if total is out else placed(total, x.dtype, out)


@fold_windows.grad("x")
def fold_windows_grad(dout: Any, axis: int, size: int, step: int) -> Any:
    return tensor_unfold(dout, axis=axis, size=size, step=step)


@fold_windows.lower
def fold_windows_at(index: Any, x: Any, like: Any, axis: int, size: int, step: int) -> Any:
    over = [lang.axis(n) for n in x.shape]
    value = x[tuple(over)]
    if not like.shape:
        return lang.sum(value, over=over)
    axis = axis_of(axis, len(like.shape))
    *places, k = over
    where = (*places[:axis], places[axis] * step + k, *places[axis + 1 :])
    return lang.scatter_add(like.shape, where, value, over=over)
