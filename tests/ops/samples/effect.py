"""Samples of what stands at the edge of a Program."""

import numpy as np

from scull.errors import DtypeError
from tests.ops.sample import boolean, call, f32, fails, i64, samples, strided


@samples("feed", reference=lambda x: x)
def feed_samples():
    yield call(f32(2, 3))
    yield call(f32())


@samples("fetch", reference=lambda x: x)
def fetch_samples():
    yield call(f32(2, 3))
    yield call(f32(), col=1)


@samples("fetch_v2", reference=lambda x: x)
def fetch_v2_samples():
    yield call(f32(2, 3))
    yield call(f32(0, 3), col=1)
    yield call(strided(f32(2, 3)))


@samples("print_tensor", reference=lambda x: x)
def print_tensor_samples():
    yield call(f32(2, 3), message="seen", summarize=4)
    yield call(f32(), first_n=2)
    yield call(f32(0, 3), print_phase="backward")
    yield call(boolean(2), print_tensor_type=False, print_tensor_shape=False)
    yield call(i64(30), summarize=-1)


def counted(tensor, **options):
    """The counts of NaN, infinities and zeros, and the extremes with the mean."""
    x = tensor.astype("float32")
    counts = [np.isnan(x).sum(), np.isinf(x).sum(), (x == 0).sum()]
    values = [x.max(), x.min(), x.mean()] if x.size else [np.nan] * 3
    return np.array(counts, "int64"), np.array(values, "float32")


@samples("check_numerics", reference=counted)
def check_numerics_samples():
    yield call(f32(2, 3))
    yield call(f32(), op_type="mine", var_name="x")
    yield call(f32(0, 3))
    yield fails(DtypeError, "only floating-point numbers", i64(3))
