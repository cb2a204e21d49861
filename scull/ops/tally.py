"""Counts of right and wrong predictions: of classes, and of pairs that a score puts in order."""

from typing import Any

import numpy as np

from scull.core.dtype import float32, float64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, axis_of, count
from scull.errors import DtypeError, RangeError, ShapeError
from scull.ops.half import whole
from scull.ops.level import vector_of

COUNTS = "it counts"
MET = "which pairs there are depends on the queries"


def check_whole(**operands: Meta) -> None:
    """Refuse what is not of integers."""
    for name, m in operands.items():
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not of integers")


@primitive(outputs=("batch_metrics", "accum_metrics", "accum_states_info"), infer_first=True)
def precision_recall(
    max_probs: Meta,
    indices: Meta,
    labels: Meta,
    weights: Meta = None,
    states_info: Meta = None,
    *,
    class_number: int,
) -> Any:
    """Shares of right predictions and of what was found, and their mean, over classes and rows.

    First those of the batch, then those of all batches, then for each class how often it was found
    rightly, wrongly, not found rightly, and missed.
    """
    check_whole(indices=indices, labels=labels)
    whole(*filter(None, (weights, states_info)))
    for name, m in (("indices", indices), ("weights", weights)):
        if m is not None:
            agree(count(m.shape), count(labels.shape), f"{name} has {{}} elements, labels {{}}")
    if states_info is not None:
        for n, m in zip(states_info.shape, (class_number, 4), strict=True):
            agree(n, m, "states_info has {} rows or columns, {} are needed")
    shape = Meta((6,), float64)
    return shape, shape, Meta((class_number, 4), float32)


@precision_recall.kernel
def precision_recall_kernel(
    xp: Any,
    max_probs: Any,
    indices: Any,
    labels: Any,
    weights: Any = None,
    states_info: Any = None,
    *,
    out: Any = None,
    class_number: int,
) -> Any:
    found, label = vector_of(indices), vector_of(labels)
    for v in (found, label):
        if v.size and (v.min() < 0 or v.max() >= class_number):
            raise RangeError(f"a class from {v.min()} to {v.max()} is outside [0, {class_number})")
    weight = xp.ones(len(label)) if weights is None else weights.reshape(-1)
    right = found == label

    def counted(of: Any, some: Any) -> Any:
        return xp.bincount(of[some], weight[some], class_number)

    true, false, missed = counted(found, right), counted(found, ~right), counted(label, ~right)
    state = xp.stack([true, false, weight.sum() - true - false - missed, missed], 1)
    total = state if states_info is None else state + states_info
    made = [shares(state), shares(total), total.astype("float32")]
    for target, v in zip(out or (), made, strict=False):
        target[...] = v
    return tuple(out or made)


def shares(state: Any) -> Any:
    """Precision, recall and their mean over classes, then over rows."""
    true, false, _, missed = state.T
    each = [of_all(true, false), of_all(true, missed)]
    macro = [v.mean() if len(v) else 1.0 for v in each]
    micro = [of_all(true.sum(), v.sum()) for v in (false, missed)]
    return np.array([*macro, mean_of(*macro), *micro, mean_of(*micro)])


def of_all(right: Any, wrong: Any) -> Any:
    """The share of what is right; 1 where there is nothing."""
    some = (right > 0) | (wrong > 0)
    return np.where(some, right / np.where(some, right + wrong, 1), 1.0)


def mean_of(precision: Any, recall: Any) -> Any:
    """Their harmonic mean, 0 where both are 0."""
    some = precision > 0 or recall > 0
    return 2 * precision * recall / (precision + recall) if some else 0.0


@primitive(
    outputs=("positive_pair", "negative_pair", "neutral_pair"),
    slots={"query_id": "QueryID"},
)
def positive_negative_pair(
    score: Meta,
    label: Meta,
    query_id: Meta,
    accumulate_positive_pair: Meta = None,
    accumulate_negative_pair: Meta = None,
    accumulate_neutral_pair: Meta = None,
    weight: Meta = None,
    *,
    column: int = 0,
) -> Any:
    """Of the pairs of a query with other labels how many a score puts right, wrong, and neither.

    A pair weighs as much as the mean of its rows; one that is neither is wrong as well.
    """
    whole(score, label)
    check_whole(query_id=query_id)
    if score.ndim != 2:
        raise ShapeError(f"score has {score.ndim} axes, 2 are needed")
    if score.shape[1] != -1:
        axis_of(column, score.shape[1])
    for name, m in (("label", label), ("query_id", query_id), ("weight", weight)):
        if m is not None:
            agree(count(m.shape), score.shape[0], f"{name} has {{}} elements, score {{}} rows")
    return (Meta((1,), score.dtype),) * 3


@positive_negative_pair.kernel
def positive_negative_kernel(
    xp: Any,
    score: Any,
    label: Any,
    query_id: Any,
    right: Any = None,
    wrong: Any = None,
    neither: Any = None,
    weight: Any = None,
    *,
    out: Any = None,
    column: int,
) -> Any:
    whole(score, label)
    value, label, query = score[:, column], label.reshape(-1), vector_of(query_id)
    weight = xp.ones(len(value)) if weight is None else weight.reshape(-1)
    total = [0.0 if v is None else v.item() for v in (right, wrong, neither)]
    order = xp.argsort(query, kind="stable")
    ends = xp.flatnonzero(xp.diff(query[order])) + 1
    for rows in xp.split(order, ends):
        i, j = (rows[k] for k in xp.triu_indices(len(rows), 1))
        met = label[i] != label[j]
        i, j = i[met], j[met]
        mean = (weight[i] + weight[j]) / 2
        apart, good = value[i] - value[j], (value[i] - value[j]) * (label[i] - label[j]) > 0
        for k, some in enumerate((good, ~good, apart == 0)):
            total[k] += float(mean[some].sum())
    made = [xp.array([v], score.dtype) for v in total]
    for target, v in zip(out or (), made, strict=False):
        target[...] = v
    return tuple(out or made)


for operator in (precision_recall, positive_negative_pair):
    operator.no_grad(COUNTS)
    operator.no_lowering(MET)
