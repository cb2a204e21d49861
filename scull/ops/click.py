"""Models of what is clicked on: counts of what was shown, losses of a teacher, sums of words."""

from typing import Any

import numpy as np

from scull.core.attribute import Long
from scull.core.eager import composite
from scull.core.meta import agree
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.compare import where
from scull.ops.complex import abs as absolute
from scull.ops.elementwise import maximum, minimum
from scull.ops.half import whole
from scull.ops.index import embedding, scatter_rows
from scull.ops.join import concat
from scull.ops.level import ROWS, rows_at, segments, unpacked
from scull.ops.math import exp, log, sigmoid
from scull.ops.move import reshape
from scull.ops.ragged import OF_X, picked, sequence_pool
from scull.ops.slicing import slice as part

REST = 2**31 - 1


def owners(operands: Any) -> Any:
    """For each row the number of its sequence; of itself where there are no sequences."""
    x, levels = np.asarray(operands[0]), operands[1:] and unpacked(operands[1])
    return segments(levels[-1]) if levels else np.arange(len(x))


ROWS["owner"] = owners


def columns(x: Any, first: int, last: int = REST) -> Any:
    """Some columns of a matrix."""
    return part(x, axes=(1,), starts=(first,), ends=(last,))


@composite(slots={"show_click": "CVM", **OF_X["slots"]}, unsaid=OF_X["unsaid"], outputs=("y",))
def cvm(x, show_click, levels=None, *, use_cvm: bool = True):
    """Rows that begin with how often something was shown and clicked: with logarithms, or without.

    The gradient of these two columns is no derivative but `show_click` of the row, or sequence.
    """
    whole(x, show_click)
    if len(x.shape) != 2 or len(show_click.shape) != 2:
        raise ShapeError(f"x is {meta_of(x)} and CVM {meta_of(show_click)}; both are matrices")
    agree(show_click.shape[1], 2, "CVM has {} columns, {} are needed")
    if x.shape[1] in (0, 1):
        raise ShapeError(f"x has {x.shape[1]} columns, 2 are needed")
    if not use_cvm:
        return columns(x, 2)
    shown = log(columns(x, 0, 1) + 1.0)
    clicked = log(columns(x, 1, 2) + 1.0) - shown
    return concat([shown, clicked, columns(x, 2)], axis=1)


@cvm.grad("x")
def cvm_grad(x_meta: Any, show_click: Any, levels: Any, dy: Any, use_cvm: bool) -> Any:
    counts = rows_at(show_click, picked("owner", dy, levels))
    return concat([counts, columns(dy, 2) if use_cvm else dy], axis=1)


@composite(outputs=("y",))
def teacher_student_sigmoid_loss(
    x, label, *, soft_max_up_bound: float = 15.0, soft_max_lower_bound: float = -15.0
):
    """The nats of a click, and of what a teacher says of it.

    A label below -1 tells of no click, one below 0 of a click; from 0 to 1 it is what the teacher
    says without a click, and 1 more with one. Beyond the bounds there is no gradient.
    """
    whole(x, label)
    for name, v in (("x", x), ("label", label)):
        if len(v.shape) != 2 or v.shape[1] not in (1, -1):
            raise ShapeError(f"{name} is {meta_of(v)}, not of one column")
    agree(x.shape[0], label.shape[0], "x has {} rows and label {}")
    soft = maximum(x, 0.0) + log(exp(-absolute(x)) + 1.0)
    alone = where(label < -1.0, soft, soft - x)
    return where(label < 0.0, alone, 2.0 * soft - x * label)


@teacher_student_sigmoid_loss.grad("x")
def teacher_student_grad(
    x: Any, label: Any, dy: Any, soft_max_up_bound: float, soft_max_lower_bound: float
) -> Any:
    within = maximum(minimum(x, soft_max_up_bound), soft_max_lower_bound)
    found = sigmoid(within)
    alone = where(label < -1.0, found, found - 1.0)
    slope = where(label < 0.0, alone, 2.0 * found - label)
    there = where(within < soft_max_up_bound, slope, 0.0)
    return where(within > soft_max_lower_bound, there, 0.0) * dy


@composite(
    slots={"levels": "Ids@LOD"},
    unsaid=("Ids@LOD",),
    fixed={"@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@": True},
)
def fused_embedding_seq_pool(
    w,
    ids,
    levels=None,
    *,
    combiner: str = "sum",
    padding_idx: Long = -1,
    grad_inplace: bool = False,
    is_sparse: bool = False,
):
    """The sum of the rows of `w` that each sequence names; `padding_idx` adds none."""
    if not meta_of(ids).dtype.is_integer:
        raise DtypeError(f"ids is {meta_of(ids).dtype.name}, not of integers")
    if combiner != "sum":
        raise ArgumentError(f"combiner is {combiner!r}, not 'sum'")
    if len(ids.shape) != 2 or ids.shape[1] not in (1, -1):
        raise ShapeError(f"ids is {meta_of(ids)}, not of one column")
    found = embedding(reshape(ids, shape=(-1,)), w, padding_idx=padding_idx)
    return sequence_pool(found, levels, pooltype="SUM")[0]


@fused_embedding_seq_pool.grad("w")
def fused_embedding_grad(
    w_meta: Any, ids: Any, levels: Any, dout: Any, padding_idx: int, is_sparse: bool
) -> Any:
    rows, flat = rows_at(dout, picked("segment", levels)), reshape(ids, shape=(-1,))
    return scatter_rows(rows, flat, w_meta, padding_idx=padding_idx, is_sparse=is_sparse)
