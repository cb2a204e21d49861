"""Rows parted by truth values and put together again, as IfElse of older Programs does it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from scull.core.eager import composite
from scull.core.meta import agree
from scull.core.op import meta_of
from scull.errors import ArgumentError, DtypeError
from scull.ops.join import concat
from scull.ops.level import (
    LEVELS,
    ROWS,
    Levels,
    chosen_levels,
    ends_of,
    packed,
    rows_at,
    runs,
    sequence_levels,
    stacked,
    unpacked,
)
from scull.ops.ragged import OF_X, picked


def parted(operands: Sequence[Any], truth: bool, number: int) -> tuple[Any, Levels]:
    """The rows of the sequences of one level where a mask has a value, and their levels."""
    chosen = (np.asarray(operands[0]).reshape(-1) == truth).nonzero()[0]
    ends = ends_of(operands, 1, number)
    if ends is None:
        return chosen, []
    agree(len(ends) - 1, np.asarray(operands[0]).size, "x has {} sequences and mask {} elements")
    found = chosen_levels(unpacked(operands[1])[number:], chosen)
    return runs(ends[chosen], np.diff(ends)[chosen]), found


def order_of(mask: Any, count: int) -> Any:
    """The numbers in the order of a mask: of those from 0 on where it holds, else from `count`."""
    return np.where(mask, np.cumsum(mask) - 1, count + np.cumsum(~mask) - 1)


def put_together(operands: Sequence[Any]) -> tuple[Any, Levels]:
    """The rows of two parts below each other in the order of a mask, and their levels."""
    mask, parts = np.asarray(operands[0]).reshape(-1), stacked(operands[1:3])
    if not parts:
        return None, []
    count = len(unpacked(operands[1])[0]) - 1
    order = within(order_of(mask, count), mask, count, len(parts[0]) - 1)
    ends = ends_of([packed(parts)], 0)
    return runs(ends[order], np.diff(ends)[order]), chosen_levels(parts, order)


def within(order: Any, mask: Any, first: int, total: int) -> Any:
    """The places `order`, refused where the parts lack so many."""
    agree(first, int(mask.sum()), "in_true has {} rows or sequences, and mask holds for {}")
    agree(total - first, int((~mask).sum()), "in_false has {} rows or sequences, and {} are needed")
    return order


def merged_rows(operands: Sequence[Any]) -> Any:
    """The rows of two parts below each other in the order of a mask."""
    mask, (x, y), levels = np.asarray(operands[0]).reshape(-1), operands[1:3], operands[3:]
    rows, _ = put_together([mask, *levels]) if levels else (None, [])
    if rows is not None:
        return rows
    return within(order_of(mask, len(x)), mask, len(x), len(x) + len(y))


def merged_levels(operands: Sequence[Any], number: int) -> Levels:
    """The levels of two parts together, behind the outer ones of what was parted."""
    return unpacked(operands[3])[:number] + put_together(operands)[1]


ROWS.update(
    {
        "true": lambda operands, number: parted(operands, True, number)[0],
        "false": lambda operands, number: parted(operands, False, number)[0],
        "merge": merged_rows,
    }
)
LEVELS.update(
    {
        "true": lambda operands, number: parted(operands, True, number)[1],
        "false": lambda operands, number: parted(operands, False, number)[1],
        "merge": merged_levels,
    }
)


def check_mask(mask: Any) -> None:
    """Refuse what are no truth values."""
    if meta_of(mask).dtype.name != "bool":
        raise DtypeError(f"mask is {meta_of(mask).dtype.name}, not of truth values")


@composite(outputs=("out_true", "out_false"), inline_gradient=True, **OF_X)
def split_lod_tensor(x, mask, levels=None, *, level: int = 0):
    """The rows of `x` where `mask` holds, and the others; of sequences those of one level."""
    check_mask(mask)
    places = [picked(of, mask, levels, numbers=(level,)) for of in ("true", "false")]
    return rows_at(x, places[0]), rows_at(x, places[1])


@split_lod_tensor.grad("x")
def split_lod_tensor_grad(
    x_meta: Any, mask: Any, levels: Any, dout_true: Any, dout_false: Any, level: int
) -> Any:
    parts = [levels_of(of, mask, levels, level) for of in ("true", "false")]
    return merge_lod_tensor(x_meta, mask, dout_true, dout_false, levels, *parts, level=level)


def levels_of(of: str, mask: Any, levels: Any, level: int) -> Any:
    """The levels of a part, where those of the whole are given."""
    return None if levels is None else sequence_levels([mask, levels], of=of, numbers=(level,))


@composite(
    inline_gradient=True,
    slots={"levels": "X@LOD", "true_levels": "InTrue@LOD", "false_levels": "InFalse@LOD"},
    unsaid=("X@LOD", "InTrue@LOD", "InFalse@LOD"),
)
def merge_lod_tensor(
    x_meta,
    mask,
    in_true,
    in_false,
    levels=None,
    true_levels=None,
    false_levels=None,
    *,
    level: int = 0,
):
    """The rows of `in_true` where `mask` holds, else of `in_false`, each time the next ones."""
    check_mask(mask)
    if len({v is None for v in (levels, true_levels, false_levels)}) > 1:
        raise ArgumentError("all of x and its parts have levels of detail, or none of them")
    both = concat([in_true, in_false], axis=0)
    return rows_at(both, picked("merge", mask, in_true, in_false, true_levels, false_levels))


@merge_lod_tensor.grad("in_true", "in_false")
def merge_lod_tensor_grad(
    mask: Any, levels: Any, true_levels: Any, false_levels: Any, dout: Any, level: int
) -> Any:
    whole = None
    if true_levels is not None:
        given = [mask, true_levels, false_levels, levels]
        whole = sequence_levels(given, of="merge", numbers=(level,))
    return split_lod_tensor(dout, mask, whole, level=level)
