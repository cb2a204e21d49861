"""Samples of updates that few networks are trained with."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f32, f64, fails, i64, samples


def fading(p: Any, g: Any, m: Any, rate: Any, *, decay: float = 0.95, epsilon: float = 1e-6) -> Any:
    m = decay * m + (1 - decay) * g * g
    return p - rate * g / (np.sqrt(m) + epsilon), m


@samples("decayed_adagrad", reference=fading)
def decayed_adagrad_samples():
    for make in (f32, f64):
        given = make(3, 2), make(3, 2), make(3, 2, low=0.1, high=2)
        yield call(*given, make(1))
        yield call(*given, make(1), decay=0.5, epsilon=0.25)
    law = "their shapes differ"
    yield fails(ShapeError, law, f32(3, 2), f32(2, 2), f32(3, 2), f32(1))
    law = "learning_rate has 2 elements, not one"
    yield fails(ShapeError, law, f32(3, 2), f32(3, 2), f32(3, 2), f32(2))
    yield fails(DtypeError, "int64[3] is not of float32", i64(3), i64(3), i64(3), f32(1))


def nearer(p: Any, g: Any, rate: Any, *, l1: float = 0.0, l2: float = 0.0) -> Any:
    p = p - rate * g
    if l1 > 0:
        p = np.where(abs(p) > rate * l1, p - np.sign(p) * rate * l1, 0)
    return p / (1 + rate * l2)


@samples("proximal_gd", reference=nearer)
def proximal_gd_samples():
    rate = array([0.5])
    for attrs in ({}, {"l1": 1.0}, {"l2": 0.5}, {"l1": 0.75, "l2": 0.25}):
        yield call(f32(3, 4), f32(3, 4), rate, **attrs)
        yield call(f64(6), f64(6), rate.astype("float64"), **attrs)
    yield fails(ShapeError, "their shapes differ", f32(3), f32(2), rate)
    yield fails(DtypeError, "grad is float64 and param is float32", f32(3), f64(3), rate)


@samples("dpsgd")
def dpsgd_samples():
    rate = array([0.5])
    for clip in (100.0, 1.0):

        def reference(p: Any, g: Any, rate: Any, clip: float = clip) -> Any:
            return p - rate * g / max(np.sqrt((g * g).sum()) / clip, 1)

        yield call(f32(3, 4), f32(3, 4), rate, clip=clip, sigma=0.0, reference=reference)
    p, g = f64(3), f64(3)

    def is_noisy(found: Any) -> None:
        noise = (p - found) / 0.5 - g
        np.testing.assert_allclose(noise, noise[0])
        assert 0 < abs(noise[0]) < 1

    yield call(p, g, rate.astype("float64"), sigma=1.0, clip=100.0, holds=is_noisy)
    law = "clip is 0.0 and batch_size 16.0; both are above 0"
    yield fails(ArgumentError, law, f32(3), f32(3), rate, clip=0.0)
    yield fails(ShapeError, "their shapes differ", f32(3), f32(2), rate)


def warmed(rate: Any, step: Any, *, warmup_steps: int, total_steps: int, **ends: float) -> Any:
    base, end, step = ends["base_lr"], ends["end_lr"], step + 1
    left = 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    found = (base - end) * left * left + end if step < total_steps else end + 0 * rate
    return (base * step / warmup_steps if step <= warmup_steps else found), step


@samples("pow2_decay_with_linear_warmup", reference=warmed)
def pow2_decay_samples():
    attrs: Any = {"warmup_steps": 4, "total_steps": 10, "base_lr": 0.5, "end_lr": 0.125}
    for step in (0, 3, 4, 7, 9, 12):
        yield call(f32(1), array([step], "int64"), **attrs)
    yield call(f64(1), array([2], "int64"), **attrs)
    yield fails(DtypeError, "step is float32, not of integers", f32(1), f32(1), **attrs)
    yield fails(ShapeError, "step has 2 elements, not one", f32(1), i64(2), **attrs)
    law = "12 steps of 10 are no warm-up"
    attrs["warmup_steps"] = 12
    yield fails(ArgumentError, law, f32(1), i64(1), **attrs)
