"""Conditional random fields along sequences: how likely their tags are."""

from typing import Any

import numpy as np

from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, count, floating
from scull.errors import DtypeError, RangeError, ShapeError, UnsupportedError
from scull.ops.level import BY_VALUES, begun, inner, runs, segments, vector_of
from scull.ops.ragged_back import ONCE

OF_EMISSION: dict[str, Any] = {
    "slots": {"levels": "Emission@LOD"},
    "unsaid": ("Emission@LOD",),
    "infer_first": True,
}


def check_field(emission: Meta, transition: Meta, label: Meta, length: Meta | None) -> Any:
    """How many sequences there are; refuses operands that do not go together."""
    floating(emission, transition)
    if emission.ndim != (2 if length is None else 3) or transition.ndim != 2:
        raise ShapeError(f"emission is {emission} and transition {transition}")
    if not label.dtype.is_integer:
        raise DtypeError(f"label is {label.dtype.name}, not of integers")
    tags = emission.shape[-1]
    agree(transition.shape[1], tags, "transition has {} columns, and there are {} tags")
    rows = UNKNOWN if tags == -1 else tags + 2
    agree(transition.shape[0], rows, "transition has {} rows, {} are needed")
    agree(count(label.shape), count(emission.shape[:-1]), "there are {} labels and {} rows of tags")
    if length is None:
        return UNKNOWN
    return agree(count(length.shape), emission.shape[0], "there are {} lengths and {} sequences")


class Lines:
    """Sequences above each other: which rows of all stand in each step, and who is still there."""

    def __init__(self, emission: Any, length: Any, levels: Any) -> None:
        if length is None:
            offsets = inner([] if levels is None else [levels])
            agree(len(emission), int(offsets[-1]), "emission has {} rows and its levels tell of {}")
            begin, self.lengths = offsets[:-1], np.diff(offsets)
        else:
            self.lengths = vector_of(length)
            wrong = (self.lengths < 0) | (self.lengths > emission.shape[1])
            if wrong.any():
                law = f"the length {self.lengths[wrong][0]} is outside [0, {emission.shape[1]}]"
                raise RangeError(law)
            begin = np.arange(len(emission)) * emission.shape[1]
        self.steps = int(self.lengths.max(initial=0))
        self.owner = segments(begun(self.lengths))
        self.place = runs(np.zeros_like(self.lengths), self.lengths)
        self.rows = begin[self.owner] + self.place

    def spread(self, x: Any) -> Any:
        """The rows of sequences by step and sequence; ones behind their ends."""
        found = np.ones((self.steps, len(self.lengths), *x.shape[1:]), x.dtype)
        found[self.place, self.owner] = x[self.rows]
        return found

    def gathered(self, found: Any, x: Any) -> Any:
        """What stands at each step of each sequence, in rows like those of `x`; zeros elsewhere."""
        flat = np.zeros_like(x.reshape(-1, x.shape[-1]))
        flat[self.rows] = found[self.place, self.owner]
        return flat.reshape(x.shape)


@primitive(
    outputs=("alpha", "emission_exps", "transition_exps", "log_likelihood"),
    hidden=("alpha", "emission_exps", "transition_exps"),
    **OF_EMISSION,
)
def linear_chain_crf(
    emission: Meta, transition: Meta, label: Meta, length: Meta = None, levels: Meta = None
) -> tuple[Meta, Meta, Meta, Meta]:
    """How many nats the tags `label` of each sequence take; shares of tags after each step.

    The first row of `transition` scores tags that begin, the second those that end. Sequences stand
    one behind the other, or with `length` one above the other.
    """
    rows = check_field(emission, transition, label, length)
    return emission, emission, transition, emission.with_shape((rows, 1))


@linear_chain_crf.kernel
def linear_chain_crf_kernel(
    xp: Any,
    emission: Any,
    transition: Any,
    label: Any,
    length: Any = None,
    levels: Any = None,
    *,
    out: Any = None,
) -> Any:
    lines, tags = Lines(emission, length, levels), emission.shape[-1]
    flat, tag = emission.reshape(-1, tags), tags_of(label, tags)
    most = flat.max(1, keepdims=True) if flat.size else flat[:, :1]
    exps, weights = xp.exp(emission - most.reshape(*emission.shape[:-1], 1)), xp.exp(transition)
    each, total = lines.spread(exps.reshape(-1, tags)), xp.zeros(len(lines.lengths))
    alpha = xp.zeros_like(each)
    for step in range(lines.steps):
        there = lines.lengths > step
        before = weights[0] if not step else alpha[step - 1][there] @ weights[2:]
        found = before * each[step][there]
        share = found.sum(1, keepdims=True)
        alpha[step][there] = found / share
        total[there] += xp.log(share[:, 0])
    some = lines.lengths > 0
    last = alpha[lines.lengths[some] - 1, some.nonzero()[0]]
    total[some] += xp.log(last @ weights[1])
    own = flat[lines.rows, tag[lines.rows]] - most[lines.rows, 0]
    total -= xp.bincount(lines.owner, own, len(total))
    first, between, ends = along(lines, tag)
    total[some] -= transition[0, first] + transition[1, ends]
    total -= xp.bincount(between[0], transition[between[1] + 2, between[2]], len(total))
    likelihood = total.astype(emission.dtype)[:, None]
    return lines.gathered(alpha, emission), exps, weights, likelihood


def tags_of(label: Any, tags: int) -> Any:
    """The tags of all rows, which must be some of so many."""
    found = vector_of(label)
    if found.size and (found.min() < 0 or found.max() >= tags):
        wrong = found.min() if found.min() < 0 else found.max()
        raise RangeError(f"the label {wrong} is outside [0, {tags})")
    return found


def along(lines: Lines, tag: Any) -> tuple[Any, Any, Any]:
    """The first tags, then (sequence, tag, the next one) of each pair, then the last ones."""
    own, owner = tag[lines.rows], lines.owner
    last = lines.place == lines.lengths[owner] - 1
    return (
        own[lines.place == 0],
        (owner[~last], own[~last], own[lines.place > 0]),
        own[last],
    )


@primitive(outputs=("demission", "dtransition"), **OF_EMISSION)
def linear_chain_crf_backward(
    emission_meta: Meta,
    transition_meta: Meta,
    label: Meta,
    length: Meta | None,
    levels: Meta | None,
    alpha: Meta,
    emission_exps: Meta,
    transition_exps: Meta,
    dlog_likelihood: Meta,
) -> tuple[Meta, Meta]:
    """The gradients of what `linear_chain_crf` reads, from that of its nats."""
    check_field(emission_meta, transition_meta, label, length)
    return emission_exps, transition_exps


@linear_chain_crf_backward.kernel
def linear_chain_crf_backward_kernel(
    xp: Any,
    emission: Any,
    transition: Any,
    label: Any,
    length: Any,
    levels: Any,
    alpha: Any,
    exps: Any,
    weights: Any,
    dout: Any,
    *,
    out: Any = None,
) -> Any:
    lines, tags = Lines(exps, length, levels), exps.shape[-1]
    each, share = (lines.spread(v.reshape(-1, tags)) for v in (exps, alpha))
    tag, dout = tags_of(label, tags), dout.reshape(-1, 1)
    ahead, found = xp.zeros_like(each[:1]).repeat(lines.steps, 0), xp.zeros_like(each)
    dweights = xp.zeros_like(weights)
    for step in range(lines.steps - 1, -1, -1):
        last = lines.lengths == step + 1
        ahead[step][last] = weights[1]
        on = lines.lengths > step + 1
        if on.any():
            next_one = each[step + 1][on] * ahead[step + 1][on]
            back = next_one @ weights[2:].T
            scale = back.sum(1, keepdims=True)
            ahead[step][on] = back / scale
            weight = dout[on] / (share[step][on] * back).sum(1, keepdims=True)
            dweights[2:] += (share[step][on] * weight).T @ next_one
        there = lines.lengths > step
        both = share[step][there] * ahead[step][there]
        found[step][there] = both / both.sum(1, keepdims=True) * dout[there]
    dweights[2:] *= weights[2:]
    demission = lines.gathered(found, exps)
    xp.subtract.at(demission.reshape(-1, tags), (lines.rows, tag[lines.rows]), dout[lines.owner, 0])
    some = lines.lengths > 0
    first, between, ends = along(lines, tag)
    dweights[0] = found[0].sum(0) if lines.steps else 0
    dweights[1] = found[lines.lengths[some] - 1, some.nonzero()[0]].sum(0)
    for row, column, d in (
        (0, first, dout[some, 0]),
        (1, ends, dout[some, 0]),
        (between[1] + 2, between[2], dout[between[0], 0]),
    ):
        xp.subtract.at(dweights, (row, column), d)
    return demission, dweights


@linear_chain_crf.grad("emission", "transition")
def linear_chain_crf_grad(
    emission_meta: Any,
    transition_meta: Any,
    label: Any,
    length: Any,
    levels: Any,
    alpha: Any,
    emission_exps: Any,
    transition_exps: Any,
    dlog_likelihood: Any,
) -> Any:
    return linear_chain_crf_backward(
        emission_meta,
        transition_meta,
        label,
        length,
        levels,
        alpha,
        emission_exps,
        transition_exps,
        dlog_likelihood,
    )


@linear_chain_crf_backward.grad
def linear_chain_crf_backward_grad(emission_exps: Any, ddemission: Any, ddtransition: Any) -> Any:
    raise UnsupportedError(f"{ONCE}: `linear_chain_crf` has no second rule")


linear_chain_crf.op.missing["second"] = ONCE
for operator in (linear_chain_crf, linear_chain_crf_backward):
    operator.no_lowering(BY_VALUES)
