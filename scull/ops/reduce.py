"""Reductions over axes."""

import math
from typing import Any

from scull import lang
from scull.core.attribute import Dtype, Ints
from scull.core.dtype import DType, dtype_of, float32, int64
from scull.core.eager import gradient, primitive
from scull.core.meta import UNKNOWN, Meta, axes_of, floating
from scull.core.op import meta_of
from scull.lang.dtype import HALF
from scull.ops.compare import equal, where
from scull.ops.conjugate import turned
from scull.ops.create import cast
from scull.ops.half import gathered, is_half, placed, single, wide_at
from scull.ops.like import broadcast_like, full_like, size_of, unsqueeze

SPELT = {"attrs": {"axis": "dim", "keepdim": "keep_dim"}}
WIDENED = {"bool": int64, "int32": int64}  # what a sum of such elements is, unless told
NOTHING: dict[str, DType] = {}


def reduced_axes(x: Any, axis: tuple[int, ...], reduce_all: bool) -> tuple[int, ...]:
    """The axes a reduction removes, from 0 on; all of them when none is named."""
    ndim = len(x.shape)
    if reduce_all or not axis:
        return tuple(range(ndim))
    return tuple([a for a in axes_of(axis, ndim) if a < ndim])


def reduced(x: Meta, axis: tuple[int, ...], keepdim: bool, reduce_all: bool) -> Meta:
    """`x` without the axes that are reduced, or with size 1 there."""
    if not reduce_all and any([a is UNKNOWN for a in axis]):
        return x.with_shape((UNKNOWN,) * (x.ndim if keepdim else x.ndim - len(axis)))
    axes = reduced_axes(x, axis, reduce_all)
    return x.with_shape(
        1 if i in axes else n for i, n in enumerate(x.shape) if keepdim or i not in axes
    )


def spread(dout: Any, x_meta: Any, axis: tuple[int, ...], keepdim: bool, reduce_all: bool) -> Any:
    """The gradient of a reduction stretched back over the axes that it removed."""
    if not keepdim and len(x_meta.shape):
        dout = unsqueeze(dout, axes=reduced_axes(x_meta, axis, reduce_all))
    return broadcast_like(dout, x_meta)


def lowered(combine: Any, widened: dict[str, DType] = NOTHING, *, scalars: bool = False) -> Any:
    """The lowering of a reduction whose partial results meet by `combine`.

    With `scalars` it is called for single elements too.
    """

    def lower(
        index: Any,
        x: Any,
        axis: Any,
        keepdim: bool,
        reduce_all: bool,
        in_dtype: Any,
        out_dtype: Any,
    ) -> Any:
        axes = reduced_axes(x, axis, reduce_all)
        rest = iter(index)
        over, spots = [], []
        for i, n in enumerate(x.shape):
            if i in axes:
                over.append(lang.axis(n))
                spots.append(over[-1])
                if keepdim:
                    next(rest)
            else:
                spots.append(next(rest))
        value = x[tuple(spots)]
        if kind := out_dtype or widened.get(x.dtype):
            value = lang.cast(value, kind.name)
        return combine(value, over=over) if over or scalars else value

    return lower


def any_elements(x: Meta) -> None:
    """Refuse nothing."""


def declare_reduction(
    name: str,
    reduce: Any,
    combine: Any,
    prefix: str,
    check: Any = any_elements,
    widened: dict[str, DType] = NOTHING,
    **options: Any,
) -> Any:
    """Declare one reduction; `reduce` is its kernel over known axes, `check` refuses operands.

    Where no type is asked for, those elements that are `widened` come out as others.
    """

    arrays = {dtype_of(name).array: dtype.array for name, dtype in widened.items()}

    def body(
        x: Meta,
        *,
        axis: Ints = (0,),
        keepdim: bool = False,
        reduce_all: bool = False,
        in_dtype: Dtype = None,
        out_dtype: Dtype = None,
    ) -> Meta:
        check(x)
        found = reduced(x, axis, keepdim, reduce_all)
        dtype = out_dtype or widened.get(x.dtype.name)
        return found.with_dtype(dtype) if dtype else found

    def kernel(
        xp: Any,
        x: Any,
        *,
        out: Any = None,
        axis: Any,
        keepdim: bool,
        reduce_all: bool,
        in_dtype: Any,
        out_dtype: Any,
    ) -> Any:
        axes = None if reduce_all or not axis else reduced_axes(x, axis, False)
        dtype = out_dtype.array if out_dtype else arrays.get(x.dtype)
        return reduce(xp, x, axes, keepdim, dtype, out)

    body.__name__ = name
    body.__doc__ = reduce.__doc__
    function = primitive(body, prefix=prefix, **SPELT)
    function.kernel(kernel)
    function.lower(lowered(combine, widened, **options))
    return function


def sum_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The sum over the axes `axis`."""
    return gathered(xp.add, x, axes, keepdims=keepdim, dtype=dtype, out=out)


def max_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The largest element over the axes `axis`."""
    return xp.maximum.reduce(x, axis=axes, keepdims=keepdim, out=out)


def min_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The least element over the axes `axis`."""
    return xp.minimum.reduce(x, axis=axes, keepdims=keepdim, out=out)


def prod_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The product over the axes `axis`."""
    return gathered(xp.multiply, x, axes, keepdims=keepdim, dtype=dtype, out=out)


def mean_axes(xp: Any, x: Any, axes: Any, keepdim: bool, dtype: Any, out: Any) -> Any:
    """The mean over the axes `axis`."""
    if is_half(x):
        return placed(mean_axes(xp, single(x), axes, keepdim, None, None), x.dtype, out)
    count = x.size if axes is None else math.prod([x.shape[i] for i in axes])
    total = xp.add.reduce(x, axis=axes, keepdims=keepdim, out=out)
    return total / x.dtype.type(count) if out is None else xp.divide(out, x.dtype.type(count), out)


reduce_sum = declare_reduction(
    "reduce_sum", sum_axes, lambda x, over: lang.sum(x, over=over), "sum", widened=WIDENED
)
reduce_max = declare_reduction(
    "reduce_max", max_axes, lambda x, over: lang.max(x, over=over), "max"
)
reduce_min = declare_reduction(
    "reduce_min", min_axes, lambda x, over: lang.min(x, over=over), "min"
)
reduce_prod = declare_reduction(
    "reduce_prod", prod_axes, lambda x, over: lang.prod(x, over=over), "reduce_prod"
)
reduce_mean = declare_reduction(
    "reduce_mean", mean_axes, lambda x, over: lang.sum(x, over=over), "mean"
)


@reduce_sum.grad
def reduce_sum_grad(x_meta: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool) -> Any:
    dx, dtype = spread(dout, x_meta, axis, keepdim, reduce_all), meta_of(x_meta).dtype
    found = meta_of(dx).dtype
    return dx if found is dtype else cast(dx, in_dtype=found, out_dtype=dtype)


@reduce_mean.grad
def reduce_mean_grad(x_meta: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool) -> Any:
    scaled = dout / size_of(x_meta, axis=reduced_axes(x_meta, axis, reduce_all))
    return spread(scaled, x_meta, axis, keepdim, reduce_all)


def spread_evenly(
    xp: Any, x: Any, dout: Any, out: Any, axes: tuple[int, ...], keepdim: bool, share: int
) -> Any:
    """The rules of sum and mean in one step: `dout` over `share`, stretched over `axes`."""
    if not keepdim:
        dout = dout.reshape([1 if i in axes else n for i, n in enumerate(x.shape)])
    out = xp.empty(x.shape, x.dtype) if out is None else out
    out[...] = dout if share == 1 else dout / dout.dtype.type(share)
    return out


@gradient(reduce_sum).kernel("cpu")
def reduce_sum_grad_cpu(
    xp: Any,
    x: Any,
    dout: Any,
    *,
    out: Any = None,
    axis: Any,
    keepdim: bool,
    reduce_all: bool,
    **_: Any,
) -> Any:
    return spread_evenly(xp, x, dout, out, reduced_axes(x, axis, reduce_all), keepdim, 1)


@gradient(reduce_mean).kernel("cpu")
def reduce_mean_grad_cpu(
    xp: Any,
    x: Any,
    dout: Any,
    *,
    out: Any = None,
    axis: Any,
    keepdim: bool,
    reduce_all: bool,
    **_: Any,
) -> Any:
    axes = reduced_axes(x, axis, reduce_all)
    count = math.prod([x.shape[i] for i in axes])
    return spread_evenly(xp, x, dout, out, axes, keepdim, count or 1)


def to_extreme(x: Any, out: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool) -> Any:
    """The whole gradient to every element that is the extreme."""
    extreme = spread(out, x, axis, keepdim, reduce_all)
    return where(equal(x, extreme), spread(dout, x, axis, keepdim, reduce_all), 0.0)


reduce_max.grad(to_extreme)
reduce_min.grad(to_extreme)


def ones_where(condition: Any, x: Any) -> Any:
    """1 where the condition holds and 0 elsewhere, of the element type of `x`."""
    return where(condition, full_like(x, value=1.0), 0.0)


@reduce_prod.grad
def reduce_prod_grad(
    x: Any, out: Any, dout: Any, axis: Any, keepdim: bool, reduce_all: bool
) -> Any:
    """The product of the others: all divided by one, unless that is 0."""
    zero = equal(x, 0.0)
    safe, over = where(zero, 1.0, x), {"axis": axis, "keepdim": True, "reduce_all": reduce_all}
    zeros = reduce_sum(ones_where(zero, x), **over)
    others = where(equal(zeros, 1.0), reduce_prod(safe, **over), 0.0)
    near = spread(out, x, axis, keepdim, reduce_all) / safe
    return turned(where(zero, others, near)) * spread(dout, x, axis, keepdim, reduce_all)


@reduce_mean.lower
def reduce_mean_at(index: Any, x: Any, **attrs: Any) -> Any:
    axes = reduced_axes(x, attrs["axis"], attrs["reduce_all"])
    count = math.prod(x.shape[i] for i in axes)
    attrs |= {"out_dtype": float32} if x.dtype in HALF else {}
    total = lowered(lang.sum)(index, x, **attrs)
    return lang.cast(total / lang.constant(count, total.dtype), x.dtype)


@primitive
def mean(x: Meta) -> Meta:
    """The mean of all elements: a 0-D tensor."""
    floating(x)
    return Meta((), x.dtype)


mean.kernel(lambda xp, x, *, out=None: mean_axes(xp, x, None, False, None, out))
mean.grad(lambda x_meta, dout: broadcast_like(dout / size_of(x_meta), x_meta))


@mean.lower
def mean_at(index: Any, x: Any) -> Any:
    over = [lang.axis(n) for n in x.shape]
    value = wide_at(x[tuple(over)])
    total = lang.sum(value, over=over) if over else value
    return lang.cast(total / lang.constant(math.prod(x.shape), total.dtype), x.dtype)
