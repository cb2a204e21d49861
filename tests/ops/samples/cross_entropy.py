"""Samples of cross entropy."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i64, samples


def entropy(
    logits: Any,
    label: Any,
    *,
    soft_label: bool = False,
    use_softmax: bool = True,
    ignore_index: int = -100,
    axis: int = -1,
) -> Any:
    """The softmax and the loss, one row at a time."""
    softmax = special.softmax(logits, axis=axis) if use_softmax else logits
    logs = special.log_softmax(logits, axis=axis) if use_softmax else np.log(logits)
    if soft_label:
        return softmax, -(logs * label).sum(axis, keepdims=True)
    safe = np.where(label == ignore_index, 0, label).astype(int)
    return softmax, np.where(label == ignore_index, 0, -np.take_along_axis(logs, safe, axis))


CHANCES = [[0.5, 0.25, 0.125, 0.125], [0.125, 0.25, 0.125, 0.5], [0.25, 0.5, 0.125, 0.125]]


@samples("softmax_with_cross_entropy", reference=entropy)
def softmax_with_cross_entropy_samples():
    yield call(f32(3, 4), array([[1], [3], [0]], "int64"))
    yield call(f64(2, 3, 2), array([[[0, 2]], [[1, 1]]], "int32"), axis=1)
    yield call(f32(3, 4), array([[1], [-100], [0]], "int64"))
    yield call(f32(3, 4), array([[1], [2], [0]], "uint8"), ignore_index=2)
    yield call(f32(3, 4), array(CHANCES), soft_label=True, grad=("logits",))
    yield call(array(CHANCES), array([[1], [-1], [0]], "int64"), use_softmax=False, ignore_index=-1)
    yield call(array(CHANCES), array(CHANCES), use_softmax=False, soft_label=True, grad=("logits",))
    yield call(f32(0, 4), i64(0, 1))
    yield call(f16(2, 3), array([[1], [2]], "int64"))
    law = "label 4 is outside [0, 4) and not ignore_index, -100"
    yield fails(RangeError, law, f32(1, 4), array([[4]], "int64"), by_value=True)
    yield fails(ShapeError, "label has 1 axes and logits 2", f32(3, 4), i64(3))
    law = "label has 2 elements along axis 0, 3 are needed"
    yield fails(ShapeError, law, f32(3, 4), i64(2, 1))
    law = "label is float32, not of integers"  # declared so it may be fed as integers
    yield fails(DtypeError, law, f32(3, 4), f32(3, 1), by_value=True)
    law = "label is int64, not of floating-point numbers"
    yield fails(DtypeError, law, f32(3, 4), i64(3, 4), soft_label=True)


def marked(label: Any, like: Any, *, axis: int) -> Any:
    return np.moveaxis(np.eye(like.shape[axis])[np.squeeze(label, axis)], -1, axis)


@samples("is_label", reference=marked)
def is_label_samples():
    yield call(array([[1], [0]], "int64"), f32(2, 3))
    law = "label has 3 elements along axis 1, 1 are needed"
    yield fails(ShapeError, law, i64(2, 3), f32(2, 3))


def mean_entropy(
    logits: Any, label: Any, *, ignore_index: int = -100, axis: int = -1, counted: bool = True
) -> Any:
    """The softmax, and the mean of the losses."""
    label = np.expand_dims(label, axis) if label.ndim < logits.ndim else label
    softmax, loss = entropy(logits, label, ignore_index=ignore_index, axis=axis)
    number = (label != ignore_index).sum() if counted else label.size
    return softmax, loss.sum() / max(number, 1)


@samples("mean_cross_entropy", reference=mean_entropy)
def mean_cross_entropy_samples():
    yield call(f32(3, 4), array([1, 3, 0], "int64"))
    yield call(f32(3, 4), array([[1], [3], [0]], "int32"))
    yield call(f32(3, 4), array([1, -100, 0], "int64"))
    yield call(f32(3, 4), array([1, -100, 0], "int64"), counted=False)
    yield call(f32(3, 4), array([1, 2, 0], "uint8"), ignore_index=2)
    yield call(f64(2, 3, 2), array([[[0, 2]], [[1, 1]]], "int32"), axis=1)
    yield call(f64(2, 3, 2), array([[0, 2], [1, 1]], "int64"), axis=1)
    yield call(f16(2, 3), array([1, 2], "int64"))
    yield call(f32(2, 3), array([-100, -100], "int64"))
    law = "label 4 is outside [0, 4) and not ignore_index, -100"
    yield fails(RangeError, law, f32(1, 4), array([4], "int64"), by_value=True)
    yield fails(RangeError, "label -1 is outside", f32(1, 4), array([-1], "int64"), by_value=True)
    law = "label has 2 elements along axis 0, 3 are needed"
    yield fails(ShapeError, law, f32(3, 4), i64(2))
