"""Small plans in which each step goes on from the one before: a row of functions of one array."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from scull.core.meta import Kind
from scull.executor.instruction import Instruction, whole
from scull.executor.plan import Plan
from scull.executor.schedule import touched_bytes

TINY = 1 << 18  # bytes that the steps read and fill: in larger ones Python does not count
COMMUTATIVE = (np.add, np.multiply)
GIVEN = object()  # stands for what comes from the step before

Call = Callable[[Any], Any]


def is_tiny(plan: Plan) -> bool:
    """Whether the time of a run is mostly that of Python, as far as declared sizes tell."""
    return sum(touched_bytes(step.operator) for step in plan.instructions) < TINY


def chained(plan: Plan, template: Sequence[Any]) -> tuple[Call, ...] | None:
    """The steps of a plan as functions, each of what the one before gives, if they are such.

    `template` holds the values that every run begins with.
    """
    if len(plan.feeds) != 1 or len(plan.fetches) != 1 or plan.draws or plan.feeds[0][2]:
        return None
    steps = [s for n, s in enumerate(plan.steps) if n not in plan.constants]
    fetch, copy = plan.fetches[0]
    here, found = plan.feeds[0][1], list[Call]()
    last = {slot: number for number, step in enumerate(steps) for slot in step.reads}
    last[fetch] = len(steps)
    for number, step in enumerate(steps):
        wanted = [slot for slot in step.writes if last.get(slot, -1) > number]
        call = curried(step, here, template) if len(wanted) == 1 else None
        if call is None:
            return None
        (here,) = wanted
        several = isinstance(step.put, slice)
        found.append(picking(call, here - step.put.start) if several else call)
    return tuple(found) if here == fetch and not copy and found else None


def curried(step: Instruction, given: int, template: Sequence[Any]) -> Call | None:
    """A step as a function of what stands in the slot `given`, if it is one."""
    o = step.operator
    own = step.is_shape or o.over is not None or o.op.has_blocks or o.op.effects
    if own or o.op.in_place or step.get is whole:
        return None
    frame = list(template)
    frame[given] = GIVEN
    if any(v.kind is not Kind.DENSE for v in o.operands()) or given not in step.reads:
        return None
    if any(frame[slot] is None for slot in step.reads):
        return None
    operands = step.get(frame)
    if sum(x is GIVEN for x in operands) != 1:
        return None
    call, behind = direct(step) or (step.call, ())
    return function_of(call, (*operands, *behind))


def picking(call: Call, place: int) -> Call:
    """One of several results."""
    return lambda x: call(x)[place]


def direct(step: Instruction) -> tuple[Any, tuple[Any, ...]] | None:
    """NumPy's own function for a step, with operands behind the step's own, if there is one."""
    o, rule = step.operator, step.operator.op.direct
    if rule is None or o.told or step.copies:
        return None
    found = rule(o.operands()[0].dtype.array, **o.attrs)
    return None if found is None else (found[0], tuple(found[1:]))


def function_of(call: Any, operands: tuple[Any, ...]) -> Call:
    """`call` as a function of the operand that is given, in as few frames as Python allows."""
    place = next(i for i, x in enumerate(operands) if x is GIVEN)
    before, after = operands[:place], operands[place + 1 :]
    if not after:
        return partial(call, *before) if before else call  # type: ignore[no-any-return]
    if len(operands) > 2 or before:
        return lambda x: call(*before, x, *after)
    (other,) = after
    if call in COMMUTATIVE:
        return partial(call, other)
    return lambda x: call(x, other)
