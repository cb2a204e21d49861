"""Samples of the convolution's transpose."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, samples


def spread(input: Any, filter: Any, bias: Any = None, **attrs: Any) -> Any:
    """Each element of the input by itself: its filters, added where they lie."""
    last, axes = attrs.get("data_format", "NCHW")[-1] == "C", range(filter.ndim - 2)
    x, ones = np.moveaxis(input, -1, 1) if last else input, (1,) * len(axes)
    groups, strides = attrs.get("groups", 1), attrs.get("strides", ones)
    dilations, pads = attrs.get("dilations", ones), attrs.get("paddings", (0,) * len(axes))
    pads = pads if len(pads) == 2 * len(axes) else [n for n in pads for _ in range(2)]
    if attrs.get("padding_algorithm", "EXPLICIT") != "EXPLICIT":
        pads = [0] * len(pads)
    more = attrs.get("output_padding") or (0,) * len(axes)
    n, channels, *sizes = x.shape
    share, *kernel = filter.shape[1:]
    reach = [(sizes[a] - 1) * strides[a] + dilations[a] * (kernel[a] - 1) + 1 for a in axes]
    size = attrs.get("output_size") or [
        reach[a] - pads[2 * a] - pads[2 * a + 1] + more[a] for a in axes
    ]
    out = np.zeros((n, share * groups, *[pads[2 * a] + size[a] + reach[a] for a in axes]))
    for c, *place in np.ndindex(channels, *sizes):
        begin = c // (channels // groups) * share
        spot = [slice(place[a] * strides[a], None) for a in axes]
        window = [slice(None, dilations[a] * (kernel[a] - 1) + 1, dilations[a]) for a in axes]
        target = out[(slice(None), slice(begin, begin + share), *spot)]
        value = x[(slice(None), c, *place)].reshape(-1, *(1,) * (1 + len(axes)))
        target[(..., *window)] += value * filter[c]
    out = out[(..., *[slice(pads[2 * a], pads[2 * a] + size[a]) for a in axes])]
    out = out if bias is None else out + bias.reshape(-1, *ones)
    return np.moveaxis(out, 1, -1) if last else out


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


@samples("conv3d_transpose", reference=spread)
def conv3d_transpose_samples():
    yield call(f32(2, 2, 2, 3, 2), f32(2, 2, 2, 1, 3))
    step = {"strides": (2, 1, 3), "paddings": (1, 0, 1)}
    yield call(f32(1, 2, 3, 2, 2), f32(2, 1, 3, 2, 3), **step)
    yield call(f64(1, 1, 2, 2, 2), f64(1, 2, 3, 2, 3), **step, output_padding=(1, 0, 2))
    yield call(f32(1, 1, 2, 2, 2), f32(1, 2, 3, 2, 3), **step, output_size=(4, 3, 6))
    yield call(f32(1, 4, 2, 2, 2), f32(4, 1, 2, 2, 2), groups=2, dilations=(2, 1, 2))
    last = {"data_format": "NHWC", "paddings": (0, 1, 1, 0, 1, 1)}
    yield call(f32(1, 3, 2, 3, 2), f32(2, 2, 2, 2, 2), **last)
    yield call(f32(1, 1, 2, 2, 2), f32(1, 1, 2, 2, 2), padding_algorithm="VALID")
    yield call(f16(1, 1, 2, 2, 2), f16(1, 1, 2, 2, 2))
    law = "the input has 3 channels and the filter is for 2"
    yield fails(ShapeError, law, f32(1, 3, 2, 2, 2), f32(2, 1, 2, 2, 2))
    law = "filter has 4 axes, 5 are needed"
    yield fails(ShapeError, law, f32(1, 3, 2, 2, 2), f32(3, 1, 2, 2))
    both = (f32(1, 1, 2, 2, 2), f32(1, 1, 2, 2, 2))
    law = "output_size is [3, 3]; three numbers from 0 on are needed"
    yield fails(ArgumentError, law, *both, output_size=(3, 3))
    law = "output_padding is [1, 0]; three numbers from 0 on are needed"
    yield fails(ArgumentError, law, *both, output_padding=(1, 0))


@samples("biased_conv2d_transpose", reference=spread)
def biased_conv2d_transpose_samples():
    yield call(f32(1, 2, 3, 3), f32(2, 3, 2, 2), f32(3), strides=(2, 2))
    yield call(f32(1, 3, 3, 2), f32(2, 3, 2, 2), f32(3), data_format="NHWC")


@samples("biased_depthwise_conv2d_transpose", reference=spread)
def biased_depthwise_conv2d_transpose_samples():
    yield call(f32(1, 2, 3, 3), f32(2, 1, 2, 2), f32(2), groups=2)
