"""Recurrent networks and paths of tags over sequences of several lengths, of older Programs."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from scull.core.dtype import int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, count, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import begun, inner, vector_of
from scull.ops.math import relu, sigmoid

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "relu": relu,
    "identity": lambda x: x,
}
STEPS = "its steps follow one another"
OF_INPUT: dict[str, Any] = {"slots": {"levels": "Input@LOD"}, "unsaid": ("Input@LOD",)}


def steps(offsets: Any, backwards: bool) -> Iterator[tuple[Any, Any]]:
    """At each step the rows that come next, and the numbers of their sequences."""
    lengths = np.diff(offsets)
    for t in range(int(lengths.max(initial=0))):
        who = (lengths > t).nonzero()[0]
        yield (offsets[who + 1] - 1 - t if backwards else offsets[who] + t), who


def check_cell(x: Meta, gates: int, weight: Meta, bias: Meta | None, widths: int) -> int:
    """The size of a state; refuses operands of a network that do not go together."""
    floating(x, weight)
    given = {"input": x, "weight": weight, "bias": bias}
    for name, m in given.items():
        if m is not None and m.ndim != 2:
            raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
        if m is not None and m.dtype is not x.dtype:
            raise DtypeError(f"{name} is {m.dtype.name} and input is {x.dtype.name}")
    size = weight.shape[0]
    wide = UNKNOWN if size == -1 else gates * size
    agree(weight.shape[1], wide, "weight has {} columns, and a state all gates {}")
    agree(x.shape[1], wide, "input has {} columns, and a state all gates {}")
    if bias is not None:
        all_widths = UNKNOWN if size == -1 else widths * size
        agree(bias.shape[1], all_widths, "bias has {} columns, {} are needed")
    return size


def check_states(size: int, **states: Meta | None) -> None:
    """Refuse first states that are none of a network."""
    for name, m in states.items():
        if m is not None and m.ndim != 2:
            raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
        if m is not None:
            agree(m.shape[1], size, name + " has {} columns, and a state {}")


def known(name: str) -> Callable[[Any], Any]:
    """The activation of a name."""
    if name not in ACTIVATIONS:
        raise ArgumentError(f"an activation is {name!r}, not {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def first(state: Any, number: int, size: int, dtype: Any) -> Any:
    """The states that sequences begin with; zeros where none are given."""
    if state is None:
        return np.zeros((number, size), dtype)
    agree(len(state), number, "there are {} first states and {} sequences")
    return state.copy()


def levels_of(levels: Any, rows: int) -> Any:
    """The offsets of the sequences in an input."""
    offsets = inner([] if levels is None else [levels])
    agree(int(offsets[-1]), rows, "levels of detail tell of {} rows and there are {}")
    return offsets


@primitive(
    outputs=("hidden", "cell", "batch_gate", "batch_cell_pre_act"),
    hidden=("batch_gate", "batch_cell_pre_act"),
    infer_first=True,
    **OF_INPUT,
)
def lstm(
    input: Meta,
    weight: Meta,
    bias: Meta,
    h0: Meta = None,
    c0: Meta = None,
    levels: Meta = None,
    *,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    is_test: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
) -> tuple[Meta, Meta, Meta, Meta]:
    """The states along each sequence, whose `input` is projected before, and its cells.

    Gates lie side by side: candidate, input, forget, output; behind them in `bias` the weights
    with which gates look at cells. Gates and what a cell shows come row by row.
    """
    size = check_cell(input, 4, weight, bias, 7 if use_peepholes else 4)
    check_states(size, h0=h0, c0=c0)
    for name in (gate_activation, cell_activation, candidate_activation):
        known(name)
    state = input.with_shape((input.shape[0], size))
    return state, state, input, state


@lstm.kernel
def lstm_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    bias: Any,
    h0: Any = None,
    c0: Any = None,
    levels: Any = None,
    *,
    out: Any = None,
    use_peepholes: bool,
    is_reverse: bool,
    is_test: bool,
    gate_activation: str,
    cell_activation: str,
    candidate_activation: str,
) -> Any:
    size, offsets = len(weight), levels_of(levels, len(input))
    h, c = (first(v, len(offsets) - 1, size, input.dtype) for v in (h0, c0))
    along = input + bias[0, : 4 * size]
    peeps = xp.split(bias[0, 4 * size :], 3) if use_peepholes else [0.0] * 3
    gate, show, new = map(known, (gate_activation, cell_activation, candidate_activation))
    found = tuple(xp.zeros((len(input), n * size), input.dtype) for n in (1, 1, 4, 1))
    for rows, who in steps(offsets, is_reverse):
        a, i, f, o = xp.split(along[rows] + h[who] @ weight, 4, axis=1)
        old = c[who]
        a, i, f = new(a), gate(i + old * peeps[0]), gate(f + old * peeps[1])
        c[who] = cell = a * i + old * f
        o, shown = gate(o + cell * peeps[2]), show(cell)
        h[who] = o * shown
        for all_rows, values in zip(found, (h[who], cell, None, shown), strict=True):
            all_rows[rows] = xp.concatenate([a, i, f, o], 1) if values is None else values
    return found


@primitive(
    outputs=("batch_gate", "batch_reset_hidden_prev", "batch_hidden", "hidden"),
    hidden=("batch_gate", "batch_reset_hidden_prev", "batch_hidden"),
    infer_first=True,
    **OF_INPUT,
)
def gru(
    input: Meta,
    weight: Meta,
    h0: Meta = None,
    bias: Meta = None,
    levels: Meta = None,
    *,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    is_reverse: bool = False,
    is_test: bool = False,
    origin_mode: bool = False,
) -> tuple[Meta, Meta, Meta, Meta]:
    """Gates, states as far as they are not reset, and states along each sequence.

    `input` is projected before. In `weight` those of the gates lie before those of the new state.
    """
    size = check_cell(input, 3, weight, bias, 3)
    check_states(size, h0=h0)
    for name in (activation, gate_activation):
        known(name)
    state = input.with_shape((input.shape[0], size))
    return input, state, state, state


@gru.kernel
def gru_kernel(
    xp: Any,
    input: Any,
    weight: Any,
    h0: Any = None,
    bias: Any = None,
    levels: Any = None,
    *,
    out: Any = None,
    activation: str,
    gate_activation: str,
    is_reverse: bool,
    is_test: bool,
    origin_mode: bool,
) -> Any:
    size, offsets = len(weight), levels_of(levels, len(input))
    h = first(h0, len(offsets) - 1, size, input.dtype)
    flat = weight.reshape(-1)
    of_gates = flat[: 2 * size * size].reshape(size, 2 * size)
    of_state = flat[2 * size * size :].reshape(size, size)
    along = input if bias is None else input + bias
    gate, new = known(gate_activation), known(activation)
    found = tuple(xp.zeros((len(input), n * size), input.dtype) for n in (3, 1, 1, 1))
    for rows, who in steps(offsets, is_reverse):
        x, old = along[rows], h[who]
        both = gate(x[:, : 2 * size] + old @ of_gates)
        update, kept = both[:, :size], both[:, size:] * old
        state = new(x[:, 2 * size :] + kept @ of_state)
        a, b = (state, old) if origin_mode else (old, state)
        h[who] = after = a + update * (b - a)
        values = (xp.concatenate([both, state], 1), kept, after, after)
        for all_rows, value in zip(found, values, strict=True):
            all_rows[rows] = value
    return found


@primitive(
    outputs=("viterbi_path",),
    slots={"levels": "Emission@LOD"},
    unsaid=("Emission@LOD",),
    infer_first=True,
)
def crf_decoding(
    emission: Meta,
    transition: Meta,
    label: Meta = None,
    length: Meta = None,
    levels: Meta = None,
) -> Meta:
    """The most likely tags of each sequence, or with `label` where they are those.

    The first row of `transition` scores tags that begin, the second those that end. Sequences
    stand one behind the other, or with `length` one above the other.
    """
    floating(emission, transition)
    if emission.ndim != (2 if length is None else 3) or transition.ndim != 2:
        raise ShapeError(f"emission is {emission} and transition {transition}")
    tags = emission.shape[-1]
    agree(transition.shape[1], tags, "transition has {} columns, and there are {} tags")
    agree(
        transition.shape[0],
        UNKNOWN if tags == -1 else tags + 2,
        "transition has {} rows, {} are needed",
    )
    if length is not None:
        agree(count(length.shape), emission.shape[0], "there are {} lengths and {} sequences")
        return Meta(emission.shape[:2], int64)
    return Meta((emission.shape[0], 1), int64)


@crf_decoding.kernel
def crf_decoding_kernel(
    xp: Any,
    emission: Any,
    transition: Any,
    label: Any = None,
    length: Any = None,
    levels: Any = None,
    *,
    out: Any = None,
) -> Any:
    tags = emission.shape[-1]
    if length is None:
        offsets = levels_of(levels, len(emission))
    else:
        lengths = vector_of(length)
        if (lengths > emission.shape[1]).any():
            raise ShapeError(f"a sequence of {lengths.max()} steps is longer than emission")
        offsets = begun(lengths)
    paths = xp.zeros((*emission.shape[:-1], 1), "int64")
    for i, (begin, end) in enumerate(pairwise(offsets)):
        at: Any = slice(begin, end) if length is None else (i, slice(0, end - begin))
        paths[at] = best_path(emission[at].reshape(-1, tags), transition)[:, None]
    if length is not None:
        paths = paths[..., 0]
    return paths if label is None else (paths == label.reshape(paths.shape)).astype("int64")


def best_path(emission: Any, transition: Any) -> Any:
    """The most likely tags of one sequence; of equally likely ones those of lower numbers."""
    begin, end, between = transition[0], transition[1], transition[2:]
    if not len(emission):
        return np.zeros(0, "int64")
    score, came = begin + emission[0], []
    for step in emission[1:]:
        each = score[:, None] + between
        came.append(each.argmax(0))
        score = each.max(0) + step
    path = [int((score + end).argmax())]
    for before in reversed(came):
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


for operator in (lstm, gru, crf_decoding):
    operator.no_lowering(STEPS)
crf_decoding.no_grad("tags carry none")
