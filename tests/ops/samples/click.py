"""Samples of models of what is clicked on."""

from itertools import pairwise
from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from tests.ops.sample import array, call, f32, f64, fails, i32, i64, samples

LEVELS = packed([[0, 2, 2, 5]])
NONE = packed([])


def counted(x: Any, show_click: Any, levels: Any = None, *, use_cvm: bool = True) -> Any:
    shown = np.log(x[:, :1] + 1)
    clicked = np.log(x[:, 1:2] + 1) - shown
    return np.concatenate([shown, clicked, x[:, 2:]], 1) if use_cvm else x[:, 2:]


@samples("cvm", reference=counted)
def cvm_samples():
    """Its gradient is no derivative: `counts.npz` and `counts_of_rows.npz` tell it."""
    for make in (f32, f64):
        yield call(make(3, 4, low=0, high=5), make(3, 2), grad=False)
        yield call(make(5, 4, low=0, high=5), make(3, 2), LEVELS, grad=False)
        yield call(make(3, 4, low=0, high=5), make(3, 2), NONE, use_cvm=False, grad=False)
    yield call(f32(3, 2, low=0, high=5), f32(3, 2), use_cvm=False, grad=False)
    yield fails(ShapeError, "x has 1 columns, 2 are needed", f32(3, 1), f32(3, 2))
    yield fails(ShapeError, "CVM has 3 columns, 2 are needed", f32(3, 4), f32(3, 3))
    yield fails(ShapeError, "both are matrices", f32(3), f32(3, 2))
    yield fails(DtypeError, "int32[3, 4] is not of float32 or", i32(3, 4), f32(3, 2))


def taught(x: Any, label: Any) -> Any:
    soft = np.log(1 + np.exp(x))
    alone = np.where(label < -1, soft, soft - x)
    return np.where(label < 0, alone, soft - x * (label >= 1) + soft - x * (label - (label >= 1)))


@samples("teacher_student_sigmoid_loss", reference=taught)
def teacher_student_samples():
    label = [[-2.0], [-1.0], [-0.5], [0.0], [0.25], [1.0], [1.75]]
    for dtype, make in (("float32", f32), ("float64", f64)):
        yield call(make(7, 1), array(label, dtype), grad=("x",))
    yield fails(ShapeError, "x is float32[7, 2], not of one column", f32(7, 2), array(label))
    yield fails(ShapeError, "x has 6 rows and label 7", f32(6, 1), array(label))
    yield fails(DtypeError, "int32[7, 1] is not of float32", i32(7, 1), array(label))


def pooled(w: Any, ids: Any, levels: Any, *, padding_idx: int = -1) -> Any:
    rows = np.where(ids == padding_idx, 0, w[ids[:, 0]])
    return np.array([rows[a:b].sum(0) for a, b in pairwise(unpacked(levels)[-1])])


@samples("fused_embedding_seq_pool", reference=pooled)
def fused_embedding_samples():
    ids = array([[1], [3], [1], [0], [2]], "int64")
    for make in (f32, f64):
        yield call(make(4, 3), ids, LEVELS)
        yield call(make(4, 3), ids, LEVELS, padding_idx=1)
    yield call(f32(4, 3), ids, LEVELS, is_sparse=True, grad=False)
    yield fails(DtypeError, "ids is float32, not of integers", f32(4, 3), f32(5, 1), LEVELS)
    yield fails(ShapeError, "ids is int64[5, 2], not of one", f32(4, 3), i64(5, 2), LEVELS)
    law = "combiner is 'mean', not 'sum'"
    yield fails(ArgumentError, law, f32(4, 3), ids, LEVELS, combiner="mean")
    law = "an operand has no levels of detail"
    yield fails(ArgumentError, law, f32(4, 3), ids, NONE, by_value=True)
