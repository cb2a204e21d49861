"""Convolution of arrays where each channel is a group, and the same back to its operands.

Products have few elements, so each tap is one multiplication of whole images. Channels are the last
axis, beside the last inner one, so that the innermost loops are long.
"""

from typing import Any

from scull.core.scratch import scratch
from scull.ops.geometry import Geometry


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


def depthwise_back(xp: Any, dout: Any, w: Any, dx: Any, g: Geometry) -> None:
    """The same back to the input."""
    wide = scratch(xp, (len(dx), *g.padded, g.channels), dx.dtype)
    wide[...] = 0
    shape = (dout.shape[0], *g.counts, g.channels)
    given, term = scratch(xp, shape, wide.dtype), scratch(xp, shape, wide.dtype)
    row = scratch(xp, shape[-2:], wide.dtype)
    for filters, elements in by_filter(w, g):
        given[...] = channels_last(dout[:, filters])
        for place, spot in g.taps:
            row[...] = elements[place]
            wide[spot] += xp.multiply(given, row, out=term)
    channels_last(dx)[...] = wide[g.inside]


def depthwise_across(xp: Any, x: Any, dout: Any, dw: Any, g: Geometry) -> None:
    """The same back to the filter."""
    wide, axes = with_channels_last(xp, x, g), list(range(x.ndim))
    given = scratch(xp, (dout.shape[0], *g.counts, g.channels), wide.dtype)
    for filters, elements in by_filter(dw, g):
        given[...] = channels_last(dout[:, filters])
        for place, spot in g.taps:
            elements[place] += xp.einsum(wide[spot], axes, given, axes, axes[-1:])
