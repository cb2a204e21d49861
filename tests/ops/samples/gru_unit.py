"""Samples of one step of a gated recurrent unit."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import call, f32, f64, fails, samples

FUNCTIONS = (
    lambda x: x,
    lambda x: 1 / (1 + np.exp(-x)),
    np.tanh,
    lambda x: np.maximum(x, 0),
)


def stepped(x, h, weight, bias=None, *, activation=2, gate_activation=1, origin_mode=False):
    n = h.shape[1]
    flat, along = weight.reshape(-1), x if bias is None else x + bias
    of_gates, of_state = flat[: 2 * n * n].reshape(n, -1), flat[2 * n * n :].reshape(n, n)
    gates = FUNCTIONS[gate_activation](along[:, : 2 * n] + h @ of_gates)
    update, kept = gates[:, :n], gates[:, n:] * h
    new = FUNCTIONS[activation](along[:, 2 * n :] + kept @ of_state)
    mixed = update * h + (1 - update) * new if origin_mode else update * new + (1 - update) * h
    return np.concatenate([gates, new], 1), kept, mixed


@samples("gru_unit", reference=stepped)
def gru_unit_samples():
    known = {"unknown_sizes": False}
    yield call(f32(2, 9), f32(2, 3), f32(3, 9), f32(1, 9), **known)
    yield call(f64(2, 6), f64(2, 2), f64(2, 6), origin_mode=True, **known)
    numbers = {"activation": 3, "gate_activation": 0}
    yield call(f64(2, 6), f64(2, 2), f64(2, 6), f64(1, 6), **numbers, **known)
    yield call(f32(0, 6), f32(0, 2), f32(2, 6), f32(1, 6), **known)
    law = "input has 8 columns, three times the state is 9"
    yield fails(ShapeError, law, f32(2, 8), f32(2, 3), f32(3, 9))
    law = "weight has 8 columns, three times its rows are 9"
    yield fails(ShapeError, law, f32(2, 9), f32(2, 3), f32(3, 8))
    yield fails(ShapeError, "bias has 1 axes", f32(2, 9), f32(2, 3), f32(3, 9), f32(9))
    law = "activation 4 is not 0, 1, 2 or 3"
    yield fails(ArgumentError, law, f32(2, 9), f32(2, 3), f32(3, 9), activation=4)
    yield fails(DtypeError, "weight is float64", f32(2, 9), f32(2, 3), f64(3, 9))
