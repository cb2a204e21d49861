"""Samples of convolution whose windows reach where offsets say."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples
from tests.ops.samples.grid import read


def lying(like: Any, *, kernel: Any, strides: Any, paddings: Any, dilations: Any, axis: int) -> Any:
    found = np.zeros(like.shape)
    for n, k, h, w in np.ndindex(like.shape):
        tap, place = np.unravel_index(k, kernel)[axis], (h, w)[axis]
        found[n, k, h, w] = place * strides[axis] - paddings[axis] + tap * dilations[axis]
    return found


@samples("window_points", reference=lying)
def window_points_samples():
    attrs = {"strides": (2, 1), "paddings": (1, 0), "dilations": (1, 2)}
    for axis in (0, 1):
        yield call(f32(2, 6, 3, 4), kernel=(2, 3), axis=axis, **attrs)


def deformed(input: Any, offset: Any, filter: Any, mask: Any = None, **attrs: Any) -> Any:
    parts, groups = attrs["deformable_groups"], attrs["groups"]
    images, channels = input.shape[:2]
    outs, depth, rows, columns = filter.shape
    found = np.zeros((images, outs, *offset.shape[2:]))
    for n, o, h, w in np.ndindex(found.shape):
        for c in range(depth):
            channel = o // (outs // groups) * depth + c
            part = channel // (channels // parts)
            for i, j in np.ndindex(rows, columns):
                k = part * rows * columns + i * columns + j
                y = h * attrs["strides"][0] - attrs["paddings"][0] + i * attrs["dilations"][0]
                x = w * attrs["strides"][1] - attrs["paddings"][1] + j * attrs["dilations"][1]
                point = np.array([x + offset[n, 2 * k + 1, h, w], y + offset[n, 2 * k, h, w]])
                value = read(input[n, channel : channel + 1], point, False)[0]
                share = 1 if mask is None else mask[n, k, h, w]
                found[n, o, h, w] += value * share * filter[o, c, i, j]
    return found


FORM = {"strides": (2, 1), "paddings": (1, 0), "dilations": (1, 2)}


@samples("deformable_conv_v1", reference=deformed)
def deformable_conv_v1_samples():
    yield call(f32(1, 2, 4, 4), f32(1, 8, 3, 3), f32(3, 2, 2, 2), unknown_sizes=False)
    given = f64(2, 4, 4, 4), f64(2, 16, 3, 2), f64(2, 2, 2, 2)
    yield call(*given, groups=2, deformable_groups=2, unknown_sizes=False, **FORM)
    law = "offset has 6 channels, 8 are needed"
    yield fails(ShapeError, law, f32(1, 2, 4, 4), f32(1, 6, 3, 3), f32(3, 2, 2, 2))
    law = "offset is for 2 windows along an axis, 3 fit"
    yield fails(ShapeError, law, f32(1, 2, 4, 4), f32(1, 8, 2, 3), f32(3, 2, 2, 2))
    law = "strides is [0, 1]; two numbers from 1 on"
    given = f32(1, 2, 4, 4), f32(1, 8, 3, 3), f32(3, 2, 2, 2)
    yield fails(ArgumentError, law, *given, strides=(0, 1))


@samples("deformable_conv", reference=deformed)
def deformable_conv_samples():
    given = f32(1, 2, 4, 4), f32(1, 8, 3, 3), f32(3, 2, 2, 2), f32(1, 4, 3, 3)
    yield call(*given, unknown_sizes=False)
    law = "mask has 2 channels, 4 are needed"
    yield fails(ShapeError, law, f32(1, 2, 4, 4), f32(1, 8, 3, 3), f32(3, 2, 2, 2), f32(1, 2, 3, 3))
