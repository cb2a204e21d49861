"""Samples of windows that slide along an axis."""

import numpy as np

from scull.errors import ArgumentError, RangeError
from tests.ops.sample import call, f32, f64, fails, i64, samples, strided


def windows(x, axis, size, step):
    """NumPy's windows, of which every `step`-th is kept."""
    if not x.ndim:
        return x.reshape(1)[:size]
    found = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    return found[(*(slice(None),) * (axis % x.ndim), slice(None, None, step))]


@samples("tensor_unfold", reference=windows)
def tensor_unfold_samples():
    yield call(f32(7), axis=0, size=3, step=2)
    yield call(f32(2, 5), axis=1, size=2, step=1)
    yield call(f32(2, 5, 3), axis=-2, size=2, step=3)
    yield call(f32(), axis=0, size=1, step=1)
    yield call(f32(0, 4), axis=1, size=2, step=1)
    yield call(strided(f64(2, 4)), axis=1, size=4, step=1)
    yield call(i64(5), axis=0, size=1, step=1)
    yield fails(
        ArgumentError, "a window of 4 elements does not fit", f32(3), axis=0, size=4, step=1
    )
    yield fails(ArgumentError, "step is 0, not at least 1", f32(3), axis=0, size=1, step=0)
    yield fails(RangeError, "axis 1 is outside [-1, 1)", f32(3), axis=1, size=1, step=1)


def folded(x, like, axis, size, step):
    """Each element added where the window reads it, one after another."""
    found = np.zeros(like.shape)
    for place in np.ndindex(x.shape):
        *rest, k = place
        if like.ndim:
            rest[axis] = rest[axis] * step + k
        found[tuple(rest) if like.ndim else ()] += x[place]
    return found


@samples("fold_windows", reference=folded)
def fold_windows_samples():
    yield call(f32(3, 3), f32(7), axis=0, size=3, step=2)
    yield call(f32(2, 4, 2), f32(2, 5), axis=1, size=2, step=1)
    yield call(f64(2, 2, 3), f64(2, 7), axis=-1, size=3, step=3)
    yield call(f32(1), f32(), axis=0, size=1, step=1)
