"""Samples of reductions over axes that a tensor may give."""

import numpy as np

from scull.errors import RangeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i32, i64, samples, strided
from tests.ops.samples.reduce import over, reduction


def given(make):
    """Calls with the axes in tensors."""
    one, two = array([1], "int64"), array([0, 2], "int32")
    yield call(make(2, 3), one, grad=False, unknown_sizes=False)
    yield call(make(2, 3, 4), two, keepdim=True, grad=False, unknown_sizes=False)
    parts = [array([0], "int32"), array([1], "int32")]
    yield call(make(2, 3, 4), None, parts, grad=False)


def reduced_by(function):
    """The reference: the axes of tensors go before attributes."""

    def reference(x, tensor=None, tensors=None, axis=(0,), keepdim=False, reduce_all=False):
        if tensors:
            axis = tuple(int(v[0]) for v in tensors)
        if tensor is not None:
            axis = tuple(tensor.tolist())
        return over(function)(x, axis, keepdim, reduce_all)

    return reference


def truths():
    """Calls of both questions."""
    yield call(boolean(2, 3), axis=(0,))
    yield call(boolean(2, 3), axis=(-1,), keepdim=True)
    yield call(boolean(2, 3, 4), axis=(0, 2))
    yield call(boolean(2, 3), axis=(), reduce_all=True)
    yield call(boolean(2, 3), axis=(0,), reduce_all=True, keepdim=True)
    yield call(boolean(), axis=())
    yield call(boolean(0, 3), axis=(0,))
    yield call(boolean(0, 3), axis=(1,))
    yield call(boolean(3, 2).T, axis=(0,))
    yield call(strided(f32(2, 3)), axis=(1,))
    yield call(i32(2, 3, low=0, high=2), axis=(1,))
    yield call(f64(2, 3), axis=(1,))
    yield from given(boolean)
    yield fails(RangeError, "axis 2 is outside [-2, 2)", boolean(2, 3), axis=(2,))


@samples("reduce_all", reference=reduced_by(np.all))
def reduce_all_samples():
    yield from truths()


@samples("reduce_any", reference=reduced_by(np.any))
def reduce_any_samples():
    yield from truths()


@samples("reduce_amax", reference=reduced_by(np.max))
def reduce_amax_samples():
    yield from reduction(empty=False)
    yield from given(f32)


@samples("reduce_amin", reference=reduced_by(np.min))
def reduce_amin_samples():
    yield from reduction(empty=False)
    yield from given(i64)
