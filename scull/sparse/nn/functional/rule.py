"""Which stored elements meet which places of a kernel: the rules of sparse convolutions.

A rule book lists for each place of the kernel the rows of values that it takes and the rows that
it adds to (Graham, Engelcke, van der Maaten: 3D Semantic Segmentation with Submanifold Sparse
Convolutional Networks). Then a convolution is a product of matrices for each place of the kernel.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from scull.autograd.layer import PyLayer
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.ops.move import transpose
from scull.sparse.place import LARGEST, spots
from scull.sparse.product import narrowed, wide

HUGE = 2**31  # no axis is so long
ROOM = 32  # a table of all places, at most so many for one that is looked up


@dataclass(frozen=True)
class Rules:
    """For each place of a kernel the rows it takes, and those it adds to; how many there are."""

    sources: tuple[Any, ...]
    targets: tuple[Any, ...]
    count: int

    def turned(self, count: int) -> "Rules":
        """The same the other way, to so many rows."""
        return Rules(self.targets, self.sources, count)


def window_counts(sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> list[int]:
    """How many windows there are along each axis."""
    found = []
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        if not all(1 <= value < HUGE for value in (k, s, d)) or p >= HUGE:
            raise ArgumentError(f"a window of {k} places {d} apart, each {s} on, around {p} zeros")
        if n + 2 * p <= d * (k - 1):
            raise ShapeError(f"a window of {k} places {d} apart does not fit {n} and {p} zeros")
        found.append((n + 2 * p - d * (k - 1) - 1) // s + 1)
    return found


def met(places: Any, counts: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """For each place of a kernel which elements it meets, and the numbers of the windows.

    `places` are the image of each element and its coordinates; `counts` the windows of each axis.
    """
    along = []
    for axis, n in enumerate(counts):
        begins = places[axis + 1][None] + padding[axis]
        begins = begins - np.arange(kernel[axis])[:, None] * dilation[axis]
        window, beside = np.divmod(begins, stride[axis])
        along.append(((beside == 0) & (window >= 0) & (window < n), window))
    strides = [math.prod(counts[axis + 1 :]) for axis in range(len(counts))]
    first = places[0].astype(np.int64) * math.prod(counts)
    for spot in product(*map(range, kernel)):
        inside = np.logical_and.reduce([along[a][0][i] for a, i in enumerate(spot)])
        rows = inside.nonzero()[0]
        numbers = first[rows]
        for axis, i in enumerate(spot):
            numbers = numbers + along[axis][1][i][rows] * strides[axis]
        yield rows, numbers


def distinct(lists: Any, places: int) -> Any:
    """Every number of some lists once, rising; all are below `places`."""
    numbers = np.concatenate(lists)
    if places > ROOM * len(numbers):
        return np.unique(numbers)
    marked = np.zeros(places, bool)
    marked[numbers] = True
    return marked.nonzero()[0]


def finder(every: Any, places: int) -> Any:
    """A function that gives where numbers below `places` stand in `every`, which rises; or -1."""
    if places <= ROOM * len(every):
        table = np.full(places, -1, np.int64)
        table[every] = np.arange(len(every))
        return table.__getitem__

    def find(numbers: Any) -> Any:
        found = np.searchsorted(every, numbers)
        found[found == len(every)] = 0
        return np.where(every[found] == numbers, found, -1)

    return find


def reaching(places: Any, sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """The rules of windows that meet any element, their numbers, and how many fit each axis."""
    counts = window_counts(sizes[1:], kernel, stride, padding, dilation)
    total = sizes[0] * math.prod(counts)
    if total > LARGEST:
        raise ArgumentError(f"{counts} windows are more than an int64 can count")
    pairs = list(met(places, counts, kernel, stride, padding, dilation))
    every = distinct([numbers for _, numbers in pairs], total)
    find = finder(every, total)
    targets = tuple(find(numbers) for _, numbers in pairs)
    return Rules(tuple(rows for rows, _ in pairs), targets, len(every)), every, counts


def staying(places: Any, sizes: Any, kernel: Any, dilation: Any) -> Rules:
    """The rules of windows around the elements alone, whose numbers rise."""
    padding = [k // 2 * d for k, d in zip(kernel, dilation, strict=True)]
    window_counts(sizes[1:], kernel, (1,) * len(kernel), padding, dilation)
    every = spots(places, sizes)
    find = finder(every, math.prod(sizes))
    sources, targets = [], []
    for rows, numbers in met(places, sizes[1:], kernel, (1,) * len(kernel), padding, dilation):
        found = find(numbers)
        there = found >= 0
        sources.append(rows[there])
        targets.append(found[there])
    return Rules(tuple(sources), tuple(targets), len(every))


class Met(PyLayer):
    """``out[targets[k]] += x[sources[k]] @ w[k]`` for each place `k` of a kernel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, rules: Rules) -> Tensor:
        ctx.save_for_backward(x, w)
        ctx.rules = rules
        values, parts = wide(x), wide(w)
        out = np.zeros((rules.count, w.shape[2]), values.dtype)
        for rows, to, part in zip(rules.sources, rules.targets, parts, strict=True):
            if len(rows):
                out[to] += values[rows] @ part
        return narrowed(out, x)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, w = ctx.saved_tensor()
        back = ctx.rules.turned(x.shape[0])
        dx = None if x.node is None else Met.apply(dout, transpose(w, perm=(0, 2, 1)), back)
        return dx, None if w.node is None else Paired.apply(x, dout, ctx.rules)


class Paired(PyLayer):
    """``out[k] = x[sources[k]].T @ y[targets[k]]`` for each place `k` of a kernel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, rules: Rules) -> Tensor:
        ctx.save_for_backward(x, y)
        ctx.rules = rules
        pairs, left, right = zip(rules.sources, rules.targets, strict=True), wide(x), wide(y)
        return narrowed(np.stack([left[rows].T @ right[to] for rows, to in pairs]), x)

    @staticmethod
    def backward(ctx: Any, dout: Tensor) -> Any:
        x, y = ctx.saved_tensor()
        back = ctx.rules.turned(x.shape[0])
        dx = None if x.node is None else Met.apply(y, transpose(dout, perm=(0, 2, 1)), back)
        return dx, None if y.node is None else Met.apply(x, dout, ctx.rules)
