"""Samples of blocks."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided


def cut(x: Any, sizes: Any, offsets: Any) -> Any:
    stops = [n if s == -1 else o + s for n, s, o in zip(x.shape, sizes, offsets, strict=True)]
    return x[tuple(slice(o, e) for o, e in zip(offsets, stops, strict=True))]


def of_crop(
    x: Any, y: Any = None, tensor: Any = None, *, offsets: Any = (), shape: Any = ()
) -> Any:
    return cut(x, shape if y is None else y.shape, offsets if tensor is None else tensor)


@samples("crop", reference=of_crop)
def crop_samples():
    yield call(f32(4, 5), shape=(2, 3), offsets=(1, 2))
    yield call(f64(4, 5), f64(3, 2), offsets=(1, 1), grad=("x",))
    by_tensor = {"shape": (2, 3), "grad": ("x",), "unknown_sizes": False}
    yield call(f32(4, 5), None, array([1, 2], "int32"), **by_tensor)
    yield call(f32(), shape=(), offsets=())
    yield call(strided(i64(3, 4)), shape=(0, -1), offsets=(1, 1))
    law = "axis 1 of size 5 has no 4 elements from 2"
    yield fails(RangeError, law, f32(4, 5), shape=(2, 4), offsets=(1, 2))
    yield fails(ArgumentError, "offset -1 of axis 0", f32(4), shape=(2,), offsets=(-1,))
    yield fails(ShapeError, "1 sizes are given for 2 axes", f32(4, 5), shape=(2,), offsets=(1, 2))
    yield fails(ShapeError, "0 offsets are given for 1 axes", f32(4), shape=(2,))


def of_tensors(x: Any, *tensors: Any, shape: Any = (), offsets: Any = ()) -> Any:
    sizes, several, starts, each = (*tensors, *(None,) * (4 - len(tensors)))
    shape = shape if sizes is None else sizes
    shape = [v.item() for v in several] if several else shape
    offsets = offsets if starts is None else starts
    return cut(x, shape, [v.item() for v in each] if each else offsets)


@samples("crop_tensor", reference=of_tensors)
def crop_tensor_samples():
    yield call(f32(4, 5), shape=(2, -1), offsets=(1, 2))
    yield call(f64(4, 5), array([2, 3], "int32"), offsets=(1, 1), unknown_sizes=False)
    two, one = array([2], "int32"), array([1], "int32")
    yield call(f32(4, 5), None, [two, two], None, [one, two], grad=("x",), unknown_sizes=False)
    yield call(f32(4), None, None, array([1], "int64"), shape=(3,), grad=("x",))
    law = "size 0 of axis 0 is neither -1 nor 1 at least"
    yield fails(ArgumentError, law, f32(4, 5), shape=(0, 3), offsets=(1, 1))
    law = "axis 1 of size 5 has no 6 elements from 0"
    yield fails(RangeError, law, f32(4, 5), shape=(2, 6), offsets=(0, 0))
    yield fails(ShapeError, "0 offsets are given for 1 axes", f32(4), shape=(2,))


def put(x: Any, like: Any, tensor: Any = None, *, offsets: Any = ()) -> Any:
    out = np.zeros(like.shape)
    starts = offsets if tensor is None else tensor
    out[tuple(slice(o, o + n) for o, n in zip(starts, x.shape, strict=True))] = x
    return out


@samples("place_block", reference=put)
def place_block_samples():
    yield call(f32(2, 3), f32(4, 5), offsets=(1, 2))
    yield call(f64(2), f64(4), array([1], "int32"), grad=("x",))
    yield call(f32(), f32())
