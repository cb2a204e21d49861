"""Samples of how alike channels of images are."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples


@samples("fsp", reference=lambda x, y: np.einsum("nchw,ndhw->ncd", x, y) / np.prod(x.shape[2:]))
def fsp_samples():
    yield call(f32(2, 3, 4, 5), f32(2, 2, 4, 5))
    yield call(f64(1, 1, 2, 3), f64(1, 4, 2, 3))
    yield fails(ShapeError, "differ along axis 2", f32(2, 3, 4, 5), f32(2, 3, 5, 5))
    yield fails(ShapeError, "it has 4 axes", f32(3, 4, 5), f32(2, 3, 5, 5))
    yield fails(DtypeError, "differ in element type", f32(2, 3, 4, 5), f64(2, 3, 4, 5))


def marked(x: Any, *, axis: int, indexes: Any) -> Any:
    found = np.zeros(x.shape)
    for image in range(len(x)):
        for index in indexes:
            slice = np.take(x[image], index, axis - 1)
            spots = sorted(np.ndindex(slice.shape), key=lambda s, slice=slice: -slice[s])
            rows, columns = set(), set()
            for row, column in spots:
                if row not in rows and column not in columns:
                    rows.add(row)
                    columns.add(column)
                    np.moveaxis(found[image], axis - 1, 0)[:, row, column] = 1
    return found


@samples("similarity_focus", reference=marked)
def similarity_focus_samples():
    for axis in (1, 2, 3):
        yield call(f32(2, 3, 4, 2), axis=axis, indexes=(0,))
    yield call(f64(2, 3, 3, 5), axis=1, indexes=(2, 0))
    alike = array([[[[1.0, 1.0], [1.0, 1.0]]]])
    yield call(alike, axis=1, indexes=(0,), name_of_case="equals")
    yield fails(ShapeError, "x has 3 axes, 4 are needed", f32(2, 3, 4), axis=1, indexes=(0,))
    yield fails(ArgumentError, "axis is 0, not 1, 2 or 3", f32(1, 2, 2, 2), axis=0, indexes=(0,))
    law = "index 2 is outside [0, 2) of axis 1"
    yield fails(RangeError, law, f32(1, 2, 2, 2), axis=1, indexes=(2,))
    yield fails(ArgumentError, "indexes is empty", f32(1, 2, 2, 2), axis=1, indexes=())
