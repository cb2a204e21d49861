"""Sequences of several lengths taken step by step, as a DynamicRNN of older Programs takes them.

Sequences rank by their lengths, the longest first: those that go on at some step are then the first
ones there are, and a list of tensors holds a tensor for each step. What a Program calls a rank
table is, while it runs, the vector of the levels that were ranked (`scull/ops/level.py`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scull.autograd.block import apart, append, is_filled, takes_one
from scull.autograd.program import MAKERS, TAKERS, Backward
from scull.core.dtype import int64
from scull.core.eager import composite, primitive
from scull.core.meta import UNKNOWN, Kind, Meta, agree
from scull.core.op import meta_of, op_of
from scull.errors import RangeError, ShapeError, UnsupportedError
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ops.array import OF_TENSORS, place, place_of, written
from scull.ops.level import (
    BY_VALUES,
    LEVELS,
    ROWS,
    Levels,
    Rule,
    chosen_levels,
    ends_of,
    inner,
    packed,
    rows_at,
    rows_into,
    runs,
    sequence_levels,
    unpacked,
)
from scull.ops.ragged import OF_X, picked


@primitive(infer_first=True, **OF_X)
def lod_rank_table(x_meta: Meta, levels: Meta = None, *, level: int = 0) -> Meta:
    """The levels of `x` down to `level`, whose sequences are ranked."""
    return Meta((UNKNOWN,), int64, Kind.TABLE)


@lod_rank_table.kernel
def lod_rank_table_kernel(
    xp: Any, x: Any, levels: Any = None, *, out: Any = None, level: int
) -> Any:
    given = [] if levels is None else unpacked(levels)
    inner([] if levels is None else [levels])
    if not 0 <= level < len(given):
        raise RangeError(f"level {level} is outside [0, {len(given)}) of the levels of detail")
    return packed(given[: level + 1])


@primitive(infer_first=True)
def max_sequence_len(rank_table: Meta) -> Meta:
    """The length of the longest sequence."""
    return Meta((1,), int64)


@max_sequence_len.kernel
def max_sequence_len_kernel(xp: Any, rank_table: Any, *, out: Any = None) -> Any:
    return xp.array([np.diff(inner([rank_table])).max(initial=0)], "int64")


for operator in (lod_rank_table, max_sequence_len):
    operator.no_grad("a length carries none")
    operator.no_lowering(BY_VALUES)


def steps_of(table: Any) -> tuple[Any, Any]:
    """The rows of each step one behind the other, and how many sequences go on at each."""
    offsets = inner([table])
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    counts = len(lengths) - np.searchsorted(
        np.sort(lengths), np.arange(lengths.max(initial=0)), "right"
    )
    ranks = runs(np.zeros_like(counts), counts)
    return offsets[order[ranks]] + np.repeat(np.arange(len(counts)), counts), counts


@primitive(infer_first=True, **OF_X)
def lod_tensor_to_array(x: Meta, rank_table: Meta, levels: Meta = None) -> Meta:
    """A list with a tensor for each step: the rows of the sequences that go on, as they rank."""
    if not x.ndim:
        raise ShapeError("a 0-D tensor has no rows")
    return x.with_shape((UNKNOWN, *x.shape[1:])).with_kind(Kind.ARRAY)


@lod_tensor_to_array.kernel
def lod_tensor_to_array_kernel(
    xp: Any, x: Any, rank_table: Any, levels: Any = None, *, out: Any = None
) -> list[Any]:
    if levels is not None and len(unpacked(levels)) > len(unpacked(rank_table)):
        raise UnsupportedError("steps that are sequences themselves are not taken apart")
    rows, counts = steps_of(rank_table)
    agree(len(x), len(rows), "x has {} rows and the table tells of {}")
    return [v.copy() for v in xp.split(x[rows], np.cumsum(counts)[:-1])] if len(counts) else []


@primitive(infer_first=True)
def array_to_lod_tensor(x: Meta, rank_table: Meta) -> Meta:
    """The rows of a list with a tensor for each step, sequence by sequence again."""
    return x.with_shape((UNKNOWN, *x.shape[1:])).with_kind(Kind.DENSE)


@array_to_lod_tensor.kernel
def array_to_lod_tensor_kernel(xp: Any, x: Any, rank_table: Any, *, out: Any = None) -> Any:
    held = written(x)
    rows, counts = steps_of(rank_table)
    agree(len(held), len(counts), "the list holds {} tensors and the longest sequence has {} steps")
    for step, (v, number) in enumerate(zip(held, counts, strict=True)):
        agree(len(v), number, f"step {step} has {{}} rows, and {{}} sequences go on")
    found = xp.empty((len(rows), *held[0].shape[1:]), held[0].dtype)
    found[rows] = xp.concatenate(held)
    return found


for operator in (lod_tensor_to_array, array_to_lod_tensor):
    operator.no_grad("its gradient is the way back, in the Program")
    operator.no_lowering(OF_TENSORS)


def make_steps_gradient(
    pass_: Backward, o: Operator, arrived: dict[Variable, Any], wanted: dict[int, list[Variable]]
) -> None:
    """The gradients of steps become that of sequences."""
    inputs = (arrived[o.outputs[0]], o.inputs[1])
    append(pass_, o, "array_to_lod_tensor", inputs, (wanted[0][0],), {})


def make_sequences_gradient(
    pass_: Backward, o: Operator, arrived: dict[Variable, Any], wanted: dict[int, list[Variable]]
) -> None:
    """The gradient of sequences is added to what the list of gradients holds of steps."""
    (d,) = wanted[0]
    results = {o.inputs[0]: d}
    if is_filled(pass_, d):
        apart(pass_, results, [o.inputs[0]])
    made = results[o.inputs[0]]
    inputs = (arrived[o.outputs[0]], o.inputs[1], None)
    append(pass_, o, "lod_tensor_to_array", inputs, (made,), {})
    if made is not d:
        pass_.recorder.append(op_of("sum"), ([d, made],), (d,), {})


MAKERS.update(lod_tensor_to_array=make_steps_gradient, array_to_lod_tensor=make_sequences_gradient)
TAKERS.update(lod_tensor_to_array=takes_one, array_to_lod_tensor=takes_one)


# ---- rows, and sequences, as they rank ----


def ranked(operands: Sequence[Any]) -> Any:
    """The numbers of the sequences of a table, the longest first."""
    return np.argsort(-np.diff(inner(operands)), kind="stable")


def unranked(operands: Sequence[Any]) -> Any:
    """The places of the sequences of a table among the ranked ones."""
    return np.argsort(ranked(operands))


def going_on(operands: Sequence[Any]) -> Any:
    """The numbers of the first sequences, as many as go on at a step."""
    return np.arange((np.diff(inner(operands)) > place_of(np.asarray(operands[1]))).sum())


def rows_of(chosen: Rule, place: int) -> Rule:
    """The rows of the sequences that a rule chooses, or as many rows where there are none."""

    def rows(operands: Sequence[Any]) -> Any:
        numbers, ends = chosen(operands), ends_of(operands, place)
        if ends is None:
            return numbers
        if len(numbers) and numbers.max() >= len(ends) - 1:
            raise ShapeError(f"x has {len(ends) - 1} sequences, and the table more")
        return runs(ends[numbers], np.diff(ends)[numbers])

    return rows


def levels_of(chosen: Rule, place: int) -> Rule:
    """The levels of the sequences that a rule chooses."""

    def levels(operands: Sequence[Any]) -> Levels:
        given = unpacked(operands[place]) if place < len(operands) else []
        return chosen_levels(given, chosen(operands)) if given else []

    return levels


CHOSEN = {"rank": (ranked, 1), "unrank": (unranked, 1), "shrink": (going_on, 2)}
ROWS.update({name: rows_of(*rule) for name, rule in CHOSEN.items()})
ROWS["first"] = lambda operands: np.arange(len(np.asarray(operands[0])))
LEVELS.update({name: levels_of(*rule) for name, rule in CHOSEN.items()})
LEVELS["table"] = lambda operands: unpacked(operands[0])


@composite(**OF_X)
def shrink_rnn_memory(x, rank_table, i, levels=None):
    """The first rows of `x`, or sequences where it has some: as many as go on at step `i`."""
    place(meta_of(i))
    return rows_at(x, picked("shrink", rank_table, i, levels))


@shrink_rnn_memory.grad("x")
def shrink_rnn_memory_grad(x_meta: Any, dout: Any) -> Any:
    return rows_into(dout, picked("first", dout), x_meta)


@composite(inline_gradient=True, **OF_X)
def reorder_lod_tensor_by_rank(x, rank_table, levels=None):
    """The rows of `x`, or sequences where it has some, in the order in which those rank."""
    return rows_at(x, picked("rank", rank_table, levels))


@reorder_lod_tensor_by_rank.grad("x")
def ranked_gradient(rank_table: Any, levels: Any, dout: Any) -> Any:
    turned = None if levels is None else sequence_levels([rank_table, levels], of="rank")
    return in_former_order(dout, rank_table, turned)


@composite(type="reorder_lod_tensor_by_rank_grad", inline_gradient=True, **OF_X)
def in_former_order(x, rank_table, levels=None):
    """The rows of `x`, or sequences, in the order that they had before they were ranked."""
    return rows_at(x, picked("unrank", rank_table, levels))


@in_former_order.grad("x")
def unranked_gradient(rank_table: Any, levels: Any, dout: Any) -> Any:
    turned = None if levels is None else sequence_levels([rank_table, levels], of="unrank")
    return reorder_lod_tensor_by_rank(dout, rank_table, turned)
