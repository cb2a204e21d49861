"""Samples of sequences of several lengths."""

import itertools

import numpy as np

from scull.core.dtype import bool_, float32, int64
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, boolean, call, f32, f64, fails, i32, i64, samples


def mask(x, tensor=None, *, max_len=-1, out_dtype):
    size = max_len if tensor is None else int(tensor.item())
    size = size if size >= 0 else int(x.max(initial=0))
    return np.arange(size) < x[..., None]


@samples("sequence_mask", reference=mask)
def sequence_mask_samples():
    yield call(array([1, 3, 0], "int64"), max_len=4, out_dtype=int64)
    yield call(array([[1], [3]], "int32"), out_dtype=float32)
    yield call(array(2, "int64"), max_len=3, out_dtype=bool_)
    yield call(array([1.5, 2.0]), max_len=3, out_dtype=float32)
    yield call(array([1, 3], "int64"), array([5], "int32"), out_dtype=int64)
    yield call(i64(0), max_len=2, out_dtype=int64)
    yield call(i64(0), out_dtype=int64)
    yield fails(ArgumentError, "maxlen is 0", i64(2), max_len=0, out_dtype=int64)
    yield fails(DtypeError, "x is bool", boolean(2), max_len=2, out_dtype=int64)
    yield fails(ShapeError, "maxlen has 2 elements, not one", i64(2), i32(2), out_dtype=int64)


def distance(hyp, ref):
    """The number of changes, by the definition."""
    table = np.zeros((len(hyp) + 1, len(ref) + 1))
    table[:, 0], table[0] = np.arange(len(hyp) + 1), np.arange(len(ref) + 1)
    for i, j in itertools.product(range(1, len(hyp) + 1), range(1, len(ref) + 1)):
        changed = table[i - 1, j - 1] + (hyp[i - 1] != ref[j - 1])
        table[i, j] = min(changed, table[i - 1, j] + 1, table[i, j - 1] + 1)
    return table[-1, -1]


def distances(hyps, refs, hyp_counts=None, ref_counts=None, *levels, normalized=False):
    if levels:
        offsets = [unpacked(v)[-1] for v in levels]
        parts = [np.split(x[:, 0], own[1:-1]) for x, own in zip((hyps, refs), offsets, strict=True)]
        (hyps, refs), counts = parts, [np.diff(own) for own in offsets]
        hyp_counts, ref_counts = counts
    if hyp_counts is None:
        if hyps.shape[1] == 1:
            hyps, refs = hyps.T, refs.T
        hyp_counts, ref_counts = [hyps.shape[1]] * len(hyps), [refs.shape[1]] * len(refs)
    found = [
        distance(h[:n], r[:m]) / (m if normalized else 1)
        for h, r, n, m in zip(hyps, refs, hyp_counts, ref_counts, strict=True)
    ]
    return np.array([len(found)]), np.array(found).reshape(-1, 1)


@samples("edit_distance", reference=distances)
def edit_distance_samples():
    hyps, refs = i64(4, 5, low=0, high=4), i64(4, 6, low=0, high=4)
    counts = array([0, 5, 3, 1], "int64"), array([2, 6, 1, 4], "int64")
    yield call(hyps, refs, *counts)
    yield call(hyps, refs, *counts, normalized=True)
    yield call(hyps, refs)
    yield call(hyps[0][:, None], refs[0][:, None], unknown_sizes=False)
    yield call(i64(0, 3), i64(0, 3), i64(0), i64(0), unknown_sizes=False)
    levels = packed([[0, 2, 2, 5]]), packed([[0, 3, 4, 6]])
    column, other = i64(5, 1, low=0, high=4), i64(6, 1, low=0, high=4)
    for normalized in (False, True):
        yield call(column, other, None, None, *levels, normalized=normalized)
    law = "hyps has 3 sequences and refs 1"
    whole = packed([[0, 6]])
    yield fails(ShapeError, law, column, other, None, None, levels[0], whole, by_value=True)
    law = "a column has 6 rows and its levels tell of 5"
    short = packed([[0, 3, 4, 5]])
    yield fails(ShapeError, law, column, other, None, None, levels[0], short, by_value=True)
    ones = array([1, 1], "int64")
    law = "a sequence of hyps has the length 4 of 3"
    long = array([4, 1], "int64")
    yield fails(RangeError, law, i64(2, 3), i64(2, 3), long, ones, by_value=True)
    law, none = "a sequence of refs is empty", array([0, 1], "int64")
    yield fails(ArgumentError, law, i64(2, 3), i64(2, 3), ones, none, by_value=True)
    yield fails(ArgumentError, "come together", i64(2, 3), i64(2, 3), ones)
    yield fails(ShapeError, "hyps has 2 rows and refs 3", i64(2, 3), i64(3, 3), ones, ones)
    yield fails(DtypeError, "hyps is float32", f32(2, 3), i64(2, 3))


def followed(ids, parents):
    out = ids.copy()
    for row, beam in itertools.product(range(ids.shape[1]), range(ids.shape[2])):
        parent = beam
        for step in range(len(ids) - 1, -1, -1):
            out[step, row, beam] = ids[step, row, parent]
            parent = parents[step, row, parent]
    return out


@samples("gather_tree", reference=followed)
def gather_tree_samples():
    yield call(i64(4, 2, 3), i64(4, 2, 3, low=0, high=3))
    yield call(i32(1, 2, 3), i32(1, 2, 3, low=0, high=3))
    yield call(i64(0, 2, 3), i64(0, 2, 3))
    parents = array([[[0, 0]], [[0, 5]]], "int64")
    yield fails(RangeError, "parent 5 is outside [0, 2)", i64(2, 1, 2), parents, by_value=True)
    yield fails(ShapeError, "ids has 2 axes", i64(2, 3), i64(2, 3))
    yield fails(
        ShapeError, "ids has 3 elements along axis 2, parents 2", i64(1, 2, 3), i64(1, 2, 2)
    )
    yield fails(DtypeError, "ids is float32", f32(1, 2, 3), i64(1, 2, 3))


def best(scores, transition, length, *, include_bos_eos_tag=True):
    tops, paths = [], []
    for row, n in zip(scores, length, strict=True):
        found = {}
        for path in itertools.product(range(scores.shape[2]), repeat=max(n, 1)):
            total = sum(row[i, t] for i, t in enumerate(path))
            total += sum(transition[a, b] for a, b in itertools.pairwise(path))
            if include_bos_eos_tag:
                total += transition[-1, path[0]] + (transition[-2, path[-1]] if n else 0)
            found[path] = total
        path = max(found, key=found.get)
        tops.append(found[path])
        paths.append([*path[:n], *[0] * (max(length) - n)])
    return np.array(tops), np.array(paths)


@samples("viterbi_decode", reference=best)
def viterbi_decode_samples():
    lengths = array([3, 2, 0], "int64")
    for include in (True, False):
        yield call(f32(3, 4, 3), f32(3, 3), lengths, include_bos_eos_tag=include)
    yield call(f64(2, 3, 4), f64(4, 4), array([1, 1], "int64"))
    short = array([5, 1], "int64")
    yield fails(RangeError, "length 5 is outside", f32(2, 3, 4), f32(4, 4), short, by_value=True)
    yield fails(ShapeError, "there are 4 tags, transition has 3", f32(2, 3, 4), f32(3, 3), i64(2))
    yield fails(ShapeError, "input has 2 axes", f32(2, 3), f32(3, 3), i64(2))
    yield fails(DtypeError, "length is float32", f32(2, 3, 4), f32(4, 4), f32(2))
    yield fails(ShapeError, "there are 2 sequences, length has 3", f32(2, 3, 4), f32(4, 4), i64(3))
