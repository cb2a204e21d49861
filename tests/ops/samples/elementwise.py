"""Samples of the operators of two tensors, element by element."""

from scull.errors import RangeError, ShapeError
from tests.ops.sample import array, c64, call, f32, f64, fails, i32, i64, samples, strided


def arithmetic(*, integers=True, low=-2.0):
    """Calls that any operator of the family takes; `low` bounds the second operand."""
    yield call(f32(2, 3), f32(2, 3, low=low))
    yield call(f32(), f32(low=low))
    yield call(f32(0, 3), f32(3, low=low))
    yield call(f32(2, 3), f32(3, low=low))
    yield call(f32(2, 1, 3), f32(4, 1, low=low))
    yield call(f32(1, 3), f32(2, 1, low=low))
    yield call(f32(3), f32(low=low))
    yield call(f32(2, 3, 2), f32(3, low=low), axis=1)
    yield call(f32(2, 3, 2), f32(2, 3, low=low), axis=0)
    yield call(f32(2, 3), f32(2, 1, low=low), axis=1)
    yield call(f32(3, 2).T, strided(f32(2, 3, low=low)))
    yield call(f64(2, 3), f64(2, 3, low=low))
    yield call(array([1e38, -1e38]), array([10.0, 10.0]), grad=False, name_of_case="overflow")
    if integers:
        yield call(i32(2, 3), i32(3))
        yield call(i64(2, 3), i64(2, 1))
    yield fails(ShapeError, "shapes do not broadcast: [2, 3] and [2]", f32(2, 3), f32(2))
    for axis in (2, -2, -(1 << 31)):
        law = f"axis is {axis}, outside [-1, 2)"
        yield fails(RangeError, law, f32(2, 3), f32(3), axis=axis)


@samples("add")
def add_samples():
    yield from arithmetic()
    yield call(c64(2, 3), c64(3))


@samples("subtract")
def subtract_samples():
    yield from arithmetic()
    yield call(c64(2, 3), c64(3))


@samples("multiply")
def multiply_samples():
    yield from arithmetic()


@samples("divide")
def divide_samples():
    yield from arithmetic(integers=False, low=0.5)
    yield call(array([1.0, -1.0, 0.0]), array([0.0, 0.0, 0.0]), grad=False, name_of_case="by zero")


@samples("maximum")
def maximum_samples():
    yield from arithmetic()
    yield call(
        array([float("nan"), 1.0]), array([1.0, float("nan")]), grad=False, name_of_case="nan"
    )


@samples("minimum")
def minimum_samples():
    yield from arithmetic()
    yield call(
        array([float("nan"), 1.0]), array([1.0, float("nan")]), grad=False, name_of_case="nan"
    )
