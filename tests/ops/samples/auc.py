"""Samples of the area under a curve."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i64, samples


def counted(predict, label, pos, neg, weight=None, *, num_thresholds, slide_steps=1):
    bins, scores = num_thresholds + 1, predict[:, -1].astype("float32")
    stats = []
    for stat, kind in ((pos, True), (neg, False)):
        places = (scores[(label.reshape(-1) != 0) == kind] * np.float32(num_thresholds)).astype(int)
        batch = np.zeros(bins, int)
        np.add.at(batch, places, 1)
        if not slide_steps:
            stats.append(stat.reshape(1, -1) + batch)
            continue
        slots = stat.reshape(-1)[:-1].reshape(slide_steps + 1, bins).copy()
        cursor = stat.reshape(-1)[-1]
        slots[cursor % slide_steps] = batch
        slots[-1] += batch - stat.reshape(-1)[:-1].reshape(-1, bins)[cursor % slide_steps]
        stats.append(np.append(slots, cursor + 1))
    pos, neg = (s[-1 - bins : -1] if slide_steps else s[0] for s in stats)
    pairs = sum(
        p * n * (1.0 if i > j else 0.5 * (i == j))
        for i, p in enumerate(pos)
        for j, n in enumerate(neg)
    )
    both = pos.sum() * neg.sum()
    return np.array(pairs / both if both else 0.0), *stats


@samples("auc", reference=counted)
def auc_samples():
    scores = f32(8, 2, low=0.0, high=1.0)
    labels = array([[0], [1], [1], [1], [0], [0], [1], [2]], "int64")
    few = {"num_thresholds": 5}
    before = i64(1, 6, low=0), i64(1, 6, low=0)
    yield call(scores, labels, *before, **few, slide_steps=0)
    yield call(scores[:, 1:], labels, *[np.zeros(13, "int64")] * 2, **few)
    slides = [np.append(i64(18, low=0), np.int64(1)) for _ in range(2)]
    yield call(scores, labels, *slides, **few, slide_steps=2)
    yield call(f32(0, 2), i64(0, 1), *[np.zeros((1, 6), "int64")] * 2, **few, slide_steps=0)
    wrong = array([[0.1, 1.5]])
    zero = np.zeros((1, 6), "int64")
    law = "predict has scores outside [0, 1]"
    few["slide_steps"] = 0
    yield fails(RangeError, law, wrong, i64(1, 1), zero, zero, by_value=True, **few)
    law = "stat_pos has 5 counts, 6 are needed"
    yield fails(ShapeError, law, scores, labels, i64(5), zero, **few)
    law = "predict has 8 rows and there are 7 labels"
    yield fails(ShapeError, law, scores, i64(7, 1), zero, zero, **few)
    yield fails(DtypeError, "stat_neg is float32", scores, labels, zero, f32(1, 6), **few)
    yield fails(ArgumentError, "curve is 'LIFT'", scores, labels, zero, zero, curve="LIFT", **few)
