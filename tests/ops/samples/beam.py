"""Samples of beam search; the reference puts word by word into a short list."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

LEVELS = packed([[0, 2, 3], [0, 1, 2, 3]])
IDS = array([[4, 0, 2], [5, 6, 7], [8, 1, 9]], "int64")
ATTRS = {"level": 0, "beam_size": 2, "end_id": 1}


def put(beam: list[Any], item: tuple[Any, ...], size: int) -> None:
    """Put (score, row, word) into a list, the best first, of so many at most."""
    if len(beam) == size:
        if item[:2] < beam[-1][:2]:
            return
        beam.pop()
    place = len(beam)
    while place and beam[place - 1][:2] < item[:2]:
        place -= 1
    beam.insert(place, item)


def searched(
    before: Any,
    reached: Any,
    scores: Any,
    ids: Any,
    levels: Any,
    *,
    beam_size: int,
    end_id: int,
    is_accumulated: bool = True,
) -> Any:
    outer, found = unpacked(levels)[0], []
    for begin, end in pairwise(outer):
        beam: list[Any] = []
        for row in range(begin, end):
            start = reached[row, 0]
            each = [
                (s if is_accumulated else start + np.log(s), row, w if ids is None else ids[row, w])
                for w, s in enumerate(scores[row])
            ]
            each = [(start, row, end_id)] if before[row, 0] == end_id else each
            for item in each:
                put(beam, item, beam_size)
        if any(w != end_id or before[row, 0] != end_id for _, row, w in beam):
            found += sorted(beam, key=lambda item: item[1])
    counts = np.bincount([row for _, row, _ in found], minlength=len(scores))
    inside = np.concatenate([[0], np.cumsum(counts)])
    words = np.array([[w] for *_, w in found], "int64").reshape(-1, 1)
    total = np.array([[s] for s, *_ in found]).reshape(-1, 1)
    return words, total, np.array([row for _, row, _ in found]), packed([outer, inside])


@samples("beam_search", reference=searched)
def beam_search_samples():
    going = array([[2], [3], [4]], "int64")
    for before in (going, array([[1], [3], [4]], "int64"), array([[2], [3], [1]], "int64")):
        yield call(before, f32(3, 1), f32(3, 3), IDS, LEVELS, **ATTRS)
    shares = f64(3, 3, low=0.1, high=1)
    yield call(going, f64(3, 1), shares, None, LEVELS, is_accumulated=False, **ATTRS)
    yield call(going, f32(3, 1), f32(3, 3), IDS, LEVELS, level=0, beam_size=9, end_id=1)
    for last in (0.5, 0.25):  # the last of equal ones takes the last place, unless pushed out
        tied = array([[0.5, 0.5, 0.5], [0.5, 0.5, last], [0.5, 0.5, 0.5]])
        yield call(going, f32(3, 1), tied, IDS, LEVELS, **ATTRS)
    late = array([[0.5, 0.5, 0.75], [0.25, 0.75, 0.25], [0.5, 0.5, 0.75]])
    yield call(going, f32(3, 1), late, IDS, LEVELS, **ATTRS)
    rest = f32(3, 1), f32(3, 3)
    yield fails(DtypeError, "pre_ids is float32, not of integers", f32(3, 1), *rest, **ATTRS)
    half = f32(3, 1).astype("float16"), f32(3, 3).astype("float16")
    yield fails(
        DtypeError, "float16[3, 1] is not of float32 or float64", going, *half, IDS, LEVELS, **ATTRS
    )
    law = "scores has 3 axes, 2 are needed"
    yield fails(ShapeError, law, going, f32(3, 1), f32(3, 3, 1), **ATTRS)
    law = "pre_ids has 2 elements, and scores 3 rows"
    yield fails(ShapeError, law, i64(2, 1), *rest, IDS, LEVELS, **ATTRS)
    law = "ids has 2 rows or columns, and scores 3"
    yield fails(ShapeError, law, going, *rest, i64(3, 2), LEVELS, **ATTRS)
    law = "beam_size is 0, not above 0"
    yield fails(ArgumentError, law, going, *rest, IDS, LEVELS, level=0, beam_size=0, end_id=1)
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, going, *rest, IDS, packed([]), by_value=True, **ATTRS)
    law = "level 2 is outside [0, 2) of the levels of detail"
    other = {**ATTRS, "level": 2}
    yield fails(RangeError, law, going, *rest, IDS, LEVELS, by_value=True, **other)
