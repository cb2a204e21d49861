"""Recurrent networks: layers of cells that go through a sequence, one way or both."""

from functools import wraps
from typing import Any

import numpy as np

from scull.core.dtype import float32, uint8
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.core.random import uniform
from scull.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from scull.ops.half import is_half
from scull.ops.recurrent_cell import CELLS, Cell
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


def product(x: Any, w: Any) -> Any:
    """The rows of all steps times a matrix, at once."""
    return (x.reshape(-1, len(w)) @ w).reshape(*x.shape[:2], -1)


def through(
    cell: Cell, x: Any, weights: list[Any], first: list[Any], there: Any, backwards: bool
) -> tuple[Any, Any, list[Any]]:
    """What is shown at each step, the last states, and what the way back needs."""
    w_ih, w_hh, b_ih, b_hh = weights
    along, turned, step = list(product(x, w_ih.T) + b_ih), np.ascontiguousarray(w_hh.T), cell.step
    states = np.empty((cell.states, len(x) + 1, *first[0].shape), x.dtype)
    kept = np.empty((cell.kept, len(x), *first[0].shape), x.dtype)
    states[:, 0], own = first, np.empty_like(along[0])
    ended = None if there is None else there == 0
    old, made = tuple(states[:, 0]), zip(*states[:, 1:], *kept, strict=True)
    for t, new in zip(steps_of(len(x), backwards), made, strict=True):
        np.matmul(old[0], turned, out=own)
        operands = cell.forward(along[t], own, b_hh, old[cell.states - 1])
        step.op.eager(*operands, out=new if len(new) > 1 else new[0])
        if ended is not None:
            for after, before in zip(new[: cell.states], old, strict=False):
                np.copyto(after, before, where=ended[t])
        old = new
    shown = states[0, :0:-1] if backwards else states[0, 1:]
    return shown if there is None else shown * there, states[:, -1], [states, kept]


def back_through(
    cell: Cell,
    x: Any,
    weights: list[Any],
    kept: list[Any],
    there: Any,
    backwards: bool,
    dshown: Any,
    ends: list[Any],
) -> tuple[Any, list[Any], list[Any]]:
    """The gradients of the input, of the weights, and of the first states."""
    w_ih, w_hh, _, _ = weights
    states, gates = kept
    added = np.empty((cell.parts, *x.shape[:2], len(w_ih)), x.dtype)
    rest = np.empty((len(cell.back.op.outputs) - cell.parts, *ends[0].shape), x.dtype)
    read, rows = list(states[-1]), list(zip(*added, strict=True))
    steps = list(
        zip(steps_of(len(x), backwards), read, read[1:], gates.swapaxes(0, 1), strict=False)
    )
    for t, before, after, those in reversed(steps):
        given = [ends[0] + dshown[t], *ends[1:]]
        if there is not None:
            given = [d * there[t] for d in given]
        made = (*rows[t], *rest)
        operands = (*given, *cell.reads(before, after, those))
        cell.back.op.eager(*operands, out=made if len(made) > 1 else made[0])
        dh, others = rows[t][-1] @ w_hh, list(rest.copy())
        old = [dh, *others] if cell.states == 2 else [sum(others, dh)]
        if there is not None:
            old = [d + end * (1 - there[t]) for d, end in zip(old, ends, strict=True)]
        ends = old
    outer, inner = (d.reshape(-1, len(w_ih)) for d in (added[0], added[-1]))
    in_order = added[-1, ::-1] if backwards else added[-1]
    dw_hh = in_order.reshape(outer.shape).T @ states[0, :-1].reshape(-1, w_hh.shape[1])
    biases = [np.add.reduce(d, axis=0) for d in (outer, inner)]
    dw_ih = outer.T @ x.reshape(-1, x.shape[2])
    return product(added[0], w_ih), [dw_ih, dw_hh, *biases], ends


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


def known(mode: str) -> None:
    """Refuse a mode that there is not."""
    if mode not in GATES:
        raise ArgumentError(f"mode is {mode!r}, not one of {', '.join(GATES)}")


def check(x: Any, pre_state: Any, weights: Any, attrs: dict[str, Any]) -> Form:
    """Refuse operands that do not fit together."""
    known(attrs["mode"])
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
    form, cell = form_of(input, attrs), CELLS[attrs["mode"]]
    there = present(sequence_length, form.steps, input.dtype)
    masks = dropped(form, attrs, draw)
    last, kept, x = [], [], input
    for layer in range(form.layers):
        x = masked(x, masks, layer, attrs)
        shown = []
        for way in range(form.ways):
            k = layer * form.ways + way
            weights, first = form.weights(weight_list, k), [s[k] for s in pre_state]
            found = through(cell, x, weights, first, there, bool(way))
            shown.append(found[0])
            last.append(found[1])
            kept.extend(v.reshape(-1) for v in found[2])
        x = shown[0] if form.ways == 1 else np.concatenate(shown, axis=2)
    return x, masks.reshape(-1), list(np.stack(last, axis=1)), np.concatenate(kept)


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


@primitive(outputs=("dinput", "dpre_state[]", "dweight_list[]"), infer_first=True)
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
    known(mode)
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
    form, cell = form_of(input, attrs), CELLS[attrs["mode"]]
    there = present(sequence_length, form.steps, input.dtype)
    kept = list(form.kept(reserve))
    dweights: list[Any] = [None] * len(weight_list)
    dstates = np.zeros((cell.states, form.cells, form.batch, form.hidden), input.dtype)
    zero = np.zeros(dstates.shape[2:], input.dtype)
    for layer in reversed(range(form.layers)):
        x = masked(below(form, layer, input, kept, there), dropout_state, layer, attrs)
        dx = 0
        for way in range(form.ways):
            k = layer * form.ways + way
            given = dout[:, :, way * form.hidden : (way + 1) * form.hidden]
            ends = [zero if g is None else g[k] for g in dstate]
            weights = form.weights(weight_list, k)
            found = back_through(cell, x, weights, kept[k], there, bool(way), given, ends)
            dx, dstates[:, k] = dx + found[0], found[2]
            dweights[2 * k : 2 * k + 2] = found[1][:2]
            begin = 2 * form.cells + 2 * k
            dweights[begin : begin + 2] = found[1][2:]
        dout = masked(dx, dropout_state, layer, attrs)
    return dout, list(dstates), dweights


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
