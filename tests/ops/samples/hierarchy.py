"""Samples of classes as leaves of a binary tree."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

TABLE = array([[0, 2, -1], [0, 1, 3], [0, 1, 3], [0, 2, 4]], "int64")
CODE = array([[0, 1, -1], [1, 0, 0], [1, 0, 1], [0, 0, 1]], "int64")


def ways(label: Any, w: Any, table: Any = None, code: Any = None, *, num_classes: int) -> Any:
    if table is not None:
        return table, code
    found = np.full((2, label.size, (num_classes - 1).bit_length()), -1)
    for i, leaf in enumerate(label.ravel() + num_classes):
        j = 0
        while leaf > 1:
            found[:, i, j] = leaf // 2 - 1, leaf % 2
            leaf, j = leaf // 2, j + 1
    return tuple(found)


@samples("class_path", reference=ways)
def class_path_samples():
    yield call(array([[0], [3], [5]], "int64"), f32(5, 3), num_classes=6)
    yield call(array([0, 1], "int32"), f32(1, 3), num_classes=2)
    yield call(array([[0], [1], [2], [3]], "int64"), f32(5, 3), TABLE, CODE, num_classes=9)
    law = "label 6 is outside [0, 6)"
    yield fails(RangeError, law, array([[6]], "int64"), f32(5, 3), num_classes=6, by_value=True)
    law = "path_table names node 4 and w has 4 rows"
    given = f32(4, 3), TABLE, CODE
    yield fails(RangeError, law, i64(4, 1), *given, num_classes=6, by_value=True)


def told(
    x: Any, w: Any, label: Any, table: Any = None, code: Any = None, bias: Any = None, **attrs: Any
) -> Any:
    table, code = ways(label, w, table, code, num_classes=attrs["num_classes"])
    answer = (w[table] * x[:, None]).sum(-1) + (0 if bias is None else bias[table][..., 0])
    answer = np.where(table < 0, 0, np.clip(answer, -40, 40))
    soft = np.log1p(np.exp(answer))
    return (soft - np.where(code > 0, answer, 0)).sum(1, keepdims=True), soft


@samples("hierarchical_sigmoid", reference=told)
def hierarchical_sigmoid_samples():
    label = array([[0], [3], [4], [5]], "int64")
    yield call(f32(4, 3), f32(5, 3), label, num_classes=6)
    yield call(f64(4, 3), f64(5, 3), label, None, None, f64(5, 1), num_classes=6)
    yield call(f32(4, 3), f32(5, 3), label, TABLE, CODE, f32(5, 1), num_classes=6)
    yield call(f32(0, 3), f32(5, 3), label[:0], num_classes=6)
    law = "x has 3 columns and w 4"
    yield fails(ShapeError, law, f32(4, 3), f32(5, 4), label, num_classes=6)
    law = "path_table and path_code are given together"
    yield fails(ArgumentError, law, f32(4, 3), f32(5, 3), label, TABLE, num_classes=6)
    law = "num_classes is 1; at least 2"
    yield fails(ArgumentError, law, f32(4, 3), f32(5, 3), label, num_classes=1)
    law = "is not of integers"
    yield fails(DtypeError, law, f32(4, 3), f32(5, 3), f32(4, 1), num_classes=6)
