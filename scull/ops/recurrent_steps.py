"""Recurrent networks as products of all steps at once, and a scan for what follows one another.

What the input adds to each step is one product, and so are the gradients of the weights; between
lies the scan, with one product of the state and of what is not known before.
"""

from typing import Any

from scull.core.dtype import uint8
from scull.core.op import as_outputs
from scull.core.scan import scan
from scull.errors import UnsupportedError
from scull.ops.create import cast
from scull.ops.join import concat, stack
from scull.ops.like import full_like
from scull.ops.linear import matmul
from scull.ops.move import flip, reshape, transpose
from scull.ops.recurrent_cell import CELLS, Cell
from scull.ops.recurrent_form import Form, form_of
from scull.ops.reduce import reduce_sum
from scull.ops.sequence import sequence_mask
from scull.ops.slicing import slice as window

Values = list[Any]


def check(x: Any, attrs: dict[str, Any]) -> Form:
    """The form of a network whose steps can be told so."""
    if x.dtype.itemsize < 4:
        raise UnsupportedError("`rnn`: its steps in half precision are float32")
    if attrs["dropout_prob"] and not attrs["is_test"] and attrs["num_layers"] > 1:
        raise UnsupportedError("`rnn`: what it drops is random")
    return form_of(x, attrs)


def in_steps(x: Any, backwards: bool) -> Any:
    """The rows of `x` in the order of steps, or back again."""
    return flip(x, axis=[0]) if backwards else x


def present(lengths: Any, x: Any) -> Any:
    """For each step and sequence 1 where it has not ended yet; None where none ends early."""
    if lengths is None:
        return None
    count = len_of(x)
    mask = sequence_mask(reshape(lengths, shape=[-1]), max_len=count, out_dtype=x.dtype)
    return reshape(transpose(mask, perm=[1, 0]), shape=[count, -1, 1])


def where(mask: Any, new: Values, old: Values) -> Values:
    """New values where a sequence goes on, elsewhere the old ones."""
    if mask is None:
        return new
    return [x * mask + y * (1 - mask) for x, y in zip(new, old, strict=True)]


def behind(x: Any, last: Any) -> Any:
    """The rows of `x`, and one more."""
    return concat([x, reshape(last, shape=[1, *last.shape])], axis=0)


def of_cell(values: list[Any], cell: int) -> list[Any]:
    """The states of one cell."""
    return [window(v, axes=[0], starts=[cell], ends=[cell + 1], decrease_axis=[0]) for v in values]


def rnn_steps(
    input: Any, pre_state: Any, weight_list: Any, sequence_length: Any = None, **attrs: Any
) -> Any:
    form, cell, x = check(input, attrs), CELLS[attrs["mode"]], input
    there = present(sequence_length, input)
    ends: list[Values] = []
    kept: Values = []
    for layer in range(form.layers):
        shown = []
        for way in range(form.ways):
            number = layer * form.ways + way
            weights = form.weights(weight_list, number)
            found = through(cell, x, weights, of_cell(pre_state, number), there, bool(way))
            shown.append(found[0])
            ends.append(found[1])
            kept += found[2]
        x = shown[0] if form.ways == 1 else concat(shown, axis=2)
    states = [stack([end[k] for end in ends], axis=0) for k in range(len(pre_state))]
    nothing = window(reshape(input, shape=[-1]), axes=[0], starts=[0], ends=[0])
    reserve = concat([reshape(v, shape=[-1]) for v in kept], axis=0)
    return x, cast(nothing, out_dtype=uint8), states, reserve


def through(
    cell: Cell, x: Any, weights: Values, states: Values, there: Any, backwards: bool
) -> tuple[Any, Values, Values]:
    """What a cell shows at each step, its last states, and what the way back needs."""
    w_ih, w_hh, b_ih, b_hh = weights
    along = matmul(x, w_ih, transpose_y=True) + b_ih

    def step(now: Values, rows: Values) -> tuple[Values, Values]:
        own = matmul(now[0], w_hh, transpose_y=True)
        found = as_outputs(cell.step.op, cell.step(*cell.forward(rows[0], own, b_hh, now[-1])))
        new, kept = list(found[: cell.states]), found[cell.states :]
        mask = rows[1] if len(rows) > 1 else None
        shown = new[0] if mask is None else new[0] * mask
        return where(mask, new, now), [shown, *now, *kept]

    rows = [along] if there is None else [along, there]
    last, made = scan(step, states, rows, len_of(x), backwards=backwards)
    olds, kept = made[1 : 1 + len(states)], made[1 + len(states) :]
    runs = [behind(in_steps(v, backwards), end) for v, end in zip(olds, last, strict=True)]
    return made[0], last, [*runs, *(in_steps(v, backwards) for v in kept)]


def len_of(x: Any) -> int:
    """How many rows there are."""
    return int(x.shape[0])


def rnn_backward_steps(
    input: Any,
    pre_state: Any,
    weight_list: Any,
    sequence_length: Any,
    shown: Any,
    dropout_state: Any,
    reserve: Any,
    dout: Any,
    dstate: Any,
    **attrs: Any,
) -> Any:
    form, cell = check(input, attrs), CELLS[attrs["mode"]]
    there = present(sequence_length, input)
    if dout is None:
        raise UnsupportedError("`rnn`: nothing is asked of what it shows")
    kept = list(unpacked(form, cell, reserve))
    dweights: Values = [None] * len(weight_list)
    dstates: list[Values] = [[]] * form.cells
    for layer in reversed(range(form.layers)):
        x = input if layer == 0 else below(form, kept, layer, there)
        dx = None
        for way in range(form.ways):
            number, width = layer * form.ways + way, form.hidden
            given = dout
            if form.ways == 2:
                given = window(dout, axes=[2], starts=[way * width], ends=[(way + 1) * width])
            ends = [None if g is None else of_cell([g], number)[0] for g in dstate]
            found = back_through(
                cell,
                x,
                form.weights(weight_list, number),
                kept[number],
                there,
                bool(way),
                given,
                ends,
            )
            dx = found[0] if dx is None else dx + found[0]
            dstates[number] = found[1]
            dweights[2 * number : 2 * number + 2] = found[2][:2]
            begin = 2 * form.cells + 2 * number
            dweights[begin : begin + 2] = found[2][2:]
        dout = dx
    states = [stack([d[k] for d in dstates], axis=0) for k in range(len(pre_state))]
    return dout, states, dweights


def unpacked(form: Form, cell: Cell, reserve: Any) -> Any:
    """What the way back needs of each cell: old states, what was kept, the last states."""
    begin, steps, batch, width = 0, form.steps, form.batch, form.hidden
    for number in range(form.cells):
        backwards, parts = bool(number % form.ways), []
        for rows in (*[steps + 1] * cell.states, *[steps] * cell.kept):
            size = rows * batch * width
            piece = window(reserve, axes=[0], starts=[begin], ends=[begin + size])
            parts.append(reshape(piece, shape=[rows, batch, width]))
            begin += size
        runs, gates = parts[: cell.states], parts[cell.states :]
        olds = [window(v, axes=[0], starts=[0], ends=[steps]) for v in runs]
        lasts = [
            window(v, axes=[0], starts=[steps], ends=[steps + 1], decrease_axis=[0]) for v in runs
        ]
        yield [in_steps(v, backwards) for v in olds], [in_steps(v, backwards) for v in gates], lasts


def below(form: Form, kept: list[Any], layer: int, there: Any) -> Any:
    """What a layer read: what the one below showed, from its states."""
    shown = []
    for way in range(form.ways):
        olds, _, lasts = kept[(layer - 1) * form.ways + way]
        rest = olds[0]
        last = reshape(lasts[0], shape=[1, *lasts[0].shape])
        if way:
            rest = window(rest, axes=[0], starts=[0], ends=[form.steps - 1])
            shown.append(concat([last, rest], axis=0))
        else:
            rest = window(rest, axes=[0], starts=[1], ends=[form.steps])
            shown.append(concat([rest, last], axis=0))
    shown = shown if there is None else [v * there for v in shown]
    return shown[0] if form.ways == 1 else concat(shown, axis=2)


def back_through(
    cell: Cell,
    x: Any,
    weights: Values,
    kept: tuple[Values, Values, Values],
    there: Any,
    backwards: bool,
    dshown: Any,
    ends: Values,
) -> tuple[Any, Values, Values]:
    """The gradients of the input, of the first states, and of the weights."""
    (w_ih, w_hh, _, _), (olds, gates, lasts) = weights, kept
    first = [full_like(lasts[0], value=0.0) if end is None else end for end in ends]
    count = len(olds)

    def step(now: Values, rows: Values) -> tuple[Values, Values]:
        mask = None if there is None else rows[-1]
        given = [now[0] + rows[0], *now[1:count]]
        if mask is not None:
            given = [d * mask for d in given]
        old, gate = rows[1 : 1 + count], rows[1 + count : 1 + count + len(gates)]
        found = as_outputs(cell.back.op, cell.back(*given, *cell.reads(old[-1], now[-1], gate)))
        outer, inner, rest = found[0], found[cell.parts - 1], found[cell.parts :]
        same = cell.parts == 1
        if mask is not None:
            outer = outer * mask
            inner = outer if same else inner * mask
        dh = matmul(inner, w_hh)
        before = [dh, *rest] if count == 2 else [sum(rest, dh)]
        before = where(mask, before, now[:count])
        return [*before, old[-1]], [outer] if same else [outer, inner]

    found, made = scan(
        step,
        [*first, lasts[-1]],
        [dshown, *olds, *gates, *([] if there is None else [there])],
        len_of(x),
        backwards=not backwards,
    )
    outer, inner = made[0], made[-1]
    rows = len_of(x) * int(x.shape[1])
    flat_outer, flat_inner, flat_x, flat_h = (
        reshape(v, shape=[rows, int(v.shape[2])]) for v in (outer, inner, x, olds[0])
    )
    dw = [
        matmul(flat_outer, flat_x, transpose_x=True),
        matmul(flat_inner, flat_h, transpose_x=True),
    ]
    biases = [reduce_sum(v, axis=[0]) for v in (flat_outer, flat_inner)]
    return matmul(outer, w_ih), found[:count], [*dw, *biases]
