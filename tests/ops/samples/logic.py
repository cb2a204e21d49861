"""Samples of logic and of bits; the kernels are NumPy's functions."""

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, boolean, call, f32, fails, i32, i64, samples, strided, u8


def pairs(*, numbers):
    """Calls of two operands; `numbers` are allowed or not."""
    yield call(boolean(2, 3), boolean(2, 3))
    yield call(boolean(), boolean())
    yield call(boolean(0, 3), boolean(3))
    yield call(boolean(2, 1), boolean(3))
    yield call(i64(2, 3), i64(3))
    yield call(u8(4), u8(4))
    yield call(boolean(3, 2).T, strided(boolean(2, 3)))
    if numbers:
        yield call(array([0.0, 1.5, -0.0, float("nan")]), array([2.0]))
    else:
        yield fails(DtypeError, "is neither of integers nor bool", f32(2), f32(2))
    yield fails(ShapeError, "shapes do not broadcast: [2, 3] and [2]", boolean(2, 3), boolean(2))


@samples("logical_and")
def logical_and_samples():
    yield from pairs(numbers=True)


@samples("logical_or")
def logical_or_samples():
    yield from pairs(numbers=True)


@samples("logical_xor")
def logical_xor_samples():
    yield from pairs(numbers=True)


@samples("bitwise_and")
def bitwise_and_samples():
    yield from pairs(numbers=False)


@samples("bitwise_or")
def bitwise_or_samples():
    yield from pairs(numbers=False)


@samples("bitwise_xor")
def bitwise_xor_samples():
    yield from pairs(numbers=False)


@samples("logical_not")
def logical_not_samples():
    yield call(boolean(2, 3))
    yield call(boolean())
    yield call(boolean(0, 3))
    yield call(array([0.0, -0.0, 2.5]))
    yield call(i32(4))
    yield call(strided(boolean(2, 3)))


@samples("bitwise_not")
def bitwise_not_samples():
    yield call(boolean(2, 3))
    yield call(i32())
    yield call(u8(0, 3))
    yield call(strided(i64(2, 3)))
    yield fails(DtypeError, "is neither of integers nor bool", f32(2))
