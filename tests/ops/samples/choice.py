"""Samples of rows that truth values part and put together."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

MASK = array([[True], [False], [False], [True]], "bool")
FLAT = packed([[0, 1, 3, 4, 7]])
NESTED = packed([[0, 1, 3, 4, 5], [0, 2, 3, 5, 5, 7]])
NONE = packed([])


def rows(*chosen):
    """The results with some rows of the first operand."""
    return lambda x, *_, **attrs: tuple(x[list(places)] for places in chosen)


@samples("split_lod_tensor")
def split_lod_tensor_samples():
    yield call(f32(4, 3), MASK, NONE, reference=rows((0, 3), (1, 2)))
    yield call(f32(4, 3), array([False] * 4, "bool"), NONE, reference=rows((), (0, 1, 2, 3)))
    yield call(i64(4), MASK, NONE, reference=rows((0, 3), (1, 2)))
    yield call(f64(7, 3), MASK, FLAT, reference=rows((0, 4, 5, 6), (1, 2, 3)))
    yield call(f64(7, 3), MASK, NESTED, reference=rows((0, 1, 5, 6), (2, 3, 4)))
    five = array([[True], [False], [False], [False], [True]], "bool")
    parts = (0, 1, 5, 6), (2, 3, 4)
    yield call(f64(7, 3), five, NESTED, level=1, reference=rows(*parts), grad=False)
    yield fails(DtypeError, "mask is int64, not of truth values", f32(4, 3), i64(4, 1), NONE)
    law = "x has 4 sequences and mask 5 elements"
    yield fails(ShapeError, law, f32(7, 3), five, FLAT, by_value=True)
    yield fails(RangeError, "outside [-1, 3)", f32(3, 3), MASK, NONE, by_value=True)
    law = "level 1 is outside [0, 1) of the levels of detail"
    yield fails(RangeError, law, f32(7, 3), MASK, FLAT, level=1, by_value=True)


def together(*order):
    """Rows of both parts below each other."""
    return lambda x, mask, true, false, *_, **attrs: np.concatenate([true, false])[list(order)]


@samples("merge_lod_tensor")
def merge_lod_tensor_samples():
    plain = f32(4, 1), MASK, f32(2, 3), f32(2, 3)
    yield call(*plain, reference=together(0, 2, 3, 1))
    yield call(*plain, NONE, NONE, NONE, reference=together(0, 2, 3, 1))
    parts = packed([[0, 1, 4]]), packed([[0, 2, 3]])
    several = f32(7, 1), MASK, f64(4, 3), f64(3, 3)
    yield call(*several, FLAT, *parts, reference=together(0, 4, 5, 6, 1, 2, 3))
    yield fails(DtypeError, "mask is int64", f32(4, 1), i64(4, 1), f32(2, 3), f32(2, 3))
    law = "in_true has 3 rows or sequences, and mask holds for 2"
    yield fails(ShapeError, law, f32(4, 1), MASK, f32(3, 3), f32(2, 3), by_value=True)
    law = "in_false has 1 rows or sequences, and 2 are needed"
    yield fails(ShapeError, law, f32(4, 1), MASK, f32(2, 3), f32(1, 3), by_value=True)
    law = "all of x and its parts have levels of detail, or none of them"
    yield fails(ArgumentError, law, *several, FLAT, parts[0])
