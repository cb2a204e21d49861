"""Samples of what puts pooled elements back to their places."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, samples


def put(x: Any, indices: Any, *, output_size: Any, **attrs: Any) -> Any:
    """Each element by itself."""
    out = np.zeros((*x.shape[:2], int(np.prod(output_size))))
    for place in np.ndindex(*x.shape):
        out[(*place[:2], indices[place])] = x[place]
    return out.reshape(*x.shape[:2], *output_size)


IMAGES = {"ksize": (2, 2), "strides": (2, 2), "unpooling_type": "max"}
VOLUMES = {"ksize": (2, 2, 2), "strides": (2, 2, 2)}
PLACES = [[[[0, 3], [9, 14]], [[5, 2], [8, 15]]]]


@samples("unpool", reference=put)
def unpool_samples():
    places = array(PLACES, "int32")
    yield call(f32(1, 2, 2, 2), places, output_size=(4, 4), **IMAGES)
    yield call(f64(1, 2, 2, 2), places.astype("int64"), output_size=(5, 4), **IMAGES)
    same = array([[[[1, 1]]]], "int32")
    yield call(f32(1, 1, 1, 2), same, output_size=(2, 4), grad=False, **IMAGES)
    yield call(
        f32(0, 2, 2, 2), array(np.zeros((0, 2, 2, 2)), "int32"), output_size=(4, 4), **IMAGES
    )
    yield call(f16(1, 2, 2, 2), places, output_size=(4, 4), **IMAGES)
    law = "indices go from 0 to 15, outside [0, 9), the places of an image of [3, 3]"
    yield fails(
        RangeError, law, f32(1, 2, 2, 2), places, by_value=True, output_size=(3, 3), **IMAGES
    )
    law = "indices is float32, not int32 or int64"
    yield fails(DtypeError, law, f32(1, 2, 2, 2), f32(1, 2, 2, 2), output_size=(4, 4), **IMAGES)
    law = "x has 3 elements along axis 3 and indices 2"
    yield fails(ShapeError, law, f32(1, 2, 2, 3), places, output_size=(4, 6), **IMAGES)
    law = "x has 3 axes and indices 4; both need 4"
    yield fails(ShapeError, law, f32(2, 2, 3), places, output_size=(4, 6), **IMAGES)
    law = "output_size is [4]; two numbers from 0 on are needed"
    yield fails(ArgumentError, law, f32(1, 2, 2, 2), places, output_size=(4,), **IMAGES)
    attrs = IMAGES | {"unpooling_type": "avg"}
    law = "unpooling_type is 'avg', not max"
    yield fails(ArgumentError, law, f32(1, 2, 2, 2), places, output_size=(4, 4), **attrs)
    law = "data_format is 'NHWC'; the channels must be axis 1"
    attrs = IMAGES | {"data_format": "NHWC"}
    yield fails(ArgumentError, law, f32(1, 2, 2, 2), places, output_size=(4, 4), **attrs)


@samples("unpool3d", reference=put)
def unpool3d_samples():
    places = array([[[[[0, 3]], [[17, 12]]]]], "int32")
    yield call(f32(1, 1, 2, 1, 2), places, output_size=(3, 2, 4), **VOLUMES)
    yield call(f64(1, 1, 2, 1, 2), places, output_size=(2, 3, 3), **VOLUMES)
    law = "indices go from 0 to 17, outside [0, 8), the places of an image of [2, 2, 2]"
    yield fails(
        RangeError, law, f32(1, 1, 2, 1, 2), places, by_value=True, output_size=(2, 2, 2), **VOLUMES
    )
