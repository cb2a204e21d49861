"""The plan: everything decided before a Program runs, immutable and printable."""

from dataclasses import dataclass
from typing import Any

from scull.executor.alias import copied_views, written
from scull.executor.dependency import schedule
from scull.executor.instruction import Instruction, bind
from scull.executor.lifetime import last_uses, shrunk
from scull.executor.prepare import prepare
from scull.ir.variable import Variable

FIRST = 2  # the first slot of a frame that belongs to a variable


@dataclass(frozen=True)
class Plan:
    """What a run does. What changes in a run is in its frame: a list with one place a variable."""

    steps: tuple[Instruction, ...]
    size: int  # of a frame
    feeds: tuple[
        tuple[Variable, int, bool], ...
    ]  # variable, slot, whether an operator writes over it
    fetches: tuple[tuple[int, bool], ...]  # slot, whether the value must be copied out
    loads: tuple[tuple[str, int], ...]  # persistable variables read from the scope
    stores: tuple[tuple[str, int], ...]  # persistable variables put into the scope
    draws: int  # random draws of a run
    names: tuple[str, ...]  # by slot

    def __str__(self) -> str:
        return plan_text(self)


def make_plan(
    block: Any,
    feed_names: tuple[str, ...],
    fetch_names: tuple[str, ...],
    *,
    seed: int = -1,
) -> Plan:
    """Plan one run of `block`."""
    prepared = prepare(block, feed_names, fetch_names)
    operators = prepared.operators
    number = {
        o: i
        for i, o in enumerate(
            o for o in operators if "random" in o.op.effects and not o.attrs.get("seed")
        )
    }
    operators = schedule(operators, seed)
    slots = numbered(prepared.feeds, operators, prepared.fetches)
    copies = copied_views(operators, prepared.fetches)
    steps = [bind(o, slots, number.get(o, 0), i in copies) for i, o in enumerate(operators)]
    loads, stores = bound_to_scope(operators, slots, set(prepared.feeds))
    overwritten = {v for o in operators for v in written(o)}
    fetches = tuple((slots[v], must_copy(v, prepared.feeds, operators)) for v in prepared.fetches)
    kept = {s for s, _ in fetches} | {slots[v] for v in slots if v.persistable}
    steps = shrunk(steps, slots, kept)
    frees = last_uses(steps, kept)
    return Plan(
        tuple(step.freeing(f) for step, f in zip(steps, frees, strict=True)),
        len(slots) + FIRST,
        tuple((v, slots[v], v in overwritten) for v in prepared.feeds),
        fetches,
        loads,
        stores,
        len(number),
        ("none", "draw", *(v.name for v in slots)),
    )


def numbered(feeds: Any, operators: Any, fetches: Any) -> dict[Variable, int]:
    """A place for every variable; new results of one operator lie side by side."""
    slots: dict[Variable, int] = {}
    for v in feeds:
        slots.setdefault(v, len(slots) + FIRST)
    for o in operators:
        for v in o.operands():
            slots.setdefault(v, len(slots) + FIRST)
        for v in o.results():
            slots.setdefault(v, len(slots) + FIRST)
    for v in fetches:
        slots.setdefault(v, len(slots) + FIRST)
    return slots


def bound_to_scope(
    operators: Any, slots: dict[Variable, int], fed: set[Variable]
) -> tuple[Any, Any]:
    """Which values come from the scope, which go there."""
    first_written: set[Variable] = set()
    loads: dict[Variable, int] = {}
    for o in operators:
        for v in o.operands():
            if v not in first_written and v not in fed:
                loads.setdefault(v, slots[v])
        first_written.update(o.results())
    for v, slot in slots.items():
        if v not in first_written and v not in fed:
            loads.setdefault(v, slot)
    fresh = {v for o in operators for v in set(o.results()) - written(o)}  # memory of its own
    stores = {v: slots[v] for v in first_written if v.persistable and v in fresh}
    order = sorted(stores, key=lambda v: stores[v])
    return tuple((v.name, s) for v, s in loads.items()), tuple((v.name, stores[v]) for v in order)


def must_copy(v: Variable, feeds: Any, operators: Any) -> bool:
    """Whether a fetched value would otherwise change later or be somebody's own array."""
    if v.persistable or v in set(feeds):
        return True
    maker = next((o for o in reversed(operators) if v in set(o.results())), None)
    return maker is None or bool(maker.op.views)


def plan_text(plan: Plan) -> str:
    """Steps with what they read, fill and drop."""

    def listed(slots: Any) -> str:
        return ", ".join(plan.names[s] for s in slots)

    lines = [f"plan: {len(plan.steps)} steps, {plan.size - FIRST} variables, {plan.draws} draws"]
    lines.append(f"  feed   {listed(s for _, s, _ in plan.feeds)}")
    lines.append(f"  load   {listed(s for _, s in plan.loads)}")
    for i, step in enumerate(plan.steps):
        if step.is_shape:
            lines.append(f"  {i:>4}   shape of {listed(step.writes)}" + dropped(step, listed))
            continue
        over = listed(i for i in step.reads if i not in step.writes)
        text = f"  {i:>4}   {listed(step.writes) or 'in place'} = {step.operator.type}({over})"
        lines.append(text + dropped(step, listed))
    lines.append(f"  store  {listed(s for _, s in plan.stores)}")
    lines.append(f"  fetch  {listed(s for s, _ in plan.fetches)}")
    return "\n".join(lines)


def dropped(step: Instruction, listed: Any) -> str:
    """What a step drops, as text."""
    return f"   drops {listed(step.frees)}" if step.frees else ""
