"""What is known of all elements up to each one: products, logarithms of sums, extremes."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, axis_of, count, floating
from scull.core.op import meta_of
from scull.errors import DtypeError
from scull.ops.compare import equal, where
from scull.ops.half import wide_at, widening
from scull.ops.like import full_like, reshape_like
from scull.ops.math import exp, log
from scull.ops.reduce import ones_where
from scull.ops.search import cumsum, place_along


def numbers(x: Meta) -> None:
    """Refuse truth values."""
    if x.dtype.name == "bool":
        raise DtypeError(f"{x} is not of numbers")


@primitive(attrs={"axis": "dim"})
def cumprod(x: Meta, *, axis: int) -> Meta:
    """The products of all elements up to each one."""
    numbers(x)
    axis_of(axis, x.ndim)
    return x


@cumprod.kernel
def cumprod_kernel(xp: Any, x: Any, *, out: Any = None, axis: int) -> Any:
    numbers(meta_of(x))
    axis = axis_of(axis, x.ndim)
    if not x.ndim:
        return x.copy()
    return xp.multiply.accumulate(x, axis=axis, out=out, dtype=x.dtype)


@cumprod.grad
def cumprod_grad(x: Any, out: Any, dout: Any, axis: int) -> Any:
    """Before the first 0 by division; at it by the products without it; behind it nothing."""
    zero = equal(x, 0.0)
    seen = cumsum(ones_where(zero, x), axis=axis)
    before, safe = equal(seen, 0.0), where(zero, 1.0, x)
    first = where(zero, equal(seen, 1.0), zero)
    near = cumsum(dout * out, axis=axis, reverse=True) / safe
    without = cumprod(where(first, 1.0, x), axis=axis)
    at_first = cumsum(dout * without, axis=axis, reverse=True)
    return where(before, near, where(first, at_first, 0.0))


@cumprod.lower
def cumprod_at(index: Any, x: Any, axis: int) -> Any:
    if not x.ndim:
        return x[()]
    axis = axis_of(axis, x.ndim)
    k = lang.axis(x.shape[axis])
    value = x[(*index[:axis], k, *index[axis + 1 :])]
    return lang.prod(lang.select(k <= index[axis], value, lang.constant(1, x.dtype)), over=k)


# Logarithms of sums of exponentials.


@primitive
def logcumsumexp(
    x: Meta,
    *,
    axis: int = -1,
    flatten: bool = False,
    exclusive: bool = False,
    reverse: bool = False,
) -> Meta:
    """The logarithm of the sum of the exponentials of all elements up to each one.

    Of none (`exclusive`: before the first) it is the least finite number.
    """
    floating(x)
    if flatten:
        return x.with_shape((UNKNOWN if -1 in x.shape else count(x.shape),))
    axis_of(axis, x.ndim)
    return x


@logcumsumexp.kernel
@widening
def logcumsumexp_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: int, flatten: bool, exclusive: bool, reverse: bool
) -> Any:
    if flatten:
        x, axis = x.reshape(-1), 0
    out = xp.empty(x.shape, x.dtype) if out is None else out
    axis, least = axis_of(axis, x.ndim), xp.finfo(x.dtype).min
    if not x.ndim:
        out[...] = least if exclusive else xp.maximum(x, least)
        return out
    before = (slice(None),) * axis
    turned = (*before, slice(None, None, -1 if reverse else 1))
    source, target = x[turned], out[turned]
    if exclusive:
        target[(*before, slice(0, 1))] = least
        source, target = source[(*before, slice(0, -1))], target[(*before, slice(1, None))]
    xp.logaddexp.accumulate(source, axis=axis, out=target)
    return xp.maximum(out, least, out=out)


@logcumsumexp.grad
def logcumsumexp_grad(
    x: Any, out: Any, dout: Any, axis: int, flatten: bool, exclusive: bool, reverse: bool
) -> Any:
    """The positive and the negative part of `dout` apart, since they have logarithms."""
    line = reshape_like(x, out) if flatten else x
    over = {"axis": 0 if flatten else axis, "exclusive": exclusive, "reverse": not reverse}
    parts = []
    for sign in (1.0, -1.0):
        size = dout * sign
        some = size > 0.0
        height = where(some, log(where(some, size, 1.0)) - out, full_like(out, value=-1e30))
        total = logcumsumexp(height, **over) + line
        parts.append(exp(total))
    found = parts[0] - parts[1]
    return reshape_like(found, x) if flatten else found


@logcumsumexp.lower
def logcumsumexp_at(
    index: Any, x: Any, axis: int, flatten: bool, exclusive: bool, reverse: bool
) -> Any:
    scalar = not flatten and not x.ndim
    axis = 0 if flatten or scalar else axis_of(axis, x.ndim)
    n = 1 if scalar else count(x.shape) if flatten else x.shape[axis]
    own = index[axis] if index else 0

    def value(k: Any) -> Any:
        if scalar:
            return wide_at(x[()])
        return wide_at(lang.flat(x, k) if flatten else x[(*index[:axis], k, *index[axis + 1 :])])

    def after(k: Any) -> Any:
        if exclusive:
            return k > own if reverse else k < own
        return k >= own if reverse else k <= own

    k, again = lang.axis(n), lang.axis(n)
    least = float(np.finfo("float64" if x.dtype == "float64" else "float32").min)
    low = lang.constant(least, value(k).dtype)
    top = lang.max(lang.select(after(k), value(k), low), over=k)
    share = lang.select(after(again), lang.exp(value(again) - top), low * 0)
    found = lang.maximum(lang.log(lang.sum(share, over=again)) + top, low)
    return lang.cast(found, x.dtype)


# Extremes.


def running(name: str, ufunc: str, lower: Any) -> Any:
    """Declare `cummax` or `cummin`."""

    def body(x: Meta, *, axis: int = -1, dtype: Dtype = int64) -> tuple[Meta, Meta]:
        numbers(x)
        if dtype.name not in ("int32", "int64"):
            raise DtypeError(f"places are int32 or int64, not {dtype.name}")
        axis_of(axis, x.ndim)
        return x, x.with_dtype(dtype)

    def kernel(xp: Any, x: Any, *, out: Any = None, axis: int, dtype: Any) -> Any:
        if not x.ndim:
            return x.copy(), xp.zeros((), dtype.array)
        axis = axis_of(axis, x.ndim)
        found = getattr(xp, ufunc).accumulate(x, axis=axis)
        own = (x == found) | (x != x)
        places = xp.arange(x.shape[axis], dtype=dtype.array)
        places = places.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        return found, xp.maximum.accumulate(xp.where(own, places, 0), axis=axis).astype(dtype.array)

    def at(indices: Any, x: Any, axis: int, dtype: Any) -> Any:
        index, none = indices[0], lang.constant(0, dtype.name)
        axis = axis_of(axis, x.ndim)
        if not x.ndim or not x.shape[axis]:
            return x[index], none
        own, back = index[axis], lang.axis(x.shape[axis])
        spot = lang.maximum(own - back, 0)
        behind = lower(x[(*index[:axis], spot, *index[axis + 1 :])], over=back)
        place = lang.maximum(own - behind, 0)
        return x[(*index[:axis], place, *index[axis + 1 :])], lang.cast(place, dtype.name)

    body.__name__ = name
    body.__doc__ = f"The running {ufunc} along `axis`, and the last place where it stands."
    slots = {n: n for n in ("x", "out", "indices")}
    function = primitive(body, outputs=("out", "indices"), slots=slots, infer_first=True)
    function.kernel(kernel)
    function.lower(at)
    return function


cummax = running("cummax", "maximum", lambda x, over: lang.argmax(x, over=over))
cummin = running("cummin", "minimum", lambda x, over: lang.argmin(x, over=over))


@cummax.grad("x")
def cummax_grad(x_meta: Any, indices: Any, dout: Any, axis: int) -> Any:
    return place_along(dout, indices, x_meta, axis=axis)


@cummin.grad("x")
def cummin_grad(x_meta: Any, indices: Any, dout: Any, axis: int) -> Any:
    return place_along(dout, indices, x_meta, axis=axis)
