"""Samples of how well objects are found; references go answer by answer."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, fails, samples

OBJECTS = array(
    [[1, 0.1, 0.1, 0.5, 0.5], [2, 0.3, 0.2, 0.9, 0.8], [1, 0.0, 0.0, 0.3, 0.3], [2, 0, 0, 0.2, 0.2]]
)
ANSWERS = array(
    [
        [1, 0.9, 0.1, 0.1, 0.5, 0.6],
        [1, 0.8, 0.1, 0.1, 0.5, 0.5],
        [2, 0.3, 0.6, 0.6, 0.9, 0.9],
        [2, 0.7, 0.3, 0.2, 0.9, 1.2],
        [1, 0.6, 0.0, 0.0, 0.3, 0.35],
        [3, 0.5, 0.0, 0.0, 0.3, 0.35],
    ]
)
FOUND, THERE = packed([[0, 4, 6]]), packed([[0, 2, 4]])
COUNTS = array([[0], [2], [1], [0]], "int32")
RIGHT = array([[0.7, 1], [0.4, 0], [0.65, 1]])
WRONG = array([[0.7, 0], [0.4, 1], [0.65, 0]])
STATE_LEVELS = packed([[0, 0, 2, 3, 3]])


def overlap(a: Any, b: Any) -> float:
    sides = [max(min(a[k + 2], b[k + 2]) - max(a[k], b[k]), 0) for k in (0, 1)]
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return sides[0] * sides[1] / (sum(areas) - sides[0] * sides[1])


def measured(*operands: Any, class_num: int, **attrs: Any) -> Any:
    answers, objects, state, counts, right, _, *levels = (*operands, *[None] * 10)[:10]
    total, hits = [0] * class_num, [[] for _ in range(class_num)]
    if state is not None and state[0]:
        total = counts[:, 0].tolist()
        for label, (a, b) in enumerate(pairwise(unpacked(levels[2])[0])):
            hits[label] += [tuple(row) for row in right[a:b]]
    images = [list(pairwise(unpacked(v)[0])) for v in levels[:2]]
    for (a, b), (c, d) in zip(*images, strict=True):
        own, used = objects[c:d], set()
        hard = [len(o) == 6 and o[1] and not attrs["evaluate_difficult"] for o in own]
        for o, skipped in zip(own, hard, strict=True):
            total[int(o[0])] += not skipped
        for label in range(class_num):
            given = sorted((x for x in answers[a:b] if x[0] == label), key=lambda x: -x[1])
            for x in given:
                box = np.clip(x[2:], 0, 1)
                shares = [overlap(box, o[-4:]) if o[0] == label else -1 for o in own]
                best = int(np.argmax(shares))
                if shares[best] <= attrs["overlap_threshold"]:
                    hits[label].append((x[1], 0))
                elif not hard[best]:
                    hits[label].append((x[1], float(best not in used)))
                    used.add(best)
    precisions = [
        precision(sorted(own, key=lambda h: -h[0]), count, attrs["ap_type"])
        for own, count in zip(hits, total, strict=True)
        if count
    ]
    rows = [row for own in hits for row in own]
    held = np.array(rows), np.array([(s, 1 - r) for s, r in rows])
    return np.array(total)[:, None], *held, np.array([np.mean(precisions)])


def precision(hits: Any, count: int, kind: str) -> float:
    curve, right = [], 0
    for i, (_, hit) in enumerate(hits):
        right += hit
        curve.append((right / count, right / (i + 1), hit))
    if kind == "integral":
        return sum(p / count for _, p, hit in curve if hit)
    tenths = [[p for share, p, _ in curve if share >= k / 10] for k in range(11)]
    return float(np.mean([max(v, default=0) for v in tenths]))


@samples("detection_map", reference=measured)
def detection_map_samples():
    levels = None, None, None, None, FOUND, THERE
    asked = {"class_num": 4}
    yield call(ANSWERS, OBJECTS, *levels, **asked)
    yield call(ANSWERS, OBJECTS, *levels, **asked, ap_type="11point", overlap_threshold=0.3)
    hard = np.insert(OBJECTS, 1, [0, 1, 0, 0], 1)
    yield call(ANSWERS, hard, *levels, **asked, evaluate_difficult=False)
    yield call(ANSWERS, hard, *levels, **asked)
    for known in (1, 0):
        state = array([known], "int32"), COUNTS, RIGHT, WRONG
        ends = FOUND, THERE, STATE_LEVELS, STATE_LEVELS
        case = f"after {known} runs"
        yield call(ANSWERS, OBJECTS, *state, *ends, **asked, name_of_case=case)
    law = "label has 4 columns, 5 or 6 are needed"
    yield fails(ShapeError, law, ANSWERS, OBJECTS[:, :4], *levels, **asked)
    law = "ap_type is 'all', neither integral nor 11point"
    yield fails(ArgumentError, law, ANSWERS, OBJECTS, *levels, **asked, ap_type="all")
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, ANSWERS, OBJECTS, **asked, by_value=True)
    law = "pos_count, true_pos, false_pos come together"
    yield fails(ArgumentError, law, ANSWERS, OBJECTS, None, COUNTS, **asked)
    law = "pos_count is int64, not int32"
    wrong = COUNTS.astype("int64"), RIGHT, WRONG
    yield fails(DtypeError, law, ANSWERS, OBJECTS, None, *wrong, **asked)
