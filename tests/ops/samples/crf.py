"""Samples of conditional random fields; the reference tries every way through the tags."""

from itertools import pairwise, product
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.crf import linear_chain_crf
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, i64, samples
from tests.ops.samples.ragged_cell import is_near, slopes

LEVELS = packed([[0, 2, 3, 6]])
TAGS = array([[1], [0], [2], [1], [1], [0]], "int64")


def score(x: Any, w: Any, tags: Any) -> Any:
    """How well tags go with a sequence."""
    between = sum(w[2 + a, b] for a, b in pairwise(tags))
    return w[0, tags[0]] + w[1, tags[-1]] + between + sum(x[i, t] for i, t in enumerate(tags))


def nats(x: Any, w: Any, tags: Any) -> Any:
    """What tags of a sequence take, among all that it may have."""
    ways = product(range(w.shape[1]), repeat=len(x))
    return np.log(sum(np.exp(score(x, w, way)) for way in ways)) - score(x, w, tags)


def sequences(x: Any, tags: Any, length: Any, levels: Any) -> Any:
    """The rows of each sequence, and its tags."""
    if length is not None:
        return [(x[i, :n], tags[i, :n].reshape(-1)) for i, n in enumerate(length.reshape(-1))]
    return [(x[a:b], tags[a:b, 0]) for a, b in pairwise(unpacked(levels)[0])]


def field(x: Any, w: Any, tags: Any, length: Any = None, levels: Any = None) -> Any:
    found = sequences(x, tags, length, levels)
    alpha = np.zeros_like(x)
    parts = [alpha[i, : len(s)] for i, (s, _) in enumerate(found)]
    parts = [alpha[a:b] for a, b in pairwise(unpacked(levels)[0])] if length is None else parts
    for part, (s, _) in zip(parts, found, strict=True):
        for i in range(len(s)):
            before = np.exp(w[0]) if not i else part[i - 1] @ np.exp(w[2:])
            each = before * np.exp(s[i])
            part[i] = each / each.sum()
    exps = np.exp(x - x.max(-1, keepdims=True))
    return alpha, exps, np.exp(w), np.array([[nats(s, w, t)] for s, t in found])


@samples("linear_chain_crf", reference=field)
def linear_chain_crf_samples():
    both = ("emission", "transition")
    for make in (f32, f64):
        yield call(make(6, 3), make(5, 3), TAGS, None, LEVELS, grad=both)
        length = array([[2], [1], [3]], "int64")
        tags = array([[1, 0, 0], [2, 0, 0], [1, 1, 0]], "int64")
        yield call(make(3, 3, 3), make(5, 3), tags, length, grad=both)
    given = f32(6, 3), f32(5, 3)
    yield fails(ShapeError, "emission is float32[6]", f32(6), given[1], TAGS, None, LEVELS)
    yield fails(DtypeError, "label is float32, not of integers", *given, f32(6, 1), None, LEVELS)
    law = "transition has 4 rows, 5 are needed"
    yield fails(ShapeError, law, given[0], f32(4, 3), TAGS, None, LEVELS)
    law = "there are 5 labels and 6 rows of tags"
    yield fails(ShapeError, law, *given, i64(5, 1), None, LEVELS)
    law = "the label 3 is outside [0, 3)"
    yield fails(RangeError, law, *given, TAGS + TAGS % 2 * 2, None, LEVELS, by_value=True)
    yield fails(ArgumentError, "an operand has no levels of detail", *given, TAGS, by_value=True)
    law = "the length 4 is outside [0, 3]"
    long = array([[2], [4], [3]], "int64")
    yield fails(RangeError, law, f32(3, 3, 3), given[1], tags, long, by_value=True)


@samples("linear_chain_crf_backward")
def linear_chain_crf_backward_samples():
    x, w, dout = f64(6, 3), f64(5, 3), f64(3, 1)
    kept = linear_chain_crf.op.cpu(x, w, TAGS, None, LEVELS)[:3]

    def value(x: Any, w: Any) -> Any:
        return (field(x, w, TAGS, None, LEVELS)[3] * dout).sum()

    holds = is_near(slopes(value, [x, w]))
    yield call(x, w, TAGS, None, LEVELS, *kept, dout, grad=False, holds=holds)
    law = "there are 5 labels and 6 rows of tags"
    yield fails(ShapeError, law, x, w, i64(5, 1), None, LEVELS, *kept, dout)
