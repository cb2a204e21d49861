"""Samples of images that are padded."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples


def larger(
    x: Any,
    tensor: Any = None,
    *,
    paddings: Any,
    pad_value: float = 0.0,
    mode: str = "constant",
    data_format: str = "NCHW",
) -> Any:
    top, bottom, left, right = paddings if tensor is None else tensor
    both = [(top, bottom), (left, right)]
    widths = [(0, 0), (0, 0), *both] if data_format == "NCHW" else [(0, 0), *both, (0, 0)]
    more = {"constant_values": pad_value} if mode == "constant" else {}
    return np.pad(x, widths, mode=mode, **more)


@samples("pad2d", reference=larger)
def pad2d_samples():
    for mode in ("constant", "reflect", "edge"):
        yield call(f32(1, 2, 3, 4), paddings=(1, 0, 2, 1), pad_value=1.5, mode=mode)
        yield call(f64(1, 3, 4, 2), paddings=(1, 2, 0, 3), mode=mode, data_format="NHWC")
    given = {"paddings": (), "unknown_sizes": False, "grad": ("x",)}
    yield call(f32(1, 2, 3, 4), array([1, 0, 2, 1], "int32"), **given)
    yield call(i64(1, 0, 3, 4), paddings=(1, 1, 1, 1))
    law = "axis 3 of size 3 reflects less than 3 elements"
    yield fails(ArgumentError, law, f32(1, 2, 3, 4), paddings=(3, 0, 0, 0), mode="reflect")
    yield fails(ShapeError, "images have 4 axes, not 3", f32(2, 3, 4), paddings=(1, 1, 1, 1))
    law = "two axes need 4 paddings, not 2"
    yield fails(ArgumentError, law, f32(1, 2, 3, 4), paddings=(1, 1))
    law = "mode is 'circular'"
    yield fails(ArgumentError, law, f32(1, 2, 3, 4), paddings=(1, 1, 1, 1), mode="circular")
    law = "data_format is 'NCWH'"
    yield fails(ArgumentError, law, f32(1, 2, 3, 4), paddings=(1, 1, 1, 1), data_format="NCWH")
