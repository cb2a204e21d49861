"""Samples of sequences that rank by their lengths, the longest first."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

TABLE = packed([[0, 2, 5, 5, 6]])  # ranks: 1 0 3 2
OTHER = packed([[0, 1, 3, 4, 7]])
NESTED = packed([[0, 1, 3, 4, 5], [0, 2, 3, 5, 5, 7]])
NONE = packed([])


def ranked(x: Any, table: Any, levels: Any) -> Any:
    given = unpacked(levels)
    ends = given[0] if given else np.arange(5)
    for finer in given[1:]:
        ends = finer[ends]
    parts = [x[a:b] for a, b in pairwise(ends)]
    return np.concatenate([parts[i] for i in (1, 0, 3, 2)])


@samples(
    "lod_rank_table", reference=lambda x, levels, *, level=0: packed(unpacked(levels)[: level + 1])
)
def lod_rank_table_samples():
    yield call(f32(6, 3), TABLE)
    yield call(f32(7, 3), NESTED)
    yield call(f32(7, 3), NESTED, level=1)
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, f32(6, 3), NONE, by_value=True)
    law = "level 1 is outside [0, 1) of the levels of detail"
    yield fails(RangeError, law, f32(6, 3), TABLE, level=1, by_value=True)


@samples(
    "max_sequence_len", reference=lambda table: np.diff(unpacked(table)[-1]).max(keepdims=True)
)
def max_sequence_len_samples():
    yield call(TABLE)
    yield call(NESTED)


@samples("reorder_lod_tensor_by_rank", reference=ranked)
def reorder_lod_tensor_by_rank_samples():
    yield call(f32(4, 3), TABLE, NONE)
    yield call(f64(7, 2), TABLE, OTHER)
    yield call(i64(7, 2), TABLE, NESTED)
    yield fails(RangeError, "outside [-1, 3)", f32(3, 2), TABLE, NONE, by_value=True)
    law = "x has 2 sequences, and the table more"
    yield fails(ShapeError, law, f32(6, 2), TABLE, packed([[0, 2, 6]]), by_value=True)


@samples("in_former_order")
def in_former_order_samples():
    x = f64(7, 2)
    turned = packed([[0, 2, 3, 6, 7]])
    back = [2, 0, 1, 6, 3, 4, 5]
    yield call(x, TABLE, turned, reference=lambda x, *_: x[back])
    yield call(f32(4, 3), TABLE, NONE, reference=lambda x, *_: x[[1, 0, 3, 2]])
    law = "x has 2 sequences, and the table more"
    yield fails(ShapeError, law, f32(6, 2), TABLE, packed([[0, 2, 6]]), by_value=True)


@samples("shrink_rnn_memory")
def shrink_rnn_memory_samples():
    for step, count in enumerate((3, 2, 1, 0)):
        at = array([step], "int64")
        yield call(f32(4, 3), TABLE, at, NONE, reference=lambda x, *_, count=count: x[:count])
    for step, count in enumerate((4, 3, 1)):
        at = array([step], "int32")
        yield call(f64(7, 3), TABLE, at, OTHER, reference=lambda x, *_, count=count: x[:count])
    yield fails(DtypeError, "the place is float32", f32(4, 3), TABLE, f32(1), NONE)
    yield fails(RangeError, "-1 is no place", f32(4), TABLE, array([-1], "int64"), by_value=True)
    at = array([0], "int64")
    yield fails(RangeError, "outside [-1, 2)", f32(2, 3), TABLE, at, NONE, by_value=True)
