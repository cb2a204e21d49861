"""The gradients of older networks over sequences of several lengths."""

from collections.abc import Callable
from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import Meta, of_shape
from scull.errors import UnsupportedError
from scull.ops.level import BY_VALUES, inner
from scull.ops.ragged_cell import OF_INPUT, check_cell, check_states, gru, known, lstm, steps

ONCE = "older networks are differentiable once"
# By activation its slope, as a function of its result.
SLOPES: dict[str, Callable[[Any], Any]] = {
    "sigmoid": lambda y: y * (1 - y),
    "tanh": lambda y: 1 - y * y,
    "relu": lambda y: (y > 0).astype(y.dtype),
    "identity": np.ones_like,
}


class Way:
    """The steps of a network from its end: which rows come, and what was there before them."""

    def __init__(self, offsets: Any, backwards: bool) -> None:
        self.steps = list(steps(offsets, backwards))[::-1]
        self.before = 1 if backwards else -1  # how far the row before lies

    def old(self, states: Any, first: Any, step: int) -> Any:
        """The states before a step: of the rows before, or those that sequences begin with."""
        rows, who = self.steps[step]
        if step < len(self.steps) - 1:
            return states[rows + self.before]
        return np.zeros_like(states[rows]) if first is None else first[who]


def check_kept(input: Meta, gate: Meta, size: int, *states: Meta | None) -> None:
    """Refuse what was kept of steps, or is a gradient of it, and is not of the rows of `input`."""
    of_shape(gate, input.shape)
    for m in filter(None, states):
        of_shape(m, (input.shape[0], size))


@primitive(outputs=("dinput", "dweight", "dbias", "dh0", "dc0"), infer_first=True, **OF_INPUT)
def lstm_backward(
    input: Meta,
    weight: Meta,
    bias: Meta,
    h0: Meta | None,
    c0: Meta | None,
    hidden: Meta,
    cell: Meta,
    gate: Meta,
    shown: Meta,
    dhidden: Meta | None,
    dcell: Meta | None,
    levels: Meta = None,
    *,
    use_peepholes: bool,
    is_reverse: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
) -> tuple[Meta, Meta, Meta, Meta | None, Meta | None]:
    """The gradients of what `lstm` reads from those of its states and cells."""
    size = check_cell(input, 4, weight, bias, 7 if use_peepholes else 4)
    check_states(size, h0=h0, c0=c0)
    check_kept(input, gate, size, hidden, cell, shown, dhidden, dcell)
    for name in (gate_activation, cell_activation, candidate_activation):
        known(name)
    return input, weight, bias, h0, c0


@lstm_backward.kernel
def lstm_backward_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    h0: Any,
    c0: Any,
    hidden: Any,
    cell: Any,
    gate: Any,
    shown: Any,
    dhidden: Any,
    dcell: Any,
    levels: Any = None,
    *,
    out: Any = None,
    use_peepholes: bool,
    is_reverse: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
) -> Any:
    size, offsets = len(weight), inner([] if levels is None else [levels])
    look = xp.split(bias[0, 4 * size :], 3) if use_peepholes else [xp.zeros(size, bias.dtype)] * 3
    of_gate, of_shown = SLOPES[gate_activation], SLOPES[cell_activation]
    of_new, way = SLOPES[candidate_activation], Way(offsets, is_reverse)
    dinput, dweight, dlook = xp.zeros_like(input), xp.zeros_like(weight), xp.zeros((3, size))
    dh, dc = xp.zeros((2, len(offsets) - 1, size), input.dtype)
    for k, (rows, who) in enumerate(way.steps):
        old_h, old_c = way.old(hidden, h0, k), way.old(cell, c0, k)
        a, i, f, o = xp.split(gate[rows], 4, axis=1)
        own_h = dh[who] if dhidden is None else dh[who] + dhidden[rows]
        own_c = dc[who] if dcell is None else dc[who] + dcell[rows]
        d_o = own_h * shown[rows] * of_gate(o)
        own_c = own_c + own_h * o * of_shown(shown[rows]) + d_o * look[2]
        d_i, d_f = own_c * a * of_gate(i), own_c * old_c * of_gate(f)
        dinput[rows] = each = xp.concatenate([own_c * i * of_new(a), d_i, d_f, d_o], 1)
        dweight += old_h.T @ each
        dh[who] = each @ weight.T
        dc[who] = own_c * f + d_i * look[0] + d_f * look[1]
        dlook += [(d_i * old_c).sum(0), (d_f * old_c).sum(0), (d_o * cell[rows]).sum(0)]
    parts = [dinput.sum(0), dlook.reshape(-1)][: 1 + use_peepholes]
    dbias = xp.concatenate(parts)[None].astype(bias.dtype)
    return dinput, dweight, dbias, None if h0 is None else dh, None if c0 is None else dc


@lstm.grad("input", "weight", "bias", "h0", "c0")
def lstm_grad(
    input: Any,
    weight: Any,
    bias: Any,
    h0: Any,
    c0: Any,
    levels: Any,
    hidden: Any,
    cell: Any,
    batch_gate: Any,
    batch_cell_pre_act: Any,
    use_peepholes: bool,
    is_reverse: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
    dhidden: Any = None,
    dcell: Any = None,
) -> Any:
    given = input, weight, bias, h0, c0, hidden, cell, batch_gate, batch_cell_pre_act
    return lstm_backward(
        *given,
        dhidden,
        dcell,
        levels,
        use_peepholes=use_peepholes,
        is_reverse=is_reverse,
        gate_activation=gate_activation,
        cell_activation=cell_activation,
        candidate_activation=candidate_activation,
    )


@primitive(outputs=("dinput", "dweight", "dh0", "dbias"), infer_first=True, **OF_INPUT)
def gru_backward(
    input: Meta,
    weight: Meta,
    h0: Meta | None,
    bias: Meta | None,
    gate: Meta,
    kept: Meta,
    hidden: Meta,
    dhidden: Meta,
    levels: Meta = None,
    *,
    activation: str,
    gate_activation: str,
    is_reverse: bool,
    origin_mode: bool,
) -> tuple[Meta, Meta, Meta | None, Meta | None]:
    """The gradients of what `gru` reads from those of its states."""
    size = check_cell(input, 3, weight, bias, 3)
    check_states(size, h0=h0)
    check_kept(input, gate, size, kept, hidden, dhidden)
    for name in (gate_activation, activation):
        known(name)
    return input, weight, h0, bias


@gru_backward.kernel
def gru_backward_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    h0: Any,
    bias: Any,
    gate: Any,
    kept: Any,
    hidden: Any,
    dhidden: Any,
    levels: Any = None,
    *,
    out: Any = None,
    activation: str,
    gate_activation: str,
    is_reverse: bool,
    origin_mode: bool,
) -> Any:
    n, offsets = len(weight), inner([] if levels is None else [levels])
    flat = weight.reshape(-1)
    of_gates, of_state = flat[: 2 * n * n].reshape(n, 2 * n), flat[2 * n * n :].reshape(n, n)
    slope, of_new, way = SLOPES[gate_activation], SLOPES[activation], Way(offsets, is_reverse)
    dinput, dh = xp.zeros_like(input), xp.zeros((len(offsets) - 1, n), input.dtype)
    dgates, dstate = xp.zeros_like(of_gates), xp.zeros_like(of_state)
    for k, (rows, who) in enumerate(way.steps):
        old, (u, r, m) = way.old(hidden, h0, k), xp.split(gate[rows], 3, axis=1)
        own = dh[who] + dhidden[rows]
        a, b = (m, old) if origin_mode else (old, m)
        d_a, d_b = own * (1 - u), own * u
        d_m, d_old = (d_a, d_b) if origin_mode else (d_b, d_a)
        d_m = d_m * of_new(m)
        d_kept = d_m @ of_state.T
        both = xp.concatenate([own * (b - a) * slope(u), d_kept * old * slope(r)], 1)
        dh[who] = d_old + d_kept * r + both @ of_gates.T
        dinput[rows] = xp.concatenate([both, d_m], 1)
        dgates += old.T @ both
        dstate += kept[rows].T @ d_m
    dweight = xp.concatenate([dgates.reshape(-1), dstate.reshape(-1)]).reshape(weight.shape)
    dbias = None if bias is None else dinput.sum(0, keepdims=True)
    return dinput, dweight, None if h0 is None else dh, dbias


@gru.grad("input", "weight", "h0", "bias")
def gru_grad(
    input: Any,
    weight: Any,
    h0: Any,
    bias: Any,
    levels: Any,
    batch_gate: Any,
    batch_reset_hidden_prev: Any,
    batch_hidden: Any,
    hidden: Any,
    dhidden: Any,
    activation: str,
    gate_activation: str,
    is_reverse: bool,
    origin_mode: bool,
) -> Any:
    return gru_backward(
        *(input, weight, h0, bias, batch_gate, batch_reset_hidden_prev, hidden, dhidden, levels),
        activation=activation,
        gate_activation=gate_activation,
        is_reverse=is_reverse,
        origin_mode=origin_mode,
    )


@lstm_backward.grad
def lstm_backward_grad(
    input: Any, ddinput: Any, ddweight: Any, ddbias: Any, ddh0: Any, ddc0: Any
) -> Any:
    raise UnsupportedError(f"{ONCE}: `lstm` has no second rule")


@gru_backward.grad
def gru_backward_grad(input: Any, ddinput: Any, ddweight: Any, ddh0: Any, ddbias: Any) -> Any:
    raise UnsupportedError(f"{ONCE}: `gru` has no second rule")


for operator in (lstm_backward, gru_backward):
    operator.no_lowering(BY_VALUES)
for network in (lstm, gru):
    network.op.missing["second"] = ONCE
