"""Samples of what stands at the edge of a Program."""

from tests.ops.sample import boolean, call, f32, i64, samples, strided


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
