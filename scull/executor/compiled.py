"""Plans whose instructions run as machine code: regions of operators become one function each.

What cannot be a loop over elements stays an instruction between regions. A function is made for
the sizes a run begins with; another run with other sizes makes one more, up to a bound.
"""

import sys
import warnings
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scull.compiler.decision import Decision, observed
from scull.compiler.flow import controls, leaves
from scull.compiler.native import Native, native_of
from scull.compiler.rows import TracedRows
from scull.compiler.scan import Scanner
from scull.compiler.trace import Traced
from scull.core.meta import Kind, Meta
from scull.core.op import meta_of
from scull.errors import ScullError, UnsupportedError
from scull.executor.block import Block
from scull.executor.call import Call, Part, Row
from scull.executor.inline import trace
from scull.executor.instruction import DRAW, Instruction, unrecorded, whole
from scull.executor.outline import keep, name_of, outlined
from scull.flags import flag
from scull.ir.operator import effects
from scull.lang.expression import Array

if TYPE_CHECKING:
    from scull.executor.plan import Plan


class Region(Block):
    """Steps that may become one function, with what their values are so far."""

    def __init__(self, plan: "Plan", metas: dict[int, Meta], unknown: set[int]) -> None:
        super().__init__(plan, Scanner())
        self.metas, self.unknown = metas, unknown  # what is known outside, of which slots nothing
        self.numbers: list[int] = []  # of its steps
        self.given: dict[int, Traced] = {}  # values as they were at its start, by slot
        self.makers: dict[int, int] = {}  # the numbers of the steps that wrote a slot
        self.over: set[int] = set()  # whose memory is written over
        self.ends: list[tuple[int, int]] = []  # steps, their last nodes

    def has(self, slot: int) -> bool:
        """Whether a slot may have a value; UnsupportedError where nobody knows."""
        v = self.plan.variables[slot]
        if slot in self.values:
            return True
        if slot in self.unknown or v.kind is not Kind.DENSE:
            raise UnsupportedError(f"`{v.name}` is no array of a known size")
        return slot in self.metas

    def at(self, slot: int) -> Any:
        """The value of a slot; what no step of the region made comes from outside."""
        if slot not in self.values and self.has(slot):
            self.values[slot] = self.given[slot] = self.tracer.given(self.metas[slot])
        return super().at(slot)

    def add(self, number: int, step: Instruction) -> None:
        """Take a step; UnsupportedError, and nothing changed, where that cannot be."""
        before = dict(self.values), dict(self.given)
        count, over = len(self.tracer.statements), set(self.over)
        self.number = number
        try:
            trace(super().trace, self, step)
        except UnsupportedError:
            self.values, self.given = before
            self.over = over
            del self.tracer.statements[count:]
            raise
        self.numbers.append(number)
        self.ends.append((number, len(self.tracer.statements)))

    def note(self, slot: int, value: Any, over: bool = False) -> None:
        """A slot has a new value, in the memory of what it began with if `over` that."""
        if over and self.values.get(slot) is self.given.get(slot, self):
            self.over.add(slot)
        elif not over:
            self.over.discard(slot)
        super().note(slot, value)
        if isinstance(value, Traced | TracedRows):
            self.metas[slot] = value.meta
        self.unknown.discard(slot)
        self.makers[slot] = self.number


class Stay(Exception):
    """Some steps have to be instructions: what they make would leave its region."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__(numbers)
        self.numbers = numbers


class Specialised:
    """The steps of a plan for one set of sizes.

    `reasons` tell, by the number of a step, why it stays an instruction. They are made `anew` for
    those who want to see how.
    """

    def __init__(
        self,
        plan: "Plan",
        metas: dict[int, Meta],
        *,
        threads: int = 0,
        fixed: Collection[int] = (),
        anew: bool = False,
    ) -> None:
        self.plan, self.begun, self.anew = plan, metas, anew
        self.fixed = frozenset(fixed)  # slots whose values are the same in every run
        self.threads = threads  # that share a kernel at most; 0: as many as the pool has
        self.slots = {v: i for i, v in enumerate(plan.variables) if v is not None}
        self.last = last_reads(plan)
        self.reasons: dict[int, str] = {}
        self._begin()

    @cached_property
    def name(self) -> bytes | None:
        """What its outline is kept under on the disk; None where it is kept nowhere."""
        anew = self.anew or flag("DEBUG") >= 3
        return None if anew else name_of(self.plan, self.begun, self.fixed)

    def _begin(self) -> None:
        self.metas, self.unknown = dict(self.begun), set[int]()
        self.parts: list[int | Part] = []
        self.region = Region(self.plan, self.metas, self.unknown)
        self.made: list[tuple[Part, Region, tuple[Decision, ...]]] = []
        self.failed = False  # code of a region could not be made

    def steps(self) -> tuple[Row, ...]:
        """The steps, regions in the place of what they compute."""
        found = self.recalled()
        return self._thought() if found is None else found

    def recalled(self) -> tuple[Row, ...] | None:
        """The steps as they were made before, of code that is on the disk; None if they are not."""
        if self.name is None:
            return None
        parts = outlined(self.name, self._thought_again)
        return None if parts is None else self._rows(parts)

    def _thought_again(self) -> tuple[Native, ...]:
        """The code of all regions, for somebody who asks what it is made of."""
        made = Specialised(self.plan, self.begun, fixed=self.fixed, anew=True)
        made.steps()
        return tuple(part.native for part, _, _ in made.made)

    def _thought(self) -> tuple[Row, ...]:
        stay: set[int] = set()
        while True:
            try:
                self._divide(stay)
            except Stay as found_out:
                stay |= found_out.numbers
                self._begin()
                continue
            if flag("DEBUG") >= 5:
                for number, reason in self.reasons.items():
                    print(f"{self.plan.steps[number].operator.type}: {reason}", file=sys.stderr)
            if self.name is not None and not self.failed:
                keep(self.name, self.parts)
            return self._rows(self.parts)

    def _rows(self, parts: Iterable[int | Part]) -> tuple[Row, ...]:
        """Steps and regions as the loop takes them."""
        rows: list[Row] = []
        for part in parts:
            if isinstance(part, int):
                rows.append(self._row(part))
                continue
            part.native.table[-1] = self.threads
            call = Call(self.plan, part, tuple(map(self._row, part.numbers)))
            rows.append((call, whole, slice(0, 0), part.frees))
        return tuple(rows)

    def _row(self, number: int) -> Row:
        """A step as the loop takes it."""
        step, stay = self.plan.steps[number], self.standing
        return step.call, step.get, step.put, tuple(s for s in step.frees if s not in stay)

    @cached_property
    def standing(self) -> frozenset[Any]:
        """The slots of constants, which stand in a frame."""
        return frozenset(self.plan.steps[number].put for number in self.plan.constants)

    def _divide(self, staying: set[int]) -> None:
        plan = self.plan
        for number, step in enumerate(plan.steps):
            if number in plan.constants:
                continue
            if step.is_shape and self.region.numbers:
                self.region.numbers.append(number)
                continue
            try:
                if number in staying:
                    raise UnsupportedError("what it makes is used where there is no code")
                if step.is_shape:
                    raise UnsupportedError("it keeps a shape")
                self.region.add(number, step)
            except UnsupportedError as error:
                self.reasons[number] = str(error)
                if not self._may_go_first(step, self._row(number)[3]):
                    self._close(number)
                self.parts.append(number)
                self._infer(step)
        self._close(len(plan.steps))

    def _may_go_first(self, step: Instruction, frees: tuple[int, ...]) -> bool:
        """Whether an instruction may run before the region so far: it has nothing to do with it."""
        o, region = step.operator, self.region
        if step.is_shape or step.nested is not None or effects(o) or o.op.views or o.op.in_place:
            return False
        read = {self.slots[v] for v in o.operands() if v in self.slots}
        made = {self.slots[v] for v in o.results() if v in self.slots}
        return not (read & region.makers.keys() or region.values.keys() & {*made, *frees})

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
        known = len(flat) == len(places) and not any(-1 in m.shape for m in flat)
        for number, place in enumerate(places):
            if known and not step.nested:
                self.metas[place] = flat[number]
                self.unknown.discard(place)
            else:
                self.metas.pop(place, None)
                self.unknown.add(place)

    def _meta(self, slot: Any) -> Any:
        if slot is None or isinstance(slot, list | tuple):
            return slot if slot is None else [self._meta(v) for v in slot]
        return self.metas[self.slots[slot]]

    def _close(self, number: int) -> None:
        """The region so far as one step, if it is worth that."""
        region, self.region = self.region, Region(self.plan, self.metas, self.unknown)
        if not region.given and not any(controls(region.tracer.statements)):  # constants alone
            self.parts.extend(region.numbers)
            return
        leaving = {s for s in region.makers if self.last.get(s, -1) >= number}
        inner = {s for s in leaving if type(region.values[s]) not in (Traced, TracedRows)}
        if inner:
            raise Stay({region.makers[s] for s in inner})
        results = sorted(leaving - region.over, key=lambda s: (is_sparse(region.values[s]), s))
        over = {s: region.values[s].array for s in sorted(region.over) if s in region.given}
        outputs = [x for s in results for x in arrays_in(region.values[s])] + [*over.values()]
        inputs = [v.array for v in region.given.values()]
        inputs += [region.tracer.draws] if region.tracer.draws is not None else []
        old = [region.given[s].array for s in over]
        fixed = {region.given[s].array for s in self.fixed if s in region.given}
        try:
            with observed() as decisions:
                made = region.tracer.statements
                native = native_of(made, inputs, outputs, old, fixed=fixed, anew=self.anew)
        except Exception as error:
            kinds = ", ".join(dict.fromkeys(s.origin for s in leaves(region.tracer.statements)))
            warnings.warn(
                f"{kinds}: no machine code, {type(error).__name__}: {error}", stacklevel=2
            )
            self.parts.extend(region.numbers)
            self.failed = True
            return
        self._take(region, native, results, leaving, decisions())

    def _take(
        self,
        region: Region,
        native: Native,
        results: list[int],
        leaving: Collection[int],
        decisions: tuple[Decision, ...],
    ) -> None:
        """The machine code of a region is there."""
        rows = [self._row(number) for number in region.numbers]
        read = {v.array: slot for slot, v in region.given.items()}
        if region.tracer.draws is not None:
            read[region.tracer.draws] = DRAW
        values = [region.values[slot] for slot in results]
        part = Part(
            native,
            tuple(region.numbers),
            tuple(read[array] for array in native.inputs),
            tuple(results),
            frozenset(region.over),
            tuple(v.meta.shape[0] for v in values if is_sparse(v)),
            tuple(sorted({slot for row in rows for slot in row[3]} - {*leaving})),
        )
        self.parts.append(part)
        self.made.append((part, region, decisions))


def is_sparse(value: Any) -> bool:
    """Whether a value of a region is row-sparse."""
    return isinstance(value, TracedRows)


def arrays_in(value: Any) -> list[Array]:
    """The arrays that a value of a region is."""
    return [value.rows.array, value.values.array] if is_sparse(value) else [value.array]


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


def sizes_of(frame: list[Any]) -> dict[int, Meta]:
    """The metas of the arrays that a run begins with, by slot."""
    return {slot: meta_of(x) for slot, x in enumerate(frame) if type(x) is np.ndarray}
