"""The area under the curve of true over false alarms, from counts of scores in equal bins."""

from typing import Any

from scull.core.dtype import float64, int64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, count
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError


@primitive(
    outputs=("auc", "stat_pos_out", "stat_neg_out"),
    slots={"auc": "AUC"},
    in_place={"stat_pos_out": "stat_pos", "stat_neg_out": "stat_neg"},
    infer_first=True,
)
def auc(
    predict: Meta,
    label: Meta,
    stat_pos: Meta,
    stat_neg: Meta,
    ins_tag_weight: Meta = None,
    *,
    curve: str = "ROC",
    num_thresholds: int = 2**13 - 1,
    slide_steps: int = 1,
) -> tuple[Meta, Meta, Meta]:
    """The area so far, and the counts of bins of rows whose label holds and of the others.

    The last column of `predict` scores. With `slide_steps` the counts of so many batches stand
    in a row, then their sums, then the number of batches; without, the sums alone.
    """
    if curve not in ("ROC", "PR"):
        raise ArgumentError(f"curve is {curve!r}, not ROC or PR")
    if num_thresholds < 1 or slide_steps < 0:
        raise ArgumentError(f"{num_thresholds} thresholds and {slide_steps} batches are no counts")
    if predict.ndim != 2 or predict.shape[1] == 0:
        raise ShapeError(f"predict is {predict}, not a matrix of scores")
    agree(predict.shape[0], count(label.shape), "predict has {} rows and there are {} labels")
    if not predict.dtype.is_float:
        raise DtypeError(f"predict is {predict.dtype.name}, not of floating-point numbers")
    bins = num_thresholds + 1
    size = (slide_steps + 1) * bins + 1 if slide_steps else bins
    for name, m in (("stat_pos", stat_pos), ("stat_neg", stat_neg)):
        if m.dtype is not int64:
            raise DtypeError(f"{name} is {m.dtype.name}, not int64")
        if slide_steps or count(m.shape) != size + 1:  # Paddle begins with a count more
            agree(count(m.shape), size, name + " has {} counts, {} are needed")
    found = Meta((size,) if slide_steps else (1, size), int64)
    return Meta((), float64), found, found


@auc.kernel
def auc_kernel(
    xp: Any,
    predict: Any,
    label: Any,
    stat_pos: Any,
    stat_neg: Any,
    ins_tag_weight: Any = None,
    *,
    out: Any = None,
    curve: str,
    num_thresholds: int,
    slide_steps: int,
) -> Any:
    bins = num_thresholds + 1
    stats = [x.reshape(-1) for x in (stat_pos, stat_neg)]
    if not slide_steps:
        stats = [x[None, :bins] for x in stats]
    skipped = ins_tag_weight is not None and ins_tag_weight.size and not ins_tag_weight.flat[0]
    if not skipped:
        scores, holds = predict[:, -1], label.reshape(-1) != 0
        if not ((scores >= 0) & (scores <= 1)).all():
            raise RangeError("predict has scores outside [0, 1]")
        places = (scores * scores.dtype.type(num_thresholds)).astype("int64")
        batch = [xp.bincount(places[kind], minlength=bins) for kind in (holds, ~holds)]
        stats = [counted(x, n, bins, slide_steps) for x, n in zip(stats, batch, strict=True)]
    totals = [x[-1 - bins : -1] if slide_steps else x[0] for x in stats]
    found = (xp.asarray(area(xp, *totals)), *stats)
    return tuple([placed(x, target) for x, target in zip(found, out or (None,) * 3, strict=True)])


def placed(x: Any, target: Any) -> Any:
    """`x`, in `target` if there is one."""
    if target is None:
        return x
    target.reshape(-1)[: x.size] = x.reshape(-1)
    return target


def counted(stats: Any, batch: Any, bins: int, slide_steps: int) -> Any:
    """The counts with those of a batch, in the place of those of the oldest."""
    found = stats.copy()
    if not slide_steps:
        found[0] += batch
        return found
    place = int(found[-1]) % slide_steps * bins
    found[-1 - bins : -1] += batch - found[place : place + bins]
    found[place : place + bins] = batch
    found[-1] += 1
    return found


def area(xp: Any, pos: Any, neg: Any) -> Any:
    """The area by trapezoids, from the highest bin down; 0 without labels of both kinds."""
    hits, alarms = (xp.cumsum(x[::-1], dtype="float64") for x in (pos, neg))
    if not hits[-1] or not alarms[-1]:
        return 0.0
    before = xp.concatenate([[0.0], hits[:-1]])
    return xp.dot(neg[::-1].astype("float64"), hits + before) / 2 / hits[-1] / alarms[-1]


auc.no_grad("it counts")
auc.no_lowering("a bin depends on a score")
