"""Samples of lists of numbers."""

import numpy as np

from scull.core.dtype import float32, float64, int32
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i32, i64, samples


def powers(start, stop, num, base, *, dtype):
    steps = np.linspace(start.item(), stop.item(), int(num.item()))
    found = base.item() ** steps
    return np.trunc(found) if dtype is int32 else found


@samples("logspace", reference=powers)
def logspace_samples():
    four = array([4], "int32")
    yield call(array([0.0]), array([3.0]), four, array([2.0]), dtype=float32)
    ends = array([-1.0], "float64"), array([2.0], "float64")
    yield call(*ends, array(7, "int64"), array([10.0], "float64"), dtype=float64)
    yield call(array([0], "int32"), array([3], "int32"), four, array([2], "int32"), dtype=int32)
    yield call(array([2.0]), array([3.0]), array([1], "int32"), array([3.0]), dtype=float32)
    law = "0 numbers are asked for"
    none = array([0], "int32")
    yield fails(ArgumentError, law, f32(1), f32(1), none, f32(1), dtype=float32, by_value=True)
    yield fails(ShapeError, "start has 2 elements", f32(2), f32(1), four, f32(1), dtype=float32)
    yield fails(DtypeError, "num is float32", f32(1), f32(1), f32(1), f32(1), dtype=float32)


@samples("tril_indices")
def tril_indices_samples():
    for rows, cols in ((3, 4), (4, 2), (0, 3), (1, 1)):
        for offset in (-5, -1, 0, 1, 2, 9):

            def reference(rows=rows, cols=cols, offset=offset):
                return np.stack(np.tril_indices(rows, offset, cols))

            yield call(rows=rows, cols=cols, offset=offset, reference=reference)
    yield call(rows=2, cols=2, dtype=int32, reference=lambda: np.stack(np.tril_indices(2)))
    yield fails(ArgumentError, "-1 rows and 2 columns are no size", rows=-1, cols=2)
    yield fails(DtypeError, "places are int32 or int64, not float32", dtype=float32)


@samples("triu_indices")
def triu_indices_samples():
    for row, col in ((3, 4), (4, 2), (0, 3), (1, 1)):
        for offset in (-5, -1, 0, 1, 2, 9):

            def reference(row=row, col=col, offset=offset):
                return np.stack(np.triu_indices(row, offset, col))

            yield call(row=row, col=col, offset=offset, reference=reference)
    yield fails(ArgumentError, "-1 rows and 2 columns are no size", row=-1, col=2)
    yield fails(DtypeError, "places are int32 or int64, not float32", dtype=float32)


@samples("is_empty", reference=lambda x: np.array(x.size == 0))
def is_empty_samples():
    yield call(f32(2, 3), unknown_sizes=False)
    yield call(f32(0, 3), unknown_sizes=False)
    yield call(i64())


def sharded(x, *, index_num, nshards, shard_id, ignore_value=-1):
    size = -(-index_num // nshards)
    return np.where(x // size == shard_id, x % size, ignore_value)


@samples("shard_index", reference=sharded)
def shard_index_samples():
    indices = array([[1], [7], [19], [10]], "int64")
    some = {"index_num": 20, "nshards": 3}
    yield call(indices, index_num=20, nshards=2, shard_id=0)
    yield call(indices.astype("int32"), **some, shard_id=1, ignore_value=-7)
    yield call(i64(0, 1), **some, shard_id=2)
    yield fails(RangeError, "shard_id 3 is outside [0, 3)", indices, **some, shard_id=3)
    yield fails(ShapeError, "at least 2 are needed", i64(2), **some, shard_id=0)
    yield fails(DtypeError, "not float32", f32(2, 1), **some, shard_id=0)
    law = "index 19 is outside [0, 19)"
    some = {"index_num": 19, "nshards": 3, "shard_id": 0}
    yield fails(RangeError, law, indices, **some, by_value=True)
    law = "5 indices in 0 shards"
    yield fails(ArgumentError, law, i32(1, 1), index_num=5, nshards=0, shard_id=0)
