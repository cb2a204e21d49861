"""Results that are the same in every run: they stand in a frame before it begins."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from scull.core.meta import Kind
from scull.errors import ScullError
from scull.executor.alias import handed_on, shared
from scull.executor.instruction import Instruction

MOST_ELEMENTS = (
    1024  # of a constant, which is kept as long as its plan, unless its Program has them
)


def constants(steps: Sequence[Instruction], kept: Iterable[int]) -> dict[int, Any]:
    """What some steps give in every run, by their numbers: read-only arrays.

    Nobody sees these arrays but steps that read them: they are in no slot that is `kept`, nothing
    lies in their memory, and none is written over.
    """
    makers = Counter(slot for step in steps for slot in step.writes)
    lent = {slot for step in steps for slot in lent_by(step)}.union(kept)
    read: set[int] = set()  # by the steps so far
    found: dict[int, Any] = {}
    for number, step in enumerate(steps):
        fresh = not lent.union(read).intersection(step.writes)
        if fresh and is_constant(step) and makers[step.writes[0]] == 1:
            value = value_of(step)
            if value is not None:
                found[number] = value
        read.update(step.reads)
    return found


def is_constant(step: Instruction) -> bool:
    """Whether a step reads nothing, and has one result of a known size that is kept easily."""
    o = step.operator
    if step.is_shape or step.reads or len(step.writes) != 1 or o.op.effects or o.op.has_blocks:
        return False
    meta = o.results()[0].meta
    sizes = meta.shape
    listed = max((len(v) for v in o.attrs.values() if isinstance(v, list | tuple)), default=0)
    most = max(MOST_ELEMENTS, listed)
    return meta.kind is Kind.DENSE and -1 not in sizes and math.prod(sizes) <= most


def value_of(step: Instruction) -> Any:
    """What a step gives, as an array nobody can change; None where a run has to say why not.

    A file may declare a small result of attributes that make a large one: such is left to the run.
    """
    o = step.operator
    try:
        metas = zip(o.op.infer(o.inputs, o.attrs), o.outputs, strict=False)
        made = next(m for m, slot in metas if slot)
        made = made[0] if isinstance(made, list) else made
        if made is None or made.shape != o.results()[0].meta.shape:  # None: nothing is made
            return None
        value = step.call(*step.get((None, None)))
    except (ScullError, ArithmeticError, ValueError, TypeError):
        return None
    if type(value) is np.ndarray:
        value.flags.writeable = False
        return value
    return None


def one_number(value: Any) -> Any:
    """The number that a constant has in every place; None where there are several, or none."""
    if value.dtype.kind not in "fiubV" or not value.size:
        return None
    first = value.reshape(-1)[:1]
    return first.item() if value.tobytes() == first.tobytes() * value.size else None


def lent_by(step: Instruction) -> Iterable[int]:
    """The slots of operands in whose memory a step may put or leave a result."""
    o = step.operator
    if step.is_shape or o.op.has_blocks:
        return step.reads
    lent = {v for _, v, _ in shared(o)}.union(v for _, v in handed_on(o))
    return [slot for v, slot in zip(o.operands(), step.reads, strict=False) if v in lent]
