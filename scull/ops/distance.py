"""Norms over axes, distances, and vectors made of length 1."""

import math
from typing import Any

from scull import lang
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, axis_of, floating
from scull.errors import ArgumentError
from scull.ops.compare import equal, where
from scull.ops.complex import abs, sign
from scull.ops.half import whole, wide_at, widening
from scull.ops.like import full_like
from scull.ops.math import sqrt
from scull.ops.reduce import (
    declare_reduction,
    lowered,
    reduce_sum,
    reduced,
    reduced_axes,
    spread,
)


def p_norm_axes(axis: int, asvector: bool) -> tuple[int, ...]:
    """The axes over which the norm is taken; none stands for all of them."""
    return () if asvector else (axis,)


@primitive
def p_norm(
    x: Meta,
    *,
    porder: float = 2.0,
    axis: int = -1,
    epsilon: float = 1e-12,
    keepdim: bool = False,
    asvector: bool = False,
) -> Meta:
    """The norm of order `porder` along `axis`, or over all axes; of order 0 the number not 0."""
    floating(x)
    if not asvector:
        axis_of(axis, x.ndim)
    return reduced(x, p_norm_axes(axis, asvector), keepdim, asvector)


@p_norm.kernel
@widening
def p_norm_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    porder: float,
    axis: int,
    epsilon: float,
    keepdim: bool,
    asvector: bool,
) -> Any:
    over = {"axis": reduced_axes(x, p_norm_axes(axis, asvector), asvector), "keepdims": keepdim}
    size = xp.absolute(x)
    if math.isinf(porder):
        found = (xp.maximum if porder > 0 else xp.minimum).reduce(size, **over)
    elif porder == 0:
        found = xp.add.reduce(size != 0, dtype=x.dtype, **over)
    elif porder == 2:
        found = xp.sqrt(xp.add.reduce(size * size, **over))
    else:
        found = xp.power(xp.add.reduce(xp.power(size, porder), **over), 1 / porder)
    if out is None:
        return xp.asarray(found)
    out[...] = found
    return out


@p_norm.grad
def p_norm_grad(
    x: Any,
    out: Any,
    dout: Any,
    porder: float,
    axis: int,
    epsilon: float,
    keepdim: bool,
    asvector: bool,
) -> Any:
    axes = p_norm_axes(axis, asvector)
    if porder == 0:
        return full_like(x)
    norm, dout = (spread(v, x, axes, keepdim, asvector) for v in (out, dout))
    if porder == 1:
        return sign(x) * dout
    if math.isinf(porder):
        return where(equal(abs(x), norm), sign(x) * dout, 0.0)
    if porder == 2:
        return x * dout / (norm + epsilon)
    slope = sign(x) * abs(x) ** (porder - 1.0)
    return slope * dout * (norm + epsilon) ** (1.0 - porder)


@p_norm.lower
def p_norm_at(
    index: Any, x: Any, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool
) -> Any:
    def combine(value: Any, over: Any) -> Any:
        wide = wide_at(value)
        size = lang.select(wide < 0, -wide, wide)
        if math.isinf(porder):
            found = (lang.max if porder > 0 else lang.min)(size, over=over)
        elif porder == 0:
            one, zero = (lang.constant(n, size.dtype) for n in (1, 0))
            found = lang.sum(lang.select(lang.not_equal(size, zero), one, zero), over=over)
        elif porder == 2:
            found = lang.sqrt(lang.sum(size * size, over=over))
        else:
            found = lang.sum(size**porder, over=over) ** (1 / porder)
        return lang.cast(found, value.dtype)

    axes = p_norm_axes(axis, asvector)
    return lowered(combine, scalars=True)(index, x, axes, keepdim, asvector, None, None)


# The root of the sum of squares.


def root_of_squares(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The root of the sum of squares over the axes `axis`."""
    floating_root = widening(squares_kernel)
    return floating_root(xp, x, out=out, axes=axes, keepdim=keepdim)


def squares_kernel(xp: Any, x: Any, *, out: Any = None, axes: Any, keepdim: bool) -> Any:
    """The root of the sum of squares."""
    return xp.sqrt(xp.add.reduce(x * x, axis=axes, keepdims=keepdim), out=out)


def root_at(value: Any, over: Any) -> Any:
    """One root of a sum of squares."""
    wide = wide_at(value)
    return lang.cast(lang.sqrt(lang.sum(wide * wide, over=over)), value.dtype)


frobenius_norm = declare_reduction(
    "frobenius_norm", root_of_squares, root_at, "frobenius_norm", check=floating, scalars=True
)


@frobenius_norm.grad
def frobenius_norm_grad(
    x: Any, out: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool
) -> Any:
    return x * spread(dout / (out + 1e-12), x, axis, keepdim, reduce_all)


# Distances and directions.


@composite(broadcasts=True)
def dist(x, y, *, p: float = 2.0):  # type: ignore[no-untyped-def]
    """The norm of order `p` of ``x - y``."""
    return p_norm(x - y, porder=p, asvector=True)


def dist_slope(x: Any, y: Any, out: Any, dout: Any, p: float) -> Any:
    """The gradient of the difference."""
    return p_norm_grad(x - y, out, dout, p, -1, 1e-12, False, True)


@dist.grad("x")
def dist_grad_x(x: Any, y: Any, out: Any, dout: Any, p: float) -> Any:
    return dist_slope(x, y, out, dout, p)


@dist.grad("y")
def dist_grad_y(x: Any, y: Any, out: Any, dout: Any, p: float) -> Any:
    return -dist_slope(x, y, out, dout, p)


@composite(type="norm", outputs=("norm", "out"), hidden=("norm",))
def l2_normalize(x, *, axis: int, epsilon: float = 1e-10, is_test: bool = False):  # type: ignore[no-untyped-def]
    """`x` divided by its length along `axis`, and that length."""
    norm = sqrt(reduce_sum(x * x, axis=(axis,), keepdim=True) + epsilon)
    return norm, x / norm


@l2_normalize.kernel
@widening
def l2_normalize_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, epsilon: float, is_test: bool
) -> Any:
    along = axis_of(axis, x.ndim)
    norm = xp.sqrt(xp.add.reduce(x * x, axis=along, keepdims=True) + x.dtype.type(epsilon))
    if out is None:
        return norm, x / norm
    norm_out, unit_out = out
    norm_out[...] = norm
    return norm_out, xp.divide(x, norm, out=unit_out)


@l2_normalize.grad("x")
def l2_normalize_grad(x: Any, norm: Any, dout: Any, axis: int, dnorm: Any = None) -> Any:
    along = reduce_sum(dout * x, axis=(axis,), keepdim=True)
    if dnorm is None:
        return (dout - x * (along / (norm * norm))) / norm
    return (dout - x * (along / (norm * norm)) + x * dnorm) / norm


@composite
def renorm(x, *, p: float, axis: int, max_norm: float):  # type: ignore[no-untyped-def]
    """`x` whose slices along `axis` are made shorter where their norm exceeds `max_norm`."""
    if not (p > 0 and max_norm >= 0):
        raise ArgumentError(f"p is {p} and max_norm {max_norm}, not above 0 and not from 0 on")
    whole(x)
    own = axis_of(axis, len(x.shape))
    over = tuple([a for a in range(len(x.shape)) if a != own])
    total = abs(x) ** p
    total = reduce_sum(total, axis=over, keepdim=True) if over else total
    longer = total > max_norm**p
    norm = where(longer, total, 1.0) ** (1.0 / p)
    return x * where(longer, max_norm / (norm + 1e-7), 1.0)
