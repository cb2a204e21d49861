"""The windows of pooling: where they lie along the inner axes, how many elements they have."""

import math
from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from scull.errors import ArgumentError, ShapeError
from scull.ops.portion import pieces
from scull.ops.window import Windows, image_shape, pair, sides, sliding

WINDOWS = (
    "ksize",
    "strides",
    "paddings",
    "ceil_mode",
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

    def pieces(self) -> Iterator[tuple[slice, slice]]:
        """Images and channels in portions of which padded copies are made."""
        return pieces(self.images, self.channels, math.prod([a.padded for a in self.along]))


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
            sliding(*axis, 1, ceil_mode, cut=True)
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
