"""Losses over all alignments of labels with a longer sequence: CTC and RNN transducers.

Each is computed with its gradient, forward and backward through time, in logarithms.
"""

from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import Meta, agree, floating
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError, UnsupportedError
from scull.ops.create import cast
from scull.ops.elementwise import maximum
from scull.ops.half import placed, widening
from scull.ops.like import broadcast_like, full_like, reshape_like, unsqueeze

NEVER = -np.inf
STEPS = "its steps follow one another"
ONCE = "alignments are differentiable once: the gradient is computed with the loss"


@primitive(views={"out": "x"})
def taken_once(x: Meta) -> Meta:
    """`x`, a gradient that cannot be differentiated again."""
    return x


taken_once.kernel(lambda xp, x, *, out=None: x)
taken_once.lower(lambda index, x: x[index])


@taken_once.grad
def taken_once_grad(dout: Any) -> Any:
    raise UnsupportedError(ONCE)


def check_labels(label: Any, *lengths: Any) -> None:
    """Refuse labels and lengths that are not integers, or of other shapes than there are rows."""
    for m in (label, *lengths):
        if m is not None and not meta_of(m).dtype.is_integer:
            raise DtypeError(f"{meta_of(m)} is not of integers")
    if len(label.shape) != 2:
        raise ShapeError(f"label has {len(label.shape)} axes, 2 are needed")
    for m in lengths:
        if m is None:
            continue
        if len(m.shape) != 1:
            raise ShapeError(f"lengths have {len(m.shape)} axes, 1 is needed")
        agree(m.shape[0], label.shape[0], "there are {} lengths and {} rows of labels")


def check_blank(blank: int, classes: int) -> None:
    """Refuse a blank that is no class."""
    if blank < 0 or (classes != -1 and blank >= classes):
        raise ArgumentError(f"blank is {blank}, outside [0, {int(classes)})")


def lengths_of(given: Any, count: int, longest: int, name: str) -> Any:
    """The lengths that are given, or the longest one for all."""
    if given is None:
        return np.full(count, longest)
    if given.size and (given.min() < 0 or given.max() > longest):
        raise RangeError(f"{name} {given.tolist()} is outside [0, {longest}]")
    return given.astype("int64")


def known_labels(label: Any, counts: Any, classes: int) -> Any:
    """The labels, with 0 behind the last one of each row; refuses those that are no class."""
    kept = np.arange(label.shape[1]) < counts[:, None]
    found = np.where(kept, label, 0).astype("int64")
    if found.size and (found.min() < 0 or found.max() >= classes):
        wrong = found[(found < 0) | (found >= classes)][0]
        raise RangeError(f"label {wrong} is outside [0, {classes})")
    return found


# Connectionist temporal classification: labels, each as often as wanted, with blanks between them.


@primitive(
    outputs=("loss", "warp_ctc_grad"), slots={"warp_ctc_grad": "WarpCTCGrad"}, infer_first=True
)
def warpctc(
    logits: Meta,
    label: Meta,
    logits_length: Meta = None,
    label_length: Meta = None,
    *,
    blank: int = 0,
    norm_by_times: bool = False,
) -> tuple[Meta, Meta]:
    """How many nats the chances ``softmax(logits)`` need to say the labels, and the gradient."""
    floating(logits)
    if logits.ndim != 3:
        raise ShapeError(f"logits has {logits.ndim} axes, 3 are needed: steps, rows, classes")
    check_labels(label, logits_length, label_length)
    count = agree(logits.shape[1], label.shape[0], "logits has {} rows and label {}")
    check_blank(blank, logits.shape[2])
    return logits.with_shape((count, 1)), logits


@warpctc.kernel
@widening
def warpctc_kernel(
    xp: Any,
    logits: Any,
    label: Any,
    logits_length: Any = None,
    label_length: Any = None,
    *,
    out: Any = None,
    blank: int,
    norm_by_times: bool,
) -> Any:
    out, gradient = out or (None, None)
    steps, rows, classes = logits.shape
    times = lengths_of(logits_length, rows, steps, "logits_length")
    counts = lengths_of(label_length, rows, label.shape[1], "label_length")
    label = known_labels(label, counts, classes)
    top = xp.maximum.reduce(logits, axis=2, keepdims=True)
    found = xp.exp(logits - top)
    sums = xp.add.reduce(found, axis=2, keepdims=True)
    found /= sums
    states = xp.full((rows, 2 * label.shape[1] + 1), blank)
    states[:, 1::2] = label
    places = xp.arange(rows)[:, None] * classes + states
    own = logits.reshape(steps, -1).take(places, axis=1).astype("float64")
    own -= top
    own -= xp.log(sums.astype("float64"))
    own[:, xp.arange(states.shape[1]) > 2 * counts[:, None]] = NEVER
    own[xp.arange(steps)[:, None] >= times] = NEVER
    jumps = xp.full(states.shape, NEVER)
    jumps[:, 2:][(states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])] = 0
    shares = forward(own, jumps)
    shares += backward(own, jumps, times, counts)
    shares -= stood(own)
    total = xp.logaddexp.reduce(shares[0], axis=-1) if steps else NEVER
    total = xp.where(times > 0, total, NEVER)
    there = xp.isfinite(total)
    shares -= xp.where(there, total, 0)[:, None]
    xp.exp(shares, out=shares)
    places = xp.arange(steps)[:, None] * (rows * classes) + places.reshape(-1)
    shares = shares.astype(found.dtype, copy=False)
    xp.subtract.at(found.reshape(-1), places.reshape(-1), shares.reshape(-1))
    found *= (there & (xp.arange(steps)[:, None] < times))[..., None]
    loss = xp.where(there, -total, 0).reshape(rows, 1)
    return placed(loss, logits.dtype, out), placed(found, logits.dtype, gradient)


def stood(x: Any) -> Any:
    """`x` with 0 where it is minus infinity: what is subtracted from it stays so."""
    return np.where(np.isneginf(x), 0, x)


def forward(own: Any, jumps: Any) -> Any:
    """The chance of all beginnings that end in each state at each step, its own included.

    `jumps` is 0 where a state may follow the last but one, else minus infinity.
    """
    steps, rows, states = own.shape
    found, jumped = np.full((steps, rows, 2 + states), NEVER), np.empty((rows, states))
    found[:1, :, 2:4] = own[:1, :, :2]
    for last, next, said in zip(found, found[1:, :, 2:], own[1:], strict=False):
        np.logaddexp(last[:, 2:], last[:, 1:-1], out=next)
        np.add(last[:, :-2], jumps, out=jumped)
        np.logaddexp(next, jumped, out=next)
        next += said
    return found[:, :, 2:]


def backward(own: Any, jumps: Any, times: Any, counts: Any) -> Any:
    """The chance of all endings that begin in each state at each step, its own included."""
    steps, rows, states = own.shape
    found, jumped = np.full((steps + 1, rows, states + 2), NEVER), np.empty((rows, states))
    jumps = np.pad(jumps, ((0, 0), (0, 2)), constant_values=NEVER)[:, 2:]
    places = np.arange(states)
    ends = (places >= 2 * counts[:, None] - 1) & (places <= 2 * counts[:, None])
    ends = np.where(ends, 0, NEVER)
    for t in reversed(range(steps)):
        next, last = found[t + 1], found[t, :, :-2]
        np.logaddexp(next[:, :-2], next[:, 1:-1], out=last)
        np.add(next[:, 2:], jumps, out=jumped)
        np.logaddexp(last, jumped, out=last)
        ended = times == t + 1
        if ended.any():
            last[ended] = ends[ended]
        last += own[t]
    return found[:-1, :, :-2]


@warpctc.grad("logits")
def warpctc_grad(
    logits_meta: Any,
    logits_length: Any,
    warp_ctc_grad: Any,
    dloss: Any,
    norm_by_times: bool,
) -> Any:
    if norm_by_times:
        dloss = dloss / per_row(logits_length, logits_meta, dloss)
    return taken_once(warp_ctc_grad) * dloss


def per_row(lengths: Any, like: Any, dloss: Any) -> Any:
    """The lengths as numbers of the element type of the loss, a column."""
    if lengths is None:
        return full_like(dloss, value=float(like.shape[0]))
    dtype = meta_of(dloss).dtype
    return maximum(reshape_like(cast(lengths, out_dtype=dtype), dloss), 1.0)


warpctc.no_lowering(STEPS)
warpctc.op.missing["second"] = ONCE


# Transducers: at each step a label, which moves on along the labels, or a blank, along time.


@primitive(
    outputs=("loss", "warprnntgrad"),
    slots={
        "input": "input",
        "label": "label",
        "input_lengths": "input_lengths",
        "label_lengths": "label_lengths",
        "loss": "loss",
        "warprnntgrad": "warprnntgrad",
    },
    infer_first=True,
)
def warprnnt(
    input: Meta,
    label: Meta,
    input_lengths: Meta,
    label_lengths: Meta,
    *,
    blank: int = 0,
    fastemit_lambda: float = 0.0,
) -> tuple[Meta, Meta]:
    """How many nats the logarithmic chances `input` need to say the labels, and the gradient."""
    floating(input)
    if input.ndim != 4:
        raise ShapeError(f"input has {input.ndim} axes, 4 are needed: rows, steps, labels, classes")
    check_labels(label, input_lengths, label_lengths)
    count = agree(input.shape[0], label.shape[0], "input has {} rows and label {}")
    if -1 not in (input.shape[2], label.shape[1]):
        law = "input has {} places for labels, for label {} are needed"
        agree(input.shape[2], label.shape[1] + 1, law)
    check_blank(blank, input.shape[3])
    return input.with_shape((count,)), input


@warprnnt.kernel
def warprnnt_kernel(
    xp: Any,
    input: Any,
    label: Any,
    input_lengths: Any,
    label_lengths: Any,
    *,
    out: Any = None,
    blank: int,
    fastemit_lambda: float,
) -> Any:
    out, gradient = out or (None, None)
    rows, steps, places, classes = input.shape
    times = lengths_of(input_lengths, rows, steps, "input_lengths")
    counts = lengths_of(label_lengths, rows, places - 1, "label_lengths")
    label = known_labels(label, counts, classes)
    index = xp.full((rows, steps, places), blank)
    scores = xp.take_along_axis(input, index[..., None], 3)[..., 0].astype("float64")
    index[:, :, :-1] = label[:, None]
    said = xp.take_along_axis(input, index[..., None], 3)[..., 0].astype("float64")
    t, u = xp.arange(steps)[:, None], xp.arange(places)
    real = (t < times[:, None, None]) & (u <= counts[:, None, None])
    waits = diagonal(xp.where(real, scores, NEVER))
    emits = diagonal(xp.where(real & (u < counts[:, None, None]), said, NEVER))
    before, after, total = through(waits, emits, times, counts)
    there = xp.isfinite(total)
    base = before[:-1] - xp.where(there, total, 0)[:, None]
    waited = xp.exp(base + waits + after[1:])
    emitted = xp.exp(base[..., :-1] + emits[..., :-1] + after[1:, :, 1:])
    found = xp.zeros(input.shape)
    n, own = t + u, xp.broadcast_to(u, (steps, places))
    found[..., blank] -= waited[n, :, own].transpose(2, 0, 1)
    number = xp.arange(rows * steps * places).reshape(rows, steps, places)[:, :, :-1]
    spots = number * classes + index[:, :, :-1]
    shares = emitted[n[:, :-1], :, own[:, :-1]].transpose(2, 0, 1) * (1 + fastemit_lambda)
    xp.subtract.at(found.reshape(-1), spots.reshape(-1), shares.reshape(-1))
    found[~there] = 0
    loss = xp.where(there, -total, 0)
    return placed(loss, input.dtype, out), placed(found, input.dtype, gradient)


def diagonal(x: Any) -> Any:
    """By step and label in line: entry ``[t + u, row, u]`` is that of step t and label u."""
    rows, steps, places = x.shape
    found = np.full((steps + places, rows, places), NEVER)
    t, u = np.arange(steps)[:, None], np.arange(places)
    found[t + u, :, u] = x.transpose(1, 2, 0)
    return found


def through(waits: Any, emits: Any, times: Any, counts: Any) -> tuple[Any, Any, Any]:
    """The chances of all ways to each place, from it to the end, and from beginning to end."""
    before = np.full((len(waits) + 1, *waits.shape[1:]), NEVER)
    after = before.copy()
    before[0, :, 0] = 0
    for n in range(1, len(before)):
        before[n] = before[n - 1] + waits[n - 1]
        moved = before[n - 1, :, :-1] + emits[n - 1, :, :-1]
        before[n, :, 1:] = np.logaddexp(before[n, :, 1:], moved)
    rows = np.arange(len(times))
    total = np.where(times > 0, before[times + counts, rows, counts], NEVER)
    after[times + counts, rows, counts] = 0
    for n in reversed(range(len(waits))):
        found = after[n + 1] + waits[n]
        moved = after[n + 1, :, 1:] + emits[n, :, :-1]
        found[:, :-1] = np.logaddexp(found[:, :-1], moved)
        after[n] = np.logaddexp(after[n], found)
    return before, after, total


@warprnnt.grad("input")
def warprnnt_grad(input_meta: Any, input_lengths_meta: Any, warprnntgrad: Any, dloss: Any) -> Any:
    dloss = broadcast_like(unsqueeze(dloss, axes=(1, 2, 3)), input_meta)
    return taken_once(warprnntgrad) * dloss


warprnnt.no_lowering(STEPS)
warprnnt.op.missing["second"] = ONCE
