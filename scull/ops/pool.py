"""The largest element, or the mean, of each window over an image or a volume."""

from collections.abc import Iterator
from functools import partial, reduce
from operator import mul
from typing import Any

import numpy as np

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.scratch import scratch
from scull.ops.half import wide_at, widening
from scull.ops.pooling import Adaptive, Pooling, counts, elements, pooling, pooling_of
from scull.ops.window import (
    asking,
    attributes_of,
    channels_first,
    image_shape,
    in_format,
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


def largest_at(x: Any, p: Pooling, index: Any, form: str) -> list[Any]:
    """The place within the window at `index` of its first largest element."""
    over = window_at(p)
    value = element_at(x, p, index, over, lowest_of(x.dtype), form)
    return lang.unravel(lang.argmax(value, over=over), [a.size for a in over])


def pool_pick_at(index: Any, x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    p, form = pooling_of(x, attrs), attrs["data_format"]
    if not p.largest:
        return pool_at(index, source, **attrs)
    index = channels_first(tuple(index), form)
    return element_at(source, p, index, largest_at(x, p, index, form), 0.0, form)


def pool_spread_at(index: Any, x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    """The sum over all windows of what each gives to its elements."""
    p, form = pooling_of(x, attrs), attrs["data_format"]
    over = [lang.axis(n) for n in p.shape]
    given = source[in_format(tuple(over), form)]
    if p.largest:
        places, every = largest_at(x, p, over, form), over
    else:
        given = given / count_at(p, over, attrs["exclusive"], source.dtype)
        places = window_at(p)
        every = [*over, *places]
    spots, there = taps_at(p, over, places)
    spot = in_format((*over[:2], *[lang.select(there, n, 0) for n in spots]), form)
    return lang.scatter_add(x.shape, spot, lang.select(there, given, 0.0), over=every)


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
def pool_spread(x: Meta, y: Meta, source: Meta, **attrs: Any) -> Meta:
    """`source` given back to the windows of `x`: all to the first largest, or to each a share."""
    return source.with_shape(x.shape)


@primitive
@attributes_of(pool2d)
def pool_pick(x: Meta, y: Meta, source: Meta, **attrs: Any) -> Meta:
    """Of each window of `source` the element where `x` is first the largest, or the mean."""
    return source.with_shape(y.shape)


pool_spread.kernel(pool_spread_kernel)
pool_spread.lower(pool_spread_at)
pool_pick.kernel(pool_pick_kernel)
pool_pick.lower(pool_pick_at)

pool_spread.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool_pick(x, y, dout, **attrs))
)
pool_pick.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool_spread(x, y, dout, **attrs))
)
