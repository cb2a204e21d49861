"""The largest element, or the mean, of each window over an image."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from scull import lang
from scull.core.attribute import Ints
from scull.core.eager import primitive
from scull.core.meta import Meta, floating
from scull.errors import ArgumentError
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

    def tap(self, i: int) -> Any:
        """Of the padded axis: what element `i` of each window is."""
        windows = np.arange(self.count)
        return np.where(i < self.length(windows), self.start(windows) + i, self.size)


class Pooling(NamedTuple):
    """The windows along both axes of images with the channels on axis 1."""

    images: int
    channels: int
    rows: Any
    columns: Any
    largest: bool  # else the mean
    padded: bool
    fancy: bool  # windows of differing sizes, read by index arrays

    def taps(self) -> Iterator[tuple[Any, ...]]:
        """For each element of a window, row by row: where it is in the padded images."""
        for i in range(self.rows.kernel):
            for j in range(self.columns.kernel):
                row, column = self.rows.tap(i), self.columns.tap(j)
                if self.fancy:
                    row, column = np.ix_(indices(row), indices(column))
                yield ..., row, column

    def inside(self) -> tuple[Any, ...]:
        """Where the images are in the padded ones."""
        r, q = self.rows, self.columns
        return ..., slice(r.before, r.before + r.size), slice(q.before, q.before + q.size)


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
    kernel = image[2:] if global_pooling else pair("ksize", ksize)
    along: list[Any]
    if adaptive and not global_pooling:
        along = [Adaptive(*axis) for axis in zip(image[2:], kernel, strict=True)]
        along = [
            sliding(a.size, *(a.size // a.count,) * 2, (0, 0), 1) if a.even else a for a in along
        ]
    else:
        strides = pair("strides", strides)
        pads = sides(image[2:], kernel, strides, paddings, padding_algorithm)
        if global_pooling:
            pads = [(0, 0), (0, 0)]
        along = [
            sliding(*axis, 1, ceil_mode)
            for axis in zip(image[2:], kernel, strides, pads, strict=True)
        ]
    if -1 in image[2:]:
        return Pooling(*image[:2], *along, pooling_type == "max", False, False)
    wide = any(a.padded > a.size for a in along)
    fancy = any(isinstance(a, Adaptive) for a in along)
    return Pooling(*image[:2], *along, pooling_type == "max", wide, fancy)


def pooling_of(x: Any, attrs: dict[str, Any]) -> Pooling:
    """The windows over `x`, or its meta, for the attributes of an operator."""
    shape = image_shape(x, "x", attrs["data_format"])
    names = [n for n in ATTRIBUTES if n not in ("data_format", "exclusive")]
    rest = {n: tuple(v) if isinstance(v := attrs[n], list) else v for n in names}
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
    simple = all(isinstance(a, Windows) and a.padded == a.size for a in (p.rows, p.columns))
    if simple:
        return dtype.type(p.rows.kernel * p.columns.kernel)
    along = [
        elements(a, np.arange(a.count), exclusive, np.minimum, np.maximum)
        for a in (p.rows, p.columns)
    ]
    return np.multiply.outer(*along).astype(dtype)


# Kernels. `wide` is `x`, the channels on axis 1, with padding that no result depends on.


def surrounded(xp: Any, x: Any, p: Pooling, value: Any) -> Any:
    """`x` with `value` around it."""
    if not p.padded:
        return x
    wide = xp.full((*x.shape[:2], p.rows.padded, p.columns.padded), value, x.dtype)
    wide[p.inside()] = x
    return wide


def lowest(dtype: Any) -> float:
    """What the largest of no elements is."""
    return float(np.finfo(dtype).min)


@widening
def pool2d_kernel(
    xp: Any, x: Any, *, out: Any = None, exclusive: bool, data_format: str, **rest: Any
) -> Any:
    p = pooling_of(x, {**rest, "data_format": data_format})
    if out is None:
        shape = (p.images, p.channels, p.rows.count, p.columns.count)
        out = xp.empty(in_format(shape, data_format), x.dtype)
    total = channels_first(out, data_format)
    wide = surrounded(xp, channels_first(x, data_format), p, lowest(x.dtype) if p.largest else 0)
    taps = p.taps()
    total[...] = wide[next(taps)]
    combine = xp.maximum if p.largest else xp.add
    for tap in taps:
        combine(total, wide[tap], out=total)
    if not p.largest:
        with np.errstate(invalid="ignore"):
            xp.divide(total, counts(p, exclusive, x.dtype), total)
    return out


def first_hits(xp: Any, wide: Any, out: Any, p: Pooling) -> Iterator[tuple[Any, Any]]:
    """Each tap with the windows whose first largest element it is."""
    free = xp.ones(out.shape, bool)
    for tap in p.taps():
        hit = xp.equal(wide[tap], out)
        hit &= free
        free ^= hit
        yield tap, hit


@widening
def pool2d_spread_kernel(
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
    found = xp.zeros((*x.shape[:2], p.rows.padded, p.columns.padded), source.dtype)
    if p.largest:
        wide = surrounded(xp, x, p, lowest(x.dtype))
        portions = ((tap, source * hit) for tap, hit in first_hits(xp, wide, y, p))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = source / counts(p, exclusive, source.dtype)
        portions = ((tap, share) for tap in p.taps())
    for tap, portion in portions:
        if p.fancy:
            xp.add.at(found, tap, portion)
        else:
            found[tap] += portion
    channels_first(out, data_format)[...] = found[p.inside()]
    return out


@widening
def pool2d_pick_kernel(
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
        return pool2d_kernel(xp, source, out=out, exclusive=exclusive, **attrs)
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


def taps_at(p: Pooling, index: Any, row: Any, column: Any) -> tuple[Any, Any, Any]:
    """Where an element of the window at `index` is, and whether the window has it."""
    h, above = place_in(p.rows, index[2], row)
    w, left = place_in(p.columns, index[3], column)
    return h, w, lang.both(above, left)


def count_at(p: Pooling, index: Any, exclusive: bool, dtype: str) -> Any:
    """How many elements the window at `index` has."""
    least, most = lang.minimum, lang.maximum
    rows = elements(p.rows, index[2], exclusive, least, most)
    return lang.cast(rows * elements(p.columns, index[3], exclusive, least, most), dtype)


def element_at(
    x: Any, p: Pooling, index: Any, row: Any, column: Any, otherwise: float, form: str
) -> Any:
    """The value of one element of a window; `otherwise` where there is none."""
    h, w, there = taps_at(p, index, row, column)
    return lang.guarded(there, x[in_format((index[0], index[1], h, w), form)], otherwise)


def pool2d_at(index: Any, x: Any, **attrs: Any) -> Any:
    p, form = pooling_of(x, attrs), attrs["data_format"]
    index = channels_first(index, form)
    i, j = lang.axis(p.rows.kernel), lang.axis(p.columns.kernel)
    if p.largest:
        return lang.max(element_at(x, p, index, i, j, lowest_of(x.dtype), form), over=(i, j))
    total = lang.sum(wide_at(element_at(x, p, index, i, j, 0.0, form)), over=(i, j))
    return lang.cast(total / count_at(p, index, attrs["exclusive"], total.dtype), x.dtype)


def lowest_of(dtype: str) -> float:
    """What the largest of no elements is, by the name of the element type."""
    return -3.3895313892515355e38 if dtype == "bfloat16" else lowest(dtype)


def largest_at(x: Any, p: Pooling, index: Any, form: str) -> tuple[Any, Any]:
    """Row and column within the window at `index` of its first largest element."""
    i, j = lang.axis(p.rows.kernel), lang.axis(p.columns.kernel)
    found = lang.argmax(element_at(x, p, index, i, j, lowest_of(x.dtype), form), over=(i, j))
    return found // j.size, found % j.size


def pool2d_pick_at(index: Any, x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    p, form = pooling_of(x, attrs), attrs["data_format"]
    if not p.largest:
        return pool2d_at(index, source, **attrs)
    index = channels_first(index, form)
    row, column = largest_at(x, p, index, form)
    return element_at(source, p, index, row, column, 0.0, form)


def pool2d_spread_at(index: Any, x: Any, y: Any, source: Any, **attrs: Any) -> Any:
    """The sum over all windows of what each gives to its elements."""
    p, form = pooling_of(x, attrs), attrs["data_format"]
    n, c = lang.axis(p.images), lang.axis(p.channels)
    over = [n, c, lang.axis(p.rows.count), lang.axis(p.columns.count)]
    given = source[in_format(tuple(over), form)]
    if p.largest:
        row, column = largest_at(x, p, over, form)
    else:
        given = given / count_at(p, over, attrs["exclusive"], source.dtype)
        row, column = lang.axis(p.rows.kernel), lang.axis(p.columns.kernel)
    h, w, there = taps_at(p, over, row, column)
    spot = in_format((n, c, lang.select(there, h, 0), lang.select(there, w, 0)), form)
    every = over if p.largest else [*over, row, column]
    return lang.scatter_add(x.shape, spot, lang.select(there, given, 0.0), over=every)


# The operators.


@primitive(
    fixed={"is_test": False, "mkldnn_data_type": "float32", "use_cudnn": True}
    | {"use_mkldnn": False, "use_quantizer": False},
    printed=("use_cudnn",),
)
def pool2d(
    x: Meta,
    *,
    ksize: Ints,
    strides: Ints = (1, 1),
    paddings: Ints = (0, 0),
    ceil_mode: bool = False,
    exclusive: bool = True,
    data_format: str = "NCHW",
    pooling_type: str = "",
    global_pooling: bool = False,
    adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
) -> Meta:
    """The largest element, or the mean, of each window."""
    floating(x)
    p = pooling(
        image_shape(x, "x", data_format),
        ksize,
        strides,
        paddings,
        ceil_mode,
        pooling_type,
        global_pooling,
        adaptive,
        padding_algorithm,
    )
    shape = (p.images, p.channels, p.rows.count, p.columns.count)
    return x.with_shape(in_format(shape, data_format))


pool2d.kernel(pool2d_kernel)
pool2d.lower(pool2d_at)


@primitive
@attributes_of(pool2d)
def pool2d_spread(x: Meta, y: Meta, source: Meta, **attrs: Any) -> Meta:
    """`source` given back to the windows of `x`: all to the first largest, or to each a share."""
    return source.with_shape(x.shape)


@primitive
@attributes_of(pool2d)
def pool2d_pick(x: Meta, y: Meta, source: Meta, **attrs: Any) -> Meta:
    """Of each window of `source` the element where `x` is first the largest, or the mean."""
    return source.with_shape(y.shape)


pool2d_spread.kernel(pool2d_spread_kernel)
pool2d_spread.lower(pool2d_spread_at)
pool2d_pick.kernel(pool2d_pick_kernel)
pool2d_pick.lower(pool2d_pick_at)

pool2d.grad("x")(
    asking(ATTRIBUTES, lambda x, out, dout, attrs: pool2d_spread(x, out, dout, **attrs))
)
pool2d_spread.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool2d_pick(x, y, dout, **attrs))
)
pool2d_pick.grad("source")(
    asking(ATTRIBUTES, lambda x, y, dout, attrs: pool2d_spread(x, y, dout, **attrs))
)
