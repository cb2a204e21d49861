"""Samples of convolutions."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f16, f32, f64, fails, i32, samples, strided


def sides_of(
    x: Any, w: Any, attrs: dict[str, Any]
) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """The padding before and after each axis, and the dilations, by the text of the law."""
    axes = w.ndim - 2
    strides, paddings = attrs["strides"] or (1,) * axes, attrs["paddings"] or (0,) * axes
    algorithm, dilations = attrs["padding_algorithm"], attrs["dilations"] or (1,) * axes
    if algorithm == "SAME":
        needed = [
            max((int(np.ceil(n / s)) - 1) * s + k - n, 0)
            for n, k, s in zip(x.shape[2:], w.shape[2:], strides, strict=True)
        ]
        return [(n // 2, n - n // 2) for n in needed], (1,) * axes
    if algorithm == "VALID":
        return [(0, 0)] * axes, dilations
    if len(paddings) == 2 * axes:
        return list(zip(paddings[::2], paddings[1::2], strict=True)), dilations
    return [(n, n) for n in paddings], dilations


def reference(
    input: Any,
    filter: Any,
    *,
    strides: Any = (),
    paddings: Any = (),
    padding_algorithm: str = "EXPLICIT",
    dilations: Any = (),
    groups: int = 1,
    data_format: str = "NCHW",
) -> Any:
    """Each output by itself: a sum of products over one window."""
    x = np.moveaxis(input, -1, 1) if data_format[-1] == "C" else input
    w, axes = filter, range(filter.ndim - 2)
    attrs = {"strides": strides, "paddings": paddings, "dilations": dilations}
    pads, dilations = sides_of(x, w, attrs | {"padding_algorithm": padding_algorithm})
    strides = strides or (1,) * len(axes)
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    reach = [dilations[a] * (w.shape[2 + a] - 1) + 1 for a in axes]
    sizes = [(x.shape[2 + a] - reach[a]) // strides[a] + 1 for a in axes]
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    share, made = w.shape[1], w.shape[0] // groups
    for f, *place in np.ndindex(w.shape[0], *sizes):
        starts, first = [n * s for n, s in zip(place, strides, strict=True)], f // made * share
        window = [slice(starts[a], starts[a] + reach[a], dilations[a]) for a in axes]
        seen = x[(slice(None), slice(first, first + share), *window)]
        out[(slice(None), f, *place)] = (seen * w[f]).sum(tuple(range(1, x.ndim)))
    return np.moveaxis(out, 1, -1) if data_format[-1] == "C" else out


@samples("conv2d", reference=reference)
def conv2d_samples():
    yield call(f32(2, 3, 5, 4), f32(4, 3, 3, 2))
    yield call(f64(1, 2, 4, 4), f64(2, 2, 3, 3), strides=(2, 1), paddings=(1, 2))
    yield call(f32(1, 2, 5, 5), f32(2, 2, 2, 2), paddings=(0, 1, 2, 0), dilations=(2, 1))
    yield call(f32(1, 4, 5, 5), f32(6, 2, 3, 3), groups=2, strides=(2, 2), padding_algorithm="SAME")
    yield call(f32(1, 2, 5, 5), f32(2, 2, 3, 3), padding_algorithm="VALID", paddings=(1, 1))
    yield call(f32(2, 4, 4, 3), f32(2, 3, 3, 3), data_format="NHWC", paddings=(1, 1))
    yield call(f32(2, 4, 3, 3), f32(6, 2, 1, 1), groups=2, name_of_case="one product of matrices")
    yield call(f32(2, 3, 4, 4), f32(6, 1, 3, 3), groups=3, name_of_case="a channel a group")
    yield call(strided(f32(1, 2, 4, 4)), strided(f32(2, 2, 3, 3)))
    yield call(f32(0, 2, 4, 4), f32(2, 2, 3, 3))
    yield call(f16(1, 2, 4, 4), f16(2, 2, 3, 3))
    yield call(f32(1, 1, 3, 3), f32(1, 1, 3, 3), name_of_case="one window")
    law = "the input has 3 channels, the filter's channels times groups are 4"
    yield fails(ShapeError, law, f32(1, 3, 4, 4), f32(2, 2, 3, 3), groups=2)
    law = "the filter makes 3 channels, which 2 groups do not divide"
    yield fails(ShapeError, law, f32(1, 4, 4, 4), f32(3, 2, 3, 3), groups=2)
    law = "a window of 5 does not fit into 4 with padding [0, 0]"
    yield fails(ShapeError, law, f32(1, 2, 4, 4), f32(2, 2, 5, 5))
    yield fails(ShapeError, "input has 3 axes, 4 are needed", f32(2, 4, 4), f32(2, 2, 3, 3))
    yield fails(ShapeError, "filter has 3 axes, 4 are needed", f32(1, 2, 4, 4), f32(2, 2, 3))
    law = "input is float32 and filter is float64; cast one"
    yield fails(DtypeError, law, f32(1, 2, 4, 4), f64(2, 2, 3, 3))
    law = "not of floating-point elements"
    yield fails(DtypeError, law, i32(1, 2, 4, 4), i32(2, 2, 3, 3))
    law = "strides is [0, 1]; two numbers from 1 on are needed"
    yield fails(ArgumentError, law, f32(1, 2, 4, 4), f32(2, 2, 3, 3), strides=(0, 1))
    law = "paddings has 3 numbers; 2 or 4 are needed"
    yield fails(ArgumentError, law, f32(1, 2, 4, 4), f32(2, 2, 3, 3), paddings=(0, 1, 1))
    law = "padding_algorithm is 'FULL', not one of EXPLICIT, SAME, VALID"
    yield fails(ArgumentError, law, f32(1, 2, 4, 4), f32(2, 2, 3, 3), padding_algorithm="FULL")
    law = "data_format is 'CHWN', not one of NCHW, NHWC"
    yield fails(ArgumentError, law, f32(1, 2, 4, 4), f32(2, 2, 3, 3), data_format="CHWN")
    law = "groups is 0, at least 1 is needed"
    yield fails(ArgumentError, law, f32(1, 2, 4, 4), f32(2, 2, 3, 3), groups=0)


@samples("depthwise_conv2d", reference=reference)
def depthwise_conv2d_samples():
    yield call(f32(2, 3, 4, 4), f32(3, 1, 3, 3), groups=3)
    yield call(f32(1, 2, 5, 5), f32(4, 1, 3, 3), groups=2, strides=(2, 2), paddings=(1, 1))
    yield call(f32(1, 4, 4, 2), f32(2, 1, 2, 2), groups=2, data_format="NHWC", dilations=(2, 2))


@samples("conv3d", reference=reference)
def conv3d_samples():
    yield call(f32(2, 3, 4, 3, 4), f32(4, 3, 2, 3, 2))
    step = {"strides": (2, 1, 2), "paddings": (1, 0, 1)}
    yield call(f64(1, 2, 4, 3, 4), f64(2, 2, 3, 3, 2), **step)
    around = (0, 1, 1, 0, 0, 2)
    yield call(f32(1, 1, 4, 3, 4), f32(2, 1, 2, 2, 2), paddings=around, dilations=(2, 1, 2))
    same = {"padding_algorithm": "SAME", "strides": (2, 2, 1)}
    yield call(f32(1, 4, 3, 4, 3), f32(2, 2, 2, 2, 2), groups=2, **same)
    yield call(f32(1, 2, 3, 2, 2), f32(2, 2, 2, 1, 2), padding_algorithm="VALID")
    last = {"data_format": "NDHWC"}
    yield call(f32(1, 3, 4, 3, 2), f32(2, 2, 3, 3, 3), paddings=(1, 1, 1), **last)
    yield call(f32(2, 2, 3, 2, 3), f32(4, 1, 1, 1, 1), groups=2, name_of_case="one product")
    yield call(f32(2, 2, 3, 3, 3), f32(4, 1, 2, 2, 2), groups=2, name_of_case="a channel a group")
    yield call(strided(f32(1, 1, 2, 3, 4)), strided(f32(1, 1, 2, 2, 2)))
    yield call(f32(0, 1, 2, 2, 2), f32(1, 1, 2, 2, 2))
    yield call(f16(1, 1, 2, 2, 3), f16(1, 1, 2, 2, 2))
    yield fails(ShapeError, "input has 4 axes, 5 are needed", f32(1, 2, 4, 4), f32(2, 2, 3, 3))
    law = "filter has 4 axes, 5 are needed"
    yield fails(ShapeError, law, f32(1, 2, 4, 4, 4), f32(2, 2, 3, 3))
    both = (f32(1, 1, 2, 2, 2), f32(1, 1, 2, 2, 2))
    law = "strides is [1, 1]; three numbers from 1 on are needed"
    yield fails(ArgumentError, law, *both, strides=(1, 1))
    law = "paddings has 4 numbers; 3 or 6 are needed"
    yield fails(ArgumentError, law, *both, paddings=(0, 1, 1, 0))


def transposed(doutput: Any, filter: Any, like: Any, *, strides: Any = (), groups: int = 1) -> Any:
    """What makes the convolution of every input times `doutput` what the input times this is."""
    found = np.zeros(like.shape)
    for place in np.ndindex(*like.shape):
        unit = np.zeros(like.shape)
        unit[place] = 1
        found[place] = (reference(unit, filter, strides=strides, groups=groups) * doutput).sum()
    return found


def over_volumes(law: Any) -> Any:
    """`law`, told of strides only."""
    return lambda *values, strides, paddings, dilations: law(*values, strides=strides)


@samples("convolution_to_input", reference=transposed)
def convolution_to_input_samples():
    yield call(f32(1, 2, 2, 3), f32(2, 2, 3, 2), f32(1, 2, 4, 4))
    yield call(f32(2, 2, 2, 2), f32(2, 1, 2, 2), f32(2, 2, 4, 4), strides=(2, 2), groups=2)
    step = {"strides": (2, 1, 1), "paddings": (0, 0, 0), "dilations": (1, 1, 1)}
    dout, like = f32(1, 1, 1, 2, 1), f32(1, 2, 3, 3, 2)
    yield call(dout, f32(1, 2, 2, 2, 2), like, **step, reference=over_volumes(transposed))


def correlated(input: Any, doutput: Any, like: Any, *, strides: Any = (), groups: int = 1) -> Any:
    """What makes the convolution with any filter times `doutput` what the filter times it is."""
    found = np.zeros(like.shape)
    for place in np.ndindex(*like.shape):
        unit = np.zeros(like.shape)
        unit[place] = 1
        found[place] = (reference(input, unit, strides=strides, groups=groups) * doutput).sum()
    return found


@samples("convolution_to_filter", reference=correlated)
def convolution_to_filter_samples():
    yield call(f32(1, 2, 4, 4), f32(1, 2, 2, 3), f32(2, 2, 3, 2))
    yield call(f32(2, 2, 4, 4), f32(2, 2, 2, 2), f32(2, 1, 2, 2), strides=(2, 2), groups=2)
    step = {"strides": (2, 1, 1), "paddings": (0, 0, 0), "dilations": (1, 1, 1)}
    x, like = f32(1, 2, 3, 3, 2), f32(1, 2, 2, 2, 2)
    yield call(x, f32(1, 1, 1, 2, 1), like, **step, reference=over_volumes(correlated))
