"""Samples of losses other than cross entropy."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i32, i64, samples


def sigmoid_entropy(
    x: Any, label: Any, weight: Any = None, *, normalize: bool = False, ignore_index: int = -100
) -> Any:
    rest = np.log1p(np.exp(-np.abs(x))) * (1 if weight is None else weight)
    loss = np.maximum(x, 0) - x * label + rest
    counts = label != ignore_index
    return np.where(counts, loss, 0) / (max(counts.sum(), 1e-5) if normalize else 1)


@samples("sigmoid_cross_entropy_with_logits", reference=sigmoid_entropy)
def sigmoid_cross_entropy_samples():
    label = array([[0.0, 1.0], [0.25, -100.0]])
    yield call(f32(2, 2), label, grad=("x",))
    yield call(f64(2, 2), label.astype("float64"), normalize=True, grad=("x",))
    yield call(f32(2, 2), label, f32(2, 2, low=0.5, high=2.0), grad=("x",))
    yield call(f32(2, 2), label, ignore_index=1, grad=("x",))
    yield call(f32(0, 2), f32(0, 2))
    law = "x has 2 elements along axis 1, label has 3"
    yield fails(ShapeError, law, f32(2, 2), f32(2, 3))
    yield fails(DtypeError, "not of floating-point elements", i32(2), i32(2))


def huber(x: Any, y: Any, *, delta: float) -> Any:
    return y - x, special.huber(delta, y - x)


@samples("huber_loss", reference=huber)
def huber_loss_samples():
    yield call(f32(3, 2), f32(3, 2), delta=1.0)
    yield call(f64(4, low=-5, high=5), f64(4), delta=0.5)
    yield call(f32(), f32(), delta=1.0)
    yield call(f32(0, 2), f32(0, 2), delta=1.0)
    yield fails(ShapeError, "x has 2 elements along axis 0, y has 3", f32(2), f32(3), delta=1.0)


def binary(x: Any, label: Any) -> Any:
    yes, no = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return -(label * yes + (1 - label) * no)


@samples("bce_loss", reference=binary)
def bce_loss_samples():
    some = {"low": 0.1, "high": 0.9}
    yield call(f32(2, 3, **some), f32(2, 3, **some), grad=("x",))
    yield call(f64(3, **some), array([0.0, 1.0, 1.0], "float64"), grad=("x",))
    yield call(f32(**some), f32(**some), grad=("x",))
    yield call(f32(0, 3), f32(0, 3))
    yield call(array([0.0, 1.0, 0.0]), array([1.0, 0.0, 0.0]), grad=False)
    yield call(f16(3, **some), f16(3, **some), grad=("x",))
    yield fails(ShapeError, "x has 2 elements along axis 0, label has 3", f32(2), f32(3))
    yield fails(RangeError, "outside [0, 1]", array([1.5]), f32(1), by_value=True)


def divergence(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    found = special.xlogy(np.maximum(target, 0), np.maximum(target, 0)) - np.maximum(target, 0) * x
    if reduction == "none":
        return found
    shares = {"mean": found.size, "batchmean": len(found) if found.ndim else 1, "sum": 1}
    return found.sum() / shares[reduction]


@samples("kldiv_loss", reference=divergence)
def kldiv_loss_samples():
    some = {"low": 0.1, "high": 0.9}
    for reduction in ("none", "mean", "sum", "batchmean"):
        yield call(f32(2, 3), f32(2, 3, **some), reduction=reduction, grad=("x",))
    yield call(f64(4), array([0.5, 0.0, -1.0, 2.0], "float64"), reduction="none", grad=("x",))
    yield call(f32(0, 3), f32(0, 3), reduction="sum")
    yield call(f16(3), f16(3, **some), reduction="none", grad=("x",))
    yield fails(ShapeError, "x has 2 elements along axis 0, target has 3", f32(2), f32(3))
    yield fails(ArgumentError, "reduction is 'max'", f32(2), f32(2), reduction="max")


def smoothed(x: Any, prior: Any = None, *, epsilon: float = 0.0) -> Any:
    return x * (1 - epsilon) + epsilon * (1 / x.shape[-1] if prior is None else prior)


@samples("label_smooth", reference=smoothed)
def label_smooth_samples():
    yield call(f32(2, 3), epsilon=0.1)
    yield call(f64(2, 2, 3), epsilon=0.25)
    yield call(f32(2, 3), f32(1, 3), epsilon=0.1, grad=("x",))
    yield call(f32(0, 3), epsilon=0.1)


def named(
    x: Any, label: Any, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Any:
    weight = np.ones(x.shape[1]) if weight is None else weight
    safe = np.where(label == ignore_index, 0, label)
    weights = np.where(label == ignore_index, 0, weight[safe])
    chosen = -np.take_along_axis(x, safe[:, None], 1)[:, 0] * weights
    total = weights.sum()
    if reduction == "none":
        return chosen, total
    return chosen.sum() / ((total or 1) if reduction == "mean" else 1), total


@samples("nll_loss", reference=named)
def nll_loss_samples():
    labels = array([2, 0, 3], "int64")
    for reduction in ("none", "mean", "sum"):
        yield call(f32(3, 4), labels, reduction=reduction)
        weights = f32(4, low=0.5, high=2.0)
        yield call(f32(3, 4), labels, weights, reduction=reduction, ignore_index=2, grad=("x",))
    yield call(f64(2, 3, 2), array([[0, 2], [1, 1]], "int32"))
    yield call(f32(2, 3), array([-100, -100], "int64"))
    yield call(f32(0, 3), i64(0))
    yield call(f16(2, 3), array([1, 2], "int64"))
    law = "label 4 is outside [0, 4) and not ignore_index, -100"
    yield fails(RangeError, law, f32(1, 4), array([4], "int64"), by_value=True)
    yield fails(ShapeError, "x has 2 axes and label 2, not one less", f32(3, 4), i64(3, 1))
    law = "weight has 3 numbers and x has 4 classes"
    yield fails(ShapeError, law, f32(1, 4), array([1], "int64"), f32(3))


@samples("identity_loss", reference=lambda x, reduction=1: (np.sum, np.mean, np.copy)[reduction](x))
def identity_loss_samples():
    for reduction in range(3):
        yield call(f32(2, 3), reduction=reduction)
    yield call(f64(4))
    yield call(f32())
    yield fails(ArgumentError, "reduction is 3, not 0", f32(2), reduction=3)
