"""Samples of what follows from levels of detail."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

LEVELS = packed([[0, 2, 2, 5, 6]])
OTHER = packed([[0, 1, 3, 3, 4]])
NESTED = packed([[0, 2, 3], [0, 1, 4, 6]])
NONE = packed([])


def rows(*expected: Any, of: str, numbers: Any = (), operands: Any = (LEVELS,)) -> Any:
    """A call that gives these rows."""
    expected = np.array(expected[0] if len(expected) == 1 else expected)
    return call(list(operands), of=of, numbers=numbers, reference=lambda *_: expected)


@samples("sequence_rows")
def sequence_rows_samples():
    yield rows(*range(6), of="row")
    yield rows(0, 0, 2, 2, 2, 3, of="segment")
    yield rows(2, 2, 3, 3, 3, 1, of="length")
    yield rows(0, -1, 2, 5, of="edge", numbers=(0,))
    yield rows(1, -1, 4, 5, of="edge", numbers=(1,))
    yield rows(1, 0, 4, 3, 2, 5, of="reverse")
    yield rows(
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
        of="expand",
        numbers=(-1,),
        operands=(NONE, packed([[0, 2, 4, 6, 8]])),
    )
    yield rows(
        0,
        1,
        0,
        1,
        2,
        3,
        4,
        5,
        of="expand",
        numbers=(0,),
        operands=(LEVELS, packed([[0, 2, 3, 4, 5]])),
    )
    yield rows(0, 0, 2, 2, 2, 3, of="expand_as")
    yield rows(0, 1, 6, 7, 8, 2, 3, 4, 5, 9, of="concat", operands=(LEVELS, OTHER))
    yield rows(2, 3, 4, 9, of="part", numbers=(1,), operands=(LEVELS, OTHER))
    yield rows(
        1,
        2,
        3,
        of="slice",
        operands=(LEVELS, array([1, 0, 0, 0], "int64"), array([1, 0, 2, 0], "int64")),
    )
    yield rows([-1, 0], [0, 1], [-1, 2], [2, 3], [3, 4], [-1, 5], of="window", numbers=(2, -1))
    yield rows(
        [0, -1], [-1, -1], [0, -1], [-1, -1], [-1, -1], [0, -1], of="padding", numbers=(2, -1)
    )
    yield rows([0, 1, -1], [-1] * 3, [2, 3, 4], [5, -1, -1], of="pad", numbers=(-1,))
    yield rows([0, 0], [0, 1], [2, 0], of="unpad", operands=(array([2, 0, 1], "int64"),))
    yield rows([0, 0], [0, 1], [2, 0], of="steps", operands=(packed([[0, 2, 2, 3]]),))
    yield rows(
        [0, 4],
        [0, 5],
        [2, 6],
        of="scatter",
        operands=(packed([[0, 2, 2, 3]]), array([4, 5, 6], "int64")),
    )
    ids = array([3, 1, 1, 1, 0, 0], "int64")
    yield rows(0, 4, 5, of="erase", numbers=(1, 7), operands=(LEVELS, ids))
    yield rows(0, 1, 2, of="align", numbers=(0, 1), operands=(LEVELS, ids))
    yield rows(0, 1, 2, 3, of="align", numbers=(0, 0), operands=(LEVELS, ids))
    for law, value in LAWS.items():
        yield fails(ArgumentError, law, [array(value, "int64")], of="segment", by_value=True)
    yield fails(ArgumentError, "of is 'turn', not row, ", [LEVELS], of="turn")
    yield fails(
        RangeError,
        "sequences are padded to 2 rows, and one has 3",
        [LEVELS],
        of="pad",
        numbers=(2,),
        by_value=True,
    )
    cut = [LEVELS, array([1, 0, 2, 0], "int64"), array([1, 0, 2, 0], "int64")]
    yield fails(RangeError, "is not within its sequence", cut, of="slice", by_value=True)
    yield fails(
        RangeError, "less than no elements", [array([-1], "int64")], of="unpad", by_value=True
    )
    yield fails(DtypeError, "no whole numbers", [f32(2)], of="unpad", by_value=True)
    short = [LEVELS, array([1], "int64")]
    yield fails(ShapeError, "sequences have 6 rows and ids 1", short, of="scatter", by_value=True)
    yield fails(
        ShapeError,
        "4 sequences and another 3",
        [LEVELS, packed([[0, 1, 2, 3]])],
        of="concat",
        by_value=True,
    )
    yield fails(
        RangeError,
        "level 3 is outside [0, 1)",
        [LEVELS, LEVELS],
        of="expand",
        numbers=(3,),
        by_value=True,
    )


LAWS = {
    "an operand has no levels of detail": [0],
    "is no vector of such": [2],
    "ends within one": [1, 3, 0, 2],
    "does not rise from 0 on": [1, 3, 0, 2, 1],
}


def levels(expected: Any, *operands: Any, of: str, numbers: Any = (), case: str = "") -> Any:
    """A call that gives these levels."""
    vector = packed(expected)
    reference = lambda *_: vector  # noqa: E731
    return call(list(operands), of=of, numbers=numbers, reference=reference, name_of_case=case)


@samples("sequence_levels")
def sequence_levels_samples():
    yield levels([[0, 2, 3]], NESTED, of="outer")
    yield levels([], LEVELS, of="outer", case="of one level")
    yield levels([], NONE, packed([[0, 2, 3]]), of="expand", numbers=(0,))
    yield levels(
        [[0, 2, 4, 5]], packed([[0, 2, 3]]), packed([[0, 2, 3]]), of="expand", numbers=(-1,)
    )
    yield levels([[0, 3, 5, 8, 10]], LEVELS, OTHER, of="concat")
    yield levels(
        [[0, 1, 1, 3, 3]],
        LEVELS,
        array([1, 0, 0, 0], "int64"),
        array([1, 0, 2, 0], "int64"),
        of="slice",
    )
    yield levels([[0, 2, 2, 3]], array([2, 0, 1], "int64"), of="unpad")
    yield levels([[0, 2, 2, 3]], array([2, 0, 1], "int32"), of="counts")
    yield levels([[0, 4, 4, 10, 12]], LEVELS, f32(6, 4), of="reshape", numbers=(2,))
    yield levels([[0, 1, 6]], LEVELS, of="reset", numbers=(0, 0, 1, 6))
    yield levels([[0, 4, 6]], NONE, NONE, array([0, 4, 6], "int32"), of="reset", numbers=(0,))
    yield levels(
        [[0, 2, 3], [0, 1, 4, 6]],
        LEVELS,
        NESTED,
        f32(6),
        of="reset",
        numbers=(0,),
        case="of another",
    )
    yield levels(
        [[0, 2, 3], [0, 1, 4, 6]],
        packed([[0, 2, 3]]),
        of="reset",
        numbers=(1, 0, 1, 4, 6),
        case="one more",
    )
    yield levels([[0, 3, 6]], f32(2, 1), f32(6, 2), of="pieces")
    yield levels([[0, 2, 2, 5, 6, 7, 9, 9, 10]], LEVELS, OTHER, of="stack")
    yield levels([], LEVELS, NESTED, of="stack", case="of several numbers")
    ids = array([3, 1, 1, 1, 0, 0], "int64")
    yield levels([[0, 1, 1, 2, 3]], LEVELS, ids, of="erase", numbers=(1,))
    yield levels([[0, 2, 2, 3, 3]], LEVELS, ids, of="align", numbers=(0, 1))
    yield fails(
        ShapeError, "into rows of 3 elements", LEVELS_AND, of="reshape", numbers=(3,), by_value=True
    )
    yield fails(ArgumentError, "of is 'turn', not outer, ", [LEVELS], of="turn")


LEVELS_AND = [LEVELS, np.ones((6, 4), "float32")]
PLACES = array([2, -1, 0, 2], "int64")


def at(x: Any, index: Any) -> Any:
    flat = [x[i] if i >= 0 else np.zeros_like(x[0]) for i in index.reshape(-1)]
    return np.reshape(flat, (*index.shape, *x.shape[1:]))


def into(x: Any, index: Any, like: Any) -> Any:
    found = np.zeros(like.shape)
    for row, i in zip(x.reshape(-1, *like.shape[1:]), index.reshape(-1), strict=True):
        if i >= 0:
            found[i] += row
    return found


@samples("rows_at", reference=at)
def rows_at_samples():
    yield call(f32(3, 2), PLACES)
    yield call(f64(3), PLACES)
    yield call(f32(3, 2, 2), array([1, 0], "int32"))
    yield call(f32(3, 2), PLACES.reshape(2, 2))
    yield call(i64(3, 2), PLACES)
    yield call(f32(3, 2), array([], "int64"))
    law = "a place from 0 to 3 is outside [-1, 3)"
    yield fails(RangeError, law, f32(3, 2), array([0, 3], "int64"), by_value=True)
    yield fails(DtypeError, "not of integers", f32(3, 2), f32(2))
    yield fails(ShapeError, "a 0-D tensor has no rows", f32(), PLACES)


@samples("rows_into", reference=into)
def rows_into_samples():
    yield call(f32(4, 2), PLACES, f32(3, 2))
    yield call(f64(4), PLACES, f64(3))
    yield call(f32(2, 2, 3), PLACES.reshape(2, 2), f32(3, 3))
    yield call(f32(0, 2), array([], "int64"), f32(3, 2))
    law = "a place from -1 to 2 is outside [-1, 2)"
    yield fails(RangeError, law, f32(4, 2), PLACES, f32(2, 2), by_value=True)
    yield fails(ShapeError, "there are 4 places and 3 rows", f32(3, 2), PLACES, f32(3, 2))
    yield fails(ShapeError, "cannot take rows of 2", f32(4, 2), PLACES, f32(3, 3))
    yield fails(ShapeError, "x has 1 axes", f32(4), PLACES, f32(3, 2))
