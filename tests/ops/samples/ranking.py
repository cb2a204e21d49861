"""Samples of losses of margins and of orders."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, bf16, call, f16, f32, f64, fails, i32, i64, samples

SIDES = array([[0.0], [1.0], [1.0], [0.0]])


@samples("hinge_loss", reference=lambda x, y: np.maximum(1 - x * (2 * y - 1), 0))
def hinge_loss_samples():
    yield call(f32(4, 1), SIDES, grad=("logits",))
    yield call(f64(4, 1), SIDES.astype("float64"), grad=("logits",))
    yield call(f32(0, 1), f32(0, 1))
    yield fails(ShapeError, "logits is of shape [2, 3], not one number", f32(2, 3), f32(2, 3))
    yield fails(ShapeError, "logits has 2 elements", f32(2, 1), f32(3, 1))


@samples("rank_loss", reference=lambda y, a, b: np.logaddexp(0, a - b) - y * (a - b))
def rank_loss_samples():
    yield call(SIDES, f32(4, 1), f32(4, 1), grad=("left", "right"))
    yield call(array([0.0, 0.5], "float64"), f64(2), f64(2), grad=("left", "right"))
    yield call(f32(0, 1), f32(0, 1), f32(0, 1))
    yield fails(ShapeError, "label has 2 elements along axis 0, left has 3", f32(2), f32(3), f32(2))
    yield fails(ShapeError, "label is of shape [2, 2]", f32(2, 2), f32(2, 2), f32(2, 2))


def bent(x, y):
    margin = x * (2 * y - 1)
    return margin, np.where(margin < -1, -4 * margin, np.maximum(1 - margin, 0) ** 2)


@samples("modified_huber_loss", reference=bent)
def modified_huber_loss_samples():
    yield call(f32(4, 1), SIDES, grad=("x",))
    yield call(f64(4, 1, low=-4, high=4), SIDES.astype("float64"), grad=("x",))
    yield call(f32(0, 1), f32(0, 1))
    yield fails(ShapeError, "x is of shape [4], not one number a row", f32(4), f32(4))
    yield fails(ShapeError, "y has 3", f32(2, 1), f32(3, 1))


@samples("l1_norm", reference=lambda x: np.sum(np.abs(x)))
def l1_norm_samples():
    yield call(f32(2, 3))
    yield call(f64())
    yield call(f32(0, 3))
    yield call(f16(4))
    yield fails(DtypeError, "not of floating-point elements", i32(2))


def softened(x, *, threshold=40.0):
    return np.log1p(np.exp(np.clip(x, -threshold, threshold)))


@samples("soft_relu", reference=softened)
def soft_relu_samples():
    yield call(f32(2, 3))
    yield call(f64(4), threshold=8.0)
    yield call(f32(6, low=-4, high=4), threshold=2.25, grad=False)
    yield call(f32())
    yield call(f32(0, 3))
    yield call(bf16(4))
    yield fails(ArgumentError, "threshold is -1.0, below 0", f32(2), threshold=-1.0)
    yield fails(DtypeError, "not of floating-point elements", i32(2))


def with_margins(x, label, *, margin1=1.0, margin2=0.5, margin3=0.0, scale=64.0):
    marks = np.arange(x.shape[1]) == label.reshape(-1, 1)
    harder = np.cos(np.arccos(x) * margin1 + margin2) - margin3
    found = np.where(marks, harder, x) * scale
    found = found - found.max(1, keepdims=True)
    logs = found - np.log(np.sum(np.exp(found), 1, keepdims=True))
    return np.exp(logs), -np.sum(logs * marks, 1, keepdims=True)


@samples("margin_cross_entropy", reference=with_margins)
def margin_cross_entropy_samples():
    cosines, labels = {"low": -0.9, "high": 0.9}, array([1, 0, 3], "int64")
    yield call(f32(3, 4, **cosines), labels, scale=4.0)
    margins = {"margin1": 1.1, "margin2": 0.2, "margin3": 0.1, "scale": 2.0}
    yield call(f64(3, 4, **cosines), labels[:, None], **margins)
    law = "the classes lie on 2 processes"
    yield fails(ArgumentError, law, f32(2, 3), i64(2), nranks=2)
    yield fails(ShapeError, "logits has 1 axes, 2 are needed", f32(3), i64(1))
    yield fails(
        DtypeError, "label is float32, not of integers", f32(2, 3), f32(2, 1), by_value=True
    )
