"""Samples of losses over alignments."""

from itertools import product
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, samples


def said(path: Any, blank: int) -> list[int]:
    """What a path says: repetitions once, and no blanks."""
    kept = [c for i, c in enumerate(path) if i == 0 or c != path[i - 1]]
    return [c for c in kept if c != blank]


def temporal(
    logits: Any, label: Any, times: Any = None, counts: Any = None, *, blank: int = 0, **_: Any
) -> Any:
    scores = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    found = []
    for b in range(logits.shape[1]):
        steps = len(logits) if times is None else times[b]
        wanted = label[b][: label.shape[1] if counts is None else counts[b]].tolist()
        paths = product(range(logits.shape[2]), repeat=int(steps))
        chances = [
            sum(scores[t, b, c] for t, c in enumerate(p)) for p in paths if said(p, blank) == wanted
        ]
        found.append(-np.logaddexp.reduce(chances) if chances and steps else 0.0)
    return (np.array(found).reshape(-1, 1),)


@samples("warpctc", reference=temporal)
def warpctc_samples():
    labels = array([[1, 2, 2], [2, 1, 0]], "int32")
    times, counts = array([5, 3], "int64"), array([3, 2], "int64")
    yield call(f32(5, 2, 3), labels, times, counts)
    yield call(f64(5, 2, 3), array([[0, 1], [1, 1]], "int32"), times, times - 3, blank=2)
    yield call(f32(4, 2, 3), labels[:, :1])
    normed = call(f32(5, 2, 3), labels, times, counts, norm_by_times=True, grad=False)
    yield normed
    yield call(f32(2, 2, 3), labels, name_of_case="too short")
    yield call(f32(3, 2, 3), labels, array([3, 0], "int64"), array([0, 2], "int64"))
    yield call(f32(3, 0, 3), labels[:0], name_of_case="no row")
    yield fails(ShapeError, "logits has 2 axes, 3 are needed", f32(5, 3), labels)
    yield fails(ShapeError, "logits has 3 rows and label 2", f32(5, 3, 3), labels)
    yield fails(ArgumentError, "blank is 3, outside [0, 3)", f32(5, 2, 3), labels, blank=3)
    yield fails(DtypeError, "is not of integers", f32(5, 2, 3), f32(2, 3))
    wrong = array([[1, 2, 3], [2, 1, 0]], "int32")
    law = "label 3 is outside [0, 3)"
    yield fails(RangeError, law, f32(5, 2, 3), wrong, times, counts, by_value=True)
    law = "logits_length [6, 3] is outside [0, 5]"
    longer = array([6, 3], "int64")
    yield fails(RangeError, law, f32(5, 2, 3), labels, longer, counts, by_value=True)


def transduced(input: Any, label: Any, times: Any, counts: Any, *, blank: int = 0, **_: Any) -> Any:
    found = []
    for x, own, steps, count in zip(input, label, times, counts, strict=True):
        ways = np.full((steps + 1, count + 1), -np.inf)
        ways[0, 0] = 0
        for t in range(steps):
            for u in range(count + 1):
                if t:
                    ways[t, u] = np.logaddexp(ways[t, u], ways[t - 1, u] + x[t - 1, u, blank])
                if u:
                    ways[t, u] = np.logaddexp(ways[t, u], ways[t, u - 1] + x[t, u - 1, own[u - 1]])
        found.append(-(ways[steps - 1, count] + x[steps - 1, count, blank]))
    return (np.array(found),)


@samples("warprnnt", reference=transduced)
def warprnnt_samples():
    labels, counts = array([[1, 2], [3, 0]], "int32"), array([2, 1], "int32")
    times = array([4, 3], "int32")
    yield call(f32(2, 4, 3, 5), labels, times, counts)
    yield call(f64(2, 4, 3, 5), labels, times, counts, blank=4)
    yield call(f32(2, 4, 3, 5), labels, times, counts, fastemit_lambda=0.5, grad=False)
    yield call(f32(1, 2, 1, 3), labels[:1, :0], array([2], "int32"), array([0], "int32"))
    law = "input has 4 places for labels, for label 3 are needed"
    yield fails(ShapeError, law, f32(2, 4, 4, 5), labels, times, counts)
    law = "input has 3 axes, 4 are needed"
    yield fails(ShapeError, law, f32(2, 4, 3), labels, times, counts)
    wrong = array([[1, 5], [3, 0]], "int32")
    law = "label 5 is outside [0, 5)"
    yield fails(RangeError, law, f32(2, 4, 3, 5), wrong, times, counts, by_value=True)


@samples("taken_once", reference=lambda x: x)
def taken_once_samples():
    yield call(f32(2, 3), grad=False)
