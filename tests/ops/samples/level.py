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


def i64s(*values: int) -> Any:
    return array(values, "int64")


IDS = i64s(3, 1, 1, 1, 0, 0)
PART = i64s(1, 0, 0, 0), i64s(1, 0, 2, 0)
STEPS = [[0, 0], [0, 1], [2, 0]]

# What is picked, by which rule, with which numbers, of which operands.
PICKED: list[tuple[Any, ...]] = [
    ([0, 1, 2, 3, 4, 5], "row", (), LEVELS),
    ([0, 0, 2, 2, 2, 3], "segment", (), LEVELS),
    ([2, 2, 3, 3, 3, 1], "length", (), LEVELS),
    ([2, 0, 3, 1], "count", (), LEVELS, f32(6, 4)),
    ([6], "count", (), NONE, f32(6, 4)),
    ([0, -1, 2, 5], "edge", (0,), LEVELS),
    ([1, -1, 4, 5], "edge", (1,), LEVELS),
    ([1, 0, 4, 3, 2, 5], "reverse", (), LEVELS),
    ([0, 0, 1, 1, 2, 3, 3], "expand", (-1,), NONE, packed([[0, 2, 4, 5, 7]])),
    ([0, 1, 0, 1, 2, 3, 4, 5], "expand", (0,), LEVELS, packed([[0, 2, 3, 4, 5]])),
    ([0, 0, 2, 2, 2, 3], "expand_as", (), LEVELS),
    ([0, 1, 6, 7, 8, 2, 3, 4, 5, 9], "concat", (), LEVELS, OTHER),
    ([2, 3, 4, 9], "part", (1,), LEVELS, OTHER),
    ([1, 2, 3], "slice", (), LEVELS, *PART),
    ([[-1, 0], [0, 1], [-1, 2], [2, 3], [3, 4], [-1, 5]], "window", (2, -1), LEVELS),
    ([[0, -1], [-1] * 2, [0, -1], [-1] * 2, [-1] * 2, [0, -1]], "padding", (2, -1), LEVELS),
    ([[0, 1, -1], [-1] * 3, [2, 3, 4], [5, -1, -1]], "pad", (-1,), LEVELS),
    (STEPS, "unpad", (), i64s(2, 0, 1)),
    (STEPS, "steps", (), packed([[0, 2, 2, 3]])),
    ([[0, 4], [0, 5], [2, 6]], "scatter", (), packed([[0, 2, 2, 3]]), i64s(4, 5, 6)),
    ([0, 4, 5], "erase", (1, 7), LEVELS, IDS),
    ([0, 1, 2], "align", (0, 1), LEVELS, IDS),
    ([0, 1, 2, 3], "align", (0, 0), LEVELS, IDS),
]
REFUSED: list[tuple[Any, ...]] = [
    (ArgumentError, "an operand has no levels of detail", "segment", (), i64s(0)),
    (ArgumentError, "is no vector of such", "segment", (), i64s(2)),
    (ArgumentError, "ends within one", "segment", (), i64s(1, 3, 0, 2)),
    (ArgumentError, "does not rise from 0 on", "segment", (), i64s(1, 3, 0, 2, 1)),
    (RangeError, "sequences are padded to 2 rows, and one has 3", "pad", (2,), LEVELS),
    (RangeError, "is not within its sequence", "slice", (), LEVELS, PART[1], PART[1]),
    (RangeError, "less than no elements", "unpad", (), i64s(-1)),
    (DtypeError, "no whole numbers", "unpad", (), array([1.5])),
    (ShapeError, "sequences have 6 rows and ids 1", "scatter", (), LEVELS, i64s(1)),
    (ShapeError, "4 sequences and another 3", "concat", (), LEVELS, packed([[0, 1, 2, 3]])),
    (RangeError, "level 3 is outside [0, 1)", "expand", (3,), LEVELS, LEVELS),
]


@samples("sequence_rows")
def sequence_rows_samples():
    for expected, of, numbers, *operands in PICKED:
        found = np.array(expected)
        reference = lambda *_, found=found: found  # noqa: E731
        yield call(operands, of=of, numbers=numbers, reference=reference)
    for error, law, of, numbers, *operands in REFUSED:
        yield fails(error, law, operands, of=of, numbers=numbers, by_value=True)
    yield fails(ArgumentError, "of is 'turn', not row, ", [LEVELS], of="turn")
    yield fails(
        ArgumentError, "'window' takes 2 numbers, not 1", [LEVELS], of="window", numbers=(1,)
    )
    yield fails(ArgumentError, "'row' takes 0 numbers, not 1", [LEVELS], of="row", numbers=(1,))


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
    law = "'align' takes 2 numbers, not 1"
    yield fails(ArgumentError, law, [LEVELS, IDS], of="align", numbers=(1,))


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
