"""Samples of matches between prior boxes and objects; references go pair by pair."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, samples


def matched(dist: Any, levels: Any = None, **attrs: Any) -> Any:
    ends = [0, len(dist)] if levels is None else unpacked(levels)[0].tolist()
    rows = np.full((len(ends) - 1, dist.shape[1]), -1)
    near = np.zeros(rows.shape)
    for image, (a, b) in enumerate(pairwise(ends)):
        left = set(range(a, b))
        while left:
            open = [j for j in range(dist.shape[1]) if rows[image, j] < 0]
            pairs = [(-dist[i, j], j, i) for j in open for i in left if dist[i, j] >= 1e-6]
            if not pairs:
                break
            most, j, i = min(pairs)
            rows[image, j], near[image, j] = i - a, -most
            left.remove(i)
        for j in np.flatnonzero(rows[image] < 0):
            best = dist[a:b, j].max(initial=0)
            if attrs["match_type"] == "per_prediction" and best >= attrs["dist_threshold"]:
                rows[image, j], near[image, j] = dist[a:b, j].argmax(), best
    return rows, near


@samples("bipartite_match", reference=matched)
def bipartite_match_samples():
    far, levels = f32(6, 5, low=0.0, high=1.0), packed([[0, 2, 2, 6]])
    yield call(far)
    yield call(far, levels)
    yield call(far, levels, match_type="per_prediction", dist_threshold=0.4)
    yield call(f64(3, 4, low=0.0, high=1.0), match_type="per_prediction")
    alike = array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.5]])
    yield call(alike, name_of_case="equals")
    yield call(-far, name_of_case="none is near")
    yield fails(ShapeError, "dist_mat has 1 axes, 2 are needed", f32(5))
    yield fails(ArgumentError, "match_type is 'all', neither", far, match_type="all")
    law = "dist_mat has 2 levels of detail, 1 says"
    yield fails(ArgumentError, law, far, packed([[0, 1], [0, 6]]), by_value=True)
    law = "levels of detail tell of 5 rows, not 6"
    yield fails(ShapeError, law, far, packed([[0, 5]]), by_value=True)


def mined(cls: Any, match: Any, dist: Any, loc: Any = None, **attrs: Any) -> Any:
    chosen, updated = [], match.copy()
    hard = attrs["mining_type"] == "hard_example"
    for image, own in enumerate(match):
        loss = cls[image] + (loc[image] if hard and loc is not None else 0)
        open = [j for j, m in enumerate(own) if m < 0 and dist[image, j] < 0.5]
        taken = sorted(range(len(own)) if hard else open, key=lambda j, loss=loss: -loss[j])
        most = attrs["sample_size"] if hard else int((own >= 0).sum() * attrs["neg_pos_ratio"])
        taken = taken[:most]
        chosen += [[j] for j in sorted(taken) if own[j] < 0]
        updated[image] = [m if not hard or m < 0 or j in taken else -1 for j, m in enumerate(own)]
    return np.array(chosen).reshape(-1, 1), updated


@samples("mine_hard_examples", reference=mined)
def mine_hard_examples_samples():
    match = array([[0, -1, -1, 1, -1], [-1, -1, 2, -1, -1]], "int32")
    given = f32(2, 5, low=0.0, high=1.0), match, f32(2, 5, low=0.0, high=0.9)
    yield call(*given, neg_pos_ratio=1.5)
    yield call(*given, f32(2, 5, low=0.0, high=1.0), neg_pos_ratio=9.0)
    hard = {"mining_type": "hard_example", "sample_size": 3}
    yield call(*given, **hard)
    yield call(*given, f32(2, 5, low=0.0, high=1.0), **hard)
    none = np.full((2, 5), -1, "int32")
    yield call(given[0], none, given[2], name_of_case="nothing is matched")
    yield fails(ArgumentError, "sample_size is 0", *given, mining_type="hard_example")
    yield fails(ArgumentError, "neg_pos_ratio is 0.0", *given, neg_pos_ratio=0.0)
    yield fails(ArgumentError, "mining_type is 'easy'", *given, mining_type="easy")
    law = "match_dist has 4 elements along axis 1, cls_loss 5"
    yield fails(ShapeError, law, *given[:2], f32(2, 4))
    yield fails(DtypeError, "match_indices is int64", given[0], match.astype("int64"), given[2])
