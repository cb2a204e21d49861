"""The plan: everything decided before a Program runs, immutable and printable."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from scull.core.meta import Kind, Meta
from scull.core.place import CPU, Place
from scull.deferred import load
from scull.executor.access import touched
from scull.executor.alias import copied_views, handed_on, written
from scull.executor.closed import BlockOp
from scull.executor.constant import constants, one_number
from scull.executor.convert import converted
from scull.executor.dependency import Graph, graph_of, legal_order
from scull.executor.instruction import Instruction, bind
from scull.executor.lifetime import Lifetime, last_uses, lifetimes, shrunk
from scull.executor.nested import bind_blocks, inner_of
from scull.executor.order import early_updates
from scull.executor.prepare import prepare
from scull.executor.reuse import reusing
from scull.executor.text import dot_text, plan_text
from scull.flags import flag
from scull.ir.depth import deep, depth_of, room_for, with_room
from scull.ir.operator import Operator, effects
from scull.ir.variable import Variable

if TYPE_CHECKING:
    from scull.executor.memory import Peak
    from scull.executor.stream import Streams

FIRST = 2  # the first slot of a frame that belongs to a variable
IN_ORDER = -1  # draws whose number nobody knows ahead: each comes when its turn is


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
    draws: int  # random draws of a run, or IN_ORDER
    variables: tuple[Any, ...]  # by slot
    kept: frozenset[int]  # slots that are never dropped
    sequential: bool = False  # each instruction waits for the one before it
    early: bool = False  # updates run right after what they wait for
    left: tuple[tuple[str, int, bool], ...] = ()  # temporaries for the scope, whether as copies
    levels: tuple[int, ...] = ()  # for each fetch asked for the place of its levels, -1 for none
    place: Place = CPU  # where `streams` are told for

    @cached_property
    def depth(self) -> int:
        """How many blocks lie in one another."""
        owner = next((step.operator for step in self.steps if step.nested is not None), None)
        return 0 if owner is None else depth_of(owner.block.program)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What stands in each slot."""
        return ("none", "draw", *(v.name for v in self.variables[FIRST:]))

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The steps that run operators."""
        return tuple(step for step in self.steps if not step.is_shape)

    @cached_property
    def constants(self) -> dict[int, Any]:
        """What some steps give in every run, by their numbers."""
        return constants(self.steps, self.kept, self.size)

    @cached_property
    def standing(self) -> frozenset[int]:
        """The slots where they stand."""
        return frozenset(self.steps[number].put for number in self.constants)

    @cached_property
    def numbers(self) -> dict[int, Any]:
        """By slot what they are, where that is one number in every place."""
        found = {self.steps[n].put: one_number(value) for n, value in self.constants.items()}
        return {slot: number for slot, number in found.items() if number is not None}

    @cached_property
    def known(self) -> frozenset[int]:
        """The instructions, by their numbers, whose results stand in a frame from the start."""
        steps = {self.steps[number].operator for number in self.constants}
        return frozenset(i for i, s in enumerate(self.instructions) if s.operator in steps)

    @cached_property
    def blank(self) -> list[Any]:
        """A frame as a run of the loop begins with it, which copies it: with the constants."""
        frame: list[Any] = [None] * self.size
        for number, value in self.constants.items():
            frame[self.steps[number].put] = value
        return frame

    @cached_property
    def loop(self) -> tuple[Any, ...]:
        """The steps as the loop takes them: those that have something to do."""
        stay = self.standing
        return tuple(
            (s.call, s.get, s.put, tuple(slot for slot in s.frees if slot not in stay))
            for number, s in enumerate(self.steps)
            if number not in self.constants
        )

    @cached_property
    def graph(self) -> Graph:
        """Which instructions wait for which."""
        operators = tuple(step.operator for step in self.instructions)
        copies = {step.operator for step in self.instructions if step.copies}
        return graph_of(touched(operators, copies, self.draws == IN_ORDER), self.sequential)

    @cached_property
    def lifetimes(self) -> tuple[Lifetime, ...]:
        """When each value goes in a run in any order."""
        return lifetimes(self.instructions, self.graph, self.kept)

    def on(self, place: Place) -> "Plan":
        """The same, which tells the streams of `place`."""
        return self if place == self.place else replace(self, place=place)

    @cached_property
    def streams(self) -> "Streams":
        """What runs on which queue of its place, copies included, and how they wait."""
        launches_of = load("scull.executor.launch", "launches_of")  # it runs plans
        found: Streams = launches_of(self, self.place, flag("DEVICE_STREAMS"), {}).streams
        return found

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
        with room_for(self.depth):
            return peak_of(self.steps, self.variables, given, strided)  # type: ignore[no-any-return]

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        return dot_text(self)

    def __str__(self) -> str:
        with room_for(self.depth):
            return plan_text(self)


@deep
def make_plan(
    block: Any,
    feed_names: tuple[str, ...],
    fetch_names: tuple[str, ...],
    *,
    seed: int = -1,
    sequential: bool = False,
    skip_gc_vars: tuple[str, ...] = (),
    collects: bool = True,
    reuses: bool = True,
    adds: bool = True,
    early: bool = False,
) -> Plan:
    """Plan one run of `block`.

    In program order, or in any legal one picked by a `seed` that is not negative; what
    `skip_gc_vars` names is never dropped, but left in the scope, and nothing is dropped unless it
    `collects`. What it `reuses` is memory: of an operand that nobody needs any more, for a result;
    if it only `adds`, of a summand for a sum. Updates run `early`, right after what they wait for,
    or when their turn comes.
    """
    prepared = prepare(block, feed_names, fetch_names)
    feeds, fetched = prepared.feeds, prepared.fetches
    order = Order(seed, sequential, reuses and collects, (reuses or adds) and collects, early)
    staying = [v for v in map(block.find, skip_gc_vars) if v is not None and not v.persistable]
    keeping = (*fetched, *staying)
    laid = laid_out(prepared.operators, feeds, keeping, order)
    slots, operators = laid.slots, laid.operators
    loads, stores = bound_to_scope(operators, slots, set(feeds))
    fetches = tuple(
        (slots[v], v in set(fetched[:i]) or must_copy(v, feeds, operators))
        for i, v in enumerate(fetched)
    )
    kept = {slots[v] for v in slots if v.persistable or v.name in skip_gc_vars}
    kept.update(slots.values() if not collects else (slot for slot, _ in fetches))
    return Plan(
        freed(laid, kept),
        len(slots) + FIRST,
        tuple((v, slots[v], v in laid.overwritten) for v in feeds),
        fetches,
        loads,
        stores,
        laid.draws,
        (None, None, *slots),
        frozenset(kept),
        sequential,
        early and not sequential and seed < 0,
        tuple((v.name, slots[v], must_copy(v, feeds, operators)) for v in staying),
    )


class Order(NamedTuple):
    """In which order a plan runs: any legal one picked by a seed, or nearly that of the Program."""

    seed: int
    sequential: bool
    reuses: bool  # whether results take the memory of operands
    adds: bool  # or sums that of summands
    early: bool  # whether updates run as soon as they may


class Layout(NamedTuple):
    """The operators of a run in order, the places of their variables, the instructions."""

    operators: tuple[Operator, ...]
    slots: dict[Variable, int]
    steps: list[Instruction]
    overwritten: frozenset[Variable]
    draws: int


def laid_out(
    operators: tuple[Operator, ...],
    entries: tuple[Variable, ...],
    exits: tuple[Variable, ...],
    order: Order,
    *,
    within: bool = False,
    again: bool = False,
) -> Layout:
    """The instructions of operators that begin with values of `entries`, for those of `exits`.

    `within` another plan nobody counts draws ahead; `again`: they run perhaps more than once.
    """
    operators = converted(operators, exits)
    if order.adds:
        operators = reusing(operators, (*entries, *exits), sums_only=not order.reuses)
    drawing = [o for o in operators if "random" in effects(o)]
    in_order = bool(drawing) and (within or any(o.op.has_blocks for o in drawing))
    number = {o: IN_ORDER if in_order else i for i, o in enumerate(drawing)}
    cut = copied_views(operators, exits, entries, again=again)
    copies = {operators[i] for i in cut}
    operators = scheduled(operators, copies, order, in_order)
    slots = numbered(entries, operators, exits)
    overwritten = frozenset(v for o in operators for v in written(o))
    steps = []
    for o in operators:
        if isinstance(o.op, BlockOp):
            inner = inner_of(nested_plan(o.op, order), o.op, slots)
            step, depth = bind_blocks(o, slots, o in copies, inner), depth_of(o.block.program)
            steps.append(step if within else replace(step, call=with_room(step.call, depth)))
        elif o.op.has_blocks:  # all operators of a block of dataflow
            bind_dataflow = load("scull.executor.dataflow", "bind_dataflow")
            steps.append(bind_dataflow(o, slots, order.seed))
        else:
            draws = number.get(o, 0)
            step = bind(o, slots, draws, o in copies, overwritten)
            steps.append(replace(step, draws=draws))
    return Layout(operators, slots, steps, overwritten, IN_ORDER if in_order else len(number))


def nested_plan(op: BlockOp, order: Order) -> Plan:
    """The plan of a block, whose values come from the frame around it and go there."""
    entries, exits, again = op.begins, op.ends, op.repeats
    laid = laid_out(op.body.operators, entries, exits, order, within=True, again=again)
    slots = laid.slots
    kept = {slots[v] for v in (*exits, *(entries if again else ()))}
    return Plan(
        freed(laid, kept),
        len(slots) + FIRST,
        (),
        (),
        (),
        (),
        laid.draws,
        (None, None, *slots),
        frozenset(kept),
        order.sequential,
    )


def freed(laid: Layout, kept: set[int]) -> tuple[Instruction, ...]:
    """The instructions, each dropping what nobody needs after it."""
    steps = shrunk(laid.steps, laid.slots, kept)
    frees = last_uses(steps, kept)
    return tuple(step.freeing(f) for step, f in zip(steps, frees, strict=True))


def scheduled(
    operators: tuple[Operator, ...], copies: set[Operator], order: Order, in_order: bool
) -> tuple[Operator, ...]:
    """`operators` in any legal order, picked by a seed; program order when it is negative.

    In that updates may come early.
    """
    if order.sequential or (order.seed < 0 and not order.early):
        return operators
    accesses = touched(operators, copies, in_order)
    if order.seed < 0:
        return early_updates(operators, accesses)
    graph = graph_of(accesses)
    return tuple(operators[i] for i in legal_order(graph, order.seed))


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
            if v not in first_written and v not in fed and from_scope(v):
                loads.setdefault(v, slots[v])
        first_written.update(o.results())
    for v, slot in slots.items():
        if v not in first_written and v not in fed and from_scope(v):
            loads.setdefault(v, slot)
    fresh = {v for o in operators for v in set(o.results()) - written(o)}  # memory of its own
    stores = {v: slots[v] for v in first_written if v.persistable and v in fresh}
    order = sorted(stores, key=lambda v: stores[v])
    return tuple((v.name, s) for v, s in loads.items()), tuple((v.name, stores[v]) for v in order)


def from_scope(v: Variable) -> bool:
    """Whether a run cannot begin without a value of `v`: a list of tensors begins empty."""
    return v.persistable or v.kind is not Kind.ARRAY


def must_copy(v: Variable, feeds: Any, operators: Any) -> bool:
    """Whether a fetched value would otherwise change later or be somebody else's array, too."""
    if v.persistable or v in set(feeds):
        return True
    maker = next((o for o in reversed(operators) if v in set(o.results())), None)
    return maker is None or bool(maker.op.views or handed_on(maker))
