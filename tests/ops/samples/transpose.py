"""Samples of the convolution's transpose."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, samples


def spread(input: Any, filter: Any, bias: Any = None, **attrs: Any) -> Any:
    """Each element of the input by itself: its filters, added where they lie."""
    last = attrs.get("data_format") == "NHWC"
    x = input.transpose(0, 3, 1, 2) if last else input
    groups, (s, r) = attrs.get("groups", 1), attrs.get("strides", (1, 1))
    d, e = attrs.get("dilations", (1, 1))
    pads = attrs.get("paddings", (0, 0))
    top, bottom, left, right = pads if len(pads) == 4 else [n for n in pads for _ in range(2)]
    if attrs.get("padding_algorithm", "EXPLICIT") != "EXPLICIT":
        top = bottom = left = right = 0
    more = attrs.get("output_padding") or (0, 0)
    n, channels, rows, columns = x.shape
    _, share, h, w = filter.shape
    high, wide = (rows - 1) * s + d * (h - 1) + 1, (columns - 1) * r + e * (w - 1) + 1
    size = attrs.get("output_size") or (
        high - top - bottom + more[0],
        wide - left - right + more[1],
    )
    out = np.zeros((n, share * groups, top + size[0] + high, left + size[1] + wide))
    for c, i, j in np.ndindex(channels, rows, columns):
        begin = c // (channels // groups) * share
        place = out[:, begin : begin + share, i * s :, j * r :]
        place[:, :, : d * (h - 1) + 1 : d, : e * (w - 1) + 1 : e] += (
            x[:, c, i, j, None, None, None] * filter[c]
        )
    out = out[:, :, top : top + size[0], left : left + size[1]]
    out = out if bias is None else out + bias[:, None, None]
    return out.transpose(0, 2, 3, 1) if last else out


@samples("conv2d_transpose", reference=spread)
def conv2d_transpose_samples():
    yield call(f32(2, 3, 3, 4), f32(3, 2, 2, 3))
    yield call(f32(1, 2, 3, 3), f32(2, 2, 3, 3), strides=(2, 2), paddings=(1, 0))
    step = {"strides": (2, 3), "paddings": (1, 1)}
    yield call(f64(1, 2, 3, 2), f64(2, 1, 3, 3), **step, output_padding=(1, 2))
    yield call(f32(1, 2, 3, 3), f32(2, 1, 3, 3), **step, output_size=(6, 8))
    yield call(f32(1, 4, 3, 3), f32(4, 1, 2, 2), groups=2, dilations=(2, 1))
    yield call(f32(1, 3, 3, 2), f32(2, 2, 2, 2), data_format="NHWC", paddings=(0, 1, 1, 0))
    yield call(f32(1, 2, 3, 3), f32(2, 1, 2, 2), padding_algorithm="VALID")
    yield call(f32(1, 2, 3, 3), f32(2, 3, 2, 2), f32(3), grad=("input", "filter"))
    yield call(f32(1, 2, 2, 2), f32(2, 1, 2, 2), dilations=(3, 3), output_padding=(2, 1))
    yield call(f16(1, 2, 2, 2), f16(2, 1, 2, 2))
    law = "the input has 3 channels and the filter is for 2"
    yield fails(ShapeError, law, f32(1, 3, 2, 2), f32(2, 1, 2, 2))
    yield fails(ShapeError, "filter has 3 axes", f32(1, 3, 2, 2), f32(3, 1, 2))
    yield fails(DtypeError, "cast one", f32(1, 3, 2, 2), f64(3, 1, 2, 2))
    law = "the output is to have 5 elements along axis 0, outside [3, 4)"
    yield fails(ArgumentError, law, f32(1, 1, 2, 2), f32(1, 1, 2, 2), output_size=(5, 3))


@samples("depthwise_conv2d_transpose", reference=spread)
def depthwise_conv2d_transpose_samples():
    yield call(f32(2, 3, 3, 4), f32(3, 1, 2, 3), groups=3)
    yield call(f32(1, 2, 3, 3), f32(2, 1, 3, 3), groups=2, strides=(2, 2), paddings=(1, 1))
    yield call(f32(1, 3, 3, 2), f32(2, 1, 2, 2), groups=2, data_format="NHWC")


@samples("biased_conv2d_transpose", reference=spread)
def biased_conv2d_transpose_samples():
    yield call(f32(1, 2, 3, 3), f32(2, 3, 2, 2), f32(3), strides=(2, 2))
    yield call(f32(1, 3, 3, 2), f32(2, 3, 2, 2), f32(3), data_format="NHWC")


@samples("biased_depthwise_conv2d_transpose", reference=spread)
def biased_depthwise_conv2d_transpose_samples():
    yield call(f32(1, 2, 3, 3), f32(2, 1, 2, 2), f32(2), groups=2)
