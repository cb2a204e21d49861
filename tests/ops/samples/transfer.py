"""Samples of the operators that hand values on."""

import numpy as np

from scull.core.dtype import float16, float32, float64
from scull.errors import ArgumentError, UnsupportedError
from tests.ops.sample import call, f32, f64, fails, i64, samples, strided


@samples("share_data", reference=np.asarray)
def share_data_samples():
    yield call(f32(3, 4))
    yield call(f32())
    yield call(f32(0, 3))
    yield call(strided(f64(2, 3)))


@samples("memcpy", reference=lambda x, dst_place_type: x.copy())
def memcpy_samples():
    yield call(f32(3, 4), dst_place_type=0)
    yield call(i64(2), dst_place_type=2)
    yield call(f32(0, 3), dst_place_type=0)
    yield fails(UnsupportedError, "no place of type 1 to copy to", f32(2), dst_place_type=1)


def reordered(x, src_layout, dst_layout):
    last = {1, 4}
    if (src_layout in last) == (dst_layout in last):
        return x
    return np.moveaxis(x, -1, 1) if src_layout in last else np.moveaxis(x, 1, -1)


@samples("transfer_layout", reference=reordered)
def transfer_layout_samples():
    yield call(f32(2, 3, 4, 5), src_layout=1, dst_layout=2)
    yield call(f32(2, 3, 4, 5), src_layout=2, dst_layout=1)
    yield call(f64(2, 1, 3, 2, 2), src_layout=4, dst_layout=3)
    yield call(f32(2, 0, 4, 5), src_layout=2, dst_layout=2)
    yield call(strided(f64(2, 3, 2, 2)), src_layout=1, dst_layout=2)
    yield fails(ArgumentError, "2 is no layout of 3 axes", f32(2, 3, 4), src_layout=2, dst_layout=1)


@samples("transfer_dtype", reference=lambda x, out_dtype, in_dtype: x.astype(out_dtype.array))
def transfer_dtype_samples():
    yield call(f32(3, 4), out_dtype=float16, in_dtype=float32)
    yield call(f32(), out_dtype=float64, in_dtype=float32)
    yield call(f32(0, 3), out_dtype=float16, in_dtype=float32)
    yield call(strided(f64(2, 3)), out_dtype=float32, in_dtype=float64)
