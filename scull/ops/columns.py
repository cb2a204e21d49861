"""Convolution of arrays by products of matrices, and the same back to its operands."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from scull.core.meta import UNKNOWN, agree
from scull.core.scratch import scratch
from scull.errors import ArgumentError, ShapeError
from scull.ops.window import Windows, pair, sides, sliding

LETTERS = "dhw"  # inner axes, as einsum spells them
ALL = slice(None)
LEAST, MOST = 1 << 14, 1 << 18  # elements of columns that one product takes: they stay in cache


@dataclass(frozen=True)
class Geometry:
    """The sizes of one convolution, with the channels on axis 1."""

    images: int
    channels: int
    filters: int
    groups: int
    along: tuple[Windows, ...]  # the inner axes
    pointwise: bool  # a product of matrices as it stands

    @cached_property
    def depthwise(self) -> bool:
        return self.channels == self.groups > 1

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many windows there are along each inner axis."""
        return tuple([a.count for a in self.along])

    @cached_property
    def kernel(self) -> tuple[int, ...]:
        """The size of a window."""
        return tuple([a.kernel for a in self.along])

    @cached_property
    def depth(self) -> int:
        """How many elements one filter meets."""
        return self.channels // self.groups * math.prod(self.kernel)

    @cached_property
    def padded(self) -> tuple[int, ...]:
        """The size of an image with its padding."""
        return tuple([a.padded for a in self.along])

    @cached_property
    def is_padded(self) -> bool:
        return any(a.padded > a.size for a in self.along)

    @cached_property
    def inside(self) -> tuple[slice, ...]:
        """Of padded images [channel, ..., image]: where those without padding are."""
        return (ALL, *[slice(a.before, a.before + a.size) for a in self.along])

    @cached_property
    def taps(self) -> list[tuple[tuple[Any, ...], tuple[slice, ...]]]:
        """The elements of a window after axis 0, and where they are in padded images."""
        places = product(*[range(n) for n in self.kernel])
        spots = product(*[[a.tap(i) for i in range(a.kernel)] for a in self.along])
        return [((ALL, *place), (ALL, *spot)) for place, spot in zip(places, spots, strict=True)]

    @cached_property
    def chunk(self) -> int:
        """How many elements of columns are at hand at once: fewer than operands have, if many."""
        image = self.channels * math.prod([a.size for a in self.along])
        image += self.filters * math.prod(self.counts)
        operands = self.images * image + self.filters * self.depth
        return min(MOST, max(LEAST, 3 * operands // 4))

    @cached_property
    def batches(self) -> list[slice]:
        """The images in portions of which padded copies are made."""
        image = self.channels * math.prod(self.padded)
        return portions(self.images, self.chunk // max(2 * image, 1))

    @cached_property
    def rows(self) -> list[slice]:
        """The windows along the first inner axis in portions, for a portion of images."""
        row = self.depth * math.prod(self.counts[1:]) * largest(self.batches)
        return portions(self.counts[0], self.chunk // max(row, 1))

    @cached_property
    def most(self) -> int:
        """How many windows a portion has at most."""
        return largest(self.rows) * math.prod(self.counts[1:]) * largest(self.batches)

    def windows(self, rows: slice) -> tuple[slice, ...]:
        """Of a view of all windows: those of a portion of the first inner axis."""
        return (ALL,) * (1 + len(self.along)) + (rows,)

    @cached_property
    def reverse(self) -> "Geometry | None":
        """The convolution of outputs that gives back inputs; none where windows skip elements."""
        along = []
        for a in self.along:
            reach = (a.kernel - 1) * a.dilation
            if a.stride != 1 or a.before > reach:
                return None
            after = a.size + a.before - a.count
            along.append(Windows(a.count, a.kernel, 1, reach - a.before, after, a.dilation, a.size))
        return Geometry(self.images, self.filters, self.channels, self.groups, tuple(along), False)


def portions(size: int, most: int) -> list[slice]:
    """`size` elements in portions of nearly one size, of at most `most` unless that is below 1."""
    if size <= most:
        return [slice(0, size)]
    count = -(-size // max(most, 1))
    return [slice(i * size // count, (i + 1) * size // count) for i in range(count)]


def largest(portions: list[slice]) -> int:
    """How many elements the largest portion has."""
    return max([p.stop - p.start for p in portions], default=0)


@lru_cache(1024)
def geometry(
    image: tuple[int, ...],
    filter: tuple[int, ...],
    strides: tuple[int, ...],
    paddings: tuple[int, ...],
    padding_algorithm: str,
    dilations: tuple[int, ...],
    groups: int,
) -> Geometry:
    """The sizes for an `image` with the channels on axis 1, or the mistake in them."""
    axes = len(image) - 2
    if len(filter) != axes + 2:
        raise ShapeError(f"filter has {len(filter)} axes, {axes + 2} are needed")
    if groups < 1:
        raise ArgumentError(f"groups is {groups}, at least 1 is needed")
    strides, dilations = (
        pair("strides", strides, axes),
        pair("dilations", dilations, axes),
    )
    pads = sides(image[2:], filter[2:], strides, paddings, padding_algorithm)
    if padding_algorithm == "SAME":
        dilations = (1,) * axes
    channels = UNKNOWN if filter[1] == -1 else filter[1] * groups
    law = "the input has {} channels, the filter's channels times groups are {}"
    channels = agree(image[1], channels, law)
    if filter[0] != -1 and filter[0] % groups:
        raise ShapeError(
            f"the filter makes {filter[0]} channels, which {groups} groups do not divide"
        )
    along = tuple(
        sliding(*axis) for axis in zip(image[2:], filter[2:], strides, pads, dilations, strict=True)
    )
    plain = all(w.kernel == w.stride == 1 and w.before == w.after == 0 for w in along)
    return Geometry(image[0], channels, filter[0], groups, along, plain)


# Columns: one for each window, with what a filter meets there. Images are the last axis, so that
# the innermost loops are long however small an image is.


def with_images_last(xp: Any, x: Any, g: Geometry) -> Any:
    """`x` as [channel, ..., image], with zeros around."""
    wide = scratch(xp, (x.shape[1], *g.padded, x.shape[0]), x.dtype)
    if g.is_padded:
        wide[...] = 0
    wide[g.inside] = images_last(x)
    return wide


def images_last(x: Any) -> Any:
    """A view of a batch [image, channel, ...] as [channel, ..., image]."""
    return x.transpose(*range(1, x.ndim), 0)


def images_first(x: Any) -> Any:
    """The view back."""
    return x.transpose(x.ndim - 1, *range(x.ndim - 1))


def windows_of(xp: Any, wide: Any, g: Geometry) -> Any:
    """A view [channel, ... within a window, ... of windows, image] of padded images."""
    c, *steps, n = wide.strides
    shape = (wide.shape[0], *g.kernel, *g.counts, wide.shape[-1])
    within = [step * a.dilation for step, a in zip(steps, g.along, strict=True)]
    across = [step * a.stride for step, a in zip(steps, g.along, strict=True)]
    return xp.lib.stride_tricks.as_strided(wide, shape, (c, *within, *across, n))


def buffers(xp: Any, g: Geometry, dtype: Any) -> tuple[Any, Any]:
    """Scratch for the columns of one portion, and for its products with filters."""
    products = scratch(xp, g.filters // g.groups * g.most, dtype)
    return scratch(xp, g.depth * g.most, dtype), products


def gathered(buffer: Any, windows: Any, rows: slice, g: Geometry) -> Any:
    """The matrix of columns of a portion of windows."""
    return copied(buffer, windows[g.windows(rows)]).reshape(g.depth, -1)


def copied(buffer: Any, view: Any) -> Any:
    """`view` written side by side into `buffer`."""
    found = buffer[: view.size].reshape(view.shape)
    found[...] = view
    return found


def parts(g: Geometry) -> list[tuple[slice, slice]]:
    """The channels and the filters of each group."""
    c, f = g.channels // g.groups, g.filters // g.groups
    return [(slice(i * c, i * c + c), slice(i * f, i * f + f)) for i in range(g.groups)]


def by_group(x: Any, g: Geometry) -> Any:
    """A batch as [image, group, channel of the group, position]."""
    return x.reshape(x.shape[0], g.groups, x.shape[1] // g.groups, -1)


def convolve(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution, into `out`; both batches have the channels on axis 1."""
    if g.pointwise:
        found = xp.matmul(w.reshape(g.groups, -1, w.shape[1]), by_group(x, g))
        out[...] = found.reshape(out.shape)
        return
    forward = depthwise if g.depthwise else by_columns
    for images in g.batches:
        forward(xp, x[images], w, out[images], g)


def by_columns(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution of a few images."""
    wide, (columns, filtered) = with_images_last(xp, x, g), buffers(xp, g, x.dtype)
    for channels, filters in parts(g):
        matrix = w[filters].reshape(filters.stop - filters.start, -1)
        windows, target = windows_of(xp, wide[channels], g), images_last(out[:, filters])
        for r in g.rows:
            part = target[:, r]
            found = filtered[: part.size].reshape(matrix.shape[0], -1)
            xp.matmul(matrix, gathered(columns, windows, r, g), out=found)
            part[...] = found.reshape(part.shape)


def convolve_back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient of the convolution for its input, into `dx`."""
    if g.pointwise:
        matrices = w.reshape(g.groups, -1, w.shape[1]).swapaxes(1, 2)
        dx[...] = xp.matmul(matrices, by_group(dout, g)).reshape(dx.shape)
        return
    if g.channels >= g.filters and not g.depthwise and g.reverse:
        convolve(xp, dout, reverse_filters(w, g), dx, g.reverse)
        return
    for images in g.batches:
        back(xp, dout[images], w, dx[images], g)


def back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient for a few images."""
    wide = scratch(xp, (g.channels, *g.padded, dx.shape[0]), dx.dtype)
    wide[...] = 0
    (depthwise_back if g.depthwise else columns_back)(xp, wide, dout, w, g)
    dx[...] = images_first(wide[g.inside])


def reverse_filters(w: Any, g: Geometry) -> Any:
    """The filters of that convolution: windows in reverse, channels and filters exchanged."""
    backwards = w[(ALL, ALL, *(slice(None, None, -1),) * len(g.along))]
    grouped = backwards.reshape(g.groups, -1, *w.shape[1:]).swapaxes(1, 2)
    return grouped.reshape(g.channels, -1, *w.shape[2:])


def columns_back(xp: Any, wide: Any, dout: Any, w: Any, g: Geometry) -> None:
    """The gradient of the convolution for its padded input, added to `wide`."""
    columns, filtered = buffers(xp, g, wide.dtype)
    for channels, filters in parts(g):
        matrix = w[filters].reshape(filters.stop - filters.start, -1).T
        source, target = images_last(dout[:, filters]), wide[channels]
        for r in g.rows:
            given = copied(filtered, source[:, r]).reshape(matrix.shape[1], -1)
            found = columns[: matrix.shape[0] * given.shape[1]].reshape(matrix.shape[0], -1)
            xp.matmul(matrix, given, out=found)
            found = found.reshape(-1, *g.kernel, r.stop - r.start, *g.counts[1:], wide.shape[-1])
            for place, spot in g.taps:
                target[spot][:, r] += found[place]


def convolve_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The gradient of the convolution for its filter, into `dw`."""
    if g.pointwise:
        products = xp.matmul(by_group(dout, g), by_group(x, g).swapaxes(-1, -2))
        dw[...] = xp.add.reduce(products, axis=0).reshape(dw.shape)
        return
    dw[...] = 0
    across = depthwise_across if g.depthwise else columns_across
    for images in g.batches:
        across(xp, with_images_last(xp, x[images], g), dout[images], dw, g)


def columns_across(xp: Any, wide: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The gradient for the filter from a few padded images, added to `dw`."""
    columns, filtered = buffers(xp, g, wide.dtype)
    for channels, filters in parts(g):
        windows, source = windows_of(xp, wide[channels], g), images_last(dout[:, filters])
        target = dw[filters]
        for r in g.rows:
            given = copied(filtered, source[:, r]).reshape(source.shape[0], -1)
            found = xp.matmul(given, gathered(columns, windows, r, g).T)
            target += found.reshape(target.shape)


# One channel a group: products of few elements, so each tap is one multiplication of whole images.


def by_channel(x: Any, g: Geometry) -> Any:
    """A batch of outputs as [filter of the channel, channel, ..., image]."""
    x = x.reshape(x.shape[0], g.channels, -1, *x.shape[2:])
    return x.transpose(2, 1, *range(3, x.ndim), 0)


def tap_filters(w: Any, g: Geometry, place: tuple[Any, ...]) -> Any:
    """The element at `place` of the filters as [filter of the channel, channel, 1, ..., 1]."""
    found = w[:, 0][place].reshape(g.channels, -1).T
    return found[(ALL, ALL, *(None,) * (w.ndim - 1))]


def depthwise(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution of a few images where each channel is a group."""
    wide, multiple = with_images_last(xp, x, g), g.filters // g.channels
    shape = (multiple, g.channels, *g.counts, x.shape[0])
    total, term = scratch(xp, shape, x.dtype), scratch(xp, shape, x.dtype)
    total[...] = 0
    for place, spot in g.taps:
        total += xp.multiply(wide[spot], tap_filters(w, g, place), out=term)
    order = (total.ndim - 1, 1, 0, *range(2, total.ndim - 1))
    out[...] = total.transpose(order).reshape(out.shape)


def depthwise_back(xp: Any, wide: Any, dout: Any, w: Any, g: Geometry) -> None:
    """The same back to the padded input `wide`."""
    source = by_channel(dout, g)
    given, term = (scratch(xp, source.shape, wide.dtype) for _ in range(2))
    given[...] = source
    for place, spot in g.taps:
        xp.multiply(given, tap_filters(w, g, place), out=term)
        wide[spot] += xp.add.reduce(term, axis=0)


def depthwise_across(xp: Any, wide: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The same back to the filter."""
    source = by_channel(dout, g)
    given = scratch(xp, source.shape, wide.dtype)
    given[...] = source
    axes = f"c{LETTERS[-len(g.along) :]}n"
    for place, spot in g.taps:
        dw[:, 0][place] += xp.einsum(f"{axes},m{axes}->cm", wide[spot], given).reshape(-1)
