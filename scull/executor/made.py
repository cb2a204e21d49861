"""What is known of the results of every instruction when it is launched on a device."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from scull.core.meta import Meta, count
from scull.errors import UnknownSizeError
from scull.executor.alias import shared
from scull.executor.instruction import Instruction
from scull.executor.memory import Sizes, nbytes
from scull.executor.plan import Plan
from scull.ir.operator import Operator
from scull.ir.variable import Variable


@dataclass(frozen=True)
class Made:
    """A result of an instruction, as far as it is known when that is launched."""

    slot: int
    meta: Meta | None  # None: known when it has run
    whole: int | None = None  # the slot of another result of which it is a part


@dataclass(frozen=True)
class Results:
    """The results of an instruction, those that others are parts of first."""

    made: tuple[Made, ...]
    viewed: int | None = None  # the slot in whose memory all of them lie for sure


def results_by(plan: Plan, given: Mapping[int, Meta]) -> tuple[Results, ...]:
    """The results of every instruction; `given` says what stands in some slots at the start."""
    slots = {v: i for i, v in enumerate(plan.variables)}
    changed = changed_in(plan, given)
    metas = {v: unsized(v.meta) for v in slots if v is not None and v.name in changed}
    sizes = Sizes(metas | {plan.variables[slot]: meta for slot, meta in given.items()})
    told = bool(plan.fetches or plan.stores)  # not in a block, whose sizes change between runs
    found = []
    for step in plan.instructions:
        found.append(results_of(step, sizes, slots, changed if told else None))
        told = told and not (step.nested and step.operator.op.repeats)
    return tuple(found)


def unsized(meta: Meta) -> Meta:
    """`meta` without its sizes: a Program notes those of the last value a variable had."""
    return meta.with_shape((-1,) * meta.ndim)


def changed_in(plan: Plan, given: Mapping[int, Meta]) -> set[str]:
    """The variables that have several values in a run: of these no name tells the size."""
    made = [plan.names[slot] for step in plan.instructions for slot in step.writes]
    counts = Counter([*made, *(plan.names[slot] for slot in given)])
    return {name for name, count in counts.items() if count > 1}


def tells(o: Operator, v: Variable, changed: set[str] | None) -> bool:
    """Whether the size found for a result of `o` is its size for sure.

    Of a gradient that no type rule tells it is the size of its variable, unless that is `changed`.
    Where this is None nothing is sure: a Program notes how a loop left a variable when it was made.
    """
    if changed is None or o.op.forward is None or count(v.meta.shape) != -1:
        return changed is not None
    return v.name.split("@GRAD")[0] not in changed


def results_of(
    step: Instruction, sizes: Sizes, slots: Mapping[Variable, int], changed: set[str] | None
) -> Results:
    """The results of one instruction; of variables in `changed` sizes are inferred."""
    try:
        sizes.run(step)
        known = changed is not None
    except UnknownSizeError:
        known = False
    o = step.operator
    made, own, operands = [], set(o.results()), set(o.operands())
    for v in {v: None for v in o.results() if slots[v] in step.writes}:
        meta, at = sizes.meta(v), sizes.lies.get(v)
        whole = None if at is None or at.value in operands else slots[at.value]
        sized = known and nbytes(meta) >= 0 and tells(o, v, changed)
        made.append(Made(slots[v], meta if sized else None, whole))
    made.sort(key=lambda m: m.whole is not None)
    views = {r: x for r, x, writes in shared(o) if not writes and x not in own}
    if not views or step.copies or not known:
        return Results(tuple(made))
    sure = {r for r in views if r in sizes.lies and not sizes.lies[r].doubtful}
    rest = [v for v in own if v not in sure and nbytes(sizes.meta(v))]
    (viewed, *others) = {slots[x] for x in views.values()}
    return Results(tuple(made), None if rest or others else viewed)
