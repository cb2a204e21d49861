"""Samples of tensors put together and taken apart."""

import numpy as np

from scull.errors import ArgumentError, AssertError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, f64, fails, i64, samples, strided


@samples("concat", reference=lambda x, tensor=None, axis=0: np.concatenate(x, axis))
def concat_samples():
    yield call([f32(2, 3), f32(1, 3), f32(4, 3)])
    yield call([f32(2, 3), f32(2, 1)], axis=-1)
    yield call([f32(2, 3)])
    yield call([f32(0, 3), f32(2, 3)])
    yield call([boolean(2), boolean(3)])
    yield call([strided(f32(2, 3)), f32(3, 2).T], axis=1)
    by_tensor = lambda x, tensor: np.concatenate(x, 1)  # noqa: E731
    yield call([f32(2, 3), f32(2, 1)], array([1], "int32"), reference=by_tensor)
    whole = lambda x: x[1]  # noqa: E731
    hollow = "an empty tensor of one axis joins anything"
    yield call([f32(0), f32(2, 3)], reference=whole, name_of_case=hollow, unknown_sizes=False)
    yield fails(ShapeError, "axis 1 has sizes 3 and 2", [f32(2, 3), f32(2, 2)])
    yield fails(ShapeError, "have no axis to be put together", [f32(), f32()])
    yield fails(ShapeError, "differ in their number of axes", [f32(2, 3), f32(2)])
    yield fails(DtypeError, "differ in element type", [f32(2), f64(2)])
    yield fails(RangeError, "axis 2 is outside", [f32(2), f32(2)], axis=2)


@samples("split_like")
def split_like_samples():
    def cut(x, like, axis):
        return (np.split(x, np.cumsum([v.shape[axis] for v in like])[:-1], axis),)

    yield call(f32(5, 3), [f32(2, 3), f32(3, 3)], reference=cut)
    yield call(f32(2, 4), [f32(2, 1), f32(2, 3)], reference=cut, axis=-1)
    yield call(f32(2, 3), [f32(2, 3)], reference=cut)
    whole = lambda x, *_: ([x[:, :0].reshape(-1)[:0], x],)  # noqa: E731
    yield call(f32(2, 3), [f32(0), f32(2, 3)], reference=whole, name_of_case="an empty piece")


def cut_at(*places, axis=0):
    """A reference: NumPy's split at these places."""
    return lambda x, *_: (np.split(x, places, axis),)


@samples("split")
def split_samples():
    yield call(f32(6, 3), num=3, reference=cut_at(2, 4))
    yield call(f32(2, 6), num=2, axis=-1, reference=cut_at(3, axis=1))
    yield call(f32(2, 3), num=1, reference=cut_at())
    yield call(f32(2, 9), sections=(2, 3, -1), axis=1, reference=cut_at(2, 5, axis=1))
    yield call(i64(5), sections=(2, 3), reference=cut_at(2))
    yield call(f32(0, 3), num=2, reference=cut_at(0))
    yield call(strided(f32(4, 3)), sections=(0, 4), reference=cut_at(0))
    axis = array([1], "int32")
    yield call(f32(2, 4), axis, num=2, reference=cut_at(2, axis=1))
    sizes = [array([1], "int32"), array([3], "int32")]
    yield call(f32(4, 2), None, sizes, sections=(-1, 3), reference=cut_at(1))
    yield fails(AssertError, "an axis of size 3 does not split into 2 equal pieces", f32(3), num=2)
    yield fails(ShapeError, "sections [2, 2] do not make up an axis", f32(5), sections=(2, 2))
    yield fails(ArgumentError, "leave more open than one size", f32(5), sections=(-1, -1))
    yield fails(ShapeError, "a 0-D tensor has no axis", f32(), num=1)


@samples("stack", reference=lambda x, axis: np.stack(x, axis))
def stack_samples():
    yield call([f32(2, 3), f32(2, 3)])
    yield call([f32(2, 3), f32(2, 3), f32(2, 3)], axis=-1)
    yield call([f32(2, 3)], axis=1)
    yield call([f32(), f32()])
    yield call([f32(0, 3), f32(0, 3)], axis=1)
    yield call([i64(3), i64(3)])
    yield call([strided(f32(2, 3)), f32(3, 2).T])
    yield fails(ShapeError, "are not of one shape", [f32(2, 3), f32(2, 2)])
    yield fails(DtypeError, "differ in element type", [f32(2), f64(2)])
    yield fails(RangeError, "axis 3 is outside", [f32(2), f32(2)], axis=3)


@samples("unbind", reference=lambda x, axis: ([np.take(x, i, axis) for i in range(x.shape[axis])],))
def unbind_samples():
    yield call(f32(2, 3), unknown_sizes=False)
    yield call(f32(2, 3), axis=-1, unknown_sizes=False)
    yield call(f32(1), unknown_sizes=False)
    yield call(f32(2, 0), unknown_sizes=False)
    yield call(strided(f32(2, 3)), axis=1, unknown_sizes=False)
    yield fails(ShapeError, "a 0-D tensor has no axis", f32())
    yield fails(RangeError, "axis 2 is outside", f32(2, 3), axis=2)


@samples(
    "unstack",
    reference=lambda x, axis=0: ([v.squeeze(axis) for v in np.split(x, x.shape[axis], axis)],),
)
def unstack_samples():
    yield call(f32(2, 3), unknown_sizes=False)
    yield call(f32(2, 3), axis=-1, num=3)
    yield call(i64(1, 2), unknown_sizes=False)
    yield call(strided(f32(2, 3)), axis=1, unknown_sizes=False)
    yield fails(ShapeError, "has no axis to be taken apart along", f32())
    yield fails(ShapeError, "num is 3 and there are 2 slices", f32(2, 3), num=3)
    yield fails(RangeError, "axis 2 is outside", f32(2, 3), axis=2)
