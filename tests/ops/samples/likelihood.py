"""Samples of losses of chances."""

import numpy as np

from scull.errors import DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i64, samples

CHANCES = {"low": 0.05, "high": 0.95}
LABELS = array([[2], [0], [3]], "int64")


def chosen(x, label, ignore_index):
    """The chances of labels, and which labels count."""
    column = label.reshape(*x.shape[:-1], 1)
    counts = column != ignore_index
    return np.take_along_axis(x, np.where(counts, column, 0), -1), counts


def nats(x, label, *, soft_label=False, ignore_index=-100):
    if soft_label:
        return -np.sum(label * np.log(x), -1, keepdims=True)
    found, counts = chosen(x, label, ignore_index)
    return np.where(counts, -np.maximum(np.log(found), -1e20), 0).reshape(label.shape)


@samples("cross_entropy", reference=nats)
def cross_entropy_samples():
    yield call(f32(3, 4, **CHANCES), LABELS)
    yield call(f64(3, 4, **CHANCES), LABELS[:, 0], ignore_index=2)
    yield call(f32(1, 3, 4, **CHANCES), LABELS[None])
    soft = {"soft_label": True, "grad": ("x",)}
    yield call(f32(3, 4, **CHANCES), f32(3, 4, **CHANCES), **soft)
    yield call(array([[0.0, 1.0]]), array([[0]], "int64"), grad=False)
    yield call(f32(0, 4), i64(0, 1))
    yield call(f16(3, 4, **CHANCES), LABELS)
    yield call(f16(3, 4, **CHANCES), f16(3, 4, **CHANCES), **soft)
    law = "label 4 is outside [0, 4) and not ignore_index, -100"
    yield fails(RangeError, law, f32(1, 4), array([[4]], "int64"), by_value=True)
    yield fails(ShapeError, "label has 3 elements along axis 1", f32(2, 4), i64(2, 3))
    law = "label is float32, not of integers"  # declared so it may be fed as integers
    yield fails(DtypeError, law, f32(2, 4), f32(2, 1), by_value=True)


def matched(x, label, *, ignore_index=-100):
    found, counts = chosen(x, label, ignore_index)
    y = nats(x, label, ignore_index=ignore_index)
    return y, np.empty((*x.shape, 0)), np.where(counts, found, 0)


@samples("cross_entropy2", reference=matched)
def cross_entropy2_samples():
    yield call(f32(3, 4, **CHANCES), LABELS)
    yield call(f64(1, 3, 4, **CHANCES), LABELS[None], ignore_index=2, grad=False)
    yield call(f32(3, 4, **CHANCES), LABELS[:, 0])
    yield call(f32(0, 4), i64(0, 1))
    yield fails(RangeError, "label 4 is outside", f32(1, 4), array([[4]], "int64"), by_value=True)
    yield fails(ShapeError, "label has 3 elements along axis 1", f32(2, 4), i64(2, 3))


def behind(x, label):
    ahead = x - np.take_along_axis(x, label, -1)
    others = np.arange(x.shape[-1]) != label
    total = np.sum(np.logaddexp(0, ahead) * others, -1, keepdims=True)
    return total / (x.shape[-1] - 1)


@samples("bpr_loss", reference=behind)
def bpr_loss_samples():
    yield call(f32(3, 4), LABELS)
    yield call(f64(1, 3, 4, low=-9, high=9), LABELS[None])
    yield call(f32(0, 4), i64(0, 1))
    yield call(f16(3, 4), LABELS)
    yield fails(ShapeError, "label has 1 axes and x 2", f32(2, 4), i64(2))
    law = "label is float32, not of integers"  # declared so it may be fed as integers
    yield fails(DtypeError, law, f32(2, 4), f32(2, 1), by_value=True)


def logistic(x, label, *, epsilon):
    return -label * np.log(x + epsilon) - (1 - label) * np.log(1 - x + epsilon)


@samples("log_loss", reference=logistic)
def log_loss_samples():
    yield call(f32(4, 1, **CHANCES), f32(4, 1, **CHANCES), epsilon=1e-4, grad=("predicted",))
    labels = array([[0.0], [1.0]], "float64")
    yield call(f64(2, 1, **CHANCES), labels, epsilon=0.5, grad=("predicted",))
    yield call(f32(0, 1), f32(0, 1), epsilon=1e-4)
    law = "predicted is of shape [3], not one number a row"
    yield fails(ShapeError, law, f32(3), f32(3), epsilon=1e-4)
    yield fails(ShapeError, "labels has 3", f32(2, 1), f32(3, 1), epsilon=1e-4)
