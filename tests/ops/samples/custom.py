"""Samples of operators whose gradients users make."""

from tests.ops.sample import call, f32, i64, samples


@samples("python_gradient")
def python_gradient_samples():
    yield call([f32(2, 3)], [f32(4), i64(2, 2)], reference=lambda x, made: made)
    yield call([f32()], [f32(0, 3)], reference=lambda x, made: made)
