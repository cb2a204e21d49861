"""The plan: everything decided before a Program runs, immutable and printable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scull.core.meta import Meta
from scull.deferred import load
from scull.executor.access import touched
from scull.executor.alias import copied_views, handed_on, written
from scull.executor.dependency import Graph, graph_of, legal_order
from scull.executor.instruction import Instruction, bind
from scull.executor.lifetime import Lifetime, last_uses, lifetimes, shrunk
from scull.executor.prepare import prepare
from scull.executor.text import dot_text, plan_text
from scull.ir.operator import Operator
from scull.ir.variable import Variable

if TYPE_CHECKING:
    from scull.executor.memory import Peak

FIRST = 2  # the first slot of a frame that belongs to a variable


@dataclass(frozen=True)
class Plan:
    """What a run does. What changes in a run is in its frame: a list with one place a variable.

    What a run in this order does not need is found when it is asked for: the graph, the lifetimes
    of a run in any order, the peak.
    """

    steps: tuple[Instruction, ...]
    size: int  # of a frame
    feeds: tuple[
        tuple[Variable, int, bool], ...
    ]  # variable, slot, whether an operator writes over it
    fetches: tuple[tuple[int, bool], ...]  # slot, whether the value must be copied out
    loads: tuple[tuple[str, int], ...]  # persistable variables read from the scope
    stores: tuple[tuple[str, int], ...]  # persistable variables put into the scope
    draws: int  # random draws of a run
    variables: tuple[Any, ...]  # by slot
    kept: frozenset[int]  # slots that are never dropped
    sequential: bool = False  # each instruction waits for the one before it

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What stands in each slot."""
        return ("none", "draw", *(v.name for v in self.variables[FIRST:]))

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The steps that run operators."""
        return tuple(step for step in self.steps if not step.is_shape)

    @cached_property
    def graph(self) -> Graph:
        """Which instructions wait for which."""
        operators = tuple(step.operator for step in self.instructions)
        copies = {step.operator for step in self.instructions if step.copies}
        return graph_of(touched(operators, copies), self.sequential)

    @cached_property
    def lifetimes(self) -> tuple[Lifetime, ...]:
        """When each value goes in a run in any order."""
        return lifetimes(self.instructions, self.graph, self.kept)

    @cached_property
    def peak(self) -> "Peak":
        """The most bytes of temporaries at once in this order, for the sizes that are declared."""
        return self.peak_for({})

    @property
    def peak_bytes(self) -> int | None:
        """The bytes of `peak`; None when nothing bounds them."""
        return self.peak.size

    def peak_for(self, given: Mapping[int, Meta], strided: Iterable[int] = ()) -> "Peak":
        """The same for what stands in some slots when a run starts, in `strided` not in order."""
        peak_of = load("scull.executor.memory", "peak_of")  # few runs ask for it
        return peak_of(self.steps, self.variables, given, strided)  # type: ignore[no-any-return]

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        return dot_text(self)

    def __str__(self) -> str:
        return plan_text(self)


def make_plan(
    block: Any,
    feed_names: tuple[str, ...],
    fetch_names: tuple[str, ...],
    *,
    seed: int = -1,
    sequential: bool = False,
    skip_gc_vars: tuple[str, ...] = (),
) -> Plan:
    """Plan one run of `block`.

    In program order, or in any legal one picked by a `seed` that is not negative; what
    `skip_gc_vars` names is never dropped.
    """
    prepared = prepare(block, feed_names, fetch_names)
    operators, feeds = prepared.operators, prepared.feeds
    drawing = [o for o in operators if "random" in o.op.effects and not o.attrs.get("seed")]
    number = {o: i for i, o in enumerate(drawing)}
    cut = copied_views(operators, prepared.fetches, feeds)
    copies = {operators[i] for i in cut}
    operators = scheduled(operators, copies, seed, sequential)
    slots = numbered(feeds, operators, prepared.fetches)
    steps = [bind(o, slots, number.get(o, 0), o in copies) for o in operators]
    loads, stores = bound_to_scope(operators, slots, set(feeds))
    overwritten = {v for o in operators for v in written(o)}
    fetches = tuple(
        (slots[v], v in set(prepared.fetches[:i]) or must_copy(v, feeds, operators))
        for i, v in enumerate(prepared.fetches)
    )
    kept = {slots[v] for v in slots if v.persistable or v.name in skip_gc_vars}
    kept.update(slot for slot, _ in fetches)
    steps = shrunk(steps, slots, kept)
    frees = last_uses(steps, kept)
    return Plan(
        tuple(step.freeing(f) for step, f in zip(steps, frees, strict=True)),
        len(slots) + FIRST,
        tuple((v, slots[v], v in overwritten) for v in feeds),
        fetches,
        loads,
        stores,
        len(number),
        (None, None, *slots),
        frozenset(kept),
        sequential,
    )


def scheduled(
    operators: tuple[Operator, ...], copies: set[Operator], seed: int, sequential: bool
) -> tuple[Operator, ...]:
    """`operators` in any legal order, picked by `seed`; program order when it is negative."""
    if seed < 0 or sequential:
        return operators
    graph = graph_of(touched(operators, copies))
    return tuple(operators[i] for i in legal_order(graph, seed))


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
    """Whether a fetched value would otherwise change later or be somebody else's array, too."""
    if v.persistable or v in set(feeds):
        return True
    maker = next((o for o in reversed(operators) if v in set(o.results())), None)
    return maker is None or bool(maker.op.views or handed_on(maker))
