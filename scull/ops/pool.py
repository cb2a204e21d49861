"""The largest element, or the mean, of each window over an image or a volume."""

from collections.abc import Iterator
from functools import partial, reduce
from operator import mul
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Ints
from scull.core.dtype import int32
from scull.core.eager import composite, primitive
from scull.core.meta import Meta, floating
from scull.core.scratch import scratch
from scull.ops.half import is_half, wide_at, widening
from scull.ops.pooling import Adaptive, Pooling, counts, elements, pooling, pooling_of
from scull.ops.window import (
    asking,
    attributes_of,
    channels_first,
    image_shape,
    in_format,
    window_over,
)

ATTRIBUTES = (
    "ksize",
    "strides",
    "paddings",
    "ceil_mode",
    "exclusive",
    "data_format",
    "pooling_type",
    "global_pooling",
    "adaptive",
    "padding_algorithm",
)


# Kernels. `wide` is `x`, the channels on axis 1, with padding that no result depends on.


def surrounded(xp: Any, x: Any, p: Pooling, value: Any) -> Any:
    """`x` with `value` around it."""
    if not p.padded:
        return x
    wide = scratch(xp, (*x.shape[:2], *[a.padded for a in p.along]), x.dtype)
    wide[...] = value
    wide[p.inside()] = x
    return wide


def lowest(dtype: Any) -> float:
    """What the largest of no elements is."""
    return float(np.finfo(dtype).min)


def combined(xp: Any, x: Any, axis: Any, place: int, combine: Any, out: Any) -> Any:
    """The elements of each window along one axis, number `place`, put together."""
    if out is None:
        out = scratch(xp, (*x.shape[:place], axis.count, *x.shape[place + 1 :]), x.dtype)
    lead = (slice(None),) * place
    if isinstance(axis, Adaptive) or axis.count == 1:
        for i, window in enumerate(axis.windows()):
            combine.reduce(x[(*lead, window)], axis=place, out=out[(*lead, i)])
        return out
    found = x[(*lead, axis.tap(0))]
    for i in range(1, axis.kernel):
        found = combine(found, x[(*lead, axis.tap(i))], out=out)
    if found is not out:
        out[...] = found
    return out


def shared(xp: Any, x: Any, axis: Any, place: int) -> Any:
    """The same back: what each window along one axis has, given to each of its elements."""
    found = scratch(xp, (*x.shape[:place], axis.padded, *x.shape[place + 1 :]), x.dtype)
    found[...] = 0
    lead = (slice(None),) * place
    if isinstance(axis, Adaptive) or axis.count == 1:
        for i, window in enumerate(axis.windows()):
            found[(*lead, window)] += x[(*lead, slice(i, i + 1))]
        return found
    for i in range(axis.kernel):
        found[(*lead, axis.tap(i))] += x
    return found


def pool_kernel(
    xp: Any,
    x: Any,
    *,
    out: Any = None,
    axes: int = 0,
    exclusive: bool,
    data_format: str,
    **rest: Any,
) -> Any:
    """The largest elements, or the means."""
    p = pooling_of(x, {**rest, "data_format": data_format}, axes)
    if out is None:
        out = xp.empty(in_format(p.shape, data_format), x.dtype)
    x, total = (channels_first(v, data_format) for v in (x, out))
    combine, last = xp.maximum if p.largest else xp.add, len(p.along) - 1
    for piece in p.pieces():
        found = surrounded(xp, x[piece], p, lowest(x.dtype) if p.largest else 0)
        for i, axis in enumerate(p.along):
            found = combined(xp, found, axis, i + 2, combine, total[piece] if i == last else None)
    if not p.largest:
        with np.errstate(invalid="ignore"):
            xp.divide(total, counts(p, exclusive, x.dtype), total)
    return out


def first_hits(xp: Any, wide: Any, out: Any, p: Pooling) -> Iterator[tuple[Any, Any]]:
    """Each tap with the windows whose first largest element it is."""
    free, hit = scratch(xp, out.shape, bool), scratch(xp, out.shape, bool)
    free[...] = True
    for tap in p.taps():
        xp.equal(wide[tap], out, out=hit)
        hit &= free
        free ^= hit
        yield tap, hit


def spread_to_largest(xp: Any, x: Any, y: Any, source: Any, target: Any, p: Pooling) -> None:
    """What each window has, given to its first largest element."""
    found = target
    if p.padded:
        found = scratch(xp, (*x.shape[:2], *[a.padded for a in p.along]), source.dtype)
    found[...] = 0
    given = scratch(xp, source.shape, source.dtype)
    for tap, hit in first_hits(xp, surrounded(xp, x, p, lowest(x.dtype)), y, p):
        xp.multiply(source, hit, out=given)
        if p.fancy:
            xp.add.at(found, tap, given)
        else:
            found[tap] += given
    if found is not target:
        target[...] = found[p.inside()]


def spread_evenly(xp: Any, source: Any, target: Any, p: Pooling, size: Any) -> None:
    """What each window has, shared among its elements, of which there are `size`."""
    found = scratch(xp, source.shape, source.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        xp.divide(source, size, found)
    for i, axis in reversed(list(enumerate(p.along))):
        found = shared(xp, found, axis, i + 2)
    target[...] = found[p.inside()]


@widening
def pool_spread_kernel(
    xp: Any,
    x: Any,
    y: Any,
    source: Any,
    *,
    out: Any = None,
    exclusive: bool,
    data_format: str,
    **rest: Any,
) -> Any:
    p = pooling_of(x, {**rest, "data_format": data_format})
    out = xp.empty(x.shape, source.dtype) if out is None else out
    x, y, source, target = (channels_first(v, data_format) for v in (x, y, source, out))
    size = None if p.largest else counts(p, exclusive, source.dtype)
    for piece in p.pieces():
        if p.largest:
            spread_to_largest(xp, x[piece], y[piece], source[piece], target[piece], p)
        else:
            spread_evenly(xp, source[piece], target[piece], p, size)
    return out


def pool_place_kernel(xp: Any, x: Any, *, out: Any = None, data_format: str, **rest: Any) -> Any:
    attrs = {**rest, "data_format": data_format}
    x = x.astype("float32") if is_half(x) else x
    p = pooling_of(x, attrs)
    y = pool_kernel(xp, x, **attrs)
    out = xp.empty(y.shape, "int32") if out is None else out
    x, y, target = (channels_first(v, data_format) for v in (x, y, out))
    target[...] = -1
    for piece in p.pieces():
        wide, found = surrounded(xp, x[piece], p, lowest(x.dtype)), target[piece]
        for number, (_, hit) in enumerate(first_hits(xp, wide, y[piece], p)):
            found[hit] = number
    return out


@widening
def pool_share_kernel(
    xp: Any,
    source: Any,
    place: Any,
    like: Any,
    *,
    out: Any = None,
    exclusive: bool,
    data_format: str,
    **rest: Any,
) -> Any:
    p = pooling_of(like, {**rest, "data_format": data_format})
    out = xp.empty(like.shape, source.dtype) if out is None else out
    source, target = channels_first(source, data_format), channels_first(out, data_format)
    if place is None:
        spread_evenly(xp, source, target, p, counts(p, exclusive, source.dtype))
        return out
    place = channels_first(place, data_format)
    found = xp.zeros((*source.shape[:2], *[a.padded for a in p.along]), source.dtype)
    for number, tap in enumerate(p.taps()):
        xp.add.at(found, tap, source * (place == number))
    target[...] = found[p.inside()]
    return out


@widening
def pool_take_kernel(
    xp: Any, source: Any, place: Any, *, out: Any = None, data_format: str, **rest: Any
) -> Any:
    attrs = {**rest, "data_format": data_format}
    p = pooling_of(source, attrs)
    if place is None:
        return pool_kernel(xp, source, out=out, **attrs)
    out = xp.empty(place.shape, source.dtype) if out is None else out
    source, place, target = (channels_first(v, data_format) for v in (source, place, out))
    target[...] = 0
    for piece in p.pieces():
        wide = surrounded(xp, source[piece], p, 0)
        for number, tap in enumerate(p.taps()):
            xp.copyto(target[piece], wide[tap], where=place[piece] == number)
    return out


@widening
def pool_pick_kernel(
    xp: Any,
    x: Any,
    y: Any,
    source: Any,
    *,
    out: Any = None,
    exclusive: bool,
    data_format: str,
    **rest: Any,
) -> Any:
    attrs = {**rest, "data_format": data_format}
    p = pooling_of(x, attrs)
    if not p.largest:
        return pool_kernel(xp, source, out=out, exclusive=exclusive, **attrs)
    out = xp.empty(y.shape, source.dtype) if out is None else out
    x, y, source, total = (channels_first(v, data_format) for v in (x, y, source, out))
    total[...] = 0
    for piece in p.pieces():
        values, target = surrounded(xp, source[piece], p, 0), total[piece]
        for tap, hit in first_hits(xp, surrounded(xp, x[piece], p, lowest(x.dtype)), y[piece], p):
            target += values[tap] * hit
    return out


# Lowerings.


def place_in(axis: Any, window: Any, i: Any) -> tuple[Any, Any]:
    """Where element `i` of a window is on the axis, and whether the window has it."""
    if isinstance(axis, Adaptive):
        place = axis.start(window) + i
        return place, (i < axis.length(window)) & (place < axis.size)
    place = axis.place(window, i)
    return place, (place >= 0) & (place < axis.size)


def taps_at(p: Pooling, index: Any, places: Any) -> tuple[list[Any], Any]:
    """Where an element of the window at `index` is, and whether the window has it."""
    found = [place_in(a, n, i) for a, n, i in zip(p.along, index[2:], places, strict=True)]
    return [place for place, _ in found], reduce(lang.both, [there for _, there in found])


def count_at(p: Pooling, index: Any, exclusive: bool, dtype: str) -> Any:
    """How many elements the window at `index` has."""
    least, most = lang.minimum, lang.maximum
    along = [
        elements(a, n, exclusive, least, most) for a, n in zip(p.along, index[2:], strict=True)
    ]
    return lang.cast(reduce(mul, along), dtype)


def element_at(x: Any, p: Pooling, index: Any, places: Any, otherwise: float, form: str) -> Any:
    """The value of one element of a window; `otherwise` where there is none."""
    spots, there = taps_at(p, index, places)
    return lang.guarded(there, x[in_format((*index[:2], *spots), form)], otherwise)


def window_at(p: Pooling) -> list[Any]:
    """An axis over the elements of a window for each inner axis."""
    return [lang.axis(a.kernel) for a in p.along]


def pool_at(index: Any, x: Any, **attrs: Any) -> Any:
    p, form = pooling_of(x, attrs), attrs["data_format"]
    index, over = channels_first(tuple(index), form), window_at(p)
    if p.largest:
        return lang.max(element_at(x, p, index, over, lowest_of(x.dtype), form), over=over)
    total = lang.sum(wide_at(element_at(x, p, index, over, 0.0, form)), over=over)
    return lang.cast(total / count_at(p, index, attrs["exclusive"], total.dtype), x.dtype)


def lowest_of(dtype: str) -> float:
    """What the largest of no elements is, by the name of the element type."""
    return -3.3895313892515355e38 if dtype == "bfloat16" else lowest(dtype)


def pool_take_at(index: Any, source: Any, place: Any, **attrs: Any) -> Any:
    if place is None:
        return pool_at(index, source, **attrs)
    p, form = pooling_of(source, attrs), attrs["data_format"]
    number = lang.cast(place[tuple(index)], "int64")
    taps = lang.unravel(lang.maximum(number, 0), [a.kernel for a in p.along])
    value = element_at(source, p, channels_first(tuple(index), form), taps, 0.0, form)
    return lang.select(number < 0, lang.constant(0.0, value.dtype), value)


def pool_place_at(index: Any, x: Any, **attrs: Any) -> Any:
    p, form = pooling_of(x, attrs), attrs["data_format"]
    over, spot = window_at(p), channels_first(tuple(index), form)
    value = element_at(x, p, spot, over, lowest_of(x.dtype), form)
    largest, place = lang.max(value, over=over), lang.cast(lang.argmax(value, over=over), "int32")
    return lang.select(lang.equal(largest, largest), place, lang.constant(-1, "int32"))


def given_at(
    source: Any, place: Any, p: Pooling, window: Any, taps: Any, attrs: dict[str, Any]
) -> Any:
    """What a window gives to one of its elements."""
    at = in_format(tuple(window), attrs["data_format"])
    value = wide_at(source[at])
    if place is None:
        return value / count_at(p, window, attrs["exclusive"], value.dtype)
    own = lang.ravel(taps, [a.kernel for a in p.along])
    return lang.select(lang.equal(place[at], lang.cast(own, "int32")), value, 0.0)


def pool_share_at(index: Any, source: Any, place: Any, like: Any, **attrs: Any) -> Any:
    """The sum of what the windows over an element give to it."""
    p, form = pooling_of(like, attrs), attrs["data_format"]
    taps = window_at(p)
    if any(isinstance(a, Adaptive) for a in p.along):
        return spread_at(source, place, like, p, taps, attrs)
    n, c, *spots = channels_first(tuple(index), form)
    found = [window_over(a, s, i) for a, s, i in zip(p.along, spots, taps, strict=True)]
    window = (n, c, *[at for at, _ in found])
    there = reduce(lang.both, [is_there for _, is_there in found])
    value = lang.guarded(there, given_at(source, place, p, window, taps, attrs), 0.0)
    return lang.cast(lang.sum(value, over=taps), source.dtype)


def spread_at(
    source: Any, place: Any, like: Any, p: Pooling, taps: Any, attrs: dict[str, Any]
) -> Any:
    """The same by windows of several sizes, each of which adds to its elements."""
    over = [lang.axis(n) for n in p.shape]
    spots, there = taps_at(p, over, taps)
    value = given_at(source, place, p, over, taps, attrs)
    inside = [lang.select(there, n, 0) for n in spots]
    spot = in_format((*over[:2], *inside), attrs["data_format"])
    every = [*over, *taps]
    value = lang.select(there, value, 0.0)
    return lang.scatter_add(like.shape, spot, value, over=every, dtype=source.dtype)


# The operators.


def pool(name: str, axes: int, **fixed: Any) -> Any:
    """Declare pooling over `axes` inner axes under the type `name`."""
    form = "NCDHW" if axes == 3 else "NCHW"

    def body(
        x: Meta,
        *,
        ksize: Ints,
        strides: Ints = (1,) * axes,
        paddings: Ints = (0,) * axes,
        ceil_mode: bool = False,
        exclusive: bool = True,
        data_format: str = form,
        pooling_type: str = "",
        global_pooling: bool = False,
        adaptive: bool = False,
        padding_algorithm: str = "EXPLICIT",
    ) -> Meta:
        """The largest element, or the mean, of each window."""
        floating(x)
        p = pooling(
            image_shape(x, "x", data_format, axes),
            ksize,
            strides,
            paddings,
            ceil_mode,
            pooling_type,
            global_pooling,
            adaptive,
            padding_algorithm,
        )
        return x.with_shape(in_format(p.shape, data_format))

    body.__name__ = name
    fixed |= {"use_cudnn": True, "use_mkldnn": False}
    function = primitive(body, fixed=fixed, printed=("use_cudnn",), images=("x", "out"))
    function.kernel(widening(partial(pool_kernel, axes=axes)))
    function.lower(pool_at)
    function.grad("x")(
        asking(ATTRIBUTES, lambda x, out, dout, attrs: pool_spread(x, out, dout, **attrs))
    )
    return function


pool2d = pool("pool2d", 2, is_test=False, mkldnn_data_type="float32", use_quantizer=False)
pool3d = pool("pool3d", 3)


@primitive
@attributes_of(pool2d)
def pool_place(x: Meta, **attrs: Any) -> Meta:
    """Which element of each window is the first largest one, row by row; -1 where NaN is."""
    shape = in_format(pooling_of(x, attrs).shape, attrs["data_format"])
    return x.with_shape(shape).with_dtype(int32)


@primitive
@attributes_of(pool2d)
def pool_share(source: Meta, place: Meta = None, like_meta: Meta = None, **attrs: Any) -> Meta:
    """`source` given back to windows of `like`: to the element at `place`, or to each a share."""
    return source.with_shape(like_meta.shape)


@composite
@attributes_of(pool2d)
def pool_spread(x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    """`source` given back to the windows of `x`: all to the first largest, or to each a share."""
    place = pool_place(x, **attrs) if pooling_of(x, attrs).largest else None
    return pool_share(source, place, x, **attrs)


@primitive
@attributes_of(pool2d)
def pool_take(source: Meta, place: Meta = None, **attrs: Any) -> Meta:
    """Of each window of `source` the element at `place`, or the mean."""
    return source.with_shape(in_format(pooling_of(source, attrs).shape, attrs["data_format"]))


@composite
@attributes_of(pool2d)
def pool_pick(x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    """Of each window of `source` the element where `x` is first the largest, or the mean."""
    place = pool_place(x, **attrs) if pooling_of(x, attrs).largest else None
    return pool_take(source, place, **attrs)


pool_place.kernel(pool_place_kernel)
pool_place.lower(pool_place_at)
pool_share.kernel(pool_share_kernel)
pool_share.lower(pool_share_at)
pool_spread.kernel(pool_spread_kernel)
pool_take.kernel(pool_take_kernel)
pool_take.lower(pool_take_at)
pool_pick.kernel(pool_pick_kernel)

pool_place.no_grad("places are constant almost everywhere")
pool_share.grad("source")(
    asking(ATTRIBUTES, lambda place, dout, attrs: pool_take(dout, place, **attrs))
)
pool_take.grad("source")(
    asking(
        ATTRIBUTES,
        lambda source_meta, place, dout, attrs: pool_share(dout, place, source_meta, **attrs),
    )
)
pool_spread.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool_pick(x, y, dout, **attrs))
)
pool_pick.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool_spread(x, y, dout, **attrs))
)
