"""A plan divided into regions, which may become one function each, and instructions between them.

What cannot be a loop over elements stays an instruction. Nothing is compiled here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scull.compiler.flow import controls
from scull.compiler.rows import TracedRows
from scull.compiler.scan import Scanner
from scull.compiler.trace import Traced
from scull.core.meta import Kind, Meta
from scull.errors import ScullError, UnsupportedError
from scull.executor.block import SOURCE, Block, Perhaps
from scull.executor.foretold import Foretold
from scull.executor.inline import Kept, arrays_in, trace
from scull.executor.instruction import DRAW, Instruction, unrecorded
from scull.executor.keeping import Dense, Form, Handed, form_of, handed
from scull.executor.listed import Given, Listed, ListOf, given, holds_lists, made_of
from scull.ir.operator import effects
from scull.lang.expression import Array

if TYPE_CHECKING:
    from scull.executor.plan import Plan


LEAVING = (
    Traced,
    Perhaps,
    Given,
    Handed,
    TracedRows,
)  # what leaves a region, in order
OTHER = (Dense, Form, ListOf)  # what comes into one besides arrays


class Region(Block):
    """Steps that may become one function, with what their values are so far."""

    def __init__(self, plan: "Plan", metas: dict[int, Any], unknown: set[int]) -> None:
        super().__init__(plan, Scanner())
        self.metas, self.unknown = metas, unknown  # what is known outside, of which slots nothing
        self.numbers: list[int] = []  # of its steps
        self.given: dict[int, Any] = {}  # values as they were at its start, by slot
        self.takes: dict[int, Any] = {}  # what those are that are no arrays
        self.makers: dict[int, int] = {}  # the numbers of the steps that wrote a slot
        self.over: set[int] = set()  # whose memory is written over
        self.ends: list[tuple[int, int]] = []  # steps, their last nodes

    def has(self, slot: int) -> bool:
        """Whether a slot may have a value; UnsupportedError where nobody knows."""
        if slot in self.values or slot == DRAW:
            return True
        v = self.plan.variables[slot]
        if isinstance(self.metas.get(slot), OTHER) and not v.persistable:
            return True
        if holds_lists(v) and slot not in self.unknown and not v.persistable:
            return False
        if slot in self.unknown or v.kind is not Kind.DENSE:
            raise UnsupportedError(f"`{v.name}` is no array of a known size")
        return slot in self.metas

    def at(self, slot: int) -> Any:
        """The value of a slot; what no step of the region made comes from outside."""
        if slot not in self.values and self.has(slot):
            known = self.metas[slot]
            if slot in self.plan.numbers:
                self.values[slot] = self.tracer.constant(self.plan.numbers[slot], known)
            elif isinstance(known, OTHER):
                self.takes[slot] = known
                self.values[slot] = self.given[slot] = known.taken(self.tracer)
            else:
                self.values[slot] = self.given[slot] = self.tracer.given(known)
        return super().at(slot)

    def add(self, number: int, step: Instruction) -> None:
        """Take a step; UnsupportedError, and nothing changed, where that cannot be."""
        before = dict(self.values), dict(self.given), dict(self.takes), dict(self.makers)
        count, over = len(self.tracer.statements), set(self.over)
        self.number = number
        try:
            trace(super().trace, self, step)
        except UnsupportedError:
            self.values, self.given, self.takes, self.makers = before
            self.over = over
            del self.tracer.statements[count:]
            raise
        self.numbers.append(number)
        self.ends.append((number, len(self.tracer.statements)))

    def note(self, slot: int, value: Any, over: bool = False) -> None:
        """A slot has a new value, in the memory of what it began with if `over` that."""
        over = over and not isinstance(value, Listed)
        if over and self.values.get(slot) is self.given.get(slot, self):
            self.over.add(slot)
        elif not over:
            self.over.discard(slot)
        super().note(slot, value)
        if isinstance(value, Traced | TracedRows):
            self.metas[slot] = value.meta
        else:
            self.metas.pop(slot, None)
        self.unknown.discard(slot)
        self.makers[slot] = self.number


class Stay(Exception):
    """Some steps have to be instructions: what they make would leave its region."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__(numbers)
        self.numbers = numbers


@dataclass(frozen=True, eq=False)
class Piece:
    """A region that has all its steps: the slots of its `results`, and of all that leaves it."""

    region: Region
    results: tuple[int, ...]
    leaving: frozenset[int]

    @property
    def over(self) -> dict[int, Array]:
        """What lies over the memory of what it begins with, by slot."""
        region = self.region
        return {s: region.values[s].array for s in sorted(region.over) if s in region.given}

    @property
    def old(self) -> list[Array]:
        """What that memory holds at first."""
        return [self.region.given[s].array for s in self.over]

    @property
    def outputs(self) -> list[Array]:
        """The arrays it makes, those over others last."""
        made = [x for s in self.results for x in edge_arrays(self.region.values[s])]
        return made + [*self.over.values()]

    @property
    def inputs(self) -> list[Array]:
        """The arrays it may read."""
        return [x for v in self.region.given.values() for x in edge_arrays(v)]

    @property
    def slots(self) -> dict[Array, int]:
        """Where those come from; what `takes` becomes has places behind all slots."""
        region, behind = self.region, self.region.plan.size
        found = {v.array: s for s, v in region.given.items() if s not in region.takes}
        for slot, taken in self.takes:
            found |= {x: behind + n for n, x in enumerate(edge_arrays(region.given[slot]))}
            behind += taken.count
        return found

    @property
    def takes(self) -> tuple[tuple[int, Any], ...]:
        """By slot what comes into it that is no array."""
        return tuple(sorted(self.region.takes.items(), key=lambda pair: pair[0]))

    @property
    def doubts(self) -> int:
        """How many of the results, behind those that are there, are perhaps not."""
        return sum(isinstance(self.region.values[slot], Perhaps) for slot in self.results)

    @property
    def keeps(self) -> tuple[Form, ...]:
        """Of the results behind `items`, what blocks kept."""
        values = [self.region.values[slot] for slot in self.results]
        return tuple(v.form for v in values if isinstance(v, Handed))

    @property
    def heights(self) -> tuple[int, ...]:
        """Of the last results, which are rows of so many."""
        values = [self.region.values[slot] for slot in self.results]
        return tuple(v.meta.shape[0] for v in values if is_sparse(v))

    @property
    def items(self) -> tuple[Array, ...]:
        """Of the results before those, and before what blocks kept: lists of such tensors."""
        values = [self.region.values[slot] for slot in self.results]
        return tuple(v.item for v in values if isinstance(v, Given))


class Division:
    """The steps of a plan for one set of sizes: `parts` are their numbers, and regions.

    `reasons` tell, by the number of a step, why it stays an instruction.
    """

    def __init__(self, plan: "Plan", metas: Mapping[int, Any]) -> None:
        self.plan, self.begun = plan, metas
        self.slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
        self.names = {v.name: slot for v, slot in self.slots.items()}
        self.last = last_reads(plan)
        self.reasons: dict[int, str] = {}
        stay: set[int] = set()
        while True:
            self.metas = {**metas, DRAW: SOURCE}
            self.unknown = {s for v, s, _ in plan.feeds if holds_lists(v) and s not in metas}
            self.parts: list[int | Piece] = []
            self.region = Region(plan, self.metas, self.unknown)
            self.foretold = Foretold(lambda v: self.metas.get(self.slots[v]))
            try:
                self._divide(stay)
            except Stay as found_out:
                stay |= found_out.numbers
                continue
            return

    def _divide(self, staying: set[int]) -> None:
        plan = self.plan
        for number, step in enumerate(plan.steps):
            if number in plan.constants:
                self.foretold.keep(step.operator.results()[0], plan.constants[number])
                continue
            if step.is_shape and self.region.numbers:
                self.region.numbers.append(number)
                continue
            settled = self.foretold.settled(step)
            try:
                if number in staying:
                    raise UnsupportedError("what it makes is used where there is no code")
                if step.is_shape:
                    raise UnsupportedError("it keeps a shape")
                self.region.add(number, settled)
                self.reasons.pop(number, None)
            except UnsupportedError as error:
                self.reasons.setdefault(number, str(error))  # others may follow from the first
                if not self._may_go_first(step):
                    self._close(number)
                self.parts.append(number)
                self._infer(settled)
            if not step.is_shape:
                self.foretold.learn(settled.operator)
        self._close(len(plan.steps))

    def _may_go_first(self, step: Instruction) -> bool:
        """Whether an instruction may run before the region so far: it has nothing to do with it."""
        o, region = step.operator, self.region
        if step.is_shape or step.nested is not None or effects(o) or o.op.views or o.op.in_place:
            return False
        read = {self.slots[v] for v in o.operands() if v in self.slots}
        made = {self.slots[v] for v in o.results() if v in self.slots}
        return not (
            read & region.makers.keys()
            or region.values.keys() & ({*made, *step.frees} - self.plan.standing)
        )

    def _infer(self, step: Instruction) -> None:
        """Note the sizes of what an instruction between regions gives, if they are known."""
        o = step.operator
        if step.is_shape:
            return
        places = [self.slots[v] for v in o.results() if v in self.slots]
        try:
            metas = unrecorded(o.op, tuple(map(self._meta, o.inputs)))
            found = o.op.infer(metas, o.op.attrs | o.attrs)
            flat = [m for r in found for m in (r if isinstance(r, list) else [r]) if m is not None]
        except (ScullError, KeyError):
            flat = []
        count = self.foretold.count(o)
        if count is not None and len(flat) == 1:
            flat = [flat[0].with_shape((count,))]
        held = made_of(o, lambda v: self.metas.get(self.slots[v]))
        likes = self._likes(step, places)
        known = len(flat) == len(places) and not any(-1 in m.shape for m in flat)
        for number, place in enumerate(places):
            is_list = holds_lists(self.plan.variables[place])
            if is_list and held is not None:
                self.metas[place] = held
                self.unknown.discard(place)
            elif step.nested is None and not is_list and (known or place in likes):
                self.metas[place] = flat[number] if known else likes[place]
                self.unknown.discard(place)
            else:
                self.metas.pop(place, None)
                self.unknown.add(place)

    def _likes(self, step: Instruction, places: list[int]) -> dict[int, Meta]:
        """Of gradients among the results the metas of their variables; runs check what comes."""
        found = {}
        for place in places if step.operator.role & 1 else ():
            name, is_gradient, _ = self.plan.variables[place].name.partition("@GRAD")
            meta = self.metas.get(self.names.get(name, -1))
            if is_gradient and isinstance(meta, Meta):
                found[place] = meta
        return found

    def _meta(self, slot: Any) -> Any:
        if slot is None or isinstance(slot, list | tuple):
            return slot if slot is None else [self._meta(v) for v in slot]
        found = self.metas[self.slots[slot]]
        if isinstance(found, OTHER):
            raise KeyError(slot)
        return found

    def _close(self, number: int) -> None:
        """The region so far, if it is worth to be one."""
        region, self.region = self.region, Region(self.plan, self.metas, self.unknown)
        if not region.given.keys() - {DRAW} and not any(controls(region.tracer.statements)):
            self.parts.extend(region.numbers)  # constants and draws alone
            return
        if DRAW in region.over:
            region.value_at(DRAW)
        leaving = {s for s in region.makers if self.last.get(s, -1) >= number}
        for slot in sorted(leaving):
            value = region.values[slot]
            if isinstance(value, Perhaps):
                self.metas[slot] = form_of(value)
            if isinstance(value, Listed) and value.item.meta is not None:
                region.values[slot] = given(region, value)
                self.metas[slot] = ListOf(value.item.meta)
        for slot in sorted(leaving):  # behind all at which the run may end early
            value = region.values[slot]
            if isinstance(value, Kept):
                self._hand(slot, region, value)
        inner = {s for s in leaving if type(region.values[s]) not in LEAVING}
        if inner:
            raise Stay({region.makers[s] for s in inner})
        ranks = {s: LEAVING.index(type(region.values[s])) for s in leaving}
        results = sorted(leaving - region.over, key=lambda s: (ranks[s], s))
        self.parts.append(Piece(region, tuple(results), frozenset(leaving)))

    def _hand(self, slot: int, region: Region, kept: Kept) -> None:
        """Let what a block kept leave its region, if it can."""
        try:
            region.values[slot] = found = handed(kept, region.tracer)
        except UnsupportedError:
            return
        self.metas[slot] = found.form


def is_sparse(value: Any) -> bool:
    """Whether a value of a region is row-sparse."""
    return isinstance(value, TracedRows)


def edge_arrays(value: Any) -> list[Array]:
    """The arrays that a value is which comes into a region, or leaves it."""
    if isinstance(value, Handed):
        return list(value.arrays)
    if isinstance(value, Listed):
        return [value.place, value.length.array]
    if is_sparse(value):
        return [value.rows.array, value.values.array]
    return [*arrays_in(value)]


def last_reads(plan: "Plan") -> dict[int, int]:
    """By slot: the number of the last step that reads it; more than any for what outlives a run."""
    found: dict[int, int] = {}
    for number, step in enumerate(plan.steps):
        found.update(dict.fromkeys((s for s in step.reads if s > DRAW), number))
    end = len(plan.steps)
    outside = [slot for slot, _ in plan.fetches]
    outside += [slot for _, slot in plan.stores] + [slot for _, slot, _ in plan.left]
    found.update(dict.fromkeys((*outside, *plan.kept), end))
    return found
