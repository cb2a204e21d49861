"""Convolution of arrays by products of matrices, and the same back to its operands."""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from scull.core.scratch import scratch
from scull.ops.depthwise import depthwise, depthwise_across, depthwise_back
from scull.ops.geometry import ALL, Band, Geometry, Portion
from scull.ops.portion import portions
from scull.runtime.workers import share

LONG = 32  # positions of an image that are worth a product of their own


# Columns: one for each window, with what a filter meets there. Batches are seen as [channel, ...,
# image]. In memory images come last or second, so that the innermost loops are long.


def images_last(x: Any) -> Any:
    """A view of a batch [image, channel, ...] as [channel, ..., image]."""
    return x.transpose(*range(1, x.ndim), 0)


def laid(buffer: Any, lead: tuple[int, ...], rest: tuple[int, ...], g: Geometry) -> Any:
    """The beginning of a buffer as [*lead, ..., image]; `rest` are the sizes after `lead`."""
    if g.images_last:
        return buffer[: math.prod((*lead, *rest))].reshape(*lead, *rest)
    *inner, images = rest
    found = buffer[: math.prod((*lead, *rest))].reshape(*lead, images, *inner)
    place = len(lead)
    return found.transpose(*range(place), *range(place + 1, found.ndim), place)


def with_zeros(xp: Any, x: Any, g: Geometry) -> Any:
    """A copy of a batch as [channel, ..., image], with zeros around."""
    view = images_last(x)
    rest = (*g.padded, view.shape[-1])
    wide = laid(scratch(xp, len(view) * math.prod(rest), x.dtype), (len(view),), rest, g)
    if g.is_padded:
        wide[...] = 0
    wide[g.inside] = view
    return wide


def windows_of(xp: Any, wide: Any, band: Band) -> Any:
    """A view [channel, ... within a window, ... of windows, image] of padded images."""
    wide, along = wide[:, band.start :], band.along
    c, *steps, n = wide.strides
    shape = (len(wide), *[a.kernel for a in along], *[a.count for a in along], wide.shape[-1])
    within = [step * a.dilation for step, a in zip(steps, along, strict=True)]
    across = [step * a.stride for step, a in zip(steps, along, strict=True)]
    return xp.lib.stride_tricks.as_strided(wide, shape, (c, *within, *across, n))


def buffers(xp: Any, g: Geometry, dtype: Any) -> tuple[Any, Any]:
    """Scratch for the columns of one portion, and for its products with filters."""
    return scratch(xp, g.room[0], dtype), scratch(xp, g.room[1], dtype)


def gathered(buffer: Any, windows: Any, rows: slice, g: Geometry) -> Any:
    """The matrix of columns of a portion of windows."""
    lead = 1 + (windows.ndim - 2) // 2
    few = windows[(ALL,) * lead + (rows,)]
    laid(buffer, few.shape[:lead], few.shape[lead:], g)[...] = few
    return matrix_of(buffer, few.shape[:lead], few.shape[lead:])


def matrix_of(buffer: Any, lead: tuple[int, ...], rest: tuple[int, ...]) -> Any:
    """The beginning of a buffer as the matrix of what is laid there."""
    rows, columns = math.prod(lead), math.prod(rest)
    return buffer[: rows * columns].reshape(rows, columns)


def moved(buffer: Any, source: Any, portion: Portion, g: Geometry) -> Any:
    """The matrix of what windows [filter, ..., image] have for each element of a portion."""
    lead = (len(portion.met), len(source))
    rest = (portion.rows.stop - portion.rows.start, *source.shape[2:])
    for part, (few, windows) in zip(laid(buffer, lead, rest, g), portion.met, strict=True):
        if few.stop - few.start < rest[0]:
            part[:, : few.start] = part[:, few.stop :] = 0
        part[:, few] = source[:, windows]
    return matrix_of(buffer, lead, rest)


def matrices(w: Any, g: Geometry) -> list[list[Any]]:
    """The filters as matrices: for each band those of each group, as many for each shift."""
    if not g.apart:
        return [[w[filters].reshape(-1, g.depth) for _, filters in g.parts]]
    found = []
    for band in g.bands:
        some = w[:, :, band.taps].reshape(*w.shape[:2], len(band.shifts), -1).swapaxes(1, 2)
        each = [some[filters].swapaxes(0, 1) for _, filters in g.parts]
        found.append([m.reshape(m.shape[0] * m.shape[1], -1) for m in each])
    return found


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
    n, groups, channels, size = found.shape
    rows = scratch(xp, (groups, channels, n, size), x.dtype)
    rows[...] = found.transpose(1, 2, 0, 3)
    return rows.reshape(groups, channels, n * size)


def convolve(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution, into `out`; both batches have the channels on axis 1."""
    if not out.size:  # of windows without end, if padding says so
        return
    if g.pointwise:
        multiply(xp, w.reshape(g.groups, -1, w.shape[1]), x, out, g)
        return
    if not g.depthwise:
        by_columns(xp, x, w, out, g)
        return
    for images in g.batches:
        depthwise(xp, x[images], w, out[images], g)


def by_columns(xp: Any, x: Any, w: Any, out: Any, g: Geometry) -> None:
    """The convolution by products of filters and columns."""
    by_images(xp, columns_of, x, w, out, g)


def by_images(xp: Any, step: Any, given: Any, w: Any, found: Any, g: Geometry) -> None:
    """`step` from a few images of one batch to those of another, which threads share."""
    every = matrices(w, g)

    def begin() -> Callable[[slice], None]:
        room = buffers(xp, g, given.dtype)
        return lambda images: step(xp, given[images], every, found[images], g, room)

    share(begin, g.batches, g.work)


def columns_of(
    xp: Any, x: Any, every: list[list[Any]], out: Any, g: Geometry, room: tuple[Any, Any]
) -> None:
    """The same for a few images; `room` is for their columns and products."""
    wide, target, (columns, products) = with_zeros(xp, x, g), images_last(out), room
    total = target
    if g.apart:
        if g.images_last or not out.flags.c_contiguous:
            total = scratch(xp, target.size, x.dtype)
            total = laid(total, target.shape[:1], target.shape[1:], g)
        total[...] = 0
    for band, filters in zip(g.bands, every, strict=True):
        for (own, made), matrix in zip(g.parts, filters, strict=True):
            windows = windows_of(xp, wide[own], band)
            for portion in band.portions:
                given = gathered(columns, windows, portion.rows, g)
                found = matrix_of(products, matrix.shape[:1], given.shape[1:])
                xp.matmul(matrix, given, out=found)
                add_moved(total[made], products, portion, g)
    if total is not target:
        target[...] = total


def add_moved(target: Any, found: Any, portion: Portion, g: Geometry) -> None:
    """Add what a portion has for windows [filter, ..., image] to these; all where none is apart."""
    lead = (len(portion.met), len(target))
    rest = (portion.rows.stop - portion.rows.start, *target.shape[2:])
    for part, (few, windows) in zip(laid(found, lead, rest, g), portion.met, strict=True):
        if g.apart:
            target[:, windows] += part[:, few]
        else:
            target[:, windows] = part


def convolve_back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient of the convolution for its input, into `dx`."""
    if not dout.size:
        dx[...] = 0
        return
    if g.pointwise:
        multiply(xp, w.reshape(g.groups, -1, w.shape[1]).swapaxes(1, 2), dout, dx, g)
        return
    few = w.size <= g.chunk  # to turn many filters takes more than it saves
    if few and g.channels >= g.filters and not g.depthwise and g.reverse:
        convolve(xp, dout, reversed_filters(w, g), dx, g.reverse)
        return
    if not g.depthwise:
        columns_back(xp, dout, w, dx, g)
        return
    for images in g.batches:
        depthwise_back(xp, dout[images], w, dx[images], g)


def reversed_filters(w: Any, g: Geometry) -> Any:
    """The filters of that convolution: windows in reverse, channels and filters exchanged."""
    backwards = w[(ALL, ALL, *(slice(None, None, -1),) * len(g.along))]
    grouped = backwards.reshape(g.groups, g.share[1], *w.shape[1:]).swapaxes(1, 2)
    return grouped.reshape(g.channels, g.share[1], *w.shape[2:])


def columns_back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The gradient by products of filters and what their windows have."""
    by_images(xp, columns_back_of, dout, w, dx, g)


def columns_back_of(
    xp: Any, dout: Any, every: list[list[Any]], dx: Any, g: Geometry, room: tuple[Any, Any]
) -> None:
    """The same for a few images; `room` is for their columns and products."""
    source, (columns, products) = images_last(dout), room
    rest = (*g.padded, source.shape[-1])
    wide = laid(scratch(xp, g.channels * math.prod(rest), dx.dtype), (g.channels,), rest, g)
    wide[...] = 0
    for band, filters in zip(g.bands, every, strict=True):
        for (own, made), matrix in zip(g.parts, filters, strict=True):
            windows = windows_of(xp, wide[own], band)
            for portion in band.portions:
                given = moved(products, source[made], portion, g)
                found = matrix_of(columns, matrix.shape[1:], given.shape[1:])
                xp.matmul(matrix.T, given, out=found)
                add_windows(windows, columns, portion.rows, g)
    images_last(dx)[...] = wide[g.inside]


def add_windows(windows: Any, found: Any, rows: slice, g: Geometry) -> None:
    """Add columns to windows, which overlap: one element of all at a time."""
    lead = 1 + (windows.ndim - 2) // 2
    some = windows[(ALL,) * lead + (rows,)]
    columns = laid(found, some.shape[:lead], some.shape[lead:], g)
    for place in product(*map(range, some.shape[1:lead])):
        some[(ALL, *place)] += columns[(ALL, *place)]


def convolve_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The gradient of the convolution for its filter, into `dw`."""
    if g.pointwise:
        multiply_across(xp, x, dout, dw, g)
        return
    dw[...] = 0
    if not dout.size:
        return
    if g.depthwise:
        for images in g.batches:
            depthwise_across(xp, x[images], dout[images], dw, g)
        return
    totals = across_of_parts(xp, x, dout, dw, g)
    for band, total in zip(g.bands, totals, strict=True):
        taps = dw[:, :, band.taps]
        shape = (g.groups, len(band.shifts), g.share[1], dw.shape[1], -1)
        taps[...] = total.reshape(shape).transpose(0, 2, 3, 1, 4).reshape(taps.shape)


def zeros(xp: Any, dw: Any, band: Band, g: Geometry) -> Any:
    """Zeros [group, filter, depth] for what columns_across adds up.

    They are `dw` itself where that is large and in order. Else filters are the last axis in memory:
    products with few of them are faster so.
    """
    filters = len(band.shifts) * g.share[1]
    if not g.apart and dw.size > g.chunk and dw.flags.c_contiguous:
        return dw.reshape(g.groups, filters, g.depth)
    depth = g.share[0] * math.prod([a.kernel for a in band.along])
    total = scratch(xp, (g.groups, depth, filters), dw.dtype)
    total[...] = 0
    return total.swapaxes(1, 2)


def across_of_parts(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> list[Any]:
    """The sums of columns_across over all images, each part of which has sums of its own."""
    own = [[zeros(xp, dw, band, g) for band in g.bands]]
    for _ in g.sums[1:]:
        own.append([xp.zeros_like(total) for total in own[0]])

    def begin() -> Callable[[int], None]:
        room = buffers(xp, g, x.dtype)
        most = [max(*t.shape[1:], min(g.chunk, t[0].size)) for t in own[0]]
        spare = scratch(xp, max(most, default=0), x.dtype)

        def work(part: int) -> None:
            for images in g.sums[part]:
                columns_across(xp, x[images], dout[images], own[part], g, (*room, spare))

        return work

    share(begin, range(len(own)), g.work)
    for others in own[1:]:
        for total, other in zip(own[0], others, strict=True):
            total += other
    return own[0]


def columns_across(
    xp: Any, x: Any, dout: Any, totals: Sequence[Any], g: Geometry, room: tuple[Any, Any, Any]
) -> None:
    """The products of columns and what their windows have, added to [group, filter, depth]."""
    wide, source, (columns, products, spare) = with_zeros(xp, x, g), images_last(dout), room
    for band, total in zip(g.bands, totals, strict=True):
        for (own, made), sums in zip(g.parts, total, strict=True):
            windows = windows_of(xp, wide[own], band)
            for portion in band.portions:
                left = moved(products, source[made], portion, g)
                right = gathered(columns, windows, portion.rows, g)
                if sums.flags.c_contiguous:
                    add_product(xp, left, right.T, sums, spare)
                else:
                    add_product(xp, right, left.T, sums.T, spare)


def add_product(xp: Any, left: Any, right: Any, sums: Any, spare: Any) -> None:
    """Add a product of matrices, a few rows at a time, which `spare` has room for."""
    for few in portions(len(sums), len(spare) // max(sums.shape[1], 1)):
        found = spare[: sums[few].size].reshape(sums[few].shape)
        sums[few] += xp.matmul(left[few], right, out=found)
