"""How well a detector finds the objects of images: the mean of its average precisions."""

from typing import Any, NamedTuple

import numpy as np

from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import BY_VALUES, inner, packed, segments
from scull.ops.suppress import shared

KINDS = ("integral", "11point")
SAME = 1e-6  # what numbers differ by at most to be the same
STATES = ("pos_count", "true_pos", "false_pos")
COUNTED = "it counts"


class Marks(NamedTuple):
    """Objects by class, and answers: their classes, their scores, and 1 for right or wrong ones."""

    objects: dict[int, int]
    right: list[tuple[Any, Any]]
    wrong: list[tuple[Any, Any]]


@primitive(
    outputs=(
        *("accum_pos_count", "accum_true_pos", "accum_false_pos", "mean_precision"),
        *("true_levels_out", "false_levels_out"),
    ),
    slots={
        "mean_precision": "MAP",
        "detect_levels": "DetectRes@LOD",
        "label_levels": "Label@LOD",
        "true_levels": "TruePos@LOD",
        "false_levels": "FalsePos@LOD",
        "true_levels_out": "AccumTruePos@LOD",
        "false_levels_out": "AccumFalsePos@LOD",
    },
    hidden=("true_levels_out", "false_levels_out"),
    unsaid=(
        *("HasState", "PosCount", "TruePos", "FalsePos", "DetectRes@LOD", "Label@LOD"),
        *("TruePos@LOD", "FalsePos@LOD", "AccumTruePos@LOD", "AccumFalsePos@LOD"),
    ),
    infer_first=True,
)
def detection_map(
    detect_res: Meta,
    label: Meta,
    has_state: Meta = None,
    pos_count: Meta = None,
    true_pos: Meta = None,
    false_pos: Meta = None,
    detect_levels: Meta = None,
    label_levels: Meta = None,
    true_levels: Meta = None,
    false_levels: Meta = None,
    *,
    class_num: int,
    background_label: int = 0,
    overlap_threshold: float = 0.5,
    evaluate_difficult: bool = True,
    ap_type: str = "integral",
) -> tuple[Meta, ...]:
    """The mean average precision of answers so far, and what it is computed of.

    An answer is class, score and corners, an object class and corners, or class, whether it is
    difficult, and corners. Objects are counted by class; of answers right and wrong ones, by class.
    """
    floating(detect_res, label)
    for name, m, sizes in (("detect_res", detect_res, (6,)), ("label", label, (5, 6))):
        if m.ndim != 2:
            raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
        if m.shape[1] not in (*sizes, UNKNOWN):
            allowed = " or ".join(map(str, sizes))
            raise ShapeError(f"{name} has {m.shape[1]} columns, {allowed} are needed")
    if ap_type not in KINDS:
        raise ArgumentError(f"ap_type is {ap_type!r}, neither {KINDS[0]} nor {KINDS[1]}")
    if pos_count is not None:
        if true_pos is None or false_pos is None:
            raise ArgumentError(f"{', '.join(STATES)} come together or not at all")
        if pos_count.dtype is not int32:
            raise DtypeError(f"pos_count is {pos_count.dtype.name}, not int32")
        for name, m in (("true_pos", true_pos), ("false_pos", false_pos)):
            floating(m)
            if m.ndim != 2:
                raise ShapeError(f"{name} has {m.ndim} axes, 2 are needed")
            agree(m.shape[1], 2, f"{name} has {{}} columns, {{}} are needed")
    rows, levels = detect_res.with_shape((UNKNOWN, 2)), Meta((UNKNOWN,), int64)
    return Meta((class_num, 1), int32), rows, rows, detect_res.with_shape((1,)), levels, levels


@detection_map.kernel
def detection_map_kernel(
    xp: Any,
    detect_res: Any,
    label: Any,
    has_state: Any = None,
    pos_count: Any = None,
    true_pos: Any = None,
    false_pos: Any = None,
    detect_levels: Any = None,
    label_levels: Any = None,
    true_levels: Any = None,
    false_levels: Any = None,
    *,
    out: Any = None,
    class_num: int,
    **attrs: Any,
) -> Any:
    marks = Marks({}, [], [])
    if has_state is not None and pos_count is not None and int(has_state.reshape(-1)[0]):
        marks.objects.update(enumerate(pos_count.reshape(-1)[:class_num].tolist()))
        marks.right.append(recalled(true_pos, inner([true_levels])))
        marks.wrong.append(recalled(false_pos, inner([false_levels])))
    ends = inner([detect_levels]), inner([label_levels])
    agree(len(ends[0]) - 1, len(ends[1]) - 1, "answers are for {} images, objects for {}")
    for x, own in zip((detect_res, label), ends, strict=True):
        agree(int(own[-1]), len(x), "levels of detail tell of {} rows, not {}")
    answers, objects = (
        np.split(x, own[1:-1]) for x, own in zip((detect_res, label), ends, strict=True)
    )
    for own_answers, own_objects in zip(answers, objects, strict=True):
        judge(own_answers, own_objects, marks, attrs)
    dtype = detect_res.dtype
    sides = [by_class(side, dtype) for side in (marks.right, marks.wrong)]
    counts = xp.array([marks.objects.get(i, 0) for i in range(class_num)], "int32")[:, None]
    found = [told(*side, class_num) for side in sides]
    mean = xp.array([precision_of(marks.objects, sides, attrs)], dtype)
    return counts, *(rows for rows, _ in found), mean, *(levels for _, levels in found)


def recalled(state: Any, ends: Any) -> tuple[Any, Any]:
    """The classes and the rows of answers in earlier runs."""
    agree(int(ends[-1]), len(state), "levels of detail tell of {} rows, not {}")
    return segments(ends), state


def by_class(side: list[tuple[Any, Any]], dtype: Any) -> tuple[Any, Any]:
    """The classes of all answers in order, and their rows."""
    labels = np.concatenate([np.zeros(0, "int64"), *(v for v, _ in side)])
    rows = np.concatenate([np.zeros((0, 2), dtype), *(v for _, v in side)])
    order = labels.argsort(kind="stable")
    return labels[order], rows[order]


def told(labels: Any, rows: Any, classes: int) -> tuple[Any, Any]:
    """The rows of the classes there are, and where those of a class begin."""
    ends = np.searchsorted(labels, np.arange(classes + 1))
    return rows[ends[0] : ends[-1]].copy(), packed([ends - ends[0]])


def judge(answers: Any, objects: Any, marks: Marks, attrs: dict[str, Any]) -> None:
    """Note the objects of an image, and which answers are right.

    Of a class that is there the surest answer comes first, and only the first near an object is
    right. What is near an object that is passed over is neither right nor wrong.
    """
    boxes, kinds = objects[:, -4:], objects[:, 0].astype("int64")
    hard = objects[:, 1] > SAME if objects.shape[1] == 6 else np.zeros(len(objects), bool)
    hard &= not attrs["evaluate_difficult"]
    for label in kinds[~hard].tolist():
        marks.objects[label] = marks.objects.get(label, 0) + 1
    given, scores = answers[:, 0].astype("int64"), answers[:, 1]
    order = np.lexsort([np.where(np.isin(given, kinds), -scores, 0), given])
    answers, given = answers[order], given[order]
    right = np.zeros(len(given), answers.dtype)
    if len(boxes):
        covers = shared(np.clip(answers[:, None, 2:], 0, 1), boxes, True)
        covers = np.where(given[:, None] == kinds, covers, -1)
        places, near = covers.argmax(1), covers.max(1) > attrs["overlap_threshold"]
        hits = near.nonzero()[0]
        right[hits[np.unique(places[hits], return_index=True)[1]]] = 1
        kept = ~(near & hard[places])
        answers, given, right = answers[kept], given[kept], right[kept]
    for side, flags in ((marks.right, right), (marks.wrong, 1 - right)):
        side.append((given, np.stack([answers[:, 1], flags], 1)))


def precision_of(objects: dict[int, int], sides: Any, attrs: dict[str, Any]) -> float:
    """The mean over classes with objects of the precision at all shares of these that are found."""
    total, count = 0.0, 0
    for label, there in objects.items():
        if there == attrs["background_label"]:  # sic: the reference takes the count for it
            continue
        count += 1
        own = [rows[slice(*np.searchsorted(labels, [label, label + 1]))] for labels, rows in sides]
        if not len(own[0]):
            continue
        own = [v[np.argsort(-v[:, 0], kind="stable"), 1].astype("float64") for v in own]
        hits, misses = map(np.cumsum, own)
        precision, share = hits / (hits + misses), hits / there
        if attrs["ap_type"] == "integral":
            steps = np.diff(share, prepend=0)
            total += float(precision[abs(steps) > SAME] @ steps[abs(steps) > SAME])
        else:
            least = np.arange(11) / 10
            total += float(np.where(share >= least[:, None], precision, 0).max(1).mean())
    return total / count if count else 0.0


detection_map.no_grad(COUNTED)
detection_map.no_lowering(BY_VALUES)
