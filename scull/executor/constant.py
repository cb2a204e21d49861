"""Results that are the same in every run: they stand in a frame before it begins."""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from scull.core.meta import Kind
from scull.core.op import meta_of
from scull.errors import ScullError
from scull.executor.alias import handed_on, shared
from scull.executor.instruction import Instruction, unrecorded
from scull.ir.operator import Operator
from scull.ir.variable import Variable
from scull.ops.create import steps_between

MOST_ELEMENTS = (
    1024  # of a constant, which is kept as long as its plan, unless its Program has them
)
MOST_COMPUTED = 1 << 14  # of one that is computed of others, such as the positions of a sequence
COUNTS: dict[str, Callable[..., int]] = {  # of numbers, which values of operands tell
    "range": steps_between,
    "linspace": lambda start, stop, num: int(num.item()),
}


def constants(steps: Sequence[Instruction], kept: Iterable[int], size: int) -> dict[int, Any]:
    """What some steps of a frame of `size` slots give in every run, by their numbers.

    They are read-only arrays of steps that read nothing, or what is such itself. Nobody sees them
    but steps that read them: they are in no slot that is `kept`, and neither they nor views of them
    are written over.
    """
    makers = Counter(slot for step in steps for slot in step.writes)
    exposed = exposed_slots(steps, kept)
    read: set[int] = set()  # by the steps so far
    found: dict[int, Any] = {}
    known = set[Variable]()
    frame: list[Any] = [None] * size
    for number, step in enumerate(steps):
        fresh = exposed.isdisjoint(step.writes) and read.isdisjoint(step.writes)
        steady = not step.is_shape and len(step.writes) == 1 and is_steady(step.operator, known)
        if fresh and steady and makers[step.writes[0]] == 1:
            value = value_of(step, frame)
            if value is not None:
                found[number] = frame[step.put] = value
                known.update(step.operator.results())
        read.update(step.reads)
    return found


def is_steady(o: Operator, known: Container[Variable]) -> bool:
    """Whether an operator has one result, of a known size that is kept easily, of what is known.

    What is computed of a few numbers may be larger than what an operator says that reads nothing.
    """
    results, operands = o.results(), o.operands()
    if len(results) != 1 or o.op.effects or o.op.has_blocks or o.op.in_place:
        return False
    if o.over is not None or o.told or not all(v in known for v in operands):
        return False
    meta = results[0].meta
    sizes = meta.shape
    listed = max((len(v) for v in o.attrs.values() if isinstance(v, list | tuple)), default=0)
    most = MOST_COMPUTED if operands else max(MOST_ELEMENTS, listed)
    return meta.kind is Kind.DENSE and -1 not in sizes and math.prod(sizes) <= most


def value_of(step: Instruction, frame: list[Any]) -> Any:
    """What a step gives, as an array nobody can change; None where a run has to say why not.

    A file may declare a small result of attributes that make a large one: such is left to the run.
    """
    try:
        if shape_of(step, frame) != tuple(step.operator.results()[0].meta.shape):
            return None
        value = step.call(*operands_of(step, frame))
    except (ScullError, ArithmeticError, ValueError, TypeError):
        return None
    if type(value) is np.ndarray:
        value.flags.writeable = False
        return value
    return None


def operands_of(step: Instruction, frame: list[Any]) -> Any:
    """What a step reads, where all of it is known."""
    return step.get(frame if step.reads else (None, None))


def shape_of(step: Instruction, frame: list[Any]) -> Any:
    """The shape of what a step gives; None where nothing tells it, or nothing is made."""
    o = step.operator
    if o.type in COUNTS:
        return (COUNTS[o.type](*operands_of(step, frame)),)
    given = tuple(map(_meta_of, operands_of(step, frame)))
    pairs = zip(o.op.infer(unrecorded(o.op, given), o.attrs), o.outputs, strict=False)
    made = next(m for m, slot in pairs if slot)
    made = made[0] if isinstance(made, list) else made
    return None if made is None else tuple(made.shape)


def _meta_of(operand: Any) -> Any:
    if isinstance(operand, list):
        return [meta_of(x) for x in operand]
    return None if operand is None else meta_of(operand)


def one_number(value: Any) -> Any:
    """The number that a constant has in every place; None where there are several, or none."""
    if value.dtype.kind not in "fiubV" or not value.size:
        return None
    first = value.reshape(-1)[:1]
    return first.item() if value.tobytes() == first.tobytes() * value.size else None


def exposed_slots(steps: Sequence[Instruction], kept: Iterable[int]) -> set[int]:
    """The slots of memory that somebody may write over or hold.

    Those that are `kept`, what operators write over, what Python or a block is given; and whatever
    may lie in the memory of one of these.
    """
    slots = {
        v: slot
        for step in steps
        for v, slot in zip(step.operator.operands(), step.reads, strict=False)
    }
    pending, beside = list(kept), dict[int, list[int]]()
    for step in steps:
        o = step.operator
        if step.is_shape or o.op.has_blocks or "python" in o.op.effects:
            pending.extend((*step.reads, *step.writes))
            continue
        both = shared(o)
        both += [(result, x, False) for result, x in handed_on(o)]
        if both and len(o.results()) != len(step.writes):  # some are written over in their slots
            pending.extend((*step.reads, *step.writes))
            continue
        slots.update(zip(o.results(), step.writes, strict=False))
        for result, x, writes in both:
            beside.setdefault(slots[result], []).append(slots[x])
            beside.setdefault(slots[x], []).append(slots[result])
            if writes:
                pending.append(slots[x])
    found = set[int]()
    while pending:
        slot = pending.pop()
        if slot not in found:
            found.add(slot)
            pending.extend(beside.get(slot, ()))
    return found
