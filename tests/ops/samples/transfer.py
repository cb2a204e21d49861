"""Samples of the operators that hand values on."""

import numpy as np

from scull.errors import UnsupportedError
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
