"""How many chunks of tags, such as names in a text, were found, and how many of them are right."""

from typing import Any

import numpy as np

from scull.core.attribute import Ints
from scull.core.dtype import float32, int64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, count
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.level import BY_VALUES, begun, inner, segments, vector_of

# By scheme the parts of a chunk that a tag may name, in the order of their numbers.
SCHEMES = {"IOB": "BI", "IOE": "IE", "IOBES": "BIES", "plain": "I"}
OUTPUTS = ("precision", "recall", "f1_score")
COUNTS = ("num_infer_chunks", "num_label_chunks", "num_correct_chunks")


@primitive(
    outputs=OUTPUTS + COUNTS,
    slots={"f1_score": "F1-Score", "levels": "Label@LOD"},
    unsaid=("Label@LOD",),
    infer_first=True,
)
def chunk_eval(
    inference: Meta,
    label: Meta,
    seq_length: Meta = None,
    levels: Meta = None,
    *,
    num_chunk_types: int,
    chunk_scheme: str = "IOB",
    excluded_chunk_types: Ints = (),
) -> Any:
    """The shares of right chunks among those found and those there are, their mean, and counts."""
    if chunk_scheme not in SCHEMES:
        raise ArgumentError(f"chunk_scheme is {chunk_scheme!r}, not {', '.join(SCHEMES)}")
    for name, m in (("inference", inference), ("label", label)):
        if not m.dtype.is_integer:
            raise DtypeError(f"{name} is {m.dtype.name}, not of integers")
    agree(count(inference.shape), count(label.shape), "inference has {} tags and label {}")
    if seq_length is not None and label.ndim < 2:
        raise ShapeError(f"label has {label.ndim} axes, not those of sequences and steps")
    return *(Meta((1,), float32),) * 3, *(Meta((1,), int64),) * 3


@chunk_eval.kernel
def chunk_eval_kernel(
    xp: Any,
    inference: Any,
    label: Any,
    seq_length: Any = None,
    levels: Any = None,
    *,
    out: Any = None,
    num_chunk_types: int,
    chunk_scheme: str,
    excluded_chunk_types: Any,
) -> Any:
    if seq_length is None:
        offsets = inner([] if levels is None else [levels])
        agree(label.size, int(offsets[-1]), "label has {} tags and its levels tell of {}")
        owner, there = segments(offsets), slice(None)
    else:
        lengths = vector_of(seq_length)
        agree(len(lengths), len(label), "there are {} lengths and {} sequences")
        if len(lengths) and (lengths.min() < 0 or lengths.max() > label.shape[1]):
            raise RangeError(f"a length is outside [0, {label.shape[1]}]")
        owner = segments(begun(lengths))
        there = (xp.arange(label.shape[1]) < lengths[:, None]).reshape(-1)
    found = [
        chunks(vector_of(v)[there], owner, SCHEMES[chunk_scheme], num_chunk_types)
        for v in (inference, label)
    ]
    kept = [v[~np.isin(v[:, 2], excluded_chunk_types)] for v in found]
    right = len(set(map(tuple, kept[0].tolist())) & set(map(tuple, kept[1].tolist())))
    counts = len(kept[0]), len(kept[1]), right
    precision, recall = (right / n if n else 0.0 for n in counts[:2])
    mean = 2 * precision * recall / (precision + recall) if right else 0.0
    shares = [xp.array([v], "float32") for v in (precision, recall, mean)]
    return *shares, *[xp.array([v], "int64") for v in counts]


def chunks(tags: Any, owner: Any, parts: str, kinds: int) -> Any:
    """The chunks of sequences: where each begins and ends, and its kind."""
    if tags.size and (tags.min() < 0 or tags.max() > kinds * len(parts)):
        wrong = tags.min() if tags.min() < 0 else tags.max()
        raise RangeError(f"the tag {wrong} is outside [0, {kinds * len(parts)}]")
    kind = tags // len(parts)
    part = np.array(list(parts))[tags % len(parts)]
    inside, other = kind < kinds, np.ones(len(tags) + 1, bool)
    other[1:-1] = (kind[1:] != kind[:-1]) | (owner[1:] != owner[:-1])
    begins = other[:-1] | np.isin(part, ("B", "S"))
    begins[1:] |= np.isin(part[:-1], ("E", "S"))
    begins = begins & inside
    ends = other[1:] | np.isin(part, ("E", "S"))
    ends[:-1] |= np.isin(part[1:], ("B", "S"))
    ends = ends & inside
    return np.stack([begins.nonzero()[0], ends.nonzero()[0], kind[begins]], 1)


chunk_eval.no_grad("it counts")
chunk_eval.no_lowering(BY_VALUES)
