"""Centres of classes: those that a batch is of, and others drawn to be as many as asked for."""

from typing import Any

from scull.core import random
from scull.core.dtype import int32, int64
from scull.core.eager import primitive
from scull.core.memory import refuse_bytes
from scull.core.meta import UNKNOWN, Meta
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError


@primitive(
    outputs=("remapped_label", "sampled_local_class_center"),
    effects=("random",),
    infer_first=True,
    fixed={"ring_id": 0, "rank": 0, "nranks": 1, "fix_seed": False},
)
def class_center_sample(
    label: Meta, *, num_classes: int, num_samples: int, seed: int = 0
) -> tuple[Meta, Meta]:
    """The classes of `label`, filled up with others to `num_samples`, and where each label lies.

    There are more than `num_samples` where the batch is of more classes.
    """
    if label.dtype not in (int32, int64):
        raise DtypeError(f"label is {label.dtype.name}, neither int32 nor int64")
    if len(label.shape) != 1:
        raise ShapeError(f"label has {len(label.shape)} axes, not 1")
    if not 0 < num_samples <= num_classes:
        raise ArgumentError(f"{num_samples} of {num_classes} classes cannot be taken")
    return label, Meta((UNKNOWN,), label.dtype)


@class_center_sample.kernel
def class_center_sample_kernel(
    xp: Any,
    label: Any,
    *,
    out: Any = None,
    draw: Any,
    num_classes: int,
    num_samples: int,
    seed: int,
) -> Any:
    found, places = xp.unique(label, return_inverse=True)
    if found.size and (found[0] < 0 or found[-1] >= num_classes):
        raise RangeError(f"labels from {found[0]} to {found[-1]} are outside [0, {num_classes})")
    missing = max(0, num_samples - found.size)
    if missing:
        refuse_bytes(num_classes * 17, f"{num_classes} classes")
        rest = xp.ones(num_classes, bool)
        rest[found] = False
        others = rest.nonzero()[0]
        order = random.words(draw, others.size).argsort(kind="stable")
        found = xp.concatenate([found, others[order[:missing]].astype(label.dtype)])
    remapped = places.reshape(label.shape).astype(label.dtype)
    if out is not None and out[0] is not None:
        out[0][...] = remapped
        remapped = out[0]
    return remapped, found


class_center_sample.no_grad("it counts classes")
class_center_sample.no_lowering("how many there are depends on values")
