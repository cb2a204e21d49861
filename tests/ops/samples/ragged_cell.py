"""Samples of older networks over sequences; references go step by step."""

from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy import special

from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import packed, unpacked
from scull.ops.ragged_cell import gru, lstm
from tests.ops.sample import array, call, f32, f64, fails, i64, samples

LEVELS = packed([[0, 2, 2, 5, 6]])
FUNCTIONS = {
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "identity": lambda x: x,
}


def order(levels: Any, backwards: bool) -> Any:
    """The rows of each sequence in the order they are gone through."""
    ranges = [range(a, b) for a, b in pairwise(unpacked(levels)[-1])]
    return enumerate(reversed(r) if backwards else r for r in ranges)


def cells(x: Any, weight: Any, bias: Any, h0: Any, c0: Any, levels: Any, **attrs: Any) -> Any:
    size, look = len(weight), np.zeros((3, len(weight)))
    if attrs["use_peepholes"]:
        look = bias[0, 4 * size :].reshape(3, size)
    kinds = ("gate_activation", "cell_activation", "candidate_activation")
    gate, show, new = (FUNCTIONS[attrs[n]] for n in kinds)
    hidden, cell = np.zeros((len(x), size)), np.zeros((len(x), size))
    for k, rows in order(levels, attrs["is_reverse"]):
        h = np.zeros(size) if h0 is None else h0[k]
        c = np.zeros(size) if c0 is None else c0[k]
        for t in rows:
            a, i, f, o = np.split(x[t] + h @ weight + bias[0, : 4 * size], 4)
            old = c
            c = new(a) * gate(i + look[0] * old) + gate(f + look[1] * old) * old
            h = gate(o + look[2] * c) * show(c)
            hidden[t], cell[t] = h, c
    return hidden, cell


@samples("lstm", reference=cells)
def lstm_samples():
    plain = {"use_peepholes": False}
    yield call(f32(6, 8), f32(2, 8), f32(1, 8), None, None, LEVELS, **plain)
    yield call(f64(6, 8), f64(2, 8), f64(1, 14), f64(4, 2), f64(4, 2), LEVELS, is_reverse=True)
    relu = {"candidate_activation": "relu", "cell_activation": "identity"}
    yield call(f32(6, 8), f32(2, 8), f32(1, 14), None, None, LEVELS, **relu)
    law = "input has 7 columns, and a state all gates 8"
    yield fails(ShapeError, law, f32(6, 7), f32(2, 8), f32(1, 8), None, None, LEVELS, **plain)
    law = "bias has 8 columns, 14 are needed"
    yield fails(ShapeError, law, f32(6, 8), f32(2, 8), f32(1, 8), None, None, LEVELS)
    law = "an activation is 'softplus', not sigmoid, "
    given = f32(6, 8), f32(2, 8), f32(1, 14), None, None, LEVELS
    yield fails(ArgumentError, law, *given, gate_activation="softplus")
    law = "weight is float64 and input is float32"
    yield fails(DtypeError, law, f32(6, 8), f64(2, 8), f32(1, 14), None, None, LEVELS)
    law = "there are 3 first states and 4 sequences"
    given = f32(6, 8), f32(2, 8), f32(1, 14), f32(3, 2), None, LEVELS
    yield fails(ShapeError, law, *given, by_value=True)


def units(x: Any, weight: Any, h0: Any, bias: Any, levels: Any, **attrs: Any) -> Any:
    size = len(weight)
    flat = weight.reshape(-1)
    of_gates = flat[: 2 * size * size].reshape(size, 2 * size)
    of_state = flat[2 * size * size :].reshape(size, size)
    gate, new = FUNCTIONS[attrs["gate_activation"]], FUNCTIONS[attrs["activation"]]
    gates, kept = np.zeros((len(x), 3 * size)), np.zeros((len(x), size))
    hidden = np.zeros((len(x), size))
    for k, rows in order(levels, attrs["is_reverse"]):
        h = np.zeros(size) if h0 is None else h0[k]
        for t in rows:
            along = x[t] + (0 if bias is None else bias[0])
            u, r = np.split(gate(along[: 2 * size] + h @ of_gates), 2)
            kept[t] = r * h
            m = new(along[2 * size :] + kept[t] @ of_state)
            h = u * h + (1 - u) * m if attrs["origin_mode"] else (1 - u) * h + u * m
            gates[t], hidden[t] = np.concatenate([u, r, m]), h
    return gates, kept, hidden, hidden


@samples("gru", reference=units)
def gru_samples():
    yield call(f32(6, 6), f32(2, 6), None, f32(1, 6), LEVELS)
    yield call(f64(6, 6), f64(2, 6), f64(4, 2), None, LEVELS, is_reverse=True, origin_mode=True)
    law = "weight has 5 columns, and a state all gates 6"
    yield fails(ShapeError, law, f32(6, 6), f32(2, 5), None, None, LEVELS)
    law = "h0 has 3 columns, and a state 2"
    yield fails(ShapeError, law, f32(6, 6), f32(2, 6), f32(4, 3), None, LEVELS)
    law = "levels of detail tell of 6 rows and there are 5"
    yield fails(ShapeError, law, f32(5, 6), f32(2, 6), None, None, LEVELS, by_value=True)


def likeliest(emission: Any, transition: Any) -> Any:
    """The best of all paths of one sequence."""

    def score(path: Any) -> Any:
        between = sum(transition[2 + a, b] for a, b in pairwise(path))
        steps = sum(emission[t, tag] for t, tag in enumerate(path))
        return transition[0, path[0]] + transition[1, path[-1]] + between + steps

    paths = product(range(emission.shape[1]), repeat=len(emission))
    return max(paths, key=score) if len(emission) else ()


def decoded(emission: Any, transition: Any, label: Any, length: Any, levels: Any) -> Any:
    if length is None:
        bounds = pairwise(unpacked(levels)[-1])
        found = np.concatenate([likeliest(emission[a:b], transition) for a, b in bounds])[:, None]
    else:
        found = np.zeros(emission.shape[:2])
        for row, x, n in zip(found, emission, length.reshape(-1), strict=True):
            row[:n] = likeliest(x[:n], transition)
    return found if label is None else found == label


@samples("crf_decoding", reference=decoded)
def crf_decoding_samples():
    yield call(f32(6, 3), f32(5, 3), None, None, LEVELS)
    yield call(f64(6, 3), f64(5, 3), i64(6, 1, low=0, high=3), None, LEVELS)
    yield call(f32(2, 3, 3), f32(5, 3), None, array([[3], [1]], "int64"), None)
    law = "transition has 4 rows, 5 are needed"
    yield fails(ShapeError, law, f32(6, 3), f32(4, 3), None, None, LEVELS)
    law = "a sequence of 4 steps is longer than emission"
    given = f32(2, 3, 3), f32(5, 3), None, array([[4], [1]], "int64"), None
    yield fails(ShapeError, law, *given, by_value=True)


def slopes(value: Any, given: list[Any]) -> list[Any]:
    """How `value` changes with each number of each array, by small steps."""
    found = []
    for k, x in enumerate(given):
        if x is None:
            found.append(None)
            continue
        own = np.zeros(x.shape)
        for spot in np.ndindex(x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = np.array(x)
                moved[spot] += step
                ends.append(value(*given[:k], moved, *given[k + 1 :]))
            own[spot] = (ends[0] - ends[1]) / 2e-6
        found.append(own)
    return found


def is_near(expected: list[Any]) -> Any:
    """What asserts that results are these."""

    def holds(found: Any) -> None:
        for own, other in zip(found, expected, strict=True):
            assert (own is None) == (other is None)
            if own is not None:
                np.testing.assert_allclose(own, other, 1e-4, 1e-6)

    return holds


@samples("lstm_backward")
def lstm_backward_samples():
    names = ("gate_activation", "cell_activation", "candidate_activation")
    attrs = {"use_peepholes": True, "is_reverse": False} | dict.fromkeys(names, "tanh")
    for h0, c0, backwards in ((None, None, False), (f64(4, 2), f64(4, 2), True)):
        attrs["is_reverse"] = backwards
        given = [f64(6, 8), f64(2, 8), f64(1, 14), h0, c0]
        dhidden, dcell = f64(6, 2), f64(6, 2)

        def value(*own: Any, attrs: Any = attrs, ends: Any = (dhidden, dcell)) -> Any:
            found = cells(*own, LEVELS, **attrs)
            return sum((v * d).sum() for v, d in zip(found, ends, strict=True))

        kept = lstm.op.cpu(*given, LEVELS, **attrs, is_test=False)
        holds = is_near(slopes(value, given))
        yield call(*given, *kept, dhidden, dcell, LEVELS, grad=False, holds=holds, **attrs)
    law, kept = "float64[6, 3] stands where the shape is [6, 2]", (*kept[:3], f64(6, 3))
    yield fails(ShapeError, law, *given, *kept, dhidden, dcell, LEVELS, **attrs)
    law, given[2] = "bias has 8 columns, 14 are needed", f64(1, 8)
    yield fails(ShapeError, law, *given, *kept, dhidden, dcell, LEVELS, **attrs)


@samples("gru_backward")
def gru_backward_samples():
    attrs: Any = {"gate_activation": "sigmoid", "activation": "tanh"}
    for h0, bias, mode in ((None, f64(1, 6), False), (f64(4, 2), None, True)):
        attrs = {**attrs, "is_reverse": mode, "origin_mode": mode}
        given, dhidden = [f64(6, 6), f64(2, 6), h0, bias], f64(6, 2)

        def value(*own: Any, attrs: Any = attrs, dhidden: Any = dhidden) -> Any:
            return (units(*own, LEVELS, **attrs)[3] * dhidden).sum()

        gate, kept, _, hidden = gru.op.cpu(*given, LEVELS, **attrs, is_test=False)
        holds = is_near(slopes(value, given))
        own = (*given, gate, kept, hidden, dhidden, LEVELS)
        yield call(*own, grad=False, holds=holds, **attrs)
    law, own = "float64[6, 7] stands where the shape is [6, 6]", (kept, hidden, dhidden, LEVELS)
    yield fails(ShapeError, law, *given, f64(6, 7), *own, **attrs)
