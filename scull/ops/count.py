"""Elements told apart, counted and placed among others."""

from typing import Any

from scull import lang
from scull.core.attribute import Dtype, Ints, Long
from scull.core.dtype import float32, float64, int32, int64
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Meta, agree, axis_of, count
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.sort import order_of

NO_LOWERING = "its length depends on values"
NO_GRADIENT = "a count is not differentiable"


def told_apart(x: Meta, axis: tuple[int, ...]) -> tuple[Meta, int]:
    """The meta of the distinct elements, and how many elements there are to be told apart."""
    if not axis:
        return x.with_shape((UNKNOWN,)), count(x.shape)
    along = axis_of(axis[0], x.ndim)
    return x.with_shape((*x.shape[:along], UNKNOWN, *x.shape[along + 1 :])), x.shape[along]


@primitive(outputs=("out", "indices", "index", "counts"), infer_first=True)
def unique(
    x: Meta,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Ints = (),
    dtype: Dtype = int64,
    is_sorted: bool = False,
) -> tuple[Meta, Meta, Meta, Meta]:
    """The distinct elements (slices along `axis`) in rising order, or as they come.

    With them: where each is first, which of them each element is, and how often each occurs.
    """
    if dtype not in (int32, int64):
        raise DtypeError(f"places are int32 or int64, not {dtype.name}")
    out, total = told_apart(x, axis)
    places = Meta((UNKNOWN,), dtype)
    return out, places, places.with_shape((total,)), places


@unique.kernel
def unique_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: Any, dtype: Any, is_sorted: bool, **_: Any
) -> Any:
    if axis:
        values, first, inverse, counts = xp.unique(x, True, True, True, axis[0])
        inverse = inverse.reshape(-1)
    else:
        values, first, inverse, counts = apart(xp, x.reshape(-1))
    if not is_sorted:
        order = first.argsort()
        values = values.take(order, axis[0] if axis else None)
        first, counts, inverse = first[order], counts[order], order.argsort()[inverse]
    return values, *[v.astype(dtype.array) for v in (first, inverse, counts)]


def apart(xp: Any, x: Any) -> tuple[Any, Any, Any, Any]:
    """The distinct elements of a vector as they rise; NaN is one of them.

    With them: where each is first, which of them each element is, and how often each occurs.
    """
    order = order_of(x, 0)
    rising = x[order]
    fresh = rising[1:] != rising[:-1]
    fresh &= (rising[1:] == rising[1:]) | (rising[:-1] == rising[:-1])
    starts = xp.flatnonzero(xp.concatenate([xp.ones(min(x.size, 1), bool), fresh]))
    counts = xp.diff(starts, append=x.size)
    inverse = xp.empty(x.size, "int64")
    inverse[order] = xp.repeat(xp.arange(starts.size), counts)
    return rising[starts], order[starts], inverse, counts


unique.no_grad("which elements are alike is not differentiable")
unique.no_lowering(NO_LOWERING)


@composite(outputs=("out", "index", "count"))
def unique_with_counts(x, *, dtype: Dtype):
    """The distinct elements as they come, which of them each element is, how often each occurs."""
    if len(x.shape) != 1:
        raise ShapeError(f"x has {len(x.shape)} axes, 1 is needed")
    values, _, index, counts = unique(x, dtype=dtype)
    return values, index, counts


unique_with_counts.no_grad("which elements are alike is not differentiable")


@primitive(outputs=("out", "index", "counts"), infer_first=True)
def unique_consecutive(
    x: Meta,
    *,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Ints = (),
    dtype: Dtype = float32,
) -> tuple[Meta, Meta, Meta]:
    """The elements (slices along `axis`) that differ from the one before.

    With them: which of them each element is, and how long each run is.
    """
    out, total = told_apart(x, axis)
    return out, Meta((total,), dtype), Meta((UNKNOWN,), dtype)


@unique_consecutive.kernel
def unique_consecutive_kernel(
    xp: Any, x: Any, *, out: Any = None, axis: Any, dtype: Any, **_: Any
) -> Any:
    along = axis_of(axis[0], x.ndim) if axis else 0
    x = x if axis else x.reshape(-1)
    rows = xp.moveaxis(x, along, 0)
    fresh = xp.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]).any(tuple(range(1, x.ndim)))
    starts = fresh.nonzero()[0]
    runs = xp.diff(xp.append(starts, len(rows)))
    index = xp.add.accumulate(fresh, dtype="int64") - 1
    return x.take(starts, along), index.astype(dtype.array), runs.astype(dtype.array)


unique_consecutive.no_grad("which elements are alike is not differentiable")
unique_consecutive.no_lowering(NO_LOWERING)


@primitive(slots={"sorted_sequence": "SortedSequence", "values": "Values"}, infer_first=True)
def searchsorted(
    sorted_sequence: Meta, values: Meta, *, out_int32: bool = False, right: bool = False
) -> Meta:
    """Where each value belongs in a rising sequence: before equal ones, or behind if `right`."""
    if not sorted_sequence.ndim:
        raise ShapeError("a 0-D tensor is no sequence")
    if sorted_sequence.ndim > 1:
        law = f"{values} does not have a row for each sequence of {sorted_sequence}"
        if sorted_sequence.ndim != values.ndim:
            raise ShapeError(law)
        for a, b in zip(sorted_sequence.shape[:-1], values.shape[:-1], strict=True):
            agree(a, b, law)
    return values.with_dtype(int32 if out_int32 else int64)


@searchsorted.kernel
def searchsorted_kernel(
    xp: Any, sequence: Any, values: Any, *, out: Any = None, out_int32: bool, right: bool
) -> Any:
    side, dtype = "right" if right else "left", "int32" if out_int32 else "int64"
    if max(values.dtype.num, sequence.dtype.num) > 23:  # bfloat16: NumPy does not put NaN last
        sequence, values = sequence.astype("float32"), values.astype("float32")
    out = xp.empty(values.shape, dtype) if out is None else out
    if sequence.ndim == 1:
        out[...] = sequence.searchsorted(values, side)
        return out
    for i in xp.ndindex(sequence.shape[:-1]):
        out[i] = sequence[i].searchsorted(values[i], side)
    return out


searchsorted.no_grad("a place is not differentiable")


@searchsorted.lower
def searchsorted_at(index: Any, sequence: Any, values: Any, out_int32: bool, right: bool) -> Any:
    """How many elements lie before the value: NaN lies behind all numbers."""
    k = lang.axis(sequence.shape[-1])
    row = index[:-1] if sequence.ndim > 1 else ()
    a, b = sequence[(*row, k)], values[tuple(index)]
    if sequence.dtype != values.dtype:
        wide = "float64" if "float" in sequence.dtype + values.dtype else "int64"
        a, b = lang.cast(a, wide), lang.cast(b, wide)
    before = (a <= b) if right else (a < b)
    if "float" in b.dtype:
        last = lang.not_equal(b, b)
        before = before | (last if right else last & lang.equal(a, a))
    one, zero = lang.constant(1, "int64"), lang.constant(0, "int64")
    found = lang.sum(lang.select(before, one, zero), over=k)
    return lang.cast(found, "int32" if out_int32 else "int64")


@primitive(infer_first=True)
def bincount(x: Meta, weights: Meta = None, *, minlength: int = 0) -> Meta:
    """How often each whole number from 0 on occurs, or what the weights of each sum up to."""
    if not x.dtype.is_integer:
        raise DtypeError(f"{x} is not of integers")
    if x.ndim != 1:
        raise ShapeError(f"{x} is not a list of numbers")
    if minlength is not UNKNOWN and minlength < 0:
        raise ArgumentError(f"minlength {minlength} is below 0")
    if weights is None:
        return Meta((UNKNOWN,), int64)
    if weights.ndim != 1:
        raise ShapeError(f"the weights {weights} are not a list of numbers")
    agree(x.shape[0], weights.shape[0], "there are {} numbers and {} weights")
    return Meta((UNKNOWN,), float32 if weights.dtype is float32 else float64)


@bincount.kernel
def bincount_kernel(
    xp: Any, x: Any, weights: Any = None, *, out: Any = None, minlength: int
) -> Any:
    if x.size and x.min() < 0:
        raise ArgumentError(f"{x.min()} is below 0, and only numbers from 0 on are counted")
    length = max(minlength, int(x.max()) + 1) if x.size else 0
    if weights is None:
        return xp.bincount(x, None, length).astype("int64", copy=False)
    total = xp.zeros(length, "float32" if weights.dtype == "float32" else "float64")
    xp.add.at(total, x, weights)
    return total


bincount.no_grad(NO_GRADIENT)
bincount.no_lowering(NO_LOWERING)


@primitive(infer_first=True)
def histogram(x: Meta, *, bins: Long = 100, min: int = 0, max: int = 0) -> Meta:
    """How many elements lie in each of equal parts from `min` to `max`.

    Where these are equal the range is the elements' own.
    """
    if bins < 1:
        raise ArgumentError(f"bins is {bins}, not at least 1")
    if max < min:
        raise ArgumentError(f"max {max} is below min {min}")
    return Meta((bins,), int64)


@histogram.kernel
def histogram_kernel(xp: Any, x: Any, *, out: Any = None, bins: int, min: int, max: int) -> Any:
    low, high = (x.min(), x.max()) if min == max and x.size else (min, max)
    if not (xp.isfinite(low) and xp.isfinite(high)):
        raise ArgumentError(f"the elements of {meta_of(x)} reach from {low} to {high}")
    low, high = (low - 1, high + 1) if low == high else (low, high)
    kept = x.reshape(-1) if min == max else x[(x >= low) & (x <= high)]
    places = ((kept - low) * bins / (high - low)).astype("int64")
    found = xp.bincount(xp.minimum(places, bins - 1, out=places), None, bins)
    if out is None:
        return found
    out[...] = found
    return out


histogram.no_grad(NO_GRADIENT)


histogram.no_lowering("it adds up at places that values decide, of a range that they decide")
