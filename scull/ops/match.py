"""Which prior box a detector is to see which object with, and which it is to see none with."""

from typing import Any

import numpy as np

from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import BY_VALUES, begun, packed, unpacked

KINDS = ("bipartite", "per_prediction")
MININGS = ("max_negative", "hard_example")
NEAR = 1e-6  # what is below is no match
COUNTED = "a place is not differentiable"


def matrix(m: Meta, name: str) -> None:
    """Refuse what is no matrix."""
    if m.ndim != 2:
        raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")


# ---- one row to each column ----


@primitive(
    outputs=("col_to_row_match_indices", "col_to_row_match_dist"),
    slots={"levels": "DistMat@LOD"},
    unsaid=("DistMat@LOD",),
    infer_first=True,
)
def bipartite_match(
    dist_mat: Meta,
    levels: Meta = None,
    *,
    match_type: str = "bipartite",
    dist_threshold: float = 0.5,
) -> tuple[Meta, Meta]:
    """For each column the row of an image that is its match, -1 for none, and how near it is.

    The nearest are matched first, each row once. With "per_prediction" columns that are left get
    the nearest row from `dist_threshold` on.
    """
    floating(dist_mat)
    matrix(dist_mat, "dist_mat")
    if match_type not in KINDS:
        raise ArgumentError(f"match_type is {match_type!r}, neither {KINDS[0]} nor {KINDS[1]}")
    found = dist_mat.with_shape((1 if levels is None else UNKNOWN, dist_mat.shape[1]))
    return found.with_dtype(int32), found


@bipartite_match.kernel
def bipartite_match_kernel(
    xp: Any,
    dist_mat: Any,
    levels: Any = None,
    *,
    out: Any = None,
    match_type: str,
    dist_threshold: float,
) -> Any:
    found = unpacked(levels) if levels is not None else []
    if len(found) > 1:
        raise ArgumentError(f"dist_mat has {len(found)} levels of detail, 1 says which image's")
    ends = found[0] if found else np.array([0, len(dist_mat)])
    agree(int(ends[-1]), len(dist_mat), "levels of detail tell of {} rows, not {}")
    shape = len(ends) - 1, dist_mat.shape[1]
    rows, near = xp.full(shape, -1, "int32"), xp.zeros(shape, dist_mat.dtype)
    for i in range(len(rows)):
        own = dist_mat[ends[i] : ends[i + 1]]
        if own.size:
            match_each(own, rows[i], near[i])
            if match_type == KINDS[1]:
                match_left(own, rows[i], near[i], dist_threshold)
    return rows, near


def match_each(dist: Any, rows: Any, near: Any) -> None:
    """Match the nearest of all rows and columns, then of those that are left."""
    open = np.where(dist >= NEAR, dist, -np.inf)
    column = open.argmax(1)
    best = open[np.arange(len(open)), column]
    for _ in range(min(dist.shape)):
        most = best.max()
        if most == -np.inf:
            return
        alike = (best == most).nonzero()[0]
        row = alike[column[alike].argmin()]
        at = column[row]
        rows[at], near[at] = row, most
        best[row] = -np.inf
        open[:, at] = -np.inf
        again = ((column == at) & (best > -np.inf)).nonzero()[0]
        column[again] = open[again].argmax(1)
        best[again] = open[again, column[again]]


def match_left(dist: Any, rows: Any, near: Any, threshold: float) -> None:
    """Match columns that have none with the nearest row, if that is near enough."""
    open = np.where(dist >= NEAR, dist, -np.inf)
    most = open.max(0)
    found = (rows == -1) & (most >= max(dist.dtype.type(threshold), NEAR))
    rows[found], near[found] = open.argmax(0)[found], most[found]


# ---- prior boxes that are to see nothing ----


@primitive(
    outputs=("neg_indices", "updated_match_indices", "levels"),
    slots={"levels": "NegIndices@LOD"},
    hidden=("levels",),
    unsaid=("LocLoss", "NegIndices@LOD"),
    infer_first=True,
)
def mine_hard_examples(
    cls_loss: Meta,
    match_indices: Meta,
    match_dist: Meta,
    loc_loss: Meta = None,
    *,
    neg_pos_ratio: float = 1.0,
    neg_dist_threshold: float = 0.5,
    sample_size: int = 0,
    mining_type: str = "max_negative",
) -> tuple[Meta, Meta, Meta]:
    """By image the prior boxes without a match that cost most, and matches of those that cost.

    "max_negative" takes `neg_pos_ratio` as many as there are matches, of boxes farther from all
    objects than `neg_dist_threshold`; "hard_example" takes `sample_size` of all boxes.
    """
    floating(cls_loss, match_dist)
    if mining_type not in MININGS:
        raise ArgumentError(f"mining_type is {mining_type!r}, not one of {', '.join(MININGS)}")
    if mining_type == MININGS[0] and not (neg_pos_ratio > 0 and neg_dist_threshold > 0):
        law = f"neg_pos_ratio is {neg_pos_ratio} and neg_dist_threshold {neg_dist_threshold}"
        raise ArgumentError(f"{law}; both are to be above 0")
    if mining_type == MININGS[1] and sample_size < 1:
        raise ArgumentError(f"sample_size is {sample_size}; it is to be above 0")
    given = {"cls_loss": cls_loss, "match_indices": match_indices, "match_dist": match_dist}
    given |= {} if loc_loss is None else {"loc_loss": loc_loss}
    for name, m in given.items():
        matrix(m, name)
        for axis in (0, 1):
            law = f"{name} has {{}} elements along axis {axis}, cls_loss {{}}"
            agree(m.shape[axis], cls_loss.shape[axis], law)
    if match_indices.dtype is not int32:
        raise DtypeError(f"match_indices is {match_indices.dtype.name}, not int32")
    return Meta((UNKNOWN, 1), int32), match_indices, Meta((UNKNOWN,), int64)


@mine_hard_examples.kernel
def mine_hard_examples_kernel(
    xp: Any,
    cls_loss: Any,
    match_indices: Any,
    match_dist: Any,
    loc_loss: Any = None,
    *,
    out: Any = None,
    neg_pos_ratio: float,
    neg_dist_threshold: float,
    sample_size: int,
    mining_type: str,
) -> Any:
    hard = mining_type == MININGS[1]
    loss = cls_loss + loc_loss if hard and loc_loss is not None else cls_loss
    open = match_indices == -1
    taken = xp.ones(open.shape, bool) if hard else open & (match_dist < neg_dist_threshold)
    order = xp.argsort(xp.where(taken, -loss, np.inf), axis=1, kind="stable")
    most = ((~open).sum(1) * neg_pos_ratio).astype("int64")
    most = xp.minimum(taken.sum(1), sample_size if hard else most)[:, None]
    chosen = xp.zeros(open.shape, bool)
    xp.put_along_axis(chosen, order, xp.arange(open.shape[1]) < most, 1)
    kept = xp.where(chosen | open | (not hard), match_indices, -1).astype("int32")
    image, column = (chosen & open).nonzero()
    levels = packed([begun(xp.bincount(image, minlength=len(open)))])
    return column.astype("int32")[:, None], kept, levels


for function in (bipartite_match, mine_hard_examples):
    function.no_grad(COUNTED)
    function.no_lowering(BY_VALUES)
