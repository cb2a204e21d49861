"""The middle element, where NaN does not count."""

import math
from typing import Any

from scull.core.attribute import Ints
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import Meta, axes_of
from scull.errors import DtypeError, ShapeError
from scull.ops.compare import less_than, where
from scull.ops.half import narrowed
from scull.ops.like import full_like, reshape_like, squeeze, unsqueeze
from scull.ops.move import flatten, inverse, transpose
from scull.ops.reduce import reduce_sum, reduced, reduced_axes
from scull.ops.search import place_along
from scull.ops.sort import order_of


@primitive(outputs=("out", "median_index"), hidden=("median_index",), infer_first=True)
def nanmedian(x: Meta, *, axis: Ints = (), keepdim: bool = True) -> tuple[Meta, Meta]:
    """The middle element over `axis`, or the mean of the two in the middle; NaN where all are.

    With it where these two stand in the elements over `axis`, in line; -1 where all are NaN.
    """
    if x.dtype.name == "bool" or x.dtype.is_complex:
        raise DtypeError(f"{x} is not of numbers that have an order")
    for a in axes_of(axis, x.ndim) or range(x.ndim):
        if x.shape[a] == 0:
            raise ShapeError(f"axis {a} of {x} has no element in the middle")
    out = reduced(x, axis, keepdim, not axis)
    return out, Meta((*out.shape, 2), int64)


def last(ndim: int, axis: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The order of axes that puts `axis`, of all when empty, last; and how many stay in front."""
    over = axes_of(axis, ndim) or tuple(range(ndim))
    kept = tuple([a for a in range(ndim) if a not in over])
    return (*kept, *over), len(kept)


@nanmedian.kernel
def nanmedian_kernel(xp: Any, x: Any, *, out: Any = None, axis: Any, keepdim: bool) -> Any:
    order, front = last(x.ndim, axis)
    moved = x.transpose(order)
    rows = moved.reshape(*moved.shape[:front], math.prod(moved.shape[front:]))
    wide = rows.astype("float32") if rows.dtype.kind == "V" else rows
    known = (wide == wide).sum(-1)
    middle = xp.stack([(known - 1) // 2, known // 2], -1)
    index = xp.take_along_axis(order_of(wide, wide.ndim - 1), xp.maximum(middle, 0), -1)
    pair = xp.take_along_axis(wide, index, -1)
    whole = pair.dtype.kind in "iu"
    found = pair.sum(-1, dtype="float64") / 2 if whole else (pair[..., 0] + pair[..., 1]) / 2
    index[known == 0] = -1
    over = reduced_axes(x, axis, not axis)
    shape = [1 if a in over else n for a, n in enumerate(x.shape)] if keepdim else found.shape
    found = xp.asarray(found).astype(x.dtype).reshape(shape)
    return narrowed(xp, found, x.dtype, None), index.reshape(*shape, 2)


@nanmedian.grad
def nanmedian_grad(x_meta: Any, median_index: Any, dout: Any, axis: Any, keepdim: bool) -> Any:
    """In halves to the two in the middle, which may be one."""
    order, front = last(len(x_meta.shape), axis)
    if keepdim and order:
        median_index, dout = (squeeze(v, axes=order[front:]) for v in (median_index, dout))
    unknown = less_than(median_index, 0)
    half = where(unknown, 0.0, unsqueeze(dout * 0.5, axes=(-1,)))
    if not order:
        return reduce_sum(half, axis=(0,))
    moved = transpose(full_like(x_meta, value=0.0), perm=order)
    lines = flatten(moved, start_axis=front, stop_axis=-1)
    found = place_along(half, where(unknown, 0, median_index), lines, axis=front)
    return transpose(reshape_like(found, moved), perm=inverse(order))


nanmedian.no_lowering("selection is no loop over elements")
