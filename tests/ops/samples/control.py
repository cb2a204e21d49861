"""Samples of choices."""

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i64, samples


def chosen(x, mask):
    return x[int(mask.item())]


@samples("select_input", reference=chosen)
def select_input_samples():
    yield call([f32(2, 3), f32(2, 3)], array([1], "int32"))
    yield call([f32(2, 3), f32(2, 3), f32(2, 3)], array(0, "int32"))
    yield call([f32(), f32()], array([1], "int32"))
    yield call([f32(0, 3), f32(0, 3)], array([0], "int32"))
    yield fails(DtypeError, "mask is int64, not int32", [f32(2)], i64(1))
    many = array([0, 1], "int32")
    yield fails(ShapeError, "int32[2] has not one element", [f32(2), f32(2)], many)
    law = "mask is 2, and there are 2 to choose from"
    yield fails(RangeError, law, [f32(2), f32(2)], array([2], "int32"), by_value=True)
