"""Samples of single steps of recurrent networks; sums of the results show the way back."""

from typing import Any

import numpy as np
from scipy import special

from tests.ops.sample import call, f32, f64, samples


def lstm(along: Any, own: Any, bias: Any, c: Any) -> Any:
    a, b, d, e = np.split(along + own + bias, 4, axis=1)
    i, f, g, o = special.expit(a), special.expit(b), np.tanh(d), special.expit(e)
    new = f * c + i * g
    return o * np.tanh(new), new, i, f, g, o


def gru(along: Any, own: Any, bias: Any, h: Any) -> Any:
    (a, b, d), (p, q, s) = np.split(along, 3, axis=1), np.split(own + bias, 3, axis=1)
    r, z = special.expit(a + p), special.expit(b + q)
    n = np.tanh(d + r * s)
    return z * h + (1 - z) * n, r, z, n, s


def slopes(function: Any, at: Any) -> Any:
    """The gradient of a sum, by central differences."""
    found = np.zeros(at.shape)
    for spot in np.ndindex(at.shape):
        small = np.zeros(at.shape)
        small[spot] = 1e-5
        found[spot] = (function(at + small) - function(at - small)) / 2e-5
    return found


def lstm_back(dh: Any, dc: Any, c: Any, c_new: Any, i: Any, f: Any, g: Any, o: Any) -> Any:
    logits = np.concatenate(
        [special.logit(i), special.logit(f), np.arctanh(g), special.logit(o)], 1
    )

    def value(gates: Any, c: Any) -> Any:
        h, new, *_ = lstm(gates, 0, 0, c)
        return (h * dh + new * dc).sum()

    return slopes(lambda v: value(v, c), logits), slopes(lambda v: value(logits, v), c)


def gru_back(dh: Any, h: Any, r: Any, z: Any, n: Any, s: Any) -> Any:
    nothing = np.zeros_like(r)
    along = np.concatenate([special.logit(r), special.logit(z), np.arctanh(n) - r * s], 1)
    own = np.concatenate([nothing, nothing, s], 1)

    def value(along: Any, own: Any, h: Any) -> Any:
        return (gru(along, own, 0, h)[0] * dh).sum()

    return (
        slopes(lambda v: value(v, own, h), along),
        slopes(lambda v: value(along, v, h), own),
        slopes(lambda v: value(along, own, v), h),
    )


@samples("lstm_step", reference=lstm)
def lstm_step_samples():
    yield call(f32(2, 12), f32(2, 12), f32(12), f32(2, 3))
    yield call(f64(1, 8), f64(1, 8), f64(8), f64(1, 2))


@samples("lstm_step_back", reference=lstm_back)
def lstm_step_back_samples():
    for make, batch, width in ((f32, 2, 3), (f64, 1, 2)):
        i, f, g, o = (np.asarray(0.4 * np.tanh(make(batch, width)) + 0.5) for _ in range(4))
        states = [make(batch, width) for _ in range(3)]
        new = f * states[2] + i * g
        yield call(*states, new, i, f, g, o)


@samples("gru_step", reference=gru)
def gru_step_samples():
    yield call(f32(2, 9), f32(2, 9), f32(9), f32(2, 3))
    yield call(f64(1, 6), f64(1, 6), f64(6), f64(1, 2))


@samples("gru_step_back", reference=gru_back)
def gru_step_back_samples():
    for make, batch, width in ((f32, 2, 3), (f64, 1, 2)):
        r, z, n = (np.asarray(0.4 * np.tanh(make(batch, width)) + 0.5) for _ in range(3))
        yield call(make(batch, width), make(batch, width), r, z, n, make(batch, width))


@samples("tanh_step", reference=lambda along, own, bias: np.tanh(along + own + bias))
def tanh_step_samples():
    yield call(f32(2, 3), f32(2, 3), f32(3))


@samples("tanh_step_back", reference=lambda dh, h_new: dh * (1 - h_new * h_new))
def tanh_step_back_samples():
    yield call(f32(2, 3), f32(2, 3))


@samples("relu_step", reference=lambda along, own, bias: np.maximum(along + own + bias, 0))
def relu_step_samples():
    yield call(f32(2, 3), f32(2, 3), f32(3))


@samples("relu_step_back", reference=lambda dh, h_new: dh * (h_new > 0))
def relu_step_back_samples():
    yield call(f32(2, 3), f32(2, 3))
