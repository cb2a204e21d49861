"""Samples of losses of each element by itself."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i32, samples


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
