"""Samples of measures."""

from typing import Any

import numpy as np

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples


def share(out: Any, indices: Any, label: Any) -> Any:
    hits = int((indices == label).any(1).sum())
    return np.float32(hits / len(label)), np.int32(hits), np.int32(len(label))


@samples("accuracy", reference=share)
def accuracy_samples():
    indices, label = array([[1, 2], [0, 1], [2, 0]], "int64"), array([[2], [2], [2]], "int64")
    yield call(f32(3, 2), indices, label)
    yield call(f64(3, 2), indices.astype("int32"), label.astype("int32"))
    yield call(f32(3, 1), indices[:, :1], label)
    yield fails(ShapeError, "label has 1 axes, 2 are needed", f32(3, 2), indices, label[:, 0])
    yield fails(ShapeError, "out has 3 rows and label has 2", f32(3, 2), indices, label[:2])
    yield fails(ShapeError, "label has 2 columns, 1 is needed", f32(3, 2), indices, i64(3, 2))
    yield fails(DtypeError, "indices is float32, not of integers", f32(3, 2), f32(3, 2), label)
