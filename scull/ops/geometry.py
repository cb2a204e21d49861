"""The sizes of one convolution, and the portions in which its kernels work."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

from scull.core.meta import UNKNOWN, agree
from scull.errors import ArgumentError, ShapeError
from scull.ops.portion import cut, largest, portions
from scull.ops.window import Windows, pair, sides, sliding

ALL = slice(None)
LARGE = 1 << 16  # elements of columns that are worth a way with more steps
TURN = 0.2  # beginnings of a loop that turning an element of images costs
LEAST, MOST = 1 << 14, 1 << 18  # elements of images, and of columns, that are at hand at once
PARTS, SUMS = 8, 1 << 18  # of a batch at most, and elements of all their sums for the filters


class Portion(NamedTuple):
    """Some rows of a band, and for each shift which of them are some of the windows, and which."""

    rows: slice
    met: list[tuple[slice, slice]]


class Band(NamedTuple):
    """What one product of matrices is made of: images from row `start` on, and windows over them.

    They are parts of the windows of a convolution, their elements `taps` along the first inner
    axis: along that axis the first tap of window i - shifts[0] is here, the second of window
    i - shifts[1], and so on. One shift alone is that of all taps.
    """

    start: int
    along: tuple[Windows, ...]
    taps: slice
    shifts: tuple[int, ...]
    portions: list[Portion]


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
    def share(self) -> tuple[int, int]:
        """How many channels and filters a group has."""
        return self.channels // self.groups, self.filters // self.groups

    @cached_property
    def depth(self) -> int:
        """How many elements one filter meets."""
        return self.share[0] * math.prod(self.kernel)

    @cached_property
    def apart(self) -> bool:
        """Whether columns have one element of windows along the first inner axis, not all of them.

        Then filters become as many for each, whose results are added up. So it is where fewer
        elements are moved: those of columns, twice those of results, and of filters.
        """
        (channels, filters), windows = self.share, self.images * math.prod(self.counts)
        first, inner = self.kernel[0], math.prod(self.kernel[1:])
        apart = windows * (channels * inner + 2 * filters * first) + filters * self.depth
        return (
            not self.depthwise
            and windows * self.depth >= LARGE
            and apart < windows * (self.depth + 2 * filters)
        )

    @cached_property
    def padded(self) -> tuple[int, ...]:
        """The size of an image with its padding; none is needed where elements are apart."""
        first, *rest = self.along
        return (first.size if self.apart else first.padded, *[a.padded for a in rest])

    @cached_property
    def is_padded(self) -> bool:
        return self.padded != tuple([a.size for a in self.along])

    @cached_property
    def inside(self) -> tuple[slice, ...]:
        """Of padded images, after axis 0: where those without padding are."""
        first, *rest = [slice(a.before, a.before + a.size) for a in self.along]
        return (ALL, ALL if self.apart else first, *rest)

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
        """The images in portions of which padded copies are made: as many as threads share well."""
        image = self.channels * math.prod(self.padded) + self.filters * math.prod(self.counts)
        count = len(portions(self.images, self.chunk // max(image, 1)))
        return cut(self.images, count if count <= 2 else min(-(-count // 4) * 4, self.images))

    @cached_property
    def work(self) -> int:
        """How many products of two numbers are added up."""
        return self.images * math.prod(self.counts) * self.filters * self.depth

    @cached_property
    def sums(self) -> list[list[slice]]:
        """The batches in parts, a power of two, whose sums for the filters are taken apart.

        There are as many as sums that are at hand at once, whatever the number of threads.
        """
        most = SUMS // max(self.filters * self.depth, 1)
        count = max(1, min(PARTS, len(self.batches), most))
        return [self.batches[few] for few in cut(len(self.batches), 1 << count.bit_length() - 1)]

    @cached_property
    def images_last(self) -> bool:
        """Whether copies have the images last in memory.

        Then the loops that copy columns are long, but to turn images costs as much as some `TURN`
        beginnings of such loops for an element.
        """
        row, images = 1, largest(self.batches)
        for a in reversed(self.along):
            row *= a.count
            if a.kernel > 1:
                break
        taps = math.prod(self.kernel[self.apart :])
        long = images * (row if self.along[-1].stride == 1 else 1)
        return TURN + taps / max(long, 1) < taps / row

    @cached_property
    def parts(self) -> list[tuple[slice, slice]]:
        """The channels and the filters of each group."""
        c, f = self.share
        return [(slice(i * c, i * c + c), slice(i * f, i * f + f)) for i in range(self.groups)]

    @cached_property
    def room(self) -> tuple[int, int]:
        """How many elements the columns of a portion have at most, and their products."""
        columns = products = 0
        for band in self.bands:
            rows = (
                largest([p.rows for p in band.portions])
                * math.prod(self.counts[1:])
                * largest(self.batches)
            )
            kernel = math.prod([a.kernel for a in band.along])
            columns = max(columns, self.share[0] * kernel * rows)
            products = max(products, self.share[1] * len(band.shifts) * rows)
        return columns, products

    @cached_property
    def bands(self) -> list[Band]:
        """The products of matrices that make the convolution."""
        first = self.along[0]
        if not self.apart:
            return [self.band(0, first, ALL, (0,))]
        found: dict[int, list[int]] = {}
        for tap in range(first.kernel):
            offset = tap * first.dilation - first.before
            found.setdefault(offset % first.stride, []).append(tap)
        bands = []
        for start, taps in found.items():
            count = -(-(first.size - start) // first.stride)
            axis = Windows(first.size, 1, first.stride, 0, 0, 1, count)
            step = taps[1] - taps[0] if len(taps) > 1 else 1
            shifts = [(t * first.dilation - first.before) // first.stride for t in taps]
            some = slice(taps[0], taps[-1] + 1, step)
            bands += [self.band(start, axis, some, tuple(shifts))] if count > 0 else []
        return bands

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

    def band(self, start: int, axis: Windows, taps: slice, shifts: tuple[int, ...]) -> Band:
        """A band with `axis` in the place of the first inner one."""
        along = (axis, *self.along[1:])
        each = self.share[0] * math.prod([a.kernel for a in along]) + self.share[1] * len(shifts)
        row = each * math.prod(self.counts[1:]) * largest(self.batches)
        some = [
            Portion(rows, [met(rows, shift, self.counts[0]) for shift in shifts])
            for rows in portions(axis.count, self.chunk // max(row, 1))
        ]
        return Band(start, along, taps, shifts, some)


def met(rows: slice, shift: int, count: int) -> tuple[slice, slice]:
    """Of some rows those that a shift makes one of `count` windows, and which windows."""
    first = max(rows.start, shift)
    last = max(min(rows.stop, count + shift), first)
    return slice(first - rows.start, last - rows.start), slice(first - shift, last - shift)


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
