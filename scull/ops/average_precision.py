"""How well a detector finds the objects of images: the mean of its average precisions."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, agree, floating
from scull.errors import ArgumentError, DtypeError, ShapeError
from scull.ops.level import BY_VALUES, begun, inner, packed
from scull.ops.suppress import shared

KINDS = ("integral", "11point")
SAME = 1e-6  # what numbers differ by at most to be the same
STATES = ("pos_count", "true_pos", "false_pos")
COUNTED = "it counts"


class Marks(NamedTuple):
    """What is known of each class: objects, and answers with their scores, right ones as 1."""

    objects: dict[int, int]
    right: dict[int, list[Any]]
    wrong: dict[int, list[Any]]

    def add(self, label: int, score: float, right: bool) -> None:
        """Note one answer."""
        self.right.setdefault(label, []).append((score, float(right)))
        self.wrong.setdefault(label, []).append((score, float(not right)))


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
    marks = Marks({}, {}, {})
    if has_state is not None and pos_count is not None and int(has_state.reshape(-1)[0]):
        counts = pos_count.reshape(-1)[:class_num].tolist()
        marks.objects.update(enumerate(counts))
        recall(marks.right, true_pos, inner([true_levels]))
        recall(marks.wrong, false_pos, inner([false_levels]))
    ends = inner([detect_levels]), inner([label_levels])
    agree(len(ends[0]), len(ends[1]), "answers are for one image fewer than {}, objects than {}")
    for x, own in zip((detect_res, label), ends, strict=True):
        agree(int(own[-1]), len(x), "levels of detail tell of {} rows, not {}")
    answers, objects = (
        np.split(x, own[1:-1]) for x, own in zip((detect_res, label), ends, strict=True)
    )
    for own_answers, own_objects in zip(answers, objects, strict=True):
        judge(own_answers, own_objects, marks, attrs)
    dtype = detect_res.dtype
    counts = [marks.objects.get(i, 0) for i in range(class_num)]
    found = [told(side, class_num, dtype) for side in (marks.right, marks.wrong)]
    mean = xp.array([precision_of(marks, attrs)], dtype)
    held = xp.array(counts, "int32")[:, None]
    return held, *(rows for rows, _ in found), mean, *(levels for _, levels in found)


def recall(marks: dict[int, list[Any]], state: Any, ends: Any) -> None:
    """Note the answers of earlier runs, those of a class behind those of the one before."""
    for i, (begin, end) in enumerate(pairwise(ends.tolist())):
        if end > begin:
            marks[i] = [tuple(row) for row in state[begin:end].tolist()]


def told(marks: dict[int, list[Any]], classes: int, dtype: Any) -> tuple[Any, Any]:
    """The answers of all classes behind each other, and where those of a class begin."""
    rows = [row for i in range(classes) for row in marks.get(i, ())]
    counts = [len(marks.get(i, ())) for i in range(classes)]
    return np.array(rows, dtype).reshape(-1, 2), packed([begun(counts)])


def judge(answers: Any, objects: Any, marks: Marks, attrs: dict[str, Any]) -> None:
    """Note the objects of an image, and which answers are right."""
    boxes = objects[:, -4:]
    hard = objects[:, 1] > SAME if objects.shape[1] == 6 else np.zeros(len(objects), bool)
    hard &= not attrs["evaluate_difficult"]
    kinds = objects[:, 0].astype("int64")
    for label in kinds[~hard].tolist():
        marks.objects[label] = marks.objects.get(label, 0) + 1
    given = answers[:, 0].astype("int64")
    for label in np.unique(given).tolist():
        own = answers[given == label]
        own = own[np.argsort(-own[:, 1], kind="stable")] if label in kinds else own
        there = (kinds == label).nonzero()[0]
        if not len(there):
            for score in own[:, 1].tolist():
                marks.add(label, score, False)
            continue
        covers = shared(np.clip(own[:, None, 2:], 0, 1), boxes[there], True)
        best, seen = covers.argmax(1), set()
        for row, (score, place) in enumerate(zip(own[:, 1].tolist(), best.tolist(), strict=True)):
            near = covers[row, place] > attrs["overlap_threshold"]
            if near and hard[there[place]]:
                continue
            marks.add(label, score, bool(near) and place not in seen)
            if near:
                seen.add(place)


def precision_of(marks: Marks, attrs: dict[str, Any]) -> float:
    """The mean over classes with objects of the precision at all shares of these that are found."""
    total, count = 0.0, 0
    for label, objects in marks.objects.items():
        if objects == attrs["background_label"]:  # sic: the reference takes the count for it
            continue
        count += 1
        if label not in marks.right:
            continue
        right, wrong = (np.array(side[label]) for side in (marks.right, marks.wrong))
        hits, misses = (
            np.cumsum(v[np.argsort(-v[:, 0], kind="stable"), 1]) for v in (right, wrong)
        )
        precision, share = hits / (hits + misses), hits / objects
        if attrs["ap_type"] == "integral":
            steps = np.diff(share, prepend=0)
            total += float(precision[abs(steps) > SAME] @ steps[abs(steps) > SAME])
        else:
            least = np.arange(11) / 10
            total += float(np.where(share >= least[:, None], precision, 0).max(1).mean())
    return total / count if count else 0.0


detection_map.no_grad(COUNTED)
detection_map.no_lowering(BY_VALUES)
