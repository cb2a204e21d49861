"""Samples of counts of right and wrong predictions."""

from typing import Any

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i32, i64, samples

FOUND, LABELS = array([[0], [1], [1], [2]], "int32"), array([[0], [1], [2], [1]], "int32")


def share(right: float, wrong: float) -> float:
    return right / (right + wrong) if right or wrong else 1.0


def metrics(state: Any) -> Any:
    each = [[share(row[0], row[k]) for row in state] for k in (1, 3)]
    macro = [np.mean(v) for v in each]
    total = state.sum(0)
    micro = [share(total[0], total[k]) for k in (1, 3)]
    means = [2 * p * r / (p + r) if p + r else 0.0 for p, r in (macro, micro)]
    return np.array([*macro, means[0], *micro, means[1]])


def tallied(
    probs: Any,
    found: Any,
    labels: Any,
    weights: Any = None,
    states: Any = 0.0,
    *,
    class_number: int,
) -> Any:
    state = np.zeros((class_number, 4))
    for i, (a, b) in enumerate(zip(found.reshape(-1), labels.reshape(-1), strict=True)):
        weight = 1.0 if weights is None else weights[i, 0]
        state[a, 0 if a == b else 1] += weight
        if a != b:
            state[b, 3] += weight
        for c in set(range(class_number)) - {a, b}:
            state[c, 2] += weight
    return metrics(state), metrics(state + states), state + states


@samples("precision_recall", reference=tallied)
def precision_recall_samples():
    probs, weights = f32(4, 1), f32(4, 1, low=0, high=1)
    yield call(probs, FOUND, LABELS, class_number=3)
    yield call(probs, FOUND, LABELS, weights, class_number=4)
    states = f32(3, 4, low=0, high=3)
    yield call(probs, FOUND, LABELS, weights, states, class_number=3)
    yield fails(DtypeError, "indices is float32", probs, f32(4, 1), LABELS, class_number=3)
    law = "indices has 3 elements, labels 4"
    yield fails(ShapeError, law, probs, i32(3, 1), LABELS, class_number=3)
    law = "a class from 0 to 2 is outside [0, 2)"
    yield fails(RangeError, law, probs, FOUND, LABELS, class_number=2, by_value=True)
    law = "states_info has 4 rows or columns, 3 are needed"
    yield fails(ShapeError, law, probs, FOUND, LABELS, None, f32(4, 4), class_number=3)


def paired(
    score: Any,
    label: Any,
    query: Any,
    right: Any = 0.0,
    wrong: Any = 0.0,
    neither: Any = 0.0,
    weight: Any = None,
    *,
    column: int = 0,
) -> Any:
    total = [np.zeros(1) + (0.0 if v is None else v) for v in (right, wrong, neither)]
    for i in range(len(score)):
        for j in range(i):
            if query[i] != query[j] or label[i] == label[j]:
                continue
            mean = 1.0 if weight is None else (weight[i] + weight[j]) / 2
            apart = score[i, column] - score[j, column]
            total[0 if apart * (label[i] - label[j]) > 0 else 1] += mean
            total[2] += mean * (apart == 0)
    return tuple(total)


@samples("positive_negative_pair", reference=paired)
def positive_negative_pair_samples():
    score = array([[1, 2], [3, 1], [2, 2], [0, 5], [4, 2], [4, 3]])
    label = array([[0], [1], [2], [1], [0], [1]])
    query = array([[7], [7], [7], [3], [7], [3]], "int64")
    sums = f32(1, low=0, high=4), f32(1, low=0, high=4), f32(1, low=0, high=4)
    yield call(score, label, query)
    yield call(score, label, query, column=-1)
    yield call(score, label, query, *sums)
    yield call(score, label, query, *sums, f32(6, 1, low=0, high=1), column=1)
    yield fails(ShapeError, "label has 5 elements, score 6 rows", score, f32(5, 1), query)
    yield fails(DtypeError, "query_id is float32, not of integers", score, label, f32(6, 1))
    yield fails(RangeError, "axis 2 is outside", score, label, query, column=2)
    yield fails(DtypeError, "not of float32 or float64", i64(6, 2), label, query)
