"""Samples of chunks of tags; numbers were counted by hand."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed
from tests.ops.sample import array, call, f32, fails, i64, samples

LEVELS = packed([[0, 5, 9]])
NAMES = array([[0], [1], [4], [2], [3], [0], [0], [1], [4]], "int64")  # BI O BI, B BI O
FOUND = array([[0], [1], [4], [2], [2], [0], [1], [1], [4]], "int64")  # BI O B B, BII O


def counts(found: int, there: int, right: int) -> Any:
    """The results of so many chunks."""
    precision, recall = right / max(found, 1), right / max(there, 1)
    mean = 2 * precision * recall / (precision + recall) if right else 0.0
    shares = [np.array([v], "float32") for v in (precision, recall, mean)]
    numbers = [np.array([v], "int64") for v in (found, there, right)]
    return lambda *_, **attrs: (*shares, *numbers)


@samples("chunk_eval")
def chunk_eval_samples():
    two: Any = {"num_chunk_types": 2}
    yield call(FOUND, NAMES, None, LEVELS, reference=counts(4, 4, 1), **two)
    yield call(NAMES, NAMES, None, LEVELS, reference=counts(4, 4, 4), **two)
    other = {"excluded_chunk_types": (0,)}
    yield call(FOUND, NAMES, None, LEVELS, reference=counts(2, 1, 0), **two, **other)
    rows = NAMES.reshape(1, 9).repeat(2, 0), array([9, 4], "int64")
    yield call(rows[0], *rows, reference=counts(6, 6, 6), **two)
    plain = array([[0], [0], [1], [1], [2], [1], [0], [0], [2]], "int64")
    yield call(plain, plain, None, LEVELS, chunk_scheme="plain", reference=counts(4, 4, 4), **two)
    ends = array([[0], [1], [0], [2], [1], [1], [1], [0], [0]], "int64")  # IE I O E, E E I I
    yield call(
        ends, ends, None, LEVELS, num_chunk_types=1, chunk_scheme="IOE", reference=counts(6, 6, 6)
    )
    alone = array([[0], [1], [2], [3], [4], [3], [3], [0], [2]], "int64")  # BIE S O, S S BE
    yield call(
        alone,
        NAMES,
        None,
        LEVELS,
        num_chunk_types=1,
        chunk_scheme="IOBES",
        reference=counts(5, 5, 2),
    )
    yield fails(DtypeError, "label is float32, not of integers", FOUND, f32(9, 1), **two)
    yield fails(ShapeError, "inference has 8 tags and label 9", i64(8, 1), NAMES, **two)
    law = "chunk_scheme is 'BIO', not IOB, IOE, IOBES, plain"
    yield fails(ArgumentError, law, FOUND, NAMES, None, LEVELS, chunk_scheme="BIO", **two)
    law = "the tag 4 is outside [0, 2]"
    yield fails(RangeError, law, FOUND, NAMES, None, LEVELS, num_chunk_types=1, by_value=True)
    yield fails(
        ArgumentError, "an operand has no levels of detail", FOUND, NAMES, by_value=True, **two
    )
    law = "a length is outside [0, 9]"
    yield fails(RangeError, law, rows[0], rows[0], array([9, 10], "int64"), by_value=True, **two)
