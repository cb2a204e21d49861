"""What is known of all elements up to each one: products, logarithms of sums, extremes."""

from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Dtype
from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, axis_of, count, floating
from scull.core.op import meta_of
from scull.errors import DtypeError, ShapeError
from scull.ops import slicing
from scull.ops.compare import where
from scull.ops.conjugate import turned
from scull.ops.half import is_half, placed, single, wide_at, widening
from scull.ops.join import concat
from scull.ops.like import full_like, reshape_like
from scull.ops.math import exp, log
from scull.ops.search import accumulate, place_along

LONG = 64  # along an axis, from where on steps of Python are avoided
SMALL = 1e-18  # products below lose digits when divided by


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
    if is_half(x):
        return placed(xp.multiply.accumulate(single(x), axis=axis), x.dtype, out)
    return accumulate(xp.multiply, x, axis, xp.empty(x.shape, x.dtype) if out is None else out)


@cumprod.grad
def cumprod_grad(x: Any, out: Any, dout: Any, axis: int) -> Any:
    """The product of all before, times what the elements behind make of the gradient."""
    if not len(x.shape):
        return dout
    return turned(moved_on(out, 1.0, axis)) * recurrence(turned(x), dout, axis=axis, reverse=True)


@cumprod.lower
def cumprod_at(index: Any, x: Any, axis: int) -> Any:
    if not x.ndim:
        return x[()]
    axis = axis_of(axis, x.ndim)
    k = lang.axis(x.shape[axis])
    value = x[(*index[:axis], k, *index[axis + 1 :])]
    return lang.prod(lang.select(k <= index[axis], value, lang.constant(1, x.dtype)), over=k)


def moved_on(x: Any, first: float, axis: int) -> Any:
    """`x` one place further along `axis`, behind the number `first`."""
    if not len(x.shape):
        return full_like(x, value=first)
    axis = axis_of(axis, len(x.shape))
    front = slicing.slice(x, axes=(axis,), starts=(0,), ends=(1,))
    rest = slicing.slice(x, axes=(axis,), starts=(0,), ends=(-1,))
    return concat([full_like(front, value=first), rest], axis=axis)


@primitive(infer_first=True)
def recurrence(x: Meta, start: Meta, *, axis: int, reverse: bool = False) -> Meta:
    """Along `axis` what stands in `start` plus the result before it times `x`.

    With `reverse` it runs from the end: `start` plus the product of `x` and the result behind it.
    """
    axis_of(axis, x.ndim)
    numbers(x)
    if x.dtype is not start.dtype:
        raise DtypeError(f"x is {x.dtype.name} and start is {start.dtype.name}; cast one")
    law = f"{x} and {start} are not of one shape"
    if x.ndim != start.ndim:
        raise ShapeError(law)
    return x.with_shape([agree(a, b, law) for a, b in zip(x.shape, start.shape, strict=True)])


@recurrence.kernel
def recurrence_kernel(
    xp: Any, x: Any, start: Any, *, out: Any = None, axis: int, reverse: bool
) -> Any:
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = start
    if not x.ndim:
        return out
    lines, found = (xp.moveaxis(v, axis_of(axis, x.ndim), 0) for v in (x, out))
    if len(lines) > LONG and by_division(xp, lines, found, reverse):
        return out
    if reverse:
        for i in range(len(lines) - 2, -1, -1):
            found[i] += lines[i + 1] * found[i + 1]
    else:
        for i in range(1, len(lines)):
            found[i] += lines[i] * found[i - 1]
    return out


def by_division(xp: Any, x: Any, found: Any, reverse: bool) -> bool:
    """Run the recurrence over `found` by products and quotients; False where they leave range."""
    products = xp.multiply.accumulate(x, 0, x.dtype)
    sizes = xp.absolute(products)
    if x.dtype.itemsize < 4 or not (sizes > SMALL).all() or not (sizes < 1 / SMALL).all():
        return False
    if reverse:
        found[::-1] = xp.add.accumulate((found * products)[::-1], 0)
        found /= products
    else:
        found[...] = xp.add.accumulate(found / products, 0)
        found *= products
    return True


@recurrence.grad
def recurrence_grad(x: Any, out: Any, dout: Any, axis: int, reverse: bool) -> Any:
    dstart = recurrence(turned(x), dout, axis=axis, reverse=not reverse)
    before, behind = (dstart, out) if reverse else (out, dstart)
    other = moved_on(before, 0.0, axis)
    return (other * turned(behind) if reverse else turned(other) * behind), dstart


recurrence.no_lowering("each element waits for its neighbour")


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
    most = lang.max(lang.select(after(k), value(k), low), over=k)
    top = lang.minimum(lang.maximum(most, low), -least)  # infinity less infinity is no number
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
        found = accumulate(getattr(xp, ufunc), x, axis, xp.empty(x.shape, x.dtype))
        own = (x == found) | (x != x)
        places = xp.arange(x.shape[axis], dtype=dtype.array)
        places = places.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        last = xp.where(own, places, dtype.array.type(0))
        return found, accumulate(xp.maximum, last, axis, last)

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
