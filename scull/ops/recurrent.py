"""Recurrent networks: layers of cells that go through a sequence, one way or both."""

from functools import wraps
from typing import Any

import numpy as np

from scull.core.dtype import float32, uint8
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.core.random import uniform
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.ops.cell import cell_of
from scull.ops.half import is_half
from scull.ops.recurrent_form import Form, form_of
from scull.ops.recurrent_steps import rnn_backward_steps, rnn_steps

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
ATTRIBUTES = ("dropout_prob", "is_bidirec", "input_size", "hidden_size", "num_layers", "mode")
ATTRIBUTES += ("seed", "is_test")


def steps_of(count: int, backwards: bool) -> range:
    """The steps in the order they are gone through."""
    return range(count - 1, -1, -1) if backwards else range(count)


def present(lengths: Any, count: int, dtype: Any) -> Any:
    """For each step and sequence 1 where it has not ended yet; None where none ends early."""
    if lengths is None:
        return None
    return (np.arange(count)[:, None] < lengths.reshape(-1)).astype(dtype)[:, :, None]


def through(
    cell: Any, x: Any, weights: list[Any], h: Any, c: Any, there: Any, backwards: bool
) -> tuple[Any, Any, Any, list[Any]]:
    """What is shown at each step, the last states, and what the way back needs."""
    w_ih, w_hh, b_ih, b_hh = weights
    along = x @ w_ih.T + b_ih
    count, batch, hidden = len(x), x.shape[1], h.shape[1]
    shown = np.empty((count, batch, hidden), x.dtype)
    states = np.empty((2, count + 1, batch, hidden), x.dtype)
    kept = np.empty((cell.gates, count, batch, hidden), x.dtype)
    states[:, 0] = h, c
    for k, t in enumerate(steps_of(count, backwards)):
        new_h, new_c, gates = cell.step(along[t], w_hh, b_hh, h, c)
        shown[t] = new_h
        if there is not None:
            mask = there[t]
            shown[t] *= mask
            new_h, new_c = new_h * mask + h * (1 - mask), new_c * mask + c * (1 - mask)
        h, c = new_h, new_c
        states[:, k + 1] = h, c
        kept[:, k] = gates
    return shown, h, c, [states, kept]


def back_through(
    cell: Any,
    x: Any,
    weights: list[Any],
    kept: list[Any],
    there: Any,
    backwards: bool,
    dshown: Any,
    dh: Any,
    dc: Any,
) -> tuple[Any, list[Any], Any, Any]:
    """The gradients of the input, of the weights, and of the first states."""
    w_ih, w_hh, _, _ = weights
    states, gates = kept
    outer = np.empty((*x.shape[:2], len(w_ih)), x.dtype)
    inner = np.empty_like(outer)
    for k, t in reversed(list(enumerate(steps_of(len(x), backwards)))):
        old, new = states[:, k], states[:, k + 1]
        given, rest = dh, None
        if there is None:
            given, given_c = dh + dshown[t], dc
        else:
            mask = there[t]
            rest = (dh * (1 - mask), dc * (1 - mask))
            given, given_c = (dh + dshown[t]) * mask, dc * mask
        found = cell.back(given, given_c, w_hh, gates[:, k], (*old, *new))
        outer[t], inner[t], dh, dc = found
        if rest is not None:
            outer[t] *= mask
            inner[t] *= mask
            dh, dc = dh * mask + rest[0], dc * mask + rest[1]
    order = list(steps_of(len(x), backwards))
    dw_ih = np.tensordot(outer, x, ((0, 1), (0, 1)))
    dw_hh = np.tensordot(inner[order], states[0, :-1], ((0, 1), (0, 1)))
    biases = [np.add.reduce(d, axis=(0, 1)) for d in (outer, inner)]
    return outer @ w_ih, [dw_ih, dw_hh, *biases], dh, dc


def widened(kernel: Any) -> Any:
    """`kernel`, given float32 in place of half precision; what users see is rounded back."""

    @wraps(kernel)
    def wide(xp: Any, input: Any, *rest: Any, **attrs: Any) -> Any:
        if not is_half(input):
            return kernel(xp, input, *rest, **attrs)
        values = [widest(v) for v in (input, *rest)]
        found = kernel(xp, *values, **attrs)
        visible = found[: 3 if len(found) == 4 else len(found)]
        return (*[narrowest(v, input.dtype) for v in visible], *found[len(visible) :])

    return wide


def widest(x: Any) -> Any:
    """`x`, or each of a list, without half precision."""
    if isinstance(x, list):
        return [widest(v) for v in x]
    return x.astype("float32") if is_half(x) else x


def narrowest(x: Any, dtype: Any) -> Any:
    """`x`, or each of a list, rounded to `dtype` if it is of float32."""
    if isinstance(x, list):
        return [narrowest(v, dtype) for v in x]
    return x.astype(dtype) if x.dtype == "float32" else x


# Layers.


def check(x: Any, pre_state: Any, weights: Any, attrs: dict[str, Any]) -> Form:
    """Refuse operands that do not fit together."""
    if attrs["mode"] not in GATES:
        raise ArgumentError(f"mode is {attrs['mode']!r}, not one of {', '.join(GATES)}")
    form, needed = form_of(x, attrs), 2 if attrs["mode"] == "LSTM" else 1
    if len(pre_state) != needed:
        raise ArgumentError(
            f"{attrs['mode']} begins with {needed} states, {len(pre_state)} given in pre_state"
        )
    if len(weights) != 4 * form.cells:
        raise ArgumentError(f"weight_list has {len(weights)} tensors, not {4 * form.cells}")
    for state in pre_state:
        if len(state.shape) != 3:
            raise ShapeError(f"a state has {len(state.shape)} axes, 3 are needed")
        for i, n in enumerate((form.cells, form.batch, form.hidden)):
            agree(state.shape[i], n, f"a state has {{}} elements along axis {i}, {{}} are needed")
    rows = GATES[form.mode] * form.hidden
    first = form.weights(weights, 0)[0]
    agree(x.shape[2], first.shape[1], "a step of input has {} numbers, the first layer takes {}")
    for cell in range(form.cells):
        matrices = form.weights(weights, cell)[:2]
        for w, width in zip(matrices, (form.width(cell // form.ways), form.hidden), strict=True):
            agree(w.shape[0], rows, "a weight has {} rows, {} are needed")
            agree(w.shape[1], width, "a weight has {} columns, {} are needed")
    for v in (*pre_state, *weights):
        if v.dtype != x.dtype:
            raise DtypeError(
                f"a weight or state is {v.dtype.name} and input is {x.dtype.name}; cast one"
            )
    return form


@primitive(
    outputs=("out", "dropout_state", "state[]", "reserve"),
    hidden=("reserve",),
    recorded={"reserve": uint8, "dropout_state": uint8},
    effects=("random",),
    infer_first=True,
)
def rnn(
    input: Meta,
    pre_state: list[Meta],
    weight_list: list[Meta],
    sequence_length: Meta = None,
    *,
    dropout_prob: float = 0.0,
    is_bidirec: bool = False,
    input_size: int = 10,
    hidden_size: int = 100,
    num_layers: int = 1,
    mode: str = "RNN_TANH",
    seed: int = 0,
    is_test: bool = False,
) -> Any:
    """What the last layer shows at each step [step, sequence, number], and the last states."""
    floating(input)
    values = (dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test)
    attrs = dict(zip(ATTRIBUTES, values, strict=True))
    form = check(input, pre_state, weight_list, attrs)
    if sequence_length is not None:
        agree(sequence_length.shape[0], form.batch, "{} lengths for {} sequences")
    out = input.with_shape((form.steps, form.batch, form.hidden * form.ways))
    states = [s.with_shape((form.cells, form.batch, form.hidden)) for s in pre_state]
    some = input.with_shape((UNKNOWN,))
    exact = some.with_dtype(float32) if input.dtype.itemsize == 2 else some
    return out, some.with_dtype(uint8), states, exact


@rnn.kernel
@widened
def rnn_kernel(
    xp: Any,
    input: Any,
    pre_state: Any,
    weight_list: Any,
    sequence_length: Any = None,
    *,
    out: Any = None,
    draw: Any = None,
    **attrs: Any,
) -> Any:
    form, cell = form_of(input, attrs), cell_of(attrs["mode"], attrs["hidden_size"])
    there = present(sequence_length, form.steps, input.dtype)
    first = pre_state[0], pre_state[-1]
    masks = dropped(form, attrs, draw)
    last_h, last_c, kept, x = [], [], [], input
    for layer in range(form.layers):
        x = masked(x, masks, layer, attrs)
        shown = []
        for way in range(form.ways):
            k = layer * form.ways + way
            weights, states = form.weights(weight_list, k), (first[0][k], first[1][k])
            found = through(cell, x, weights, *states, there, bool(way))
            shown.append(found[0])
            last_h.append(found[1])
            last_c.append(found[2])
            kept.extend(v.reshape(-1) for v in found[3])
        x = shown[0] if form.ways == 1 else np.concatenate(shown, axis=2)
    states = [np.stack(last_h), np.stack(last_c)][: len(pre_state)]
    return x, masks.reshape(-1), states, np.concatenate(kept)


def dropped(form: Form, attrs: dict[str, Any], draw: Any) -> Any:
    """For each layer but the first 1 where its input stays; nothing where all does."""
    chance = attrs["dropout_prob"]
    if attrs["is_test"] or not chance or form.layers == 1:
        return np.empty(0, "uint8")
    shape = (form.layers - 1, form.steps, form.batch, form.hidden * form.ways)
    return (uniform(draw, shape, "float32") >= chance).astype("uint8")


def masked(x: Any, masks: Any, layer: int, attrs: dict[str, Any]) -> Any:
    """The input of a layer without what is dropped, the rest as much larger."""
    if not layer or not masks.size:
        return x
    share = x.dtype.type(1 / (1 - attrs["dropout_prob"])) if attrs["dropout_prob"] < 1 else 0
    return x * masks.reshape(-1, *x.shape)[layer - 1] * share


rnn.lower_by_steps(rnn_steps)
rnn.no_lowering("its steps follow one another")


@rnn.grad("input", "pre_state", "weight_list")
def rnn_grad(
    input: Any,
    pre_state: Any,
    weight_list: Any,
    sequence_length: Any,
    out: Any,
    dropout_state: Any,
    reserve: Any,
    dout: Any,
    dstate: Any,
    dropout_prob: float,
    is_bidirec: bool,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    mode: str,
    seed: int,
    is_test: bool,
) -> Any:
    values = (dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test)
    return rnn_backward(
        input,
        pre_state,
        weight_list,
        sequence_length,
        out,
        dropout_state,
        reserve,
        dout,
        dstate,
        **dict(zip(ATTRIBUTES, values, strict=True)),
    )


@primitive(outputs=("dinput", "dpre_state[]", "dweight_list[]"))
def rnn_backward(
    input: Meta,
    pre_state: list[Meta],
    weight_list: list[Meta],
    sequence_length: Meta | None,
    out: Meta,
    dropout_state: Meta,
    reserve: Meta,
    dout: Meta,
    dstate: list[Meta],
    *,
    dropout_prob: float,
    is_bidirec: bool,
    input_size: int,
    hidden_size: int,
    num_layers: int,
    mode: str,
    seed: int,
    is_test: bool,
) -> Any:
    """The gradients of a recurrent network from those of what it shows and of its last states."""
    return input, list(pre_state), list(weight_list)


@rnn_backward.kernel
@widened
def rnn_backward_kernel(
    xp: Any,
    input: Any,
    pre_state: Any,
    weight_list: Any,
    sequence_length: Any,
    shown: Any,
    dropout_state: Any,
    reserve: Any,
    dout: Any,
    dstate: Any,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    form, cell = form_of(input, attrs), cell_of(attrs["mode"], attrs["hidden_size"])
    there = present(sequence_length, form.steps, input.dtype)
    kept = list(form.kept(reserve))
    dweights: list[Any] = [None] * len(weight_list)
    states = (form.cells, form.batch, form.hidden)
    dh, dc = np.zeros(states, input.dtype), np.zeros(states, input.dtype)
    zero = np.zeros((form.batch, form.hidden), input.dtype)
    for layer in reversed(range(form.layers)):
        x = masked(below(form, layer, input, kept, there), dropout_state, layer, attrs)
        dx = 0
        for way in range(form.ways):
            k = layer * form.ways + way
            given = dout[:, :, way * form.hidden : (way + 1) * form.hidden]
            ends = [zero if g is None else g[k] for g in dstate]
            ends = ends if len(ends) == 2 else [*ends, zero]
            weights = form.weights(weight_list, k)
            found = back_through(cell, x, weights, kept[k], there, bool(way), given, *ends)
            dx, dh[k], dc[k] = dx + found[0], found[2], found[3]
            dweights[2 * k : 2 * k + 2] = found[1][:2]
            begin = 2 * form.cells + 2 * k
            dweights[begin : begin + 2] = found[1][2:]
        dout = masked(dx, dropout_state, layer, attrs)
    return dout, [dh, dc][: len(pre_state)], dweights


def below(form: Form, layer: int, input: Any, kept: list[Any], there: Any) -> Any:
    """What a layer read: what the one below showed, from its states."""
    if layer == 0:
        return input
    shown = []
    for way in range(form.ways):
        states = kept[(layer - 1) * form.ways + way][0][0, 1:]
        states = states[::-1] if way else states
        shown.append(states if there is None else states * there)
    return shown[0] if form.ways == 1 else np.concatenate(shown, axis=2)


@rnn_backward.grad
def rnn_backward_grad(input: Any, ddinput: Any, ddpre_state: Any, ddweight_list: Any) -> Any:
    raise UnsupportedError("recurrent networks are differentiable once: `rnn` has no second rule")


rnn_backward.lower_by_steps(rnn_backward_steps)
rnn_backward.no_lowering("its steps follow one another")
rnn.op.missing["second"] = "recurrent networks are differentiable once"
