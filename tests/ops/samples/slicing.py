"""Samples of windows read and written; references are Python's own slices."""

import numpy as np

from scull.errors import ArgumentError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples, strided

BIG = 2**31 - 1


def at(*index):
    """A reference: `x[index]`."""
    return lambda x, *_: x[index]


@samples("slice")
def slice_samples():
    both = {"axes": (0, 1), "starts": (1, 0), "ends": (3, 2)}
    yield call(f32(4, 5), **both, reference=at(slice(1, 3), slice(0, 2)))
    yield call(f32(4, 5), axes=(0,), starts=(0,), ends=(1,), decrease_axis=(0,), reference=at(0))
    last = {"axes": (0, 1), "starts": (-1, 2), "ends": (BIG, 3), "decrease_axis": (0, 1)}
    yield call(f32(4, 5), **last, reference=at(-1, 2))
    yield call(f32(4), axes=(0,), starts=(-9,), ends=(-2,), reference=at(slice(0, 2)))
    yield call(f32(4), axes=(0,), starts=(5,), ends=(9,), reference=at(slice(0, 0)))
    yield call(f32(4, 5), axes=(-1,), starts=(1,), ends=(BIG,), reference=at(..., slice(1, None)))
    yield call(i64(4), axes=(0,), starts=(1,), ends=(3,), reference=at(slice(1, 3)))
    yield call(f32(), axes=(), reference=at())
    yield call(strided(f32(4, 3)), axes=(0,), starts=(2,), ends=(4,), reference=at(slice(2, 4)))
    first, stop = array([1], "int32"), array([3], "int32")
    yield call(f32(4, 5), first, stop, axes=(0,), reference=at(slice(1, 3)))
    yield call(f32(4, 5), None, None, [first], [stop], axes=(0,), reference=at(slice(1, 3)))
    yield call(f32(4, 5), first, axes=(0,), ends=(4,), reference=at(slice(1, 4)))
    outside = {"axes": (0,), "starts": (5,), "ends": (6,), "decrease_axis": (0,)}
    yield fails(RangeError, "index 5 is outside [-4, 4) of axis 0", f32(4), **outside)
    yield fails(ArgumentError, "do not lead from 3 to 1", f32(4), axes=(0,), starts=(3,), ends=(1,))
    yield fails(ArgumentError, "1 axes need 1 bounds", f32(4), axes=(0,), starts=(3, 1), ends=(4,))
    yield fails(RangeError, "axis 1 is outside", f32(4), axes=(1,), starts=(0,), ends=(1,))


def striding(*bounds):
    """The attributes of one axis after another: (start, end, stride)."""
    starts, ends, strides = zip(*bounds, strict=True)
    return {"axes": tuple(range(len(bounds))), "starts": starts, "ends": ends, "strides": strides}


@samples("strided_slice")
def strided_slice_samples():
    turned = slice(None, None, -1)
    yield call(f32(6, 5), **striding((0, 6, 2)), reference=at(slice(0, 6, 2)))
    yield call(
        f32(6, 5), **striding((BIG, -1, -1), (1, 4, 2)), reference=at(turned, slice(1, 4, 2))
    )
    yield call(f32(4), **striding((3, -1, -1)), reference=at(turned))
    yield call(f32(4), **striding((3, -2, -1)), reference=at(slice(3, 4)))
    yield call(f32(4), **striding((10, -10, -2)), reference=at(slice(3, None, -2)))
    yield call(f32(4), **striding((-10, 3, 1)), reference=at(slice(0, 3)))
    yield call(f32(4), **striding((-10, -20, -1)), reference=at(slice(0, 0)))
    yield call(f32(0), **striding((0, 3, 2)), reference=at(slice(0, 0)))
    yield call(f32(4, 5), **striding((2, 3, 1)), decrease_axis=(0,), reference=at(2))
    yield call(strided(f32(3, 5)), **striding((0, 3, 2)), reference=at(slice(0, 3, 2)))
    places = [array([v], "int32") for v in (1, 4, 2)]
    pairs = [v for p in places for v in (p, None)]
    yield call(f32(6), *pairs, axes=(0,), reference=at(slice(1, 4, 2)))
    yield call(
        f32(6),
        *[v for p in places for v in (None, [p])],
        axes=(0,),
        reference=at(slice(1, 4, 2)),
    )
    yield fails(ArgumentError, "steps of 2 do not lead from 3 to 1", f32(4), **striding((3, 1, 2)))
    yield fails(ArgumentError, "steps of 0 does not move", f32(4), **striding((0, 4, 0)))


def placed(*index):
    """A reference: zeros with `x` at `index`."""

    def reference(x, like, *_):
        out = np.zeros(like.shape)
        out[index] = x
        return out

    return reference


@samples("place_window")
def place_window_samples():
    every = striding((0, 6, 2))
    yield call(f32(3, 5), f32(6, 5), **every, reference=placed(slice(0, 6, 2)))
    back = striding((BIG, -1, -2))
    yield call(f32(3), f32(5), **back, reference=placed(slice(None, None, -2)))
    yield call(
        f32(5), f32(4, 5), **striding((-1, BIG, 1)), decrease_axis=(0,), reference=placed(-1)
    )
    yield call(f32(0), f32(4), **striding((2, 2, 1)), reference=placed(slice(0, 0)))
    yield call(f32(), f32(), axes=(), reference=lambda x, *_: x)


def writing(*bounds, **others):
    """The attributes of `set_value` for one axis after another: (start, end, step)."""
    given = striding(*bounds) | others
    given["steps"] = given.pop("strides")
    return given


def written(*index):
    """A reference: `x[index] = value`."""

    def reference(x, value=None, *_, values=(), shape=()):
        out = x.copy()
        out[index] = np.reshape(values, shape) if value is None else value
        return out

    return reference


@samples("set_value")
def set_value_samples():
    number = {"values": (1.5,), "shape": (1,)}
    first = writing((0, 1, 1), decrease_axes=(0,))
    yield call(f32(4, 5), **first, **number, reference=written(0))
    yield call(f32(4, 5), f32(5), **first, reference=written(0))
    table = {"values": (1.0, 2.0), "shape": (2, 1)}
    out = written(slice(1, 3))
    case = "a table of values"
    yield call(f32(4, 5), **writing((1, 3, 1)), **table, reference=out, name_of_case=case)
    yield call(f32(4, 5), f32(2, 1), **writing((0, 4, 2)), reference=written(slice(0, 4, 2)))
    turned = writing((BIG, -1, -1), (1, 4, 2))
    both = (slice(None, None, -1), slice(1, 4, 2))
    yield call(f32(3, 5), f32(3, 2), **turned, reference=written(*both))
    yield call(i64(4), **writing((-2, BIG, 1)), **number, reference=written(slice(2, 4)))
    none = writing((0, 1, 1), decrease_axes=(0,), none_axes=(0, 2))
    yield call(f32(4, 5), f32(1, 1, 5), **none, reference=written(None, 0, None))
    behind = writing((0, 1, 1), decrease_axes=(0,), none_axes=(1, 3))
    out = written(0, None, slice(None), None)
    yield call(f32(4, 5), f32(1, 5, 1), **behind, reference=out)
    lead = written(slice(1, 3))
    yield call(f32(4, 5), f32(1, 1, 5), **writing((1, 3, 1)), reference=lead, unknown_sizes=False)
    yield call(f32(4), f32(0), **writing((2, 2, 1)), reference=written(slice(2, 2)))
    yield call(f32(), axes=(), **number, reference=lambda x, *_: np.array(1.5))
    places = [[array([v], "int64")] for v in (1, 4, 2)]
    yield call(f32(6), f32(2), *places, axes=(0,), reference=written(slice(1, 4, 2)))
    misfit = "a value of shape [3] does not fit [2, 5]"
    yield fails(ShapeError, misfit, f32(4, 5), f32(3), **writing((1, 3, 1)))
    outside = writing((4, 5, 1), decrease_axes=(0,))
    yield fails(RangeError, "index 4 is outside [-4, 4) of axis 0", f64(4), f64(), **outside)
