"""The largest element, or the mean, of each window over an image or a volume."""

import math
from collections.abc import Iterator
from functools import lru_cache, partial, reduce
from itertools import product
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.core.scratch import scratch
from scull.errors import ArgumentError, ShapeError
from scull.ops.half import wide_at, widening
from scull.ops.window import (
    Windows,
    asking,
    attributes_of,
    channels_first,
    image_shape,
    in_format,
    pair,
    sides,
    sliding,
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
WINDOWS = tuple([n for n in ATTRIBUTES if n not in ("data_format", "exclusive")])


class Adaptive(NamedTuple):
    """Along one axis: `count` windows that cover it evenly, whatever its size."""

    size: int
    count: int

    def start(self, window: Any) -> Any:
        """Where a window begins."""
        return window * self.size // self.count

    def length(self, window: Any) -> Any:
        """How many elements a window has."""
        return ((window + 1) * self.size + (self.count - 1)) // self.count - self.start(window)

    @property
    def kernel(self) -> int:
        """The size of the largest window."""
        return max(self.length(i) for i in range(self.count))

    @property
    def even(self) -> bool:
        """Whether all windows have one size and lie side by side."""
        return self.size != -1 and self.size % self.count == 0

    @property
    def padded(self) -> int:
        """One more than the size: what smaller windows read in place of their missing elements."""
        return self.size + 1

    before = 0

    def windows(self) -> list[slice]:
        """Where each window lies on the axis."""
        starts = [(self.start(i), self.length(i)) for i in range(self.count)]
        return [slice(start, start + length) for start, length in starts]

    def tap(self, i: int) -> Any:
        """Of the padded axis: what element `i` of each window is."""
        windows = np.arange(self.count)
        return np.where(i < self.length(windows), self.start(windows) + i, self.size)


class Pooling(NamedTuple):
    """The windows along the inner axes of images with the channels on axis 1."""

    images: int
    channels: int
    along: tuple[Any, ...]
    largest: bool  # else the mean
    padded: bool
    fancy: bool  # windows of differing sizes, read by index arrays

    @property
    def shape(self) -> tuple[int, ...]:
        """An element a window."""
        return (self.images, self.channels, *[a.count for a in self.along])

    def taps(self) -> Iterator[tuple[Any, ...]]:
        """For each element of a window, row by row: where it is in the padded images."""
        for taps in product(*[[a.tap(i) for i in range(a.kernel)] for a in self.along]):
            yield ..., *(np.ix_(*map(indices, taps)) if self.fancy else taps)

    def inside(self) -> tuple[Any, ...]:
        """Where the images are in the padded ones."""
        return ..., *[slice(a.before, a.before + a.size) for a in self.along]


def indices(tap: Any) -> Any:
    """The places of a tap as an array."""
    return np.arange(tap.start, tap.stop, tap.step) if isinstance(tap, slice) else tap


@lru_cache(1024)
def pooling(
    image: tuple[int, ...],
    ksize: tuple[int, ...],
    strides: tuple[int, ...],
    paddings: tuple[int, ...],
    ceil_mode: bool,
    pooling_type: str,
    global_pooling: bool,
    adaptive: bool,
    padding_algorithm: str,
) -> Pooling:
    """The windows over an `image` with the channels on axis 1, or the mistake in them."""
    if pooling_type not in ("max", "avg"):
        raise ArgumentError(f"pooling_type is {pooling_type!r}, neither max nor avg")
    axes = len(image) - 2
    kernel = image[2:] if global_pooling else pair("ksize", ksize, axes)
    if (global_pooling or adaptive) and 0 in image[2:]:
        raise ShapeError(f"an image of {list(image[2:])} has nothing to pool")
    along: list[Any]
    if adaptive and not global_pooling:
        along = [Adaptive(*axis) for axis in zip(image[2:], kernel, strict=True)]
        along = [
            sliding(a.size, *(a.size // a.count,) * 2, (0, 0), 1) if a.even else a for a in along
        ]
    else:
        strides = pair("strides", strides, axes)
        pads = sides(image[2:], kernel, strides, paddings, padding_algorithm)
        if global_pooling:
            pads = [(0, 0)] * axes
        along = [
            sliding(*axis, 1, ceil_mode)
            for axis in zip(image[2:], kernel, strides, pads, strict=True)
        ]
    sizes, largest = (*image[:2], tuple(along)), pooling_type == "max"
    if -1 in image[2:]:
        return Pooling(*sizes, largest, False, False)
    wide = any(a.padded > a.size for a in along)
    fancy = any(isinstance(a, Adaptive) for a in along)
    return Pooling(*sizes, largest, wide, fancy)


def pooling_of(x: Any, attrs: dict[str, Any], axes: int = 0) -> Pooling:
    """The windows over `x`, or its meta, for the attributes of an operator; it has `axes`."""
    axes = axes or min(max(len(x.shape) - 2, 1), 3)
    shape = image_shape(x, "x", attrs["data_format"], axes)
    rest = {n: tuple(v) if isinstance(v := attrs[n], list) else v for n in WINDOWS}
    return pooling(shape, **rest)


# How many elements a mean is divided by.


def elements(axis: Any, window: Any, exclusive: bool, least: Any, most: Any) -> Any:
    """How many elements a window has along one axis; `exclusive` does not count padding."""
    if isinstance(axis, Adaptive):
        return axis.length(window)
    start = window * axis.stride - axis.before
    if exclusive:
        return least(start + axis.kernel, axis.size) - most(start, 0)
    return least(start + axis.kernel, axis.size + axis.before) - start


def counts(p: Pooling, exclusive: bool, dtype: Any) -> Any:
    """How many elements each window has: a number where they all have as many, else an array."""
    simple = all(isinstance(a, Windows) and a.padded == a.size for a in p.along)
    if simple:
        return dtype.type(math.prod([a.kernel for a in p.along]))
    along = [elements(a, np.arange(a.count), exclusive, np.minimum, np.maximum) for a in p.along]
    return reduce(np.multiply.outer, along).astype(dtype)


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
    lead = (slice(None),) * place
    if isinstance(axis, Adaptive) or axis.count == 1:
        shape = (*x.shape[:place], axis.count, *x.shape[place + 1 :])
        out = xp.empty(shape, x.dtype) if out is None else out
        for i, window in enumerate(axis.windows()):
            combine.reduce(x[(*lead, window)], axis=place, out=out[(*lead, i)])
        return out
    found = x[(*lead, axis.tap(0))]
    for i in range(1, axis.kernel):
        found = out = combine(found, x[(*lead, axis.tap(i))], out=out)
    if out is None or found is out:
        return found
    out[...] = found
    return out


def shared(xp: Any, x: Any, axis: Any, place: int) -> Any:
    """The same back: what each window along one axis has, given to each of its elements."""
    found = xp.zeros((*x.shape[:place], axis.padded, *x.shape[place + 1 :]), x.dtype)
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
    total = channels_first(out, data_format)
    found = surrounded(xp, channels_first(x, data_format), p, lowest(x.dtype) if p.largest else 0)
    combine, last = xp.maximum if p.largest else xp.add, len(p.along) - 1
    for i, axis in enumerate(p.along):
        found = combined(xp, found, axis, i + 2, combine, total if i == last else None)
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
    x, y, source = (channels_first(v, data_format) for v in (x, y, source))
    target = found = channels_first(out, data_format)
    if p.largest:
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
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = source / counts(p, exclusive, source.dtype)
        for i, axis in reversed(list(enumerate(p.along))):
            found = shared(xp, found, axis, i + 2)
    if found is not target:
        target[...] = found[p.inside()]
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
    x, y, source = (channels_first(v, data_format) for v in (x, y, source))
    total = channels_first(out, data_format)
    total[...] = 0
    values = surrounded(xp, source, p, 0)
    for tap, hit in first_hits(xp, surrounded(xp, x, p, lowest(x.dtype)), y, p):
        total += values[tap] * hit
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
    function = primitive(body, fixed=fixed, printed=("use_cudnn",))
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
