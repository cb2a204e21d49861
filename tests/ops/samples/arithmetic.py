"""Samples of powers, whole quotients and remainders."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, boolean, c64, call, f32, f64, fails, i32, i64, samples, strided


def floats(*, low):
    """Calls with floating-point operands; `low` bounds the first."""
    yield call(f32(2, 3, low=low), f32(2, 3))
    yield call(f32(low=low), f32())
    yield call(f32(0, 3, low=low), f32(3))
    yield call(f32(2, 1, low=low), f32(3))
    yield call(f64(2, 3, low=low), f64(2, 3))
    yield call(f32(2, 3, 2, low=low), f32(3), axis=1)
    yield call(f32(3, 2, low=low).T, strided(f32(2, 3)))
    yield fails(ShapeError, "shapes do not broadcast: [2, 3] and [2]", f32(2, 3), f32(2))


def aligned(function):
    """`function` of two arrays as a reference that knows `axis`."""

    def reference(x, y, axis):
        lead = x.ndim - axis - y.ndim if axis != -1 else 0
        return function(x, y.reshape(y.shape + (1,) * lead))

    return reference


@samples("power", reference=aligned(np.power))
def power_samples():
    yield from floats(low=0.1)
    yield call(array([3, 2, -2], "int64"), array([4, 0, 3], "int64"))
    whole = lambda x, y: np.array([0, 1, -1])  # noqa: E731
    yield call(
        array([3, 1, -1], "int32"),
        array([-1, -2, -3], "int32"),
        reference=whole,
        name_of_case="integers to negative powers",
    )


@samples("floor_divide", reference=aligned(np.floor_divide))
def floor_divide_samples():
    yield from floats(low=-2.0)
    yield call(array([5, -5, 5, -5], "int64"), array([3, 3, -3, -3], "int64"))
    yield call(array([5.0, -5.0, 0.0]), array([0.0]), name_of_case="by zero")
    yield fails(ArgumentError, "an integer is divided by 0", i32(3), i32() * 0, by_value=True)


@samples("remainder", reference=aligned(np.remainder))
def remainder_samples():
    yield from floats(low=-2.0)
    yield call(array([5, -5, 5, -5], "int64"), array([3, 3, -3, -3], "int64"))
    yield fails(ArgumentError, "an integer is divided by 0", i64(3), i64() * 0, by_value=True)


def raised(x, factor_tensor=None, factor=1.0):
    """NumPy's own power; integers are multiplied."""
    factor = factor if factor_tensor is None else factor_tensor.item()
    return x ** (int(factor) if x.dtype.kind in "iu" else factor)


@samples("pow", reference=raised)
def pow_samples():
    yield call(f32(3, 4), factor=2.0)
    yield call(f32(3, 4), factor=3.0)
    yield call(f32(2, 3, low=0.1), factor=0.5)
    yield call(f32(2, 3, low=0.1), factor=-1.5)
    yield call(f32(low=0.1))
    yield call(f32(0, 3), factor=2.0)
    yield call(strided(f64(2, 3)), factor=2.0)
    yield call(c64(3), factor=3.0)
    yield call(i64(2, 3), factor=2.0)
    yield call(i32(3), factor=3.7)
    yield call(f32(2, 3, low=0.1), array([2.5]))
    yield call(f32(low=0.1), array([2.5]))
    yield call(array([0.0, -1.0, np.inf, np.nan]), factor=0.5, grad=False, name_of_case="extremes")
    yield fails(DtypeError, "bool[3] is not of numbers", boolean(3), factor=2.0)


def moved(found):
    """The elements that are not where they should come to have moved by the least step."""
    start = np.array([1.0, 2.0, -1.0, np.nan], found.dtype)
    assert (found != start).tolist() == [True, False, True, True]
    assert found[0] == 1 + np.finfo(found.dtype).eps and np.isnan(found[3])


@samples("nextafter")
def nextafter_samples():
    one, other = array([1.0, 2.0, -1.0, np.nan]), array([2.0, 2.0, 0.0, 1.0])
    yield call(one, other, holds=moved, name_of_case="in any type")
    doubles = array([1.0, -1.0, np.inf], "float64"), array([2.0, 0.0, 0.0], "float64")
    yield call(*doubles, reference=np.nextafter, name_of_case="from infinity")
    yield call(f64(3, 4), f64(4), reference=np.nextafter)
    yield call(f64(), f64(0, 3), reference=np.nextafter)
    yield fails(DtypeError, "is not of floating-point elements", i64(3), i64(3))
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", f32(3), f32(4))


@samples("gcd", reference=np.gcd)
def gcd_samples():
    yield call(i64(3, 4), i64(4))
    yield call(i32(), i32(0, 3))
    yield call(array([0, 0, -4, 6], "int64"), array([0, 5, 6, 0], "int64"))
    yield fails(DtypeError, "is not of integer elements", f32(3), f32(3))
    yield fails(ShapeError, "shapes do not broadcast: [3] and [4]", i64(3), i64(4))
