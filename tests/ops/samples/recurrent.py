"""Samples of recurrent networks; the reference goes through each sequence by itself."""

from typing import Any

import numpy as np
from scipy import special

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.recurrent import rnn
from tests.ops.sample import array, call, f32, f64, fails, samples


def step(mode: str, x: Any, h: Any, c: Any, w: Any) -> tuple[Any, Any]:
    """One step of one sequence."""
    along, own = w[0] @ x + w[2], w[1] @ h + w[3]
    if mode == "LSTM":
        i, f, g, o = np.split(along + own, 4)
        c = special.expit(f) * c + special.expit(i) * np.tanh(g)
        return special.expit(o) * np.tanh(c), c
    if mode == "GRU":
        (r, z, n), (q, u, m) = np.split(along, 3), np.split(own, 3)
        new = np.tanh(n + special.expit(r + q) * m)
        share = special.expit(z + u)
        return share * h + (1 - share) * new, c
    return (np.tanh if mode == "RNN_TANH" else lambda v: np.maximum(v, 0))(along + own), c


def recurrent(
    x: Any,
    states: Any,
    weights: Any,
    lengths: Any = None,
    *,
    is_bidirec: bool = False,
    num_layers: int = 1,
    mode: str = "RNN_TANH",
    hidden_size: int,
) -> Any:
    ways, hidden = 1 + is_bidirec, hidden_size
    last = [np.array(states[0]), np.array(states[-1])]
    for layer in range(num_layers):
        shown = np.zeros((*x.shape[:2], ways * hidden))
        for way in range(ways):
            k = layer * ways + way
            own = weights[2 * k : 2 * k + 2] + weights[2 * num_layers * ways + 2 * k :][:2]
            for b in range(x.shape[1]):
                end = len(x) if lengths is None else int(lengths[b])
                h, c = states[0][k, b], states[-1][k, b]
                for t in reversed(range(end)) if way else range(end):
                    h, c = step(mode, x[t, b], h, c, own)
                    shown[t, b, way * hidden : (way + 1) * hidden] = h
                last[0][k, b], last[1][k, b] = h, c
        x = shown
    return x, np.empty(0, "uint8"), last[: len(states)]


def network(make: Any, rows: int, inputs: int, hidden: int, layers: int = 1, ways: int = 1) -> Any:
    """Weights of a network: all matrices, then all biases."""
    cells = layers * ways
    matrices = []
    for k in range(cells):
        width = inputs if k < ways else hidden * ways
        matrices += [make(rows * hidden, width), make(rows * hidden, hidden)]
    return matrices + [make(rows * hidden) for _ in range(2 * cells)]


GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


@samples("rnn", reference=recurrent)
def rnn_samples():
    for mode, rows in GATES.items():
        states = [f32(1, 2, 3) for _ in range(1 + (mode == "LSTM"))]
        attrs = {"mode": mode, "hidden_size": 3, "input_size": 2}
        yield call(f32(3, 2, 2), states, network(f32, rows, 2, 3), **attrs)
        states = [f64(4, 2, 2) for _ in range(1 + (mode == "LSTM"))]
        attrs = {"mode": mode, "hidden_size": 2, "input_size": 3, "is_bidirec": True}
        given = (f64(4, 2, 3), states, network(f64, rows, 3, 2, 2, 2))
        yield call(*given, array([2, 4], "int32"), num_layers=2, **attrs)
    one = {"mode": "GRU", "hidden_size": 2, "input_size": 3}
    weights = network(f32, 3, 3, 2)
    state = f32(1, 2, 2)
    law = "begins with 1 states, 2 given in pre_state"
    yield fails(ArgumentError, law, f32(3, 2, 3), [state, state], weights, **one)
    law = "a step of input has 4 numbers, the first layer takes 3"
    yield fails(ShapeError, law, f32(3, 2, 4), [state], weights, **one)
    law = "a weight has 3 columns, 2 are needed"
    narrow = [weights[0], f32(6, 3), *weights[2:]]
    yield fails(ShapeError, law, f32(3, 2, 3), [state], narrow, **one)
    yield fails(ShapeError, "input has 2 axes, 3 are needed", f32(3, 2), [state], weights, **one)
    law = "weight_list has 3 tensors, not 4"
    yield fails(ArgumentError, law, f32(3, 2, 3), [state], weights[:3], **one)
    law = "mode is 'CNN'"
    yield fails(ArgumentError, law, f32(3, 2, 3), [state], weights, **(one | {"mode": "CNN"}))
    law = "a weight or state is float64"
    yield fails(DtypeError, law, f32(3, 2, 3), [f64(1, 2, 2)], weights, **one)


@samples("rnn_backward")
def rnn_backward_samples():
    x, states, weights = f64(3, 1, 2), [f64(1, 1, 2)], network(f64, 1, 2, 2)
    attrs = {"mode": "RNN_TANH", "hidden_size": 2, "input_size": 2, "num_layers": 1}
    rest = {"dropout_prob": 0.0, "is_bidirec": False, "seed": 0, "is_test": True}
    out, dropped, _, reserve = rnn.op.cpu(x, states, weights, **attrs, **rest)
    dout, dstate = f64(3, 1, 2), [f64(1, 1, 2)]

    def value(x: Any) -> Any:
        shown, _, last = recurrent(x, states, weights, mode="RNN_TANH", hidden_size=2)
        return (shown * dout).sum() + (last[0] * dstate[0]).sum()

    def holds(found: Any) -> None:
        for spot in np.ndindex(x.shape):
            small = np.zeros(x.shape)
            small[spot] = 1e-6
            slope = (value(x + small) - value(x - small)) / 2e-6
            np.testing.assert_allclose(found[0][spot], slope, rtol=1e-3, atol=1e-3)

    given = (x, states, weights, None, out, dropped, reserve, dout, dstate)
    yield call(*given, grad=False, holds=holds, **attrs, **rest)
