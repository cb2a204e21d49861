"""Convolution of arrays by products of matrices, and the same back to its operands."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from scull.core.meta import UNKNOWN, agree
from scull.core.scratch import scratch
from scull.errors import ArgumentError, ShapeError
from scull.ops.portion import largest, portions
from scull.ops.window import Windows, pair, sides, sliding

ALL = slice(None)
LEAST, MOST = 1 << 14, 1 << 18  # elements of columns that one product takes: they stay in cache
LONG = 32  # positions of an image that are worth a product of their own


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
        """Of padded images, after axis 0: where those without padding are."""
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


def multiply(xp: Any, matrices: Any, x: Any, out: Any, g: Geometry) -> None:
    """The product of a matrix for each group and every image of `x`, into `out`."""
    target = by_group(out, g)
    if xp.may_share_memory(target, out):
        xp.matmul(matrices, by_group(x, g), out=target)
        return
    for few in portions(len(x), g.chunk * len(x) // max(out.size, 1)):
        out[few] = xp.matmul(matrices, by_group(x[few], g)).reshape(out[few].shape)


def multiply_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The sum over images of the products of `dout` and `x` by groups, into `dw`."""
    total = scratch(xp, (g.groups, g.filters // g.groups, g.channels // g.groups), dw.dtype)
    dw[...] = 0
    many = g.chunk * len(x) // max(x.size + dout.size, 1)
    for few in portions(len(x), 1 if math.prod(g.counts) >= LONG else many):
        a, b = (in_rows(xp, v[few], g) for v in (dout, x))
        xp.matmul(a, b.swapaxes(1, 2), out=total)
        dw += total.reshape(dw.shape)


def in_rows(xp: Any, x: Any, g: Geometry) -> Any:
    """A batch as [group, channel of the group, image and position]; a copy of several images."""
    found = by_group(x, g)
    if len(x) == 1:
        return found[0]
    rows = copied(scratch(xp, x.size, x.dtype), found.transpose(1, 2, 0, 3))
    return rows.reshape(*rows.shape[:2], rows.shape[2] * rows.shape[3])


def convolve(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution, into `out`; both batches have the channels on axis 1."""
    if g.pointwise:
        multiply(xp, w.reshape(g.groups, -1, w.shape[1]), x, out, g)
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
        multiply(xp, w.reshape(g.groups, -1, w.shape[1]).swapaxes(1, 2), dout, dx, g)
        return
    few = w.size <= g.chunk  # to turn many filters takes more than it saves
    if few and g.channels >= g.filters and not g.depthwise and g.reverse:
        convolve(xp, dout, reverse_filters(xp, w, g), dx, g.reverse)
        return
    for images in g.batches:
        back(xp, dout[images], w, dx[images], g)


def back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient for a few images."""
    images, channels = ((dx.shape[0],), (g.channels,))
    first, last = (images, channels) if g.depthwise else (channels, images)
    wide = scratch(xp, (*first, *g.padded, *last), dx.dtype)
    wide[...] = 0
    (depthwise_back if g.depthwise else columns_back)(xp, wide, dout, w, g)
    (channels_last if g.depthwise else images_last)(dx)[...] = wide[g.inside]


def reverse_filters(xp: Any, w: Any, g: Geometry) -> Any:
    """The filters of that convolution: windows in reverse, channels and filters exchanged."""
    backwards = w[(ALL, ALL, *(slice(None, None, -1),) * len(g.along))]
    sizes = (g.groups, g.filters // g.groups, *w.shape[1:])
    grouped = backwards.reshape(sizes).swapaxes(1, 2)
    return copied(scratch(xp, w.size, w.dtype), grouped).reshape(g.channels, -1, *w.shape[2:])


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
        multiply_across(xp, x, dout, dw, g)
        return
    if g.depthwise:
        dw[...] = 0
        for images in g.batches:
            depthwise_across(xp, x[images], dout[images], dw, g)
        return
    shape = g.groups, g.filters // g.groups, g.depth
    total = dw.reshape(shape)
    turned = dw.size <= g.chunk or not dw.flags.c_contiguous
    if turned:
        total = scratch(xp, (shape[0], shape[2], shape[1]), dw.dtype)
    total[...] = 0
    for images in g.batches:
        columns_across(xp, x[images], dout[images], total, g, turned)
    if turned:
        dw[...] = total.swapaxes(1, 2).reshape(dw.shape)


def columns_across(xp: Any, x: Any, dout: Any, total: Any, g: Geometry, turned: bool) -> None:
    """The gradient for the filter from a few images, added to `total`: [group, filter, depth].

    Products with few filters are faster where these are their columns: then it is `turned`.
    """
    wide = with_images_last(xp, x, g)
    columns, filtered = buffers(xp, g, wide.dtype)
    spare = scratch(xp, max(total.shape[2], min(g.chunk, total[0].size)), wide.dtype)
    for group, (channels, filters) in enumerate(parts(g)):
        windows, source = windows_of(xp, wide[channels], g), images_last(dout[:, filters])
        for r in g.rows:
            given = copied(filtered, source[:, r]).reshape(source.shape[0], -1)
            matrix = gathered(columns, windows, r, g)
            left, right = (matrix, given.T) if turned else (given, matrix.T)
            for few in portions(left.shape[0], spare.size // max(total.shape[2], 1)):
                part = total[group, few]
                found = spare[: part.size].reshape(part.shape)
                part += xp.matmul(left[few], right, out=found)


# One channel a group: products of few elements, so each tap is one multiplication of whole images.
# Channels are the last axis, beside the last inner one, so that the innermost loops are long.


def channels_last(x: Any) -> Any:
    """A view of a batch [image, channel, ...] as [image, ..., channel]."""
    return x.transpose(0, *range(2, x.ndim), 1)


def with_channels_last(xp: Any, x: Any, g: Geometry) -> Any:
    """`x` as [image, ..., channel], with zeros around."""
    wide = scratch(xp, (x.shape[0], *g.padded, x.shape[1]), x.dtype)
    if g.is_padded:
        wide[...] = 0
    wide[g.inside] = channels_last(x)
    return wide


def by_filter(w: Any, g: Geometry) -> list[tuple[slice, Any]]:
    """The filters that are first, second, ... of their channel: which, and as [channel, ...]."""
    step = g.filters // g.channels
    return [(slice(i, None, step), w[i::step, 0]) for i in range(step)]


def depthwise(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution of a few images where each channel is a group."""
    wide = with_channels_last(xp, x, g)
    shape = (x.shape[0], *g.counts, g.channels)
    total, term = scratch(xp, shape, x.dtype), scratch(xp, shape, x.dtype)
    row = scratch(xp, shape[-2:], x.dtype)
    for filters, elements in by_filter(w, g):
        total[...] = 0
        for place, spot in g.taps:
            row[...] = elements[place]
            total += xp.multiply(wide[spot], row, out=term)
        channels_last(out[:, filters])[...] = total


def depthwise_back(xp: Any, wide: Any, dout: Any, w: Any, g: Geometry) -> None:
    """The same back to the padded input `wide`, which has the channels last."""
    shape = (dout.shape[0], *g.counts, g.channels)
    given, term = scratch(xp, shape, wide.dtype), scratch(xp, shape, wide.dtype)
    row = scratch(xp, shape[-2:], wide.dtype)
    for filters, elements in by_filter(w, g):
        given[...] = channels_last(dout[:, filters])
        for place, spot in g.taps:
            row[...] = elements[place]
            wide[spot] += xp.multiply(given, row, out=term)


def depthwise_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The same back to the filter."""
    wide, axes = with_channels_last(xp, x, g), list(range(x.ndim))
    given = scratch(xp, (dout.shape[0], *g.counts, g.channels), wide.dtype)
    for filters, elements in by_filter(dw, g):
        given[...] = channels_last(dout[:, filters])
        for place, spot in g.taps:
            elements[place] += xp.einsum(wide[spot], axes, given, axes, axes[-1:])
